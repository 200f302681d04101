"""The paper's studies, on a small family whose paths can be told apart by order alone."""

import json
import re

import pytest

from hyperhop.evaluate import studies, tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A made-up PQ-2H: p0 has a boss and a friend, whose friend and boss differ."""
    folder = tmp_path_factory.mktemp("family")
    facts, lines = [], []
    for i in range(20):
        me, boss, friend = f"p{i}", f"b{i}", f"f{i}"
        facts += [(me, "boss", boss), (me, "friend", friend), (boss, "friend", f"x{i}")]
        facts += [(friend, "boss", f"y{i}"), (me, "boss", f"a{i}"), (f"a{i}", "boss", f"z{i}")]
        for path, end in (("boss#%s#friend", f"x{i}"), ("friend#%s#boss", f"y{i}")):
            gold = f"{me}#{path % (boss if end[0] == 'x' else friend)}#{end}"
            words = gold.split("#")[1::2]
            lines.append(f"the {words[1]} of the {words[0]} of {me} ?\t{end}({end}/)\t{gold}")
    (folder / "2H-kb.txt").write_text("".join("\t".join(f) + "\n" for f in facts), "utf-8")
    (folder / "PQ-2H.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def context(folder):
    return studies.Context("PQ-2H", folder, "train", planner="gold")


def column(study, key, **where):
    rows = study.table.rows
    return [row[key] for row in rows if all(row[k] == v for k, v in where.items())]


def test_a_commutative_operator_cannot_tell_an_order(context):
    study = studies.run("operators", context)
    for name, expected in (
        *((flat, 0.5) for flat in ("bipolar", "real", "mix", "fhrr", "hrr", "ghrr diagonal")),
        ("ghrr haar", 1.0),
        ("ghrr householder", 1.0),
    ):
        for key in ("path_hit_at_1", "hits_at_1", "set_exact"):
            assert set(column(study, key, operator=name)) == {expected}, (name, key)
        assert set(column(study, "swapped", operator=name)) == {float(expected < 1)}
    assert column(study, "d", operator="ghrr haar") == [4096, 4096, 64, 64]
    assert column(study, "d", operator="hrr") == [4096, 8192, 64, 128]
    assert "of the 32 questions with a permutation" in study.table.notes[1]


def test_more_numbers_and_blocks_that_do_not_commute(context):
    study = studies.run("dimension", context)
    assert set(column(study, "path_hit_at_1", block_size=4)) == {1.0}
    assert max(column(study, "path_hit_at_1", block_size=1)) == 0.5
    assert len(study.table.rows) == 21
    sizes = column(study, "codebook_megabytes", block_size=2)
    assert sizes == sorted(sizes)
    assert sizes[0] == pytest.approx(len(context.graph.symbols) * 512 * 8 / 1e6)


def test_what_is_kept_is_what_a_reader_sees(context):
    study = studies.run("topk", context)
    assert column(study, "k") == ["2", "3", "5", "none"]
    assert set(column(study, "hits_at_1")) == {1.0}
    assert set(column(study, "answer_recall")) == {1.0}
    paths, tokens = column(study, "paths"), column(study, "prompt_tokens")
    assert paths == sorted(paths)
    assert paths[-1] == 6  # five sequences, "boss" with two ends
    assert tokens[0] < tokens[1] < tokens[2] == tokens[3]


def test_questions_without_candidates_are_misses(folder):
    lost = studies.Context("PQ-2H", folder, "train", planner="gold", cap=1, max_hops=1)
    assert lost.unanswerable == 0
    rows = studies.run("topk", lost).table.rows
    assert {row["hits_at_1"] for row in rows} == {0.0}


def test_a_study_says_what_was_run(context):
    found = json.loads(json.dumps(studies.run("topk", context).to_dict()))
    assert (found["study"], found["paper"]) == ("topk", "table 5")
    assert (found["benchmark"], found["split"], found["part"]) == ("PQ-2H", "disjoint", "train")
    assert (found["planner"], found["encoder"], found["questions"]) == ("gold", "hashing", 32)
    assert {"k", "hits_at_1", "milliseconds"} <= set(found["rows"][0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"part": "all"}, "study: part must be train, dev, test, got 'all'"),
        ({"limit": 0}, "study: PQ-2H has no questions in dev"),
        ({"planner": "oracle"}, "planner must be one of"),
    ],
)
def test_a_context_refuses(folder, arguments, message):
    with pytest.raises(ValueError, match=message):
        studies.Context("PQ-2H", folder, **arguments)


def test_there_are_so_many_studies(context):
    with pytest.raises(ValueError, match=r"expected one of operators, topk, .*, got 'taste'"):
        studies.run("taste", context)


ODD = tables.Table(
    "50 % of A_B & C",
    (tables.Column("name", "na|me"), tables.Column("value", "v#", ".2f")),
    [{"name": r"a\b{c}^~$", "value": 0.5}, {"name": "x\ny", "value": (0.25, 1.0)}, {"name": "-"}],
    ("See <b>[1]</b>.",),
)


def test_markdown_keeps_its_cells():
    lines = tables.markdown(ODD).splitlines()
    assert lines[0] == r"**50 % of A\_B & C**"
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    assert [len(row) for row in rows] == [2] * 5
    assert rows[1] == [" --- ", " ---: "]
    assert rows[2] == [r" a\\b{c}^~$ ", " 0.50 "]
    assert rows[3:] == [[" x y ", " 0.25 to 1.00 "], [" - ", " - "]]
    assert lines[-1] == r"See \<b>\[1\]\</b>."


def test_latex_is_well_formed():
    text = tables.latex(ODD)
    plain = re.sub(r"\\[\\&%$#_{}]|\\[a-z]+", "", text)
    assert plain.count("{") == plain.count("}")
    assert not set("%$#_^~") & set(plain)
    assert re.findall(r"\\(begin|end)\{(\w+)\}", text) == [
        *(("begin", "table"), ("begin", "tabular"), ("end", "tabular"), ("end", "table"))
    ]
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert [len(re.findall(r"(?<!\\)&", line)) for line in body] == [1] * 4
    assert r"a\textbackslash{}b\{c\}\textasciicircum{}\textasciitilde{}\$ & 0.50" in text
    assert r"\caption{50 \% of A\_B \& C. See <b>[1]</b>.}" in text
