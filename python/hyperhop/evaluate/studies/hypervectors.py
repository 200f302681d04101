"""Codebooks of a context's relations, and its questions as hypervectors, planned or not."""

import numpy as np
import numpy.typing as npt

from hyperhop import ghrr
from hyperhop.evaluate.studies.context import Asked, Context
from hyperhop.pathhd import TextQuery, encode_query
from hyperhop.pathhd.codebooks import CodebookKind, text_codebook
from hyperhop.pathhd.query import Planes
from hyperhop.text import Verbalizer

BLOCKS, BLOCK_SIZE, SEED = 256, 4, 0  # PathHD's
BUNDLED = 3  # plans, as by PathHD's default query


def make_codebook(context: Context, kind: CodebookKind, blocks: int = BLOCKS) -> ghrr.Codebook:
    """PathHD's codebook of this kind over the graph's symbols."""
    symbols = context.graph.symbols
    if kind == "random":
        return ghrr.Codebook(symbols, blocks, BLOCK_SIZE, seed=SEED)
    words = Verbalizer()
    texts = [words.symbol(name) for name in symbols]
    return text_codebook(kind, symbols, texts, context.encoder, blocks, BLOCK_SIZE, SEED)


def plan_scores(
    codebook: ghrr.Codebook, asked: Asked, count: int = BUNDLED
) -> npt.NDArray[np.float32]:
    """Similarities (N,) of the candidates with a bundle of the `count` best plans."""
    query = encode_query(codebook, asked.candidates, asked.plans, "bundle", count)
    return np.asarray(ghrr.score_paths(codebook, query, asked.candidates.paths))


class QuestionTexts:
    """Questions by their embeddings alone, for a codebook of this kind."""

    def __init__(self, context: Context, kind: CodebookKind) -> None:
        self._project = TextQuery(kind, context.encoder, BLOCKS, BLOCK_SIZE, SEED)

    def __call__(self, asked: Asked) -> Planes:
        """Planes float32 (m, m, 2, D)."""
        return self._project(asked.question.text, asked.question.mention)
