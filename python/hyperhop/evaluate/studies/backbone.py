"""Table 13: a language model on its own, and with the retrieved paths; one model a run."""

from collections.abc import Sequence

from hyperhop.evaluate.studies.context import Context
from hyperhop.evaluate.studies.reading import compare_readers, model_of
from hyperhop.evaluate.studies.study import Study
from hyperhop.evidence import Answer, Evidence, Reader
from hyperhop.llm import ChatModel, LLMReader
from hyperhop.llm.chat import Message

_ALONE = (
    "Answer the question from what you know. Think if you must, then write the names of all "
    "answers on the last line, separated by semicolons, and nothing else on that line."
)


def run(context: Context) -> Study:
    """The context's language model, asked with and without evidence. ValueError without one."""
    model = model_of(context, "backbone")
    readers: dict[str, Reader] = {"model alone": Unaided(model), "PathHD, 1 call": LLMReader(model)}
    return compare_readers(context, "backbone", "table 13", readers)


class Unaided:
    """A language model that sees the question alone (the paper's control); a Reader."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def read(self, question: str, evidence: Evidence) -> Answer:
        """The names on the last line of the reply; the evidence is not looked at. One call."""
        messages: Sequence[Message] = [
            {"role": "system", "content": _ALONE},
            {"role": "user", "content": question},
        ]
        reply = self._model.chat(messages)
        lines = reply.text.strip().splitlines() or [""]
        names = [name.strip() for name in lines[-1].split(";")]
        return Answer(
            text=lines[-1],
            entities=[name for name in names if name],
            llm_calls=1,
            llm_attempts=reply.attempts,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            raw=reply.text,
        )
