"""Many questions at once: over threads, and what they share done once."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from hyperhop._arrays import threads_argument
from hyperhop._core import default_threads
from hyperhop._workers import run_in_threads

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")
Progress = Callable[[int, int], object]

_CHUNK = 32  # questions that a thread takes at a time: some 50 milliseconds


def in_chunks(
    keys: Sequence[Key],
    work: Callable[[Sequence[int]], list[Result]],
    threads: int | None,
    progress: Progress | None,
    system: str,
) -> list[Result]:
    """What `work` makes of each place in `keys`, in their order; it is given many places at once.

    Places of equal keys come one after another, so that `work` can share what belongs to a key.
    `progress` is called in this thread with (places done, of). An error or an interrupt is raised
    at once: chunks under way are not waited for.
    """
    count = threads_argument(threads, system) or default_threads()
    by_key: dict[Key, list[int]] = {}
    for place, key in enumerate(keys):
        by_key.setdefault(key, []).append(place)
    places = [place for group in by_key.values() for place in group]
    chunks = [places[i : i + _CHUNK] for i in range(0, len(places), _CHUNK)]
    found: dict[int, Result] = {}

    def done(number: int, results: list[Result]) -> None:
        found.update(zip(chunks[number], results, strict=True))
        if progress is not None:
            progress(len(found), len(keys))

    if count == 1:
        for number, chunk in enumerate(chunks):
            done(number, work(chunk))
    else:
        run_in_threads(work, chunks, count, done)
    return [found[place] for place in range(len(keys))]
