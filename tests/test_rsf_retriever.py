"""Asking a stored model: topics, batches, bounds, strange input, and no torch anywhere."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import hyperhop as hh
from hyperhop import KnowledgeGraph
from hyperhop.evidence import Answer, Evidence, Retriever
from hyperhop.graph import EntityLinker, UnknownEntity
from hyperhop.retrieval.topics import TopicNotFound
from hyperhop.rsf.retriever import RSF
from rsf_models import save_cosine_model, save_random_model

FACTS = [
    ("Ada Lovelace", "mother", "Anne Isabella Byron"),
    ("Ada Lovelace", "dad", "Lord Byron"),
    ("Ada Lovelace", "born_in", "London"),
    ("Anne Isabella Byron", "born_in", "Kirkby Mallory"),
    ("Lord Byron", "born_in", "London"),
    ("Lord Byron", "profession", "poet"),
    ("London", "country", "England"),
    ("東京", "国", "日本"),
]


@pytest.fixture
def kg():
    return KnowledgeGraph.from_triples(FACTS)


@pytest.fixture
def model(kg, tmp_path):
    return save_cosine_model(tmp_path / "model", kg, hops=1)


@pytest.fixture
def two_hops(kg, tmp_path):
    return save_cosine_model(tmp_path / "two", kg, hops=2, inverse=False)


def test_public_name_and_shape(model):
    assert hh.RSF is RSF
    rsf = hh.RSF.load(model)
    assert isinstance(rsf, Retriever)
    answer = rsf.answer("who is the mother of Ada Lovelace")
    assert isinstance(answer, Answer)
    assert answer.entities == ["Anne Isabella Byron"]
    assert answer.text == "Anne Isabella Byron"
    assert answer.llm_calls == answer.llm_attempts == 0
    assert list(answer.timings) == ["link", "extract", "encode", "flow", "decode", "read"]
    assert "mother" in answer.rationale


def test_evidence_ranks_answers_and_certifies_paths(two_hops, kg):
    rsf = RSF.load(two_hops)
    evidence = rsf.retrieve("mother born in", topic="Ada Lovelace", explain=True)
    assert evidence.topic == "Ada Lovelace"
    assert evidence.answers[0].entity == "Kirkby Mallory"
    assert evidence.paths[0].relations == ["mother", "born_in"]
    scores = [answer.score for answer in evidence.answers]
    assert scores == sorted(scores, reverse=True)
    assert len(evidence.answers) == len(evidence.paths) <= 10
    for answer, path in zip(evidence.answers, evidence.paths, strict=True):
        assert path.entities[-1] == answer.entity
        assert path.score == answer.score
        assert len(path.certificate) == 2
        assert all(0 < step.attention <= 1 and 0 < step.flow <= 1 for step in path.certificate)
        assert path.certificate[-1].flow == answer.score
        moves = [step.relation for step in path.certificate if step.relation != "\\STAY"]
        assert moves == path.relations
        for head, symbol, tail in zip(
            path.entities, path.relations, path.entities[1:], strict=False
        ):
            back = symbol.startswith("^")
            ends = (tail, head) if back else (head, tail)
            assert kg.has_triple(ends[0], symbol.removeprefix("^"), ends[1])
    assert [hop.leaked for hop in evidence.hops] == [0.0, 0.0]
    assert set(list(evidence.hops[0].attention)[:2]) == {"mother", "born_in"}
    assert not evidence.truncated
    assert json.loads(json.dumps(evidence.to_dict()))["hops"][0]["reached"] > 1


def test_leaked_mass_is_reported_and_no_answer(two_hops):
    evidence = RSF.load(two_hops, reachable_only=False).retrieve("mother", topic="Ada Lovelace")
    assert evidence.hops[0].leaked > 0  # two steps away at once
    assert len(evidence.paths) == len(evidence.answers)
    far = {"東京", "日本"}
    assert far.isdisjoint(answer.entity for answer in evidence.answers)


def test_topics(model, kg):
    rsf = RSF.load(model)
    by_name = rsf.retrieve("mother", topic="Ada Lovelace")
    by_id = rsf.retrieve("mother", topic=kg.entity_id("Ada Lovelace"))
    listed = rsf.retrieve("mother", topic=np.array([kg.entity_id("Ada Lovelace")]))
    assert by_name.answers == by_id.answers == listed.answers
    both = rsf.retrieve("born in", topic=["Ada Lovelace", "Anne Isabella Byron"])
    starts = {path.entities[0] for path in both.paths[:2]}
    assert {answer.entity for answer in both.answers[:2]} == {"London", "Kirkby Mallory"}
    assert starts == {"Ada Lovelace", "Anne Isabella Byron"}
    with pytest.raises(UnknownEntity, match="Ada Byron"):
        rsf.retrieve("mother", topic="Ada Byron")
    with pytest.raises(IndexError, match="topic must be an id below"):
        rsf.retrieve("mother", topic=99)
    with pytest.raises(TypeError, match="RSF: topic must be a name, an id or a list"):
        rsf.retrieve("mother", topic=1.5)
    with pytest.raises(ValueError, match="topic must name at least one entity"):
        rsf.retrieve("mother", topic=[])


def test_strange_questions(model):
    rsf = RSF.load(model)
    for question in ("", "   ", "nobody here", "?!", "\x00", "🤷"):
        with pytest.raises(TopicNotFound, match="names no entity of the graph"):
            rsf.answer(question)
        assert rsf.answer(question, topic="London").entities  # a topic is enough
    assert rsf.answer("東京の国").entities[0] in {"日本", "東京"}
    assert rsf.answer("mother " * 5_000, topic="Ada Lovelace").entities == ["Anne Isabella Byron"]
    with pytest.raises(TypeError, match="RSF: question must be str, got int"):
        rsf.retrieve(3)
    with pytest.raises(TypeError, match="RSF: questions must be a list of str, got one str"):
        rsf.answer_batch("mother")


def test_an_empty_graph_and_a_lone_entity(tmp_path):
    empty = save_cosine_model(tmp_path / "empty", KnowledgeGraph.from_triples([]))
    evidence = RSF.load(empty).retrieve("who?")
    assert evidence.paths == [] == evidence.answers
    assert RSF.load(empty).answer("who?").entities == []
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("c", "r", "b")]).without([("c", "r", "b")])
    lone = save_cosine_model(tmp_path / "lone", kg, stay=False)
    evidence = RSF.load(lone).retrieve("r", topic=kg.entity_id("a"), explain=True)
    assert {answer.entity for answer in evidence.answers} == {"a"}  # there and back


def test_a_flow_that_dies_says_so(tmp_path):
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    model = save_cosine_model(tmp_path / "m", kg, hops=3, stay=False, inverse=False)
    evidence = RSF.load(model).retrieve("r", topic="a", explain=True)
    assert [hop.reached for hop in evidence.hops] == [1, 0, 0]
    assert evidence.answers == [] == evidence.paths
    assert RSF.load(model).answer("r", topic="a").text.startswith("No answer")


def test_batches_equal_single_questions(model):
    rsf = RSF.load(model)
    questions = ["mother of Ada Lovelace", "dad", "born in", "country"] * 20
    topics = [None, "Ada Lovelace", "Lord Byron", "London"] * 20
    alone = [rsf.retrieve(q, t) for q, t in zip(questions, topics, strict=True)]
    for threads in (1, 3):
        told = []
        found = rsf.retrieve_batch(
            questions, topics, threads=threads, progress=lambda *done, told=told: told.append(done)
        )
        for one, other in zip(found, alone, strict=True):
            assert one.answers == other.answers
            assert list(one.paths) == list(other.paths)
        assert told[-1] == (80, 80)
    answers = rsf.answer_batch(questions[:4], topics[:4])
    assert answers[0].entities == ["Anne Isabella Byron"]
    with pytest.raises(ValueError, match="RSF: 2 questions, but 1 topics"):
        rsf.answer_batch(["a", "b"], ["London"])


def test_a_shuffled_file_answers_alike(tmp_path):
    facts = [(f"h{i % 5}", f"r{i % 3}", f"t{i % 11}") for i in range(40)]
    shuffled = [facts[i] for i in np.random.default_rng(0).permutation(40)]
    models = [
        save_random_model(tmp_path / name, KnowledgeGraph.from_triples(given))
        for name, given in (("one", facts), ("two", shuffled))
    ]
    one, two = (RSF.load(model).retrieve("r1 of", topic="h0") for model in models)
    assert one.answers == two.answers
    assert list(one.paths) == list(two.paths)


def test_a_topic_with_many_edges_is_bounded(tmp_path):
    facts = [("hub", "knows", f"e{i:06}") for i in range(100_000)]
    kg = KnowledgeGraph.from_triples([*facts, ("hub", "capital", "here")])
    model = save_cosine_model(tmp_path / "m", kg, encoder="hashing:64", hops=1)
    evidence = RSF.load(model).retrieve("capital", topic="hub")
    assert evidence.answers[0].entity == "here"
    assert not evidence.truncated
    many = RSF.load(model).retrieve("knows", topic="hub")
    assert many.truncated  # more answer than path_cap allows
    assert len(many.answers) == 1_000
    assert many.answers[0].entity == "e000000"  # ties by name
    cut = RSF.load(model, max_edges=5_000).retrieve("knows", topic="hub")
    assert cut.truncated
    few = RSF.load(model, max_degree=50, path_cap=10).retrieve("knows", topic="hub")
    assert few.hubs == ["hub"]


def test_paths_that_differ_in_stays_are_one(kg, tmp_path):
    model = save_cosine_model(tmp_path / "m", kg, hops=4, threshold=-0.5)
    rsf = RSF.load(model, paths=3)
    evidence = rsf.retrieve("mother", topic="Ada Lovelace")
    by_answer = {}
    for path in evidence.paths:
        walk = (tuple(path.entities), tuple(path.relations))
        assert walk not in by_answer.setdefault(path.entities[-1], [])
        by_answer[path.entities[-1]].append(walk)
    assert max(map(len, by_answer.values())) == 3
    assert all(1 <= len(walks) <= 3 for walks in by_answer.values())
    assert set(by_answer) == {answer.entity for answer in evidence.answers}


def test_score_pi_and_pi_times_beta(kg, tmp_path):
    """The paper's backtracking steps over whatever edge leaves the likeliest node."""
    kg = KnowledgeGraph.from_triples(
        [("a", "wanted", "b"), ("b", "wanted", "d"), ("a", "wanted", "c"), ("c", "odd", "d")]
        + [("b", "wanted", f"b{i}") for i in range(5)]
    )
    model = save_cosine_model(tmp_path / "m", kg, stay=False, inverse=False)
    found = RSF.load(model).retrieve("wanted", topic="a")
    (path,) = [path for path in found.paths if path.entities[-1] == "d"]
    assert path.relations == ["wanted", "wanted"]
    paper = RSF.load(model, score="pi").retrieve("wanted", topic="a")
    (path,) = [path for path in paper.paths if path.entities[-1] == "d"]
    assert path.entities == ["a", "b", "d"]  # equal flow at b and c: the lower name
    with pytest.raises(ValueError, match="score must be pi or"):
        RSF.load(model, score="beta")


def test_k_and_radius(model):
    assert len(RSF.load(model, k=1).retrieve("mother", topic="Ada Lovelace").answers) == 1
    near = RSF.load(model, radius=0).retrieve("mother", topic="Ada Lovelace")
    assert [answer.entity for answer in near.answers] == ["Ada Lovelace"]
    assert near.paths[0].relations == []  # it could only stay
    for name in ("k", "paths", "path_cap", "max_edges"):
        with pytest.raises(ValueError, match=f"RSF: {name} must be at least 1, got 0"):
            RSF.load(model, **{name: 0})
    with pytest.raises(ValueError, match=r"answer_share must be above 0 and at most 1, or None"):
        RSF.load(model, answer_share=0)
    one = RSF.load(model).retrieve("mother", topic="Ada Lovelace")
    more = RSF.load(model, answer_share=1e-9).retrieve("mother", topic="Ada Lovelace")
    assert one.answers == more.answers
    assert 1 <= one.answered <= more.answered
    with pytest.raises(ValueError, match="anchors must be names or dense"):
        RSF.load(model, anchors="best")
    with pytest.raises(ValueError, match="linker must be one of the same graph"):
        RSF.load(model, linker=EntityLinker(KnowledgeGraph.from_triples(FACTS)))


def test_another_encoder_is_refused(model):
    with pytest.raises(ValueError, match="made with the encoder 'hashing:128'"):
        RSF.load(model, encoder="hashing:64")
    assert RSF.load(model, encoder="hashing:128").answer("mother of Ada Lovelace").entities


def test_what_questions_name_is_hidden_where_training_hid_it(kg, tmp_path):
    from hyperhop.rsf.store import load, save
    from hyperhop.text import HashingEncoder

    model = save_cosine_model(tmp_path / "m", kg)
    stored = load(model)
    save(
        model, kg, stored.config, stored.weights, stored.tables, HashingEncoder(128),
        mention="hidden",
    )  # fmt: skip
    hidden = RSF.load(model).retrieve("mother of Ada Lovelace")
    said = RSF.load(model).retrieve("mother of it", topic="Ada Lovelace")
    assert hidden.answers == said.answers


def test_tokens_are_read_too(kg, tmp_path):
    class Tokens:
        name, dim = "tokens of my own", 16

        def encode(self, texts):
            return hh.text.HashingEncoder(16).encode(texts)

        def encode_tokens(self, texts):
            words = [text.split() for text in texts]
            offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
            return self.encode([word for text in words for word in text]), offsets

    model = save_random_model(tmp_path / "m", kg, Tokens(), question="tokens")
    rsf = RSF.load(model, encoder=Tokens())
    assert rsf.answer("mother of Ada Lovelace").entities
    assert rsf.answer("", topic="London").entities


class Batching:
    """A reader that reads all at once."""

    def read(self, question, evidence):
        return Answer(question, llm_calls=1, llm_attempts=2)


def test_readers_calls_are_counted(model):
    answer = RSF.load(model, reader=Batching()).answer("mother", topic="Ada Lovelace")
    assert (answer.llm_calls, answer.llm_attempts) == (1, 2)


def run_without_torch(code, *arguments):
    """A fresh process in which every import of torch fails."""
    blocked = textwrap.dedent(
        """
        import sys
        class Blocked:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] == "torch":
                    raise ModuleNotFoundError("No module named 'torch'", name="torch")
        sys.meta_path.insert(0, Blocked())
        """
    )
    return subprocess.run(
        [sys.executable, "-c", blocked + textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_fresh_process_without_torch_answers(model):
    code = """
        import hyperhop as hh
        assert hh.RSF.__name__ == "RSF"
        answer = hh.RSF.load(sys.argv[1]).answer("mother of Ada Lovelace")
        assert "torch" not in sys.modules
        print(answer.text)
    """
    done = run_without_torch(code, model)
    assert done.stderr == ""
    assert done.stdout == "Anne Isabella Byron\n"


def test_asking_without_torch_on_the_command_line(model):
    code = """
        from hyperhop.__main__ import main
        sys.argv = ["hyperhop", "ask", *sys.argv[1:]]
        main()
    """
    question = "who is the mother of Ada Lovelace"
    done = run_without_torch(code, model, question, "--system", "rsf", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["answer"]["entities"] == ["Anne Isabella Byron"]
    assert found["answer"]["llm_calls"] == 0
    assert found["evidence"]["paths"][0]["relations"] == ["mother"]
    assert len(found["evidence"]["paths"][0]["certificate"]) == 1


def test_evidence_of_a_flow_reads_like_any_other(model):
    evidence = RSF.load(model).retrieve("mother", topic="Ada Lovelace")
    assert isinstance(evidence, Evidence)
    assert evidence.answering() == ["Anne Isabella Byron"]
    assert hh.text.verbalize.verbalize_path(
        evidence.paths[0].entities, evidence.paths[0].relations
    ) == "Ada Lovelace -mother-> Anne Isabella Byron"  # fmt: skip
