"""What HELP is compared with, on the same passages, triples and vectors."""

from hyperhop.evaluate.baselines.baseline import Baseline, VectorBaseline
from hyperhop.evaluate.baselines.bm25 import BM25
from hyperhop.evaluate.baselines.dense import Dense
from hyperhop.evaluate.baselines.ppr import PPR
from hyperhop.evaluate.baselines.rank_graph import RankGraph

__all__ = ["BM25", "PPR", "Baseline", "Dense", "RankGraph", "VectorBaseline"]
