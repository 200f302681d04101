"""The sets by name, and where their files lie."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from hyperhop.evaluate.files import located
from hyperhop.evaluate.passages import hipporag, ketrag, pooled
from hyperhop.evaluate.passages.passage_set import PassageSet

_HIPPORAG_2 = "hipporag2"


class _Source(NamedTuple):
    """A folder of the data, the file of questions in it, and what reads the set there."""

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


def _hotpotqa(name: str, folder: Path) -> PassageSet:
    corpus = folder / "hotpotqa_train_corpus.json"
    return hipporag.load(name, "HotpotQA-train-100", folder / "hotpotqa_train.json", corpus)


def _popqa(name: str, folder: Path) -> PassageSet:
    return hipporag.load(name, "PopQA-1000", folder / "popqa_1000.json")


def _two_wiki(name: str, folder: Path) -> PassageSet:
    return pooled.load(name, "2Wiki-dev (MIGRES)", folder / "migres_wikihop.json")


def _two_wiki_oracle(name: str, folder: Path) -> PassageSet:
    path = folder / "migres_wikihop.json"
    return pooled.load(name, "2Wiki-dev (MIGRES), gold triples", path, oracle=True)


def _hotpotqa_dev(name: str, folder: Path) -> PassageSet:
    return pooled.load(name, "HotpotQA-dev (MIGRES)", folder / "migres_hotpot.json")


def _ketrag(name: str, folder: Path) -> PassageSet:
    questions, document = "ketrag_musique_qa_pairs.json", "ketrag_musique_document.txt"
    return ketrag.load(name, "MuSiQue-500 (KET-RAG)", folder / questions, folder / document)


def _of_hipporag_2(name: str, folder: Path) -> PassageSet:
    """Its questions and corpus, and the one OpenIE file whose name begins so, if there is any."""
    stem = name.partition("/")[2]
    found = sorted(folder.glob(f"openie_{stem}_results_*.json*"))
    if len(found) > 1:
        raise ValueError(
            f"passages: {name} has several OpenIE files, keep one: "
            f"{', '.join(path.name for path in found)}"
        )
    corpus = folder / f"{stem}_corpus.json"
    openie = found[0] if found else None
    return hipporag.load(name, f"{stem} (HippoRAG 2)", folder / f"{stem}.json", corpus, openie)


_TEXT_QA = "multihop_text_qa"
_SETS = {
    "musique": _Source("hipporag_musique_train", "musique_train.json", _musique),
    "hotpotqa": _Source(_TEXT_QA, "hotpotqa_train.json", _hotpotqa),
    "hotpotqa-dev": _Source(_TEXT_QA, "migres_hotpot.json", _hotpotqa_dev),
    "2wiki": _Source(_TEXT_QA, "migres_wikihop.json", _two_wiki),
    "2wiki-oracle": _Source(_TEXT_QA, "migres_wikihop.json", _two_wiki_oracle),
    "popqa": _Source(_TEXT_QA, "popqa_1000.json", _popqa),
    "ketrag": _Source(_TEXT_QA, "ketrag_musique_qa_pairs.json", _ketrag),
    **{
        f"{_HIPPORAG_2}/{stem}": _Source(_HIPPORAG_2, f"{stem}.json", _of_hipporag_2)
        for stem in ("nq", "popqa", "musique", "2wikimultihopqa", "hotpotqa", "lveval")
    },
}


def names() -> list[str]:
    """Names that `load` knows.

    "musique", "hotpotqa", "popqa" and so on are subsets that are easier than the published sets,
    which have the names of HippoRAG 2's files: "hipporag2/musique" and so on.
    """
    return list(_SETS)


def is_here(name: str, data_dir: str | Path) -> bool:
    """Whether the questions of this name are where `load` looks for them, plain or .gz."""
    source = _SETS[name]
    return located(_inside(Path(data_dir), source.folder) / source.questions).exists()


def load(name: str, data_dir: str | Path) -> PassageSet:
    """A set by name; `data_dir` holds its folder, or is it.

    A set of HippoRAG 2 is read from the folder `hipporag2`: nq.json, nq_corpus.json, and the OpenIE
    triples, where there are any, from openie_nq_results_*.json.

    ValueError for another name, FileNotFoundError without the files.
    """
    if name not in _SETS:
        raise ValueError(f"passages: expected one of {', '.join(_SETS)}, got {name!r}")
    source = _SETS[name]
    return source.read(name, _inside(Path(data_dir), source.folder))


def _inside(folder: Path, name: str) -> Path:
    return folder / name if (folder / name).is_dir() else folder
