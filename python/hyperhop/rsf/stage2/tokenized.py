"""Examples as tokens with labels, shortened to the length a model is trained at."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from hyperhop.llm.template import ReaderTemplate
from hyperhop.llm.tokens import completion_tokens, prompt_tokens
from hyperhop.rsf.stage2.examples import Record

IGNORED = -100  # the label of a token that has no part in the loss


@dataclass(frozen=True)
class Tokenized:
    """Token examples, and what did not fit.

    Attributes:
        examples: (tokens, how many of them are the prompt).
        shortened: examples that lost paths; `paths_dropped` how many, always the last ones.
        too_long: examples left out because question and answers alone are too long.
    """

    examples: list[tuple[list[int], int]]
    shortened: int
    paths_dropped: int
    too_long: int


def tokenize(
    records: Iterable[Record], template: ReaderTemplate, tokenizer: Any, max_tokens: int
) -> Tokenized:
    """At most `max_tokens` of each record: whole paths are left out, from the last, until it fits.

    Paths and prompts are never cut in the middle, and answers are never shortened.
    """
    examples: list[tuple[list[int], int]] = []
    shortened = dropped = too_long = 0
    for record in records:
        completion = completion_tokens(tokenizer, record.completion)
        found = template.shorten(
            record.question, record.context, _fits(tokenizer, max_tokens - len(completion))
        )
        if found is None:
            too_long += 1
            continue
        text, shown = found
        prompt = prompt_tokens(tokenizer, text)
        examples.append((prompt + completion, len(prompt)))
        shortened += shown < len(record.context)
        dropped += len(record.context) - shown
    return Tokenized(examples, shortened, dropped, too_long)


def _fits(tokenizer: Any, room: int) -> Callable[[str], bool]:
    return lambda prompt: len(prompt_tokens(tokenizer, prompt)) <= room


def labels_of(tokens: list[int], prompt: int) -> list[int]:
    """What the loss compares with: the completion's tokens, `IGNORED` for the prompt's."""
    return [IGNORED] * prompt + tokens[prompt:]


def collate(rows: list[dict[str, list[int]]], pad: int) -> dict[str, Any]:
    """Rows of {"input_ids", "labels"} as int64 tensors (B, longest), padded on the right.

    `attention_mask` is 0 where they are padded, and labels are `IGNORED` there.
    """
    import torch

    longest = max(len(row["input_ids"]) for row in rows)
    filled = {"input_ids": pad, "labels": IGNORED, "attention_mask": 0}
    batch = {name: torch.full((len(rows), longest), fill) for name, fill in filled.items()}
    for i, row in enumerate(rows):
        size = len(row["input_ids"])
        batch["input_ids"][i, :size] = torch.tensor(row["input_ids"])
        batch["labels"][i, :size] = torch.tensor(row["labels"])
        batch["attention_mask"][i, :size] = 1
    return batch
