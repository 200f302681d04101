"""A folder that stage 2 trained, read through LLMReader and the command line."""

import asyncio
import json
import pickle

import pytest

from hyperhop.cli import app
from hyperhop.evidence import Evidence
from hyperhop.graph import KnowledgeGraph
from hyperhop.llm import (
    ChatModel,
    LLMError,
    LLMReader,
    ParseFailure,
    SchemaRefused,
    TransformersModel,
    open_chat,
)
from hyperhop.llm.template import FILE, ReaderTemplate, TemplateModel
from hyperhop.rsf.stage2 import FineTuning, finetune, write_examples
from tiny_reader import CAPITALS, EXAMPLES, WINDOW, evidence, save_tiny

pytestmark = pytest.mark.needs("finetune")


@pytest.fixture(scope="module")
def reader_folder(tmp_path_factory):
    """Trained until it knows its examples by heart."""
    folder = tmp_path_factory.mktemp("tuned")
    write_examples(folder / "train.jsonl", EXAMPLES)
    settings = FineTuning(epochs=40, batch=3, learning_rate=3e-2, max_tokens=WINDOW, save_steps=99)
    finetune(
        save_tiny(folder / "base"), [folder / "train.jsonl"], folder / "reader", settings,
        device="cpu",
    )  # fmt: skip
    return folder / "reader"


@pytest.fixture(scope="module")
def model(reader_folder):
    return TransformersModel(reader_folder, device="cpu")


def test_it_answers_what_it_was_trained_on(model):
    reader = LLMReader(model)
    for example in EXAMPLES:
        answer = reader.read(example.question, example.evidence)
        assert answer.entities == example.answers
        assert (answer.llm_calls, answer.llm_attempts, answer.parse) == (1, 1, "parsed")
        assert answer.raw == f"Answer: {example.answers[0]}"
        assert answer.prompt_tokens > answer.completion_tokens > 0
    assert reader.report.parsed == len(EXAMPLES)


def test_paths_that_end_in_an_answer_are_cited(model):
    answer = LLMReader(model).read(EXAMPLES[0].question, CAPITALS)
    assert (answer.citations, answer.unsupported, answer.text) == ([0], [], "Lima")


def test_an_answer_that_no_path_ends_in_is_marked(model):
    found = evidence(["Peru", "capital", "Lima "], ["Peru", "border", "Chile"])
    other = evidence(["Peru", "border", "Chile"])
    assert LLMReader(model).read(EXAMPLES[0].question, found).parse
    answer = LLMReader(Says("Answer: Paris; Chile")).read("q", other)
    assert (answer.entities, answer.unsupported, answer.citations) == (["Chile"], ["Paris"], [0])


def test_the_folder_alone_is_enough(reader_folder):
    reader = LLMReader(reader_folder)
    assert isinstance(reader.model, TransformersModel)
    assert reader.read(EXAMPLES[1].question, EXAMPLES[1].evidence).entities == ["Chile"]


def test_without_evidence_nothing_is_asked(model):
    before = model.usage.calls
    answer = LLMReader(model).read("Who?", Evidence())
    assert (answer.llm_calls, answer.entities, model.usage.calls) == (0, [], before)


def test_batches_and_event_loops(model):
    reader = LLMReader(model)
    questions, _, found = zip(*EXAMPLES, strict=True)
    answers = reader.read_batch(questions, found)
    assert [answer.entities for answer in answers] == [one.answers for one in EXAMPLES]
    waited = asyncio.run(reader.aread_batch(questions, found))
    assert [answer.raw for answer in waited] == [answer.raw for answer in answers]


def test_too_many_paths_lose_the_last_and_are_counted(model):
    many = evidence(*(["Peru", "border", f"country {i}"] for i in range(20)))
    answer = LLMReader(model, fallback=True).read("What borders Peru?", many)
    assert answer.prompt_tokens <= WINDOW - WINDOW // 4
    assert 0 < answer.unread < 20
    assert all(index < 20 - answer.unread for index in answer.citations)


def test_a_question_that_does_not_fit_is_an_error(model):
    with pytest.raises(LLMError, match=r"the prompt has .* tokens, there is room for 192"):
        LLMReader(model).read("?" * 300, CAPITALS)
    answer = LLMReader(model, fallback=True).read("?" * 300, CAPITALS)
    assert answer.llm_calls == 0
    assert "there is room for" in answer.fallback


def test_a_template_leaves_no_other_form(model):
    with pytest.raises(ValueError, match="has a template: leave variant and form out"):
        LLMReader(model, form="json")


def test_it_is_a_chat_model_without_schema(model):
    assert isinstance(model, ChatModel)
    assert isinstance(model, TemplateModel)
    with pytest.raises(SchemaRefused):
        model.chat([{"role": "user", "content": "x"}], schema={})
    with pytest.raises(LLMError, match="no chat template"):
        model.chat([{"role": "user", "content": "x"}])


def test_a_pickle_loads_the_folder_again(model):
    again = pickle.loads(pickle.dumps(model))
    prompt = "Question: Who?\n"
    assert again.complete(prompt).text == model.complete(prompt).text
    assert repr(again) == repr(model)


class Says(TransformersModel):
    """A fine-tuned model that says what it is told."""

    def __init__(self, text, template=None, cut=False):
        self.text, self.cut, self.prompts = text, cut, []
        self._template = ReaderTemplate() if template is None else template

    name = "says"
    contrast = 0.0

    def fits(self, prompt, max_tokens=None):
        return True

    def complete(self, prompt, *, without=None, max_tokens=None):
        from hyperhop.llm import Reply

        self.prompts.append(prompt)
        return Reply(self.text, cut=self.cut)


def test_wording_and_number_of_paths_are_the_templates(tmp_path):
    template = ReaderTemplate(max_paths=1, mediators="skip")
    said = Says("Answer: Lima", template)
    found = evidence(["Peru", "a", "m.01", "capital", "Lima"], ["Peru", "border", "Chile"])
    answer = LLMReader(said).read("Which?", found)
    assert said.prompts == ["Context: [Peru -a-> -capital-> Lima] Question: Which?\n"]
    assert answer.unread == 1


def test_replies_that_are_cut_or_empty():
    answer = LLMReader(Says("Answer: Lima; Sant", cut=True)).read("q", CAPITALS)
    assert (answer.entities, answer.parse) == (["Lima"], "repaired")
    with pytest.raises(ParseFailure, match="cut at max_tokens"):
        LLMReader(Says("Answer: Sant", cut=True)).read("q", CAPITALS)


def test_without_paths_the_answers_are_the_models_own(tmp_path):
    said = Says("Answer: Lima; Paris", ReaderTemplate(paths=False))
    for found in (CAPITALS, Evidence()):
        answer = LLMReader(said).read("Which?", found)
        assert answer.entities == answer.unsupported == ["Lima", "Paris"]
        assert (answer.citations, answer.llm_calls, answer.unread) == ([], 1, 0)
    assert said.prompts == ["Question: Which?\n"] * 2


def test_no_paths_from_export_to_answer(tmp_path):
    template = ReaderTemplate(paths=False)
    write_examples(tmp_path / "t.jsonl", EXAMPLES, template)
    settings = FineTuning(epochs=40, batch=3, learning_rate=3e-2, max_tokens=WINDOW, save_steps=99)
    finetune(save_tiny(tmp_path / "base"), [tmp_path / "t.jsonl"], tmp_path / "out", settings,
             device="cpu")  # fmt: skip
    answer = LLMReader(tmp_path / "out").read(EXAMPLES[0].question, Evidence())
    assert answer.entities == EXAMPLES[0].answers


@pytest.mark.needs("peft")
@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # peft 0.21
def test_adapters_are_read_too(tmp_path):
    write_examples(tmp_path / "t.jsonl", EXAMPLES)
    settings = FineTuning(epochs=1, lora_rank=2, max_tokens=WINDOW)
    base = save_tiny(tmp_path / "base")
    finetune(base, [tmp_path / "t.jsonl"], tmp_path / "out", settings, device="cpu")
    model = TransformersModel(tmp_path / "out")
    assert model.template is not None
    assert model.complete("Question: Who?\n").completion_tokens > 0


# --- any other folder --------------------------------------------------------------------------


def test_a_chat_model_of_transformers(tmp_path):
    model = open_chat(str(save_tiny(tmp_path / "chat", chat=True, window=2048)))
    assert model.template is None
    reply = model.chat([{"role": "user", "content": "Peru?"}], max_tokens=4)
    assert (reply.completion_tokens, reply.cut) == (4, True)
    reader = LLMReader(model, fallback=True)
    assert reader.read("Which?", CAPITALS).fallback  # it says nothing that can be read
    assert reader.report.failed == 1


@pytest.mark.parametrize("broken", ["no folder", "no config", "bad config", "bad template"])
def test_folders_that_hold_no_model(tmp_path, broken):
    folder = tmp_path / "m"
    if broken == "no folder":
        with pytest.raises(FileNotFoundError):
            TransformersModel(folder)
        return
    folder.mkdir()
    if broken != "no config":
        (folder / "config.json").write_text("{}")
    if broken == "bad template":
        save_tiny(folder)
        (folder / FILE).write_text("{}")
    with pytest.raises(ValueError, match=r"holds no|cannot be loaded"):
        TransformersModel(folder)


def test_numbers_out_of_range(reader_folder):
    for options, fault in (
        ({"max_tokens": WINDOW}, "max_tokens must be from 1 to below the 256"),
        ({"max_tokens": 0}, "max_tokens must be"),
    ):
        with pytest.raises(ValueError, match=fault):
            TransformersModel(reader_folder, **options)


# --- the command line --------------------------------------------------------------------------


def test_ask_reads_with_the_folder(reader_folder, tmp_path, capsys):
    graph = KnowledgeGraph.from_triples([("Peru", "border", "Chile")])
    graph.save(tmp_path / "graph")
    asked = ["ask", str(tmp_path / "graph"), EXAMPLES[1].question, "--max-hops", "1"]
    with pytest.raises(SystemExit) as stopped:
        app([*asked, "--json", "--llm", str(reader_folder)])
    assert stopped.value.code == 0
    answer = json.loads(capsys.readouterr().out)["answer"]
    assert (answer["entities"], answer["llm_calls"]) == (["Chile"], 1)
    assert answer["raw"] == "Answer: Chile"


def run(capsys, *words):
    """Exit status, stdout and stderr of a command."""
    with pytest.raises(SystemExit) as stopped:
        app(list(map(str, words)))
    return stopped.value.code, *capsys.readouterr()


def test_export_train_and_ask_by_commands(tmp_path, capsys):
    KnowledgeGraph.from_triples(
        [("Peru", "border", "Chile"), ("Lima", "river", "Rimac"), ("Peru", "capital", "Lima")]
    ).save(tmp_path / "graph")
    lines = [
        {"question": example.question, "topic": topic, "answers": example.answers}
        for example, topic in zip(EXAMPLES, ["Peru", "Peru", "Lima"], strict=True)
    ]
    lines.append({"question": "Who?", "topic": "Mars", "answers": ["x"]})
    asked = tmp_path / "questions.jsonl"
    asked.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    data, out = tmp_path / "train.jsonl", tmp_path / "reader"
    code, said, errors = run(
        capsys, "train", "examples", tmp_path / "graph", asked, "-o", data, "--max-hops", "1",
        "--max-paths", "3",
    )  # fmt: skip
    assert (code, said.splitlines()[0]) == (
        0,
        f"{data}: 3 examples, an answer among the paths of 3",
    )
    assert "1 question left out: no path was found" in errors
    base = save_tiny(tmp_path / "base")
    code, said, _ = run(
        capsys, "train", "reader", data, "--base", base, "-o", out, "--epochs", "2", "--batch", "2",
        "--learning-rate", "0.01", "--device", "cpu", "--seed", "3",
    )  # fmt: skip
    assert code == 0
    assert f"{out}: 3 examples, 4 steps in" in said
    assert "on cpu (float32)" in said
    assert TransformersModel(out).template == ReaderTemplate(max_paths=3, max_tokens=WINDOW)
    code, said, errors = run(
        capsys, "ask", tmp_path / "graph", "What borders Peru?", "--llm", out, "--contrast", "0.5",
        "--fallback",
    )  # fmt: skip
    assert code in (0, 1)
    code, _, errors = run(
        capsys, "train", "reader", data, "--base", base, "-o", out, "--device", "cpu"
    )
    assert (code, errors) == (1, f"hyperhop: {out}: holds a fine-tuned reader already\n")


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (
            ["train", "reader", "t.jsonl", "--base", "b", "--preset", "x"],
            "--preset must be paper or",
        ),
        (["train", "examples", "{graph}", "PQ-2H", "-o", "t.jsonl"], "name a .jsonl file"),
        (["train", "examples", "{graph}", "q.jsonl", "-o", "t", "--part", "dev"], "to benchmarks"),
        (["ask", "{graph}", "Who?", "--contrast", "1"], "--contrast is for --reader llm"),
    ],
)
def test_commands_that_cannot_be(tmp_path, capsys, monkeypatch, words, fault):
    monkeypatch.delenv("HYPERHOP_DATA", raising=False)
    KnowledgeGraph.from_triples([("Peru", "border", "Chile")]).save(tmp_path / "graph")
    code, _, errors = run(capsys, *(word.format(graph=tmp_path / "graph") for word in words))
    assert code == 2
    assert fault in " ".join(errors.replace("│", " ").split())
