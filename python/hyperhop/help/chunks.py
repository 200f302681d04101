"""Long texts in pieces that overlap."""

from dataclasses import replace

from hyperhop._extras import optional
from hyperhop.graph.arguments import at_least
from hyperhop.help.passages import Passage

CHUNK = 1200  # characters, some 200 words of English
OVERLAP = 100  # characters


class Chunker:
    """Splits passages where sentences, paragraphs or Markdown sections end, if they can.

    `chunk` is the most characters of a piece, 0 for whole texts; a piece begins with at most
    `overlap` characters of the one before it, None for 100 or a quarter of `chunk`. Raises
    ValueError for `overlap` not below `chunk`.
    """

    def __init__(self, function: str, chunk: int, overlap: int | None) -> None:
        self._chunk = at_least(function, "chunk", chunk, 0)
        if overlap is None:
            overlap = min(OVERLAP, self._chunk // 4)
        self._overlap = at_least(function, "overlap", overlap, 0)
        if self._chunk and self._overlap >= self._chunk:
            raise ValueError(f"{function}: overlap must be below chunk, {chunk}, got {overlap}")

    def pieces(self, passage: Passage, markdown: bool = False) -> list[Passage]:
        """The passage itself where it is short enough or blank, else its pieces.

        Each is a piece of the text as it stands, with the passage's title and the id "ID#1",
        "ID#2" ...; only white space between pieces is left out. Needs the extra `documents`.
        """
        if not self._chunk or len(passage.text) <= self._chunk or not passage.text.strip():
            return [passage]
        library = optional("semantic_text_splitter", "splitting long texts", "documents")
        splitter = library.MarkdownSplitter if markdown else library.TextSplitter
        texts = splitter(self._chunk, overlap=self._overlap).chunks(passage.text)
        return [
            replace(passage, id=f"{passage.id}#{number}", text=text)
            for number, text in enumerate(texts, 1)
        ]
