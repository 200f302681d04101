"""What can be wrong with an input, a stored graph or a name; each says it in one sentence."""


class DamagedStore(ValueError):
    """A saved directory that cannot be used: incomplete, changed, foreign or of another version."""


class UnreadableFile(ValueError):
    """An input file that cannot be decompressed, or is not of the format its name says."""


class MalformedLine(ValueError):
    """A line, row or item that is not a triple.

    Attributes:
        source: path of the file, or "" for an iterable or a table in memory.
        line: number of the line, row or item, from 1.
        expected: what it must look like.
        found: what is wrong with this one, and how it begins.
        unit: "line", "row" or "item".
    """

    def __init__(
        self, source: str, line: int, expected: str, found: str, unit: str = "line"
    ) -> None:
        where = f"{source}, {unit} {line}" if source else f"{unit} {line}"
        super().__init__(f"{where}: expected {expected}, found {found}")
        self.source = source
        self.line = line
        self.expected = expected
        self.found = found
        self.unit = unit

    def __reduce__(self) -> tuple[type["MalformedLine"], tuple[str, int, str, str, str]]:
        return MalformedLine, (self.source, self.line, self.expected, self.found, self.unit)


class SchemaTooLarge(ValueError):
    """A graph in which too many pairs of relations follow each other for a schema.

    Attributes:
        most: the number of pairs that is allowed.
    """

    def __init__(self, most: int) -> None:
        super().__init__(
            f"schema: expected at most {most:,} pairs of relations that follow each other, got more"
        )
        self.most = most

    def __reduce__(self) -> tuple[type["SchemaTooLarge"], tuple[int]]:
        return SchemaTooLarge, (self.most,)


class UnknownName(LookupError):
    """A name that the graph does not hold.

    Attributes:
        name: the name asked for.
        closest: up to three names like it.
    """

    kind = "name"

    def __init__(self, name: str, closest: tuple[str, ...] = ()) -> None:
        hint = ""
        if closest:
            hint = "; did you mean " + ", ".join(map(repr, closest)) + "?"
        super().__init__(f"the graph has no {self.kind} named {name!r}{hint}")
        self.name = name
        self.closest = closest

    def __reduce__(self) -> tuple[type["UnknownName"], tuple[str, tuple[str, ...]]]:
        return type(self), (self.name, self.closest)


class UnknownEntity(UnknownName):
    """An entity name that the graph does not hold."""

    kind = "entity"


class UnknownRelation(UnknownName):
    """A relation name that the graph does not hold."""

    kind = "relation"


class UnknownTriple(LookupError):
    """A triple that is not a fact of the graph.

    Attributes:
        triple: the triple asked for, as it was given.
    """

    def __init__(self, triple: tuple[int | str, ...]) -> None:
        super().__init__(f"the graph has no fact {triple!r}")
        self.triple = triple

    def __reduce__(self) -> tuple[type["UnknownTriple"], tuple[tuple[int | str, ...]]]:
        return UnknownTriple, (self.triple,)
