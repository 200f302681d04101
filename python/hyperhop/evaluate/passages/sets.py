"""The sets by name, and where their files lie."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hyperhop.evaluate.files import located
from hyperhop.evaluate.passages import hipporag
from hyperhop.evaluate.passages.passage_set import PassageSet

_MUSIQUE = "hipporag_musique_train"
_TEXT_QA = "multihop_text_qa"


class _Source(NamedTuple):
    """A folder of the data, the file of questions in it, and what reads the set."""

    folder: str
    questions: str
    read: Callable[[str, Path], PassageSet]


def _musique(name: str, folder: Path) -> PassageSet:
    return hipporag.load(
        name,
        "MuSiQue-train-100",
        folder / "musique_train.json",
        folder / "musique_train_corpus.json",
        folder / "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json",
        ("100 questions of MuSiQue's train part, HippoRAG's tuning set; triples by GPT-3.5.",),
    )


_SETS = {"musique": _Source(_MUSIQUE, "musique_train.json", _musique)}


def names() -> list[str]:
    """Names that `load` knows."""
    return list(_SETS)


def is_here(name: str, data_dir: str | Path) -> bool:
    """Whether the questions of this name are where `load` looks for them, plain or .gz."""
    source = _SETS[name]
    return located(_inside(Path(data_dir), source.folder) / source.questions).exists()


def load(name: str, data_dir: str | Path) -> PassageSet:
    """A set by name; `data_dir` holds its folder, or is it.

    ValueError for another name, FileNotFoundError without the files.
    """
    if name not in _SETS:
        raise ValueError(f"passages: expected one of {', '.join(_SETS)}, got {name!r}")
    source = _SETS[name]
    return source.read(name, _inside(Path(data_dir), source.folder))


def _inside(folder: Path, name: str) -> Path:
    return folder / name if (folder / name).is_dir() else folder
