"""Metrics of an answer in words; both sides are normalised first, so never mix them with others."""

import re
import string
from collections import Counter
from collections.abc import Iterable

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalize(text: str) -> str:
    """Lower case, without ASCII punctuation and without a, an, the; runs of white space are one.

    The form that SQuAD (Rajpurkar et al., EMNLP 2016) and MuSiQue (Trivedi et al., TACL 2022)
    compare answers in. "The U.S.A." is "usa"; "the" alone is "".
    """
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(prediction: str, gold: Iterable[str]) -> bool:
    """EM: is the prediction one of the gold answers, both normalised?"""
    return normalize(prediction) in {normalize(answer) for answer in gold}


def token_f1(prediction: str, gold: Iterable[str]) -> float:
    """Token F1 against the gold answer that fits best; 0 without gold answers.

    Tokens are the words of the normalised texts, counted as often as they occur: with c in common,
    precision is c / words predicted and recall c / words of the answer. Where one side has no word
    left, it is 1 if the other has none either, else 0. (What RSF-GLLM section 10.4 calls F1, in the
    form MuSiQue gives it.)
    """
    words = normalize(prediction).split()
    return max((_overlap(words, normalize(answer).split()) for answer in gold), default=0.0)


def _overlap(predicted: list[str], gold: list[str]) -> float:
    if not predicted or not gold:
        return float(predicted == gold)
    common = (Counter(predicted) & Counter(gold)).total()
    return 2 * common / (len(predicted) + len(gold))


def contains_answer(prediction: str, gold: Iterable[str]) -> bool:
    """Hit as RoG (Luo et al., ICLR 2024) counts it: does the text hold a gold answer as substring?

    Both normalised, word boundaries do not count: "Germany" holds "German", and a text that lists
    everything hits always, so it is no accuracy. An answer of which normalising leaves nothing is
    held by no text.
    """
    text = normalize(prediction)
    return any(answer in text for answer in map(normalize, gold) if answer)


def alias_hit(entity: str, gold: Iterable[str], aliases: Iterable[str] = ()) -> bool:
    """Is the entity, normalised, a gold answer or another name of one?

    Of the first entity this is the alias-aware Hits@1, which no exact number contains.
    """
    return exact_match(entity, [*gold, *aliases])
