"""Paths that hyperhop finds, read by a language model in one call, and the answer held to them.

python examples/ask_with_llm.py http://localhost:8000/v1 MODEL    # any OpenAI-compatible server
python examples/ask_with_llm.py model.gguf                        # a file, run in this process
python examples/ask_with_llm.py                                   # the one that is configured
"""

import sys

import hyperhop as hh
from hyperhop.llm import LLMReader, open_chat
from hyperhop.text.verbalize import verbalize_path

FACTS = [
    ("Marie Curie", "spouse", "Pierre Curie"),
    ("Marie Curie", "birthplace", "Warsaw"),
    ("Pierre Curie", "birthplace", "Paris"),
    ("Irène Joliot-Curie", "mother", "Marie Curie"),
    ("Marie Curie", "discovered", "radium"),
]
QUESTION = "From which city did the husband of Marie Curie come?"


def main() -> None:
    """Ask one question whose words are not those of the graph."""
    reader = LLMReader(open_chat(*sys.argv[1:3]))
    system = hh.PathHD(hh.KnowledgeGraph.from_triples(FACTS), k=10, max_hops=2, reader=reader)
    evidence = system.retrieve(QUESTION)
    answer = reader.read(QUESTION, evidence)
    print(QUESTION)
    print(answer.text)
    for number in answer.citations:
        path = evidence.paths[number]
        print(f"  [{number}] {verbalize_path(path.entities, path.relations)}")
    if answer.unsupported:
        print(f"Not said by these paths: {', '.join(answer.unsupported)}")
    print(f"Why: {answer.rationale}")
    print(f"Calls: {answer.llm_calls}, tokens read: {answer.prompt_tokens}")


if __name__ == "__main__":
    main()
