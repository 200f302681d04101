"""The shape of a question: content words, grouped and ordered by their distance to the topic.

English says a path in two ways: after the topic outwards ("Ann 's mother 's job") and before it
inwards ("the job of the mother of Ann", "the country whose capital is Lima"). Read from the topic
outwards, both give one group of words for each step. What a sentence says of the noun phrase around
its topic ("the films by Ann were in which languages") comes after that phrase.
"""

import re
import unicodedata
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from hyperhop.text.words import (
    FUNCTION_WORDS,
    REQUEST_WORDS,
    SHARED_WORDS,
    is_participle,
    words,
)

# words joined by underscores stay together: they are the literal name of a relation
_TOKEN = re.compile(r"['’]s\b|['’](?!\w)|[^\W_]+(?:_+[^\W_]+)*")
_RELATIVE = frozenset(words("whose that which who whom where"))
# "the country whose": that noun only names the thing; "the country where" may be a step
_NAMING = _RELATIVE - {"where"}
_ASKS = frozenset(words("which what who whom whose where when how why"))
_COPULA = frozenset(words("is are was were"))
_DO = frozenset(words("do does did"))
_WHICH = frozenset(words("which what"))
_AUXILIARY = (
    _COPULA | _DO | frozenset(words("be been being has have had can could will would should may"))
)
_PREPOSITIONS = frozenset(words("of in with by for from on at to into about"))
_PERSONAL = frozenset(words("they you we people one"))
_DETERMINERS = frozenset(words("a an the this these those his her its their"))
# "where does he live" and "how did he die" ask for a step that no noun names
_ADVERBS = frozenset(words("where when how why"))
_STRUCTURE = FUNCTION_WORDS | REQUEST_WORDS | SHARED_WORDS
_PRONOUNS = frozenset(words("who whom what"))


@dataclass(frozen=True)
class Group:
    """Content words of one step.

    `outward`: read from the topic on, so its first word is the nearest; else its last word is.
    `backwards`: said as "whose ... is TOPIC" or "TOPIC is the ... of", a step against the
    relation's direction.
    `asked`: the noun of "which NOUN" or "the NOUN that", or in apposition ("the NOUN TOPIC"); it
    may only say what kind of thing is there.
    `predicate`: the verb of "which NOUN does TOPIC VERB" or "TOPIC VERB which NOUN", one step with
    the group after it.
    `returns`: a step and the same one back ("films that share directors with TOPIC").
    `loose`: only an article stands between it and the group before in the text.
    """

    words: tuple[str, ...]
    outward: bool = False
    backwards: bool = False
    asked: bool = False
    predicate: bool = False
    returns: bool = False
    loose: bool = False


def parse_question(
    question: str, mention: tuple[int, int] | None, keep: Set[str] = frozenset()
) -> list[Group]:
    """Groups of content words, the one nearest the topic first.

    Without a mention the topic is taken to stand at the end. `keep` holds words that count as
    content although they are function or request words. O(len(question)).
    """
    start, end = mention if mention is not None else (len(question), len(question))
    before, after = _tokens(question[:start]), _tokens(question[end:])
    before, apposed = _without_apposition(before, keep)
    inner = _clauses(before, _chunks(before, keep))
    possessive = bool(after) and after[0][0] in "'’"
    subject = not possessive and (not before or before[-1] in _AUXILIARY or before[-1] in _ASKS)
    cut = len(after) if subject else _predicate_start(before, after)
    near, far = (_outward(_chunks(part, keep)) for part in (after[:cut], after[cut:]))
    if near and subject and _is_value(after):
        near = [replace(near[0], backwards=True)]  # what follows names the kind of the answer
    if near and before and not subject:
        apposed = []  # "the company TOPIC works for": that noun only names what the verb leads to
    leading = [chunk.group() for chunk in inner]
    if inner and before[-1] in _COPULA and inner[-1].whose:
        leading[-1] = replace(leading[-1], backwards=True)
    asks = bool(inner) and inner[0].which
    heads = bool(inner) and _heads_clause(before, inner[0])
    if heads and far:
        leading.pop(0)  # what is asked is said of that thing
    elif heads or (asks and not _of_phrase(before, inner)):
        leading[0] = replace(leading[0], asked=True)
    outer = (
        [leading.pop(0)]
        if asks and leading and (far or (near and subject and len(inner) == 1))
        else []
    )
    if not outer and (far or not leading):
        outer = _opening(before)
    said = far or (near if subject and not leading else [])
    if said and outer:
        said[-1] = replace(said[-1], predicate=True)
    return apposed + near + leading[::-1] + far + outer


@dataclass
class _Chunk:
    """A run of content words and the place of its first token."""

    words: list[str]
    start: int
    returns: bool = False
    loose: bool = False
    which: bool = False
    whose: bool = False
    backwards: bool = False

    def group(self, outward: bool = False) -> Group:
        return Group(
            tuple(self.words),
            outward=outward,
            backwards=self.backwards,
            asked=outward and self.which,
            returns=self.returns,
            loose=self.loose,
        )


def _outward(chunks: Sequence[_Chunk]) -> list[Group]:
    groups = [chunk.group(outward=True) for chunk in chunks]
    for place in range(1, len(groups)):
        if groups[place].asked:  # "directed which films"
            groups[place - 1] = replace(groups[place - 1], predicate=True)
    return groups


def _tokens(text: str) -> list[str]:
    found = _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())
    # "who's" is "who is", not a possessive
    return [
        "is" if i and token[0] in "'’" and found[i - 1] in _ASKS else token
        for i, token in enumerate(found)
    ]


def _separates(token: str) -> bool:
    return token in _RELATIVE or token == "of" or token[0] in "'’"


def _content(token: str, keep: Set[str]) -> list[str]:
    """Content words of a token, which has several where underscores join them."""
    if token[0] in "'’":
        return []
    if "_" not in token:
        return [token] if token not in _STRUCTURE or token in keep else []
    return [part for part in token.split("_") if part not in _STRUCTURE or part in keep]


def _chunks(tokens: Sequence[str], keep: Set[str]) -> list[_Chunk]:
    """Runs of content words between words of structure, in the order of the text."""
    chunks: list[_Chunk] = []
    is_open = loose = returns = False
    for place, token in enumerate(tokens):
        words = _content(token, keep)
        if words:
            if not is_open:
                asks = tokens[place - 1] if place else ""
                which, whose = asks in _WHICH, asks == "whose"
                chunks.append(_Chunk([], place, loose=loose, which=which, whose=whose))
            is_open, loose = True, True
            chunks[-1].words += words
            chunks[-1].returns |= returns
            returns = False
            continue
        same = "same" in tokens[place : place + 3]
        if token in _NAMING and len(chunks) > 1 and is_open and len(chunks[-1].words) == 1:
            chunks.pop()
        following = tokens[place + 1 : place + 2]
        if token in _COPULA and any(map(is_participle, following)):
            continue  # "currency is used in": said of that noun
        if token in _DO and _PERSONAL.intersection(following):
            continue  # "currency do they use in"
        if token in _DETERMINERS and place and tokens[place - 1] in ("and", "or"):
            continue  # "a man or a woman"
        if token in _WHICH and place and _content(tokens[place - 1], keep):
            is_open = False  # "starred which actors"
        elif _separates(token) or token in _AUXILIARY or token == "by":
            is_open = is_open and same and token == "by"
            loose = loose and is_open
        elif (token in _PREPOSITIONS or token in _DETERMINERS) and not same:
            is_open = False
            loose = loose and token not in ("a", "an")
        if token == "together" and chunks:
            chunks[-1].returns = True
        elif token in SHARED_WORDS:
            returns = True
            is_open = is_open and not token.startswith("shar")
    return chunks


def _clauses(tokens: Sequence[str], chunks: list[_Chunk]) -> list[_Chunk]:
    """Steps of relative clauses: there and back, or two, however many runs they are said in."""
    if "also" in tokens:
        # "films whose directors also directed X"
        also = tokens.index("also")
        start = max((i for i in range(1, also) if tokens[i] in _RELATIVE), default=also)
        if any(start < chunk.start < also for chunk in chunks):
            inside = [chunk for chunk in chunks if chunk.start > start]
            words = [word for chunk in inside for word in chunk.words]
            return [*chunks[: -len(inside)], _Chunk(words, inside[0].start, returns=True)]
    found: list[_Chunk] = []
    for chunk in chunks:
        follows = tokens[chunk.start + len(chunk.words) :][:1]
        if chunk.whose and len(chunk.words) > 1 and not _COPULA.intersection(follows):
            # "the man whose wife married X"
            *noun, verb = chunk.words
            found.append(_Chunk(noun, chunk.start, backwards=True))
            found.append(_Chunk([verb], chunk.start + len(noun)))
        else:
            found.append(chunk)
    return found


def _without_apposition(tokens: list[str], keep: Set[str]) -> tuple[list[str], list[Group]]:
    """ "the film TOPIC": what stands before it, and the noun."""
    if len(tokens) < 2 or len(_content(tokens[-1], keep)) != 1:
        return tokens, []
    if tokens[-2] not in _DETERMINERS | _AUXILIARY:
        return tokens, []
    rest = tokens[:-1] if tokens[-2] in _AUXILIARY else tokens[:-2]
    return rest, [Group((tokens[-1],), asked=True)]


def _predicate_start(before: Sequence[str], after: Sequence[str]) -> int:
    """Where, after a topic inside a noun phrase, that is said which is said of the phrase."""
    content = [i for i, token in enumerate(after) if _content(token, frozenset())]
    if not content:
        return len(after)
    verb = next((i for i, token in enumerate(after) if token in _AUXILIARY), None)
    if verb is not None:
        return verb
    asked = any(token in _ASKS for token in before[:2])
    if asked:
        fronted = any(token in _DO for token in before)
        last = content[-1]
        continuous = after[last].endswith("ing") and last - 1 in content
        return last if fronted or continuous or is_participle(after[last]) else len(after)
    if after[0] == "also":
        return 0
    question = next((i for i, token in enumerate(after) if token in _ASKS), None)
    if question is None:
        return len(after)
    return question if _separates(after[0]) else 0


def _is_value(after: Sequence[str]) -> bool:
    """Whether the topic is the value: "TOPIC is the capital of which", "which is TOPIC the ..."."""
    if "of" not in after or after[0] == "of" or after[0][0] in "'’":
        return False
    rest = after[after.index("of") + 1 :]
    return not rest or rest[0] in _ASKS


def _of_phrase(before: Sequence[str], chunks: Sequence[_Chunk]) -> bool:
    """ "what types are the films": the noun is asked of a phrase, so that it is a step."""
    verb = next((i for i, token in enumerate(before) if token in _AUXILIARY), len(before))
    return (
        before[0] in _WHICH
        and before[verb : verb + 1] != []
        and before[verb] in _COPULA
        and bool(_DETERMINERS.intersection(before[verb + 1 : verb + 2]))
        and all(chunk.start > verb for chunk in chunks[1:])
    )


def _heads_clause(tokens: Sequence[str], chunk: _Chunk) -> bool:
    """Whether it is no more than the noun of "the NOUN that"."""
    follows = tokens[chunk.start + 1 : chunk.start + 2]
    return len(chunk.words) == 1 and bool(_RELATIVE.intersection(follows))


def _opening(before: Sequence[str]) -> list[Group]:
    opening = next((t for t in before if t in _ADVERBS or t in _PRONOUNS), None)
    asks_verb = opening in _ADVERBS or any(t in _DO for t in before)
    return [Group((opening,))] if opening is not None and asks_verb else []
