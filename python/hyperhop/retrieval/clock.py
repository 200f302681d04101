"""How long the stages of a retrieval take."""

from time import perf_counter


class Clock:
    """Milliseconds by stage."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, stage: str) -> None:
        """Add the time since the last lap to a stage."""
        now = perf_counter()
        self.laps[stage] = self.laps.get(stage, 0.0) + (now - self._last) * 1e3
        self._last = now
