"""Table 14: two wordings of the reader's prompt."""

from hyperhop.evaluate.studies.context import Context
from hyperhop.evaluate.studies.reading import compare_readers, model_of
from hyperhop.evaluate.studies.study import Study
from hyperhop.llm import LLMReader


def run(context: Context) -> Study:
    """The prompts A and B, same task, to the context's language model. ValueError without one."""
    model = model_of(context, "prompt")
    readers = {
        "prompt A": LLMReader(model, variant="A"),
        "prompt B": LLMReader(model, variant="B"),
    }
    return compare_readers(context, "prompt", "table 14", readers)
