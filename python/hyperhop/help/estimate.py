"""What an extraction will cost, before it starts."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hyperhop.help.extract import check_calls
from hyperhop.help.journal import finished, key
from hyperhop.help.passages import Passage, as_passages
from hyperhop.help.prompts import Request, both_request, entities_request, triples_request
from hyperhop.llm import ChatModel

BYTES_PER_TOKEN = 4
# Bytes of the replies for each byte of a passage: the mean over the 1,890 Wikipedia passages and
# GPT-3.5 triples of HippoRAG's MuSiQue set, written in the form that the prompts ask for.
ENTITIES_PER_BYTE = 0.35
TRIPLES_PER_BYTE = 1.65


@dataclass(frozen=True)
class CostEstimate:
    """An estimate, not a bound: tokens are taken as 4 bytes of UTF-8 each.

    What a chat template or a schema adds, and replies that are asked for again, are left out.

    Attributes:
        passages: how many will be asked about.
        resumed: how many are finished already, in the directory given.
        calls: completed calls.
        prompt_tokens: of all calls.
        completion_tokens: of all calls; real replies vary most here, by a factor of two or more.
        cost: in the currency of the prices; None without prices.
    """

    passages: int
    resumed: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", cost {self.cost:.2f}"
        return (
            f"estimate: {self.passages:,} passages, {self.calls:,} calls, about "
            f"{self.prompt_tokens:,} prompt and {self.completion_tokens:,} completion tokens{cost}"
        )


def estimate(
    passages: Iterable[Passage | str | Mapping[str, Any]],
    *,
    calls: int = 2,
    prices: tuple[float, float] | None = None,
    directory: str | os.PathLike[str] | None = None,
    model: ChatModel | None = None,
) -> CostEstimate:
    """What `extract` would ask for; sends nothing. O(bytes of the passages).

    Args:
        passages: see `as_passages`.
        calls: as for `extract`.
        prices: of a million prompt tokens and of a million completion tokens.
        directory: leaves out what is recorded there for `model`.
        model: needed with `directory`.
    """
    check_calls("estimate", calls)
    if directory is not None and model is None:
        raise ValueError("estimate: directory needs model: records are those of one model")
    listed = as_passages(passages)
    todo = [passage for passage in listed if passage.text.strip()]
    resumed = 0
    if directory is not None and model is not None:
        keys = {key(passage, model.name, calls): passage for passage in todo}
        done = finished(directory, keys)
        resumed = len(done)
        todo = [passage for of, passage in keys.items() if of not in done]
    prompt = completion = 0.0
    for passage in todo:
        size = len(passage.full_text.encode())
        entities = ENTITIES_PER_BYTE * size
        completion += (entities + TRIPLES_PER_BYTE * size) / BYTES_PER_TOKEN
        if calls == 1:
            prompt += _tokens(both_request(passage))
        else:
            prompt += _tokens(entities_request(passage)) + _tokens(triples_request(passage, []))
            prompt += entities / BYTES_PER_TOKEN
    cost = None
    if prices is not None:
        cost = (prompt * prices[0] + completion * prices[1]) / 1e6
    return CostEstimate(
        len(todo), resumed, calls * len(todo), round(prompt), round(completion), cost
    )


def _tokens(request: Request) -> float:
    return sum(len(message["content"].encode()) for message in request.messages) / BYTES_PER_TOKEN
