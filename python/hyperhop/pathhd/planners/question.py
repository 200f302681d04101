"""The shape of a question: content words, grouped and ordered by their distance to the topic.

English says a path in two ways: after the topic outwards ("Ann 's mother 's job") and before it
inwards ("the job of the mother of Ann", "the country whose capital is Lima"). Read from the topic
outwards, both give one group of words for each step.
"""

import re
import unicodedata
from collections.abc import Set
from dataclasses import dataclass, replace

from hyperhop.text.words import FUNCTION_WORDS, REQUEST_WORDS, words

_TOKEN = re.compile(r"['’]s\b|['’](?!\w)|[^\W_]+")
_RELATIVE = frozenset(words("whose that which who whom where"))
_COPULA = frozenset(words("is are was were"))
_DO = frozenset(words("do does did"))
# "where does he live" and "how did he die" ask for a step that no noun names
_ADVERBS = frozenset(words("where when how"))
_PRONOUNS = frozenset(words("who whom what"))


@dataclass(frozen=True)
class Group:
    """Content words of one step.

    `outward`: read from the topic on, so its first word is the nearest; else its last word is.
    `backwards`: said as "whose ... is TOPIC" or "TOPIC is the ... of", a step against the
    relation's direction.
    `asked`: the noun of "which NOUN" or "the NOUN that"; it may only say what kind of thing the
    answer is.
    `predicate`: said of the topic right after it ("which currency does TOPIC use"); it may belong
    to what is asked. `opening`: no more than a question word.
    """

    words: tuple[str, ...]
    outward: bool = False
    backwards: bool = False
    asked: bool = False
    predicate: bool = False
    opening: bool = False


def find_mention(question: str, name: str) -> tuple[int, int] | None:
    """Last place where `question` holds `name` as whole words: verbatim, else whatever its case.

    Spaces and underscores count as the same in the second try.
    """
    found = _last_whole(question, name) if name else None
    if found is not None:
        return found
    pieces = [re.escape(piece) for piece in re.split(r"[\s_]+", name) if piece]
    if not pieces:
        return None
    whole = r"[\s_]+".join(pieces)
    places = list(re.finditer(rf"(?<!\w){whole}(?!\w)", question, re.IGNORECASE))
    return places[-1].span() if places else None


def _last_whole(question: str, name: str) -> tuple[int, int] | None:
    # without a regular expression: compiling one for every name takes longer than the search
    start = question.rfind(name)
    while start >= 0:
        end = start + len(name)
        if not _in_word(question[start - 1 : start]) and not _in_word(question[end : end + 1]):
            return start, end
        start = question.rfind(name, 0, end - 1)
    return None


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def parse_question(
    question: str, mention: tuple[int, int] | None, keep: Set[str] = frozenset()
) -> list[Group]:
    """Groups of content words, the one nearest the topic first.

    Without a mention the topic is taken to stand at the end. `keep` holds words that count as
    content although they are function or request words. O(len(question)).
    """
    start, end = mention if mention is not None else (len(question), len(question))
    before = _leading(_tokens(question[:start]), keep)
    tokens = _tokens(question[end:])
    after = [Group(tuple(run), outward=True) for run in _groups(tokens, keep)]
    if after and "of" in tokens[-2:] and not _separates(tokens[0]):
        after[-1] = replace(after[-1], backwards=True)
    if before and after and not _separates(tokens[0]):
        after[0] = replace(after[0], predicate=True)
    return after + before[::-1]


def _separates(token: str) -> bool:
    return token in _RELATIVE or token == "of" or token[0] in "'’"


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def _groups(tokens: list[str], keep: Set[str]) -> list[list[str]]:
    """Runs of content words; possessives, "of" and relative pronouns separate them."""
    groups: list[list[str]] = [[]]
    for token in tokens:
        relative = token in _RELATIVE
        if relative and len(groups) > 1 and len(groups[-1]) == 1:
            # "capital of the country whose": that noun only names the thing, it is no step
            noun = groups.pop()
            groups[-1] += noun
        if _separates(token):
            groups.append([])
        if token in keep or not (
            token in FUNCTION_WORDS or token in REQUEST_WORDS or token[0] in "'’"
        ):
            groups[-1].append(token)
    return [group for group in groups if group]


def _leading(tokens: list[str], keep: Set[str]) -> list[Group]:
    """Groups before the topic, in text order."""
    groups = [Group(tuple(run)) for run in _groups(tokens, keep)]
    if not groups:
        opening = next((t for t in tokens if t in _ADVERBS or t in _PRONOUNS), None)
        asks_verb = opening in _ADVERBS or any(t in _DO for t in tokens)
        return [Group((opening,), opening=True)] if opening is not None and asks_verb else []
    noun = tokens.index(groups[0].words[0])
    heads_clause = len(groups[0].words) == 1 and _RELATIVE.intersection(tokens[noun + 1 : noun + 2])
    if heads_clause or tokens[max(noun - 1, 0)] in ("which", "what"):
        groups[0] = replace(groups[0], asked=True)
    if tokens[-1] in _COPULA and "whose" in tokens and tokens.index("whose") > 0:
        inside = tokens[len(tokens) - tokens[::-1].index("whose") :]
        if set(groups[-1].words) <= set(inside):
            groups[-1] = replace(groups[-1], backwards=True)
    return groups
