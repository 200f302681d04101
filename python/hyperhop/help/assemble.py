"""From passages and what they state to an index."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hyperhop.help.embed import Wanted, embed
from hyperhop.help.former import Former, former, kept_links
from hyperhop.help.index import PassageIndex, Storage, joined_parts
from hyperhop.help.resolve import resolve
from hyperhop.help.statements import Statements
from hyperhop.help.synonyms import Pairs, joined_pairs, near_pairs, no_pairs, of_same_numbers
from hyperhop.help.texts import PassageTable
from hyperhop.text import TextEncoder, encoder_settings
from hyperhop.text.batches import Progress


def assemble(
    passages: PassageTable,
    statements: Statements,
    encoder: TextEncoder,
    storage: Storage,
    synonyms: float | None,
    progress: Progress | None,
    older: tuple[PassageIndex, npt.NDArray[np.int64]] | None = None,
) -> PassageIndex:
    """The index of these passages, which depends on nothing else, however it is come by.

    With `older`, an index of the same settings and the places of the passages there (or -1), rows
    and links are taken from it where texts are the same.
    """
    graph = resolve(statements)
    was = None if older is None else former(*older, graph)
    known = (None, None, None) if was is None else (was.passages, was.triples, was.entities)
    names, labels = list(graph.entities), list(graph.relations)

    def triple_text(place: int) -> str:
        head, relation, tail = graph.triples[place]
        return joined_parts(names[head], labels[relation], names[tail])

    wanted = [
        Wanted("passages", len(passages), lambda at: passages[at].full_text, known[0]),
        Wanted("triples", len(graph.triples), triple_text, known[1]),
    ]
    if synonyms is not None:
        wanted.append(Wanted("entities", len(names), names.__getitem__, known[2]))
    passage_rows, triple_rows, *entity_rows = embed(encoder, wanted, storage, progress)
    links, similarities = no_pairs()
    if synonyms is not None:
        links, similarities = _links(names, entity_rows[0], synonyms, was)
    return PassageIndex(
        passages=passages,
        entities=graph.entities,
        relations=graph.relations,
        triples=graph.triples,
        sources=graph.sources,
        statements=statements,
        triple_embeddings=triple_rows,
        passage_embeddings=passage_rows,
        entity_embeddings=entity_rows[0] if entity_rows else None,
        links=links,
        similarities=similarities,
        synonyms=synonyms,
        encoder=encoder_settings(encoder),
    )


def _links(
    names: Sequence[str], rows: npt.NDArray[np.generic], threshold: float, was: Former | None
) -> Pairs:
    """All links; only those with an entity that is new are looked for."""
    if was is None or was.entities is None:
        return of_same_numbers(names, near_pairs(rows, threshold))
    new = np.flatnonzero(was.entities.places < 0)
    found = of_same_numbers(names, near_pairs(rows, threshold, new))
    return joined_pairs(kept_links(was, was.entities), found)
