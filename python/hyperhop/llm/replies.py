"""Reading what a language model wrote: tolerant of its habits, never silent about a loss."""


class ParseFailure(ValueError):
    """A reply that could not be read: why (`reason`), and the whole reply (`text`)."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.text = text

    def __reduce__(self) -> tuple[type["ParseFailure"], tuple[str, str]]:
        return type(self), (self.reason, self.text)
