"""Words of a text: splitting, a light stem, and the words that carry no relation."""

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words(text: str) -> list[str]:
    """Lower-cased (casefolded, NFKC) words of `text`; underscores and punctuation separate."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def split_identifier(name: str) -> list[str]:
    """Words of one identifier: also split where camelCase changes case."""
    return words(_CAMEL.sub(" ", name))


# Closed-class English words: they hold a sentence together and name no relation.
FUNCTION_WORDS = frozenset(
    words("""
    a an the this that these those there and or but if of in on at to by for from with as into about
    is are was were be been being am do does did done has have had having can could will would shall
    should may might must it its he him his she her they them their i me my we our you your what
    which who whom whose where when why how not no s t d so than then too very also both any some
    all each every other such same under over between through during after before within without
    among against
    """)
)
# Words that only ask for an answer; a graph whose relations use one keeps it.
REQUEST_WORDS = frozenset(words("tell give list show find name names called please know many much"))
# "films that share a director with X" go to the director and come back.
SHARED_WORDS = frozenset(words("share shares shared sharing same together co common"))

_IRREGULAR_PARTICIPLES = frozenset(
    words("""
    become begun born bought brought broken built caught chosen come cut done drawn driven fallen
    fed felt fought found flown forgotten founded frozen given gone grown hidden heard held hurt
    kept known laid led left lent lost made meant met paid put read run said sold seen sent set
    shot shown slain slept spent spoken stolen struck sung sworn taken taught thought thrown told
    understood won worn wound written
    """)
)


def is_participle(word: str) -> bool:
    """Whether an English word has the form of a past participle: "directed", "born"."""
    return word in _IRREGULAR_PARTICIPLES or ("_" not in word and word.endswith("ed"))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """`word` without an English plural, -ing or -ed ending: "borders", "bordering" -> "border".

    Light on purpose: it never shortens a word below three letters and leaves other scripts alone.
    """
    if not word.isascii() or len(word) <= 3:
        return word
    for ending, replacement in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh")):
        if word.endswith(ending) and len(word) - len(ending) + len(replacement) >= 3:
            return word[: -len(ending)] + replacement
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        root = word[: -len(ending)]
        if word.endswith(ending) and len(root) >= 3 and any(c in "aeiouy" for c in root):
            # "stopped" -> "stop", but "spelled" keeps its double l
            if root[-1] == root[-2] and root[-1] not in "lsz":
                root = root[:-1]
            word = root
            break
    # "name", "naming" and "use", "used" meet without their final e
    return word[:-1] if word.endswith("e") and len(word) > 3 else word
