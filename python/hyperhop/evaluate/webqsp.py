"""Relation paths of WebQSP (Yih et al., ACL 2016) as RoG (Luo et al., ICLR 2024) grounded them."""

from pathlib import Path

from hyperhop.evaluate.files import json_lines, lines
from hyperhop.evaluate.question import Question
from hyperhop.graph import KnowledgeGraph
from hyperhop.text.relations import split_symbol

PARTS = ("train", "validation", "test")
_QUESTIONS, _SCHEMA = "webqsp_cwq_grailqa", "freebase_schema"
_HOPS = 2
_MOST = 10_000_000  # walks of the schema; Freebase's has half a million

RelationPath = tuple[str, ...]


def question_file(data_dir: str | Path, part: str) -> Path:
    """File of the questions of one part, without .gz."""
    return Path(data_dir) / _QUESTIONS / f"webqsp_rulepath_{part}.jsonl"


def load(part: str, data_dir: str | Path) -> list[Question]:
    """The questions of "train", "validation" or "test" that have a gold path, in file order.

    Gold paths are all shortest ones from the topic to an answer, as names of relations: their
    directions are not recorded. A question whose topic is its answer counts too, as published
    numbers count it; its path has no step, so `paths` is empty and no ranking hits.

    Reads webqsp_rulepath_{part}.jsonl, plain or .gz, in `webqsp_cwq_grailqa` of `data_dir`, and of
    each line only "id", "question" and "ground_paths". ValueError for another part.
    """
    if part not in PARTS:
        raise ValueError(f"WebQSP: part must be one of {', '.join(PARTS)}, got {part!r}")
    found = []
    for entry in json_lines(question_file(data_dir, part)):
        listed = entry.take("ground_paths", list)
        if not all(isinstance(p, list) and all(isinstance(r, str) for r in p) for p in listed):
            raise entry.wrong("'ground_paths' to be a list of lists of relations", repr(listed))
        paths = frozenset(tuple(path) for path in listed if path)
        name = entry.take("id", str)
        question = Question(entry.take("question", str), None, None, frozenset(), paths, name, name)
        if listed:
            found.append(question)
    return found


def schema_paths(data_dir: str | Path) -> set[RelationPath]:
    """The relation paths of 1 and 2 steps that types allow, each step in either direction.

    Of the relations in webqsp_relations_6102.txt of `webqsp_cwq_grailqa`, typed by fb_roles, plain
    or .gz, of `freebase_schema`; a relation without types is a path of 1 step only.
    """
    folder = Path(data_dir)
    vocabulary = {name for _, name in lines(folder / _QUESTIONS / "webqsp_relations_6102.txt")}
    # a few lines hold more than domain, relation and range
    roles = [line.split()[:3] for _, line in lines(folder / _SCHEMA / "fb_roles")]
    types = KnowledgeGraph.from_triples([(d, r, t) for d, r, t in roles if r in vocabulary])
    walks = types.schema.sequences(max_hops=_HOPS, cap=_MOST, inverse=True)
    if walks.truncated:
        raise ValueError(f"WebQSP: the schema has more than {_MOST:,} paths of {_HOPS} steps")
    names = [split_symbol(symbol)[0] for symbol in types.symbols]
    walked = {tuple(names[symbol] for symbol in walk) for walk in walks}
    return walked | {(name,) for name in vocabulary}
