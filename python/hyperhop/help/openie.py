"""The OpenIE files of HippoRAG: one JSON object with a list of passages, entities and triples."""

import json
import os
from typing import Any

from hyperhop.graph import UnreadableFile
from hyperhop.graph.export import compressed, replaced
from hyperhop.graph.read.open import opened, suffixes
from hyperhop.help.extracted import ExtractedPassage, Extraction, settled
from hyperhop.help.passages import Passage, as_passages
from hyperhop.help.triples import Found, add_entities, add_triples, losses


def read_openie(path: str | os.PathLike[str]) -> Extraction:
    """Read HippoRAG's `openie_results_ner_*.json`, also with .gz or .zst.

    `docs` is a list of objects with `passage`, `extracted_entities`, `extracted_triples`, and maybe
    `idx` (the passage's id; its position where there is none), `title` and `text`. Entities and
    triples are mended, dropped and counted as those of a model's reply; a passage whose lists are
    no lists has failed. Raises UnreadableFile where the file is of another form.
    """
    name = os.fspath(path)
    with opened(name, None) as (stream, _):
        data = stream.read()
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(f"{name} is not JSON: {error}") from None
    docs = content.get("docs") if isinstance(content, dict) else None
    if not isinstance(docs, list):
        raise UnreadableFile(f'{name} is no OpenIE file: it holds no object with a list "docs"')
    passages = as_passages([_passage(doc, at, name) for at, doc in enumerate(docs)])
    return Extraction([_extracted(*pair) for pair in zip(docs, passages, strict=True)])


def write_openie(
    path: str | os.PathLike[str], extraction: Extraction, *, skip_failed: bool = False
) -> None:
    """Write what `read_openie`, and HippoRAG, read; with .gz or .zst in the name, compressed.

    The file has no place for failures. So they are refused (ValueError), or left out by
    `skip_failed`: a passage that failed is never written as one without triples.
    """
    failed = extraction.failed
    if failed and not skip_failed:
        raise ValueError(
            f"write_openie: {len(failed)} passages failed, first {failed[0].id!r}: "
            f"{failed[0].reason}; extract them again, or leave them out by skip_failed=True"
        )
    kept = [passage for passage in extraction.passages if passage.status != "failed"]
    entities = [entity for passage in kept for entity in passage.entities]
    content = {
        "docs": [_doc(passage) for passage in kept],
        "avg_ent_chars": _mean(sum(map(len, entities)), len(entities)),
        "avg_ent_words": _mean(sum(len(entity.split()) for entity in entities), len(entities)),
    }
    name = os.fspath(path)
    with replaced(name) as file, compressed(file, suffixes(name)[1]) as stream:
        stream.write(json.dumps(content, ensure_ascii=False).encode("utf-8"))


def _extracted(doc: Any, passage: Passage) -> ExtractedPassage:
    entities, triples = doc.get("extracted_entities"), doc.get("extracted_triples")
    for key, items in (("extracted_entities", entities), ("extracted_triples", triples)):
        if not isinstance(items, list):
            kind = type(items).__name__
            return ExtractedPassage(passage, "failed", reason=f"{key} is no list but {kind}")
    found = Found()
    add_triples(found, triples)
    unusable = "" if found.triples or not found.dropped else losses(found)
    add_entities(found, entities)
    return settled(passage, found, unusable and f"no triple could be used: {unusable}")


def _passage(doc: Any, position: int, name: str) -> Passage:
    """The passage of one document. Title and text apart where the file has them so."""
    whole = doc.get("passage") if isinstance(doc, dict) else None
    if not isinstance(whole, str):
        raise UnreadableFile(f'{name}: docs[{position}] has no text under "passage"')
    of, title, text = doc.get("idx", position), doc.get("title"), doc.get("text")
    if isinstance(title, str) and whole == f"{title}\n{text}":
        return Passage(str(of), text, title)
    return Passage(str(of), whole)


def _doc(extracted: ExtractedPassage) -> dict[str, Any]:
    passage = extracted.passage
    doc: dict[str, Any] = {"idx": passage.id, "passage": passage.full_text}
    if passage.title is not None:
        doc |= {"title": passage.title, "text": passage.text}
    return doc | {
        "extracted_entities": extracted.entities,
        "extracted_triples": extracted.triples,
    }


def _mean(total: int, count: int) -> float:
    return total / count if count else 0.0
