"""Where a text names something."""

import re


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
