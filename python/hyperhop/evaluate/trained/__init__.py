"""Systems that are trained on a benchmark before they are measured on it."""

from hyperhop.evaluate.trained.results import Results
from hyperhop.evaluate.trained.sets import QuestionSets, examples_of, load_sets, read_examples

__all__ = ["QuestionSets", "Results", "examples_of", "load_sets", "read_examples"]
