"""A corpus that is put together passage by passage, none of them twice."""

from collections.abc import Iterable

from hyperhop.help import Extraction, Passage, Triple

Key = tuple[str, str]


class Corpus:
    """Distinct passages in the order in which they came; ids are their positions.

    Passages are the same if their titles are and their texts are but for white space: published
    files join the sentences of one passage in several ways.

    Attributes:
        passages: each with its title, None where it has none.
        merged: how many came again.
    """

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.merged = 0
        self._ids: dict[Key, str] = {}

    def add(self, title: str | None, text: str) -> str:
        """The id of a passage, which is added unless it is here."""
        passage = Passage(str(len(self.passages)), text, title)
        known = self._ids.setdefault(_key(passage), passage.id)
        if known == passage.id:
            self.passages.append(passage)
        else:
            self.merged += 1
        return known

    def find(self, title: str | None, text: str) -> str | None:
        """The id of a passage; None where it is not here."""
        return self._ids.get(_key(Passage("", text, title)))

    def triples(self, extraction: Extraction) -> tuple[list[list[Triple]], int]:
        """The triples of each passage, and how many passages the extraction knows nothing of.

        ValueError where it knows nothing of any.
        """
        found: list[dict[Triple, None]] = [{} for _ in self.passages]
        known = set()
        for extracted in extraction.passages:
            place = self._ids.get(_key(extracted.passage))
            if place is not None:
                known.add(place)
                found[int(place)].update(dict.fromkeys(extracted.triples))
        if self.passages and not known:
            raise ValueError("passages: the OpenIE file has none of the corpus")
        return [list(triples) for triples in found], len(self.passages) - len(known)


def joined(sentences: Iterable[str]) -> str:
    """One text of sentences, some of which begin with white space of their own."""
    return " ".join(sentence.strip() for sentence in sentences)


def _key(passage: Passage) -> Key:
    """OpenIE files may hold title and text in one; then the title is the first line."""
    title, _, text = passage.full_text.partition("\n")
    return title.strip(), "".join(text.split())
