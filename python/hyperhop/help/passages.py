"""Passages of text, the unit that triples are extracted from and that answers cite."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Passage:
    """One passage; `id` is unique in its corpus, titles may repeat."""

    id: str
    text: str
    title: str | None = None

    @property
    def full_text(self) -> str:
        """The title, if there is one, on a line of its own, then the text."""
        return self.text if self.title is None else f"{self.title}\n{self.text}"


def as_passages(
    items: Iterable[Passage | str | Mapping[str, Any]], first: int = 0
) -> list[Passage]:
    """Passages from strings, from mappings with "text" and maybe "id" and "title", or as they are.

    What has no id gets its position in the iterable, counted from `first`. Raises TypeError for
    anything else, and ValueError where a mapping has no text, two ids are equal or a text is not
    valid Unicode.
    """
    if isinstance(items, str | Mapping):
        raise TypeError(
            f"as_passages: expected an iterable of passages, got one {type(items).__name__}"
        )
    passages = [_passage(item, position) for position, item in enumerate(items, first)]
    seen: set[str] = set()
    for passage in passages:
        if passage.id in seen:
            raise ValueError(f"as_passages: two passages have the id {passage.id!r}")
        seen.add(passage.id)
    return passages


def _passage(item: Any, position: int) -> Passage:
    if isinstance(item, str):
        passage = Passage(str(position), item)
    elif isinstance(item, Mapping):
        if "text" not in item:
            raise ValueError(f"as_passages: item {position} has no key 'text'")
        passage = Passage(item.get("id", str(position)), item["text"], item.get("title"))
    else:
        passage = item
    if not isinstance(passage, Passage):
        raise TypeError(
            f"as_passages: item {position} must be a Passage, a str or a mapping, "
            f"got {type(item).__name__}"
        )
    for name, value in (("id", passage.id), ("text", passage.text), ("title", passage.title)):
        if not isinstance(value, str) and not (name == "title" and value is None):
            raise TypeError(
                f"as_passages: the {name} of item {position} must be a str, "
                f"got {type(value).__name__}"
            )
        try:
            (value or "").encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"as_passages: the {name} of item {position} holds a lone surrogate"
            ) from None
    return passage
