"""What a question asks for, among the sequences that exist."""

from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop.pathhd import Planner, get_planner, planner_names
from hyperhop.pathhd.candidates import Candidates, name_ranks
from hyperhop.pathhd.planners import embedding, needs_encoder, ranked
from hyperhop.pathhd.planners.question import parse_question
from hyperhop.paths import Paths
from hyperhop.text import HashingEncoder, WordLlamaEncoder
from hyperhop.text.mention import find_mention
from strategies import ragged_paths

RELATIONS = ["border", "capital", "currency", "language", "parents", "place_of_birth", "spouse"]
SYMBOLS = RELATIONS + ["^" + name for name in RELATIONS]
PLANNERS = ["lexical", "embedding", "contextual"]


class Spelling(HashingEncoder):
    """A token for each word, that of its text alone."""

    def encode_tokens(self, texts):
        states = [self.encode(text.split()) for text in texts]
        return np.concatenate(states), np.cumsum([0, *map(len, states)])


def make(planner, symbols=SYMBOLS):
    return get_planner(planner, symbols, Spelling())


def candidates(*sequences, symbols=SYMBOLS):
    return Candidates(Paths.from_lists(list(sequences), names=symbols), symbols)


def best(planner, question, topic, *sequences):
    given = candidates(*sequences)
    plans = make(planner).plan(question, find_mention(question, topic), given)
    return given.relations(int(plans.sequences[0]))


@pytest.mark.parametrize(
    ("question", "topic", "groups"),
    [
        ("what is Ann 's mother 's job ?", "Ann", [["mother"], ["job"]]),
        ("what is the job of the mother of Ann ?", "Ann", [["mother"], ["job"]]),
        ("the children of child of Ann 's wife ?", "Ann", [["wife"], ["child"], ["children"]]),
        (
            "Which currency is used in the country whose capital is Lima?",
            "Lima",
            [["capital"], ["currency", "used"]],
        ),
        (
            "What is the capital of the country whose currency is euro?",
            "euro",
            [["currency"], ["capital"]],
        ),
        ("where does Ann 's mother come from ?", "Ann", [["mother"], ["come"], ["where"]]),
        ("Which city are Ann’s parents from?", "Ann", [["parents"], ["city"]]),
        ("What is the name of Ann's aunt?", "Ann", [["aunt"]]),
        ("Ann", "Ann", []),
        ("job of mother", "Ann", [["mother"], ["job"]]),
    ],
)
def test_groups_lead_away_from_the_topic(question, topic, groups):
    found = parse_question(question, find_mention(question, topic))
    assert [list(group.words) for group in found] == groups


def test_flags_of_groups():
    capital, currency = parse_question(
        "Which currency has the country whose capital is X", (48, 49)
    )
    assert (capital.backwards, capital.asked) == (True, False)
    assert (currency.backwards, currency.asked) == (False, True)
    use, currency = parse_question("Which currency does Peru use?", (20, 24))
    assert (use.predicate, use.outward, currency.outward) == (True, True, False)
    film, wrote = parse_question("who wrote the film Peru", (19, 23))
    assert (film.asked, wrote.asked) == (True, False)
    genre, _ = parse_question("what genres are the films of Peru", (29, 33))[::-1]
    assert (genre.words, genre.asked) == (("genres",), False)
    married, wife = parse_question("the man whose wife married Peru", (27, 31))[:2]
    assert (married.words, married.backwards) == (("married",), False)
    assert (wife.words, wife.backwards) == (("wife",), True)
    (where,) = parse_question("where is Ann 's", (9, 12))
    assert where.words == ("where",)
    (kept,) = parse_question("the name of Ann", (12, 15), keep=frozenset({"name"}))
    assert kept.words == ("name",)


@pytest.mark.parametrize(
    ("question", "topic", "groups"),
    [
        ("where was the spouse of Ann born ?", "Ann", [["spouse"], ["born"], ["where"]]),
        ("when did the films by Ann release ?", "Ann", [["films"], ["release"], ["when"]]),
        ("the films by Ann were in which languages ?", "Ann", [["films"], ["languages"]]),
        ("films by the friend of Ann starred who", "Ann", [["friend"], ["films"], ["starred"]]),
        ("what is the job of Ann's mother's brother?", "Ann", [["mother"], ["brother"], ["job"]]),
        ("what genres are the films by Ann actors ?", "Ann", [["actors"], ["films"], ["genres"]]),
        ("is Ann 's mother a man or a woman ?", "Ann", [["mother"], ["man", "woman"]]),
        ("who wrote the films starred by Ann ?", "Ann", [["films", "starred"], ["wrote"]]),
        ("what genres do the plays by Ann fall under ?", "Ann", [["plays"], ["fall"], ["genres"]]),
        ("the works_written of Ann", "Ann", [["works", "written"]]),
        ("who's the author of Ann", "Ann", [["author"]]),
    ],
)  # fmt: skip
def test_what_is_said_of_a_phrase_comes_after_it(question, topic, groups):
    found = parse_question(question, find_mention(question, topic))
    assert [list(group.words) for group in found] == groups


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("what are the films that share directors with X", ["directors"]),
        ("which films share the same director with X", ["director"]),
        ("which films have the same director as X", ["director"]),
        ("which films are directed by the same director as X", ["films", "directed", "director"]),
        ("who appeared in the same film as X", ["appeared", "film"]),
        ("what are the films whose directors also directed X", ["directors", "directed"]),
        ("who directed films together with X", ["directed", "films"]),
        ("who co-directed X", ["directed"]),
    ],
)
def test_steps_there_and_back(question, words):
    found = parse_question(question, (len(question) - 1, len(question)))
    assert [list(group.words) for group in found if group.returns] == [words]


FILM_RELATIONS = ["directed_by", "written_by", "starred_actors", "has_genre", "release_year"]
FILM_SYMBOLS = FILM_RELATIONS + ["^" + name for name in FILM_RELATIONS]
OF_FILM = [[a] for a in FILM_RELATIONS]
OF_FILM += [[a, "^" + a] for a in FILM_RELATIONS]
OF_FILM += [[a, "^" + b] for a in FILM_RELATIONS[:3] for b in FILM_RELATIONS[:3] if a != b]
OF_FILM += [[*walk, c] for walk in OF_FILM if len(walk) == 2 for c in FILM_RELATIONS]
OF_PERSON = [["^" + walk[0]] for walk in OF_FILM[:3]]
OF_PERSON += [["^" + a, b] for a in FILM_RELATIONS[:3] for b in FILM_RELATIONS]


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who directed X", ["directed_by"]),
        ("the films that share directors with the film X were in which genres",
         ["directed_by", "^directed_by", "has_genre"]),
        ("what genres are the films directed by the X director",
         ["directed_by", "^directed_by", "has_genre"]),
        ("when did the films release whose actors also starred in X",
         ["starred_actors", "^starred_actors", "release_year"]),
        ("which films have the same director as X", ["directed_by", "^directed_by"]),
        ("the director of X also directed which films", ["directed_by", "^directed_by"]),
        ("who are the actors in the films directed by the director of X",
         ["directed_by", "^directed_by", "starred_actors"]),
        ("which person starred in the films directed by the actors of X",
         ["starred_actors", "^directed_by", "starred_actors"]),
    ],
)  # fmt: skip
def test_best_plan_from_a_film(planner, question, expected):
    given = candidates(*OF_FILM, symbols=FILM_SYMBOLS)
    plans = make(planner, FILM_SYMBOLS).plan(question, find_mention(question, "X"), given)
    assert given.relations(int(plans.sequences[0])) == expected


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what films did X direct", ["^directed_by"]),
        ("X directed films together with who", ["^directed_by", "directed_by"]),
        ("who co-directed films with X", ["^directed_by", "directed_by"]),
        ("the films directed by X were released in which years",
         ["^directed_by", "release_year"]),
        ("what were the release years of X directed films", ["^directed_by", "release_year"]),
        ("the films directed by X starred which actors", ["^directed_by", "starred_actors"]),
    ],
)  # fmt: skip
def test_best_plan_from_a_person(planner, question, expected):
    given = candidates(*OF_PERSON, symbols=FILM_SYMBOLS)
    plans = make(planner, FILM_SYMBOLS).plan(question, find_mention(question, "X"), given)
    assert given.relations(int(plans.sequences[0])) == expected


@pytest.mark.parametrize(
    ("question", "name", "found"),
    [
        ("capital of Peru, Peru?", "Peru", "Peru"),
        ("capital of PERU?", "Peru", "PERU"),
        ("capital of san  josé?", "San_José", "san  josé"),
        ("Peruvians", "Peru", None),
        ("what of C++ (lang)?", "C++ (lang)", "C++ (lang)"),
        ("nothing", "  ", None),
    ],
)
def test_find_mention(question, name, found):
    span = find_mention(question, name)
    assert (None if span is None else question[slice(*span)]) == found
    if name == "Peru" and found == "Peru":
        assert span == (17, 21)  # the last one


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(
    ("question", "topic", "expected"),
    [
        ("What is the capital of Peru?", "Peru", ["capital"]),
        ("Which currency is used in the country whose capital is Lima?", "Lima",
         ["^capital", "currency"]),
        ("Which languages are spoken in the countries that border Peru?", "Peru",
         ["border", "language"]),
        ("Which country is Lima the capital of?", "Lima", ["^capital"]),
        ("Which currency does Peru use?", "Peru", ["currency"]),
        ("Which languages are spoken in the countries bordering the country whose capital is Lima?",
         "Lima", ["^capital", "border", "language"]),
        ("the place of birth of Ann 's spouse", "Ann", ["spouse", "place_of_birth"]),
        ("Who are the parents of the spouse of Ann?", "Ann", ["spouse", "parents"]),
        ("Who is the spouse of a parent of Ann?", "Ann", ["parents", "spouse"]),
        ("Ann's spouse?", "Ann", ["spouse"]),
        ("who is the grandparent of Ann?", "Ann", ["parents", "parents"]),
        ("What is the capital of the place whose currency is euro?", "euro",
         ["^currency", "capital"]),
        ("In which place of birth was the spouse of Ann born?", "Ann",
         ["spouse", "place_of_birth"]),
        ("Who has the same language as Ann?", "Ann", ["language", "^language"]),
    ],
)  # fmt: skip
def test_best_plan(planner, question, topic, expected):
    single = [[s] for s in SYMBOLS]
    double = [[a, b] for a in SYMBOLS for b in SYMBOLS]
    triple = [["^capital", "border", b] for b in SYMBOLS]
    assert best(planner, question, topic, *single, *double, *triple) == expected


def test_the_noun_of_a_clause_is_no_step():
    sequences = [[s] for s in SYMBOLS] + [[a, b] for a in SYMBOLS for b in SYMBOLS]
    question = "Who is the person whose spouse is Ann?"
    assert best("lexical", question, "Ann", *sequences) == ["^spouse"]


@pytest.mark.parametrize("planner", PLANNERS)
def test_equal_evidence_prefers_the_shorter_then_names(planner):
    given = candidates(["capital", "border"], ["currency"], ["border"], ["border", "border"])
    plans = make(planner).plan("Tell me about X", (14, 15), given)
    assert [given.relations(i) for i in plans.sequences.tolist()][:2] == [["border"], ["currency"]]
    assert plans.weights[0] == plans.weights[1] > plans.weights[2]


@pytest.mark.parametrize("planner", PLANNERS)
def test_order_of_candidates_does_not_matter(planner):
    sequences = [[a, b] for a in SYMBOLS for b in SYMBOLS] + [[s] for s in SYMBOLS]
    question = "Which languages are spoken in the countries that border X?"
    results = []
    for order in (range(len(sequences)), np.random.default_rng(0).permutation(len(sequences))):
        given = candidates(*(sequences[i] for i in order))
        plans = make(planner).plan(question, (57, 58), given)
        assert sorted(plans.sequences.tolist()) == list(range(len(sequences)))
        assert (np.diff(plans.weights) <= 0).all()
        results.append([given.relations(i) for i in plans.sequences.tolist()])
    assert results[0] == results[1]


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("question", ["", "???", "😀", "的 首都", "the of is", "x" * 5000])
def test_any_text_is_a_question(planner, question):
    given = candidates(["capital"], ["border", "language"])
    assert len(make(planner).plan(question, None, given)) == 2
    assert len(make(planner).plan(question, None, candidates())) == 0


@pytest.mark.parametrize("planner", PLANNERS)
def test_relations_without_words_do_no_harm(planner):
    symbols = ["->", "is", "名前", "^->", "^is", "^名前"]
    given = candidates(["->"], ["is"], ["名前", "->"], symbols=symbols)
    plans = make(planner, symbols).plan("what is the 名前 of X", (17, 18), given)
    assert given.relations(int(plans.sequences[0])) == ["名前", "->"]


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_name_said_twice_is_two_steps(planner):
    symbols = ["award_nominations", "release", "release_type"]
    given = candidates(
        *([name] for name in symbols),
        ["award_nominations", "award_nominations"],
        ["release", "release_type"],
        symbols=symbols,
    )
    for question, expected in (
        ("the release_type of X 's release", ["release", "release_type"]),
        ("the award_nominations of X 's award_nominations", ["award_nominations"] * 2),
    ):
        plans = make(planner, symbols).plan(question, find_mention(question, "X"), given)
        assert given.relations(int(plans.sequences[0])) == expected


def test_exact_words_beat_stems_and_domains():
    symbols = ["music.song.recordings", "music.track.recording", "recording.label.name"]
    given = candidates(*([s] for s in symbols), symbols=symbols)
    for asked, expected in (("recordings", symbols[0]), ("recording", symbols[1])):
        plans = make("lexical", symbols).plan(f"the {asked} of X", None, given)
        assert given.relations(int(plans.sequences[0])) == [expected]


@pytest.mark.needs("text")
def test_embedding_planner_knows_synonyms():
    planner = get_planner("embedding", SYMBOLS, WordLlamaEncoder())
    given = candidates(*([a, b] for a in SYMBOLS for b in SYMBOLS), *([s] for s in SYMBOLS))
    plans = planner.plan("who is the mother of Ann 's husband ?", (21, 24), given)
    assert given.relations(int(plans.sequences[0])) == ["spouse", "parents"]


@given(ragged_paths(4), st.data())
def test_the_best_are_the_first_of_the_whole_order(sequences, data):
    names = ["d", "b", "c", "a"]
    distinct = sorted({tuple(one) for one in sequences})
    candidates = Candidates(Paths.from_lists(distinct), names)
    few = st.sampled_from([0.0, -0.0, 0.5, 1.0, np.inf, -np.inf, np.nan])
    scores = np.array([data.draw(few) for _ in distinct])

    def key(index):
        score = scores[index]
        return np.isnan(score), 0 if np.isnan(score) else -score, candidates.relations(index)

    expected = sorted(range(len(distinct)), key=key)
    assert candidates.order(scores).tolist() == expected
    for count in range(len(distinct) + 2):
        assert candidates.best(scores, count).tolist() == expected[:count]


def test_candidates_and_order():
    given = candidates(["language"], ["border", "language"], ["border"])
    assert given.table.tolist() == [[1, -1], [0, 1], [0, -1]]
    assert given.lengths.tolist() == [1, 2, 1]
    assert given.order([0.5, 0.5, 0.5]).tolist() == [2, 1, 0]
    assert given.order([0.1, np.nan, 0.2]).tolist() == [2, 0, 1]
    assert name_ranks(["b", "^a", "a"]).tolist() == [2, 0, 1]
    tied = ranked(np.array([0.3, 0.1 + 0.2, 0.3 + 1e-9]), given)
    assert tied.sequences.tolist() == [2, 1, 0]
    assert tied.weights.tolist() == [0.3, 0.3, 0.3]


class Recording(HashingEncoder):
    """Remembers what each call was given."""

    query_prompt = "question: "

    def __init__(self):
        super().__init__()
        self.calls = []

    def encode(self, texts):
        self.calls.append(list(texts))
        return super().encode(texts)


@pytest.mark.parametrize(
    "question",
    [
        "Which languages are spoken in the countries bordering the country whose capital is Lima?",
        "Which currency does Lima use?",
        "Which country has the place of birth of the wife of Lima?",
        "Which big city does the old mother of Lima like?",
        "where does Lima live?",
        "Which kind of thing is spouse Lima that has a home town?",
        "",
    ],
)
def test_each_distinct_text_is_encoded_once(question):
    encoder = Recording()
    planner = get_planner("embedding", SYMBOLS, encoder)
    (relations,) = encoder.calls  # those of all symbols, inverse ones too, in one call
    assert sorted(relations) == [
        "birth", "border", "capital", "currency", "language", "parents", "place", "spouse",
    ]  # fmt: skip
    given = candidates(["capital"], ["border", "language"])
    for _ in range(2):
        planner.plan(question, find_mention(question, "Lima"), given)
        assert len(encoder.calls) <= 2
    texts = [text for call in encoder.calls for text in call]
    assert len(texts) == len(set(texts))
    assert not any(text.startswith("question: ") for text in texts)  # no whole question either
    assert question not in texts


SPOKEN = (
    "which what where does do is the that whose of 's Lima city country like place birth spouse "
    "mother capital currency languages"
)


@given(st.lists(st.sampled_from(SPOKEN.split()), max_size=14))
def test_all_texts_of_a_question_are_known_beforehand(words):
    question = " ".join(words)
    encoder = Recording()
    planner = get_planner("embedding", SYMBOLS, encoder)
    planner.plan(question, find_mention(question, "Lima"), candidates(["capital"], ["border"]))
    assert len(encoder.calls) <= 2


def test_few_vectors_of_questions_are_kept(monkeypatch):
    monkeypatch.setattr(embedding, "_KEPT", 3)
    encoder = Recording()
    planner = get_planner("embedding", SYMBOLS, encoder)
    given = candidates(["capital"], ["border", "language"])
    fresh = [make("embedding").plan(f"the {w} of X", (9, 10), given).weights for w in "bcdebc"]
    found = [planner.plan(f"the {w} of X", (9, 10), given).weights for w in "bcdebc"]
    np.testing.assert_array_equal(found, fresh)
    assert encoder.calls.count(["b"]) == 2


def test_contextual_planner_needs_tokens():
    with pytest.raises(ValueError, match="encode_tokens, such as minilm, got 'hashing'"):
        get_planner("contextual", SYMBOLS, HashingEncoder())


class CutOff(Spelling):
    """Reads three words of a text."""

    def encode_tokens(self, texts):
        return super().encode_tokens([" ".join(text.split()[:3]) for text in texts])


def test_words_beyond_what_an_encoder_reads_are_like_nothing():
    planner = get_planner("contextual", SYMBOLS, CutOff())
    given = candidates(["capital"], ["border"], ["currency"])
    plans = planner.plan("the border of the old capital of X", (33, 34), given)
    assert given.relations(int(plans.sequences[0])) == ["border"]


@pytest.mark.parametrize("planner", PLANNERS)
def test_long_questions_take_bounded_time(planner):
    question = "which capital of the border that shares the language with " * 1000 + "X"
    given = candidates(["capital"], ["border", "language"])
    start = perf_counter()
    assert len(make(planner).plan(question, None, given)) == 2
    assert perf_counter() - start < 10


def test_planners_by_name():
    assert planner_names() == PLANNERS
    for name in PLANNERS:
        planner = make(name)
        assert isinstance(planner, Planner)
        assert planner.name == name
    with pytest.raises(ValueError, match="lexical, embedding, contextual, got 'magic'"):
        make("magic")
    assert [needs_encoder(name) for name in PLANNERS] == [False, True, True]
    assert get_planner("lexical", SYMBOLS).name == "lexical"
    with pytest.raises(ValueError, match="'embedding' needs an encoder, got None"):
        get_planner("embedding", SYMBOLS)
