"""Calibration fitted on a grid, on data made here where it must help, and where it cannot."""

import json
from itertools import product

import numpy as np
import pytest

from hyperhop import PathHD
from hyperhop.evaluate import evaluate, studies, tables
from hyperhop.evaluate.tune import LAMBDAS, STEPS, read_calibration, tune
from hyperhop.pathhd import Calibration, Frequencies
from hyperhop.pathhd.calibration import PRESETS


class Wordless:
    """An encoder without a word: every plan weighs alike, so that names decide."""

    name, dim, query_prompt = "wordless", 4, ""

    def encode(self, texts):
        return np.zeros((len(texts), 4), np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ten people with an "ally", who leads to the answer by a relation that nobody else has."""
    folder = tmp_path_factory.mktemp("rare")
    facts, lines = [], []
    for i in range(10):
        facts += [(f"p{i}", "ally", f"q{i}"), (f"q{i}", f"zoom{i}", f"t{i}")]
        lines.append(f"what of p{i} ?\tt{i}(t{i}/)\tp{i}#ally#q{i}#zoom{i}#t{i}")
    (folder / "2H-kb.txt").write_text("".join("\t".join(f) + "\n" for f in facts), "utf-8")
    (folder / "PQ-2H.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def context(folder, **arguments):
    return studies.Context("PQ-2H", folder, "train", encoder=Wordless(), **arguments)


def test_the_grid_finds_what_helps(folder):
    """Plans score .89 and .45; IDFs of log 5 and log (17 / 9) turn them at alpha .4 or .5."""
    found = tune(context(folder))
    assert len(found.surface) == 2 * len(STEPS) ** 2 * len(LAMBDAS)
    assert found.plain_hits_at_1 < found.best_hits_at_1 == max(found.surface.values()) == 1.0
    best = found.best
    equal = [point for point, hits in found.surface.items() if hits == found.best_hits_at_1]
    assert best.alpha == min(alpha for _, alpha, _, _ in equal)
    assert best.beta == min(beta for _, alpha, beta, _ in equal if alpha == best.alpha)
    assert best.frequencies.questions == 8
    assert best.frequencies.counts["ally",] == 8
    assert set(best.frequencies.counts.values()) == {1, 8}
    assert (best.idf, best.alpha > 0.3) == ("paper", True)


def test_every_point_is_what_pathhd_would_do(folder):
    asked = context(folder)
    found = tune(asked)
    train = asked.data.train
    for idf, alpha, beta, lam in (
        *(("paper", a, b, 0.6) for a, b in product((0.0, 0.2, 0.5), (0.0, 0.5))),
        ("normalized", 0.5, 0.1, 0.9),
        ("paper", found.best.alpha, found.best.beta, found.best.lam),
    ):
        calibration = Calibration(alpha, beta, lam, idf, found.best.frequencies)
        system = PathHD(
            asked.graph, planner=asked.planner, calibration=calibration, **asked.data.options
        )
        hits = [system.retrieve(q.text, q.topic).sequences[0].ends[0] in q.answers for q in train]
        assert found.surface[idf, alpha, beta, lam] == np.mean(hits), (idf, alpha, beta, lam)


def test_where_nothing_helps_there_is_no_calibration(folder):
    found = tune(context(folder, planner="gold"))
    assert found.best_hits_at_1 == found.plain_hits_at_1 == 1.0
    assert (found.best.alpha, found.best.beta, found.best.lam) == (0.0, 0.0, 0.8)
    assert found.best.idf == "paper"
    assert set(found.presets) == {
        (name, idf) for name in PRESETS for idf in ("paper", "normalized")
    }


def test_its_tables_and_its_figure(folder):
    found = tune(context(folder))
    text = tables.markdown(found.table)
    assert "| none | - | - | - | - |" in text
    assert "| preset cwq | normalized | 0.3 | 0.1 | 0.8 |" in text
    surface = found.surface_table("paper")
    assert [row["alpha"] for row in surface.rows] == list(STEPS)
    assert surface.rows[0]["beta 0.0"] == found.plain_hits_at_1
    assert len(found.figure("paper").rows) == len(STEPS) ** 2


def test_the_file_is_a_calibration(folder, tmp_path):
    found = tune(context(folder))
    file = tmp_path / "best.json"
    file.write_text(json.dumps(found.to_dict()), "utf-8")
    read = read_calibration(file)
    assert read == found.best
    again = evaluate(
        "PQ-2H", folder, "train", encoder=Wordless(), planner="lexical", calibration=read
    )
    assert again.hits_at_1 == found.best_hits_at_1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[1]", "has no key 'calibration'"),
        ('{"calibration": {"alpha": 1}}', "expected alpha, beta, lam, idf and frequencies"),
        (
            '{"calibration": {"alpha": 1, "beta": 0, "lam": 2, "idf": "paper", '
            '"frequencies": null}}',
            "0 < lam <= 1",
        ),
    ],
)
def test_another_file_is_refused(tmp_path, text, message):
    file = tmp_path / "other.json"
    file.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=message):
        read_calibration(file)


def test_a_calibration_survives_json():
    counts = {("a", "b"): 2, ("ä",): 1}
    for frequencies in (None, Frequencies(3, counts)):
        calibration = Calibration(0.1, 0.2, 0.7, "normalized", frequencies)
        assert Calibration.from_dict(json.loads(json.dumps(calibration.to_dict()))) == calibration
