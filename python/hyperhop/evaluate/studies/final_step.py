"""Table 4: the best path's ends, or one call of a language model that reads the best paths."""

from hyperhop.evaluate.studies.context import Context
from hyperhop.evaluate.studies.reading import compare_readers, model_of
from hyperhop.evaluate.studies.study import Study
from hyperhop.evidence import Reader
from hyperhop.llm import LLMReader, VectorReader


def run(context: Context) -> Study:
    """Without and with the context's language model. ValueError without one."""
    model = model_of(context, "final-step")
    readers: dict[str, Reader] = {"vector only": VectorReader(), "vector, 1 call": LLMReader(model)}
    return compare_readers(context, "final-step", "table 4", readers)
