"""Facts in, cited answer out, without a language model.

python examples/ask_a_graph.py
"""

import hyperhop as hh
from hyperhop.text.verbalize import verbalize_path

FACTS = [
    ("Marie Curie", "spouse", "Pierre Curie"),
    ("Marie Curie", "birthplace", "Warsaw"),
    ("Pierre Curie", "birthplace", "Paris"),
    ("Irène Joliot-Curie", "mother", "Marie Curie"),
    ("Irène Joliot-Curie", "birthplace", "Paris"),
    ("Warsaw", "capital_of", "Poland"),
    ("Paris", "capital_of", "France"),
]
QUESTION = "What is the birthplace of the spouse of Marie Curie?"


def main() -> None:
    """Ask one question and print what the answer rests on."""
    system = hh.PathHD(hh.KnowledgeGraph.from_triples(FACTS))
    evidence = system.retrieve(QUESTION)
    answer = system.reader.read(QUESTION, evidence)
    print(QUESTION)
    print(answer.text)
    for number in answer.citations:
        path = evidence.paths[number]
        print(f"  [{number}] {verbalize_path(path.entities, path.relations)}  ({path.score:.3f})")


if __name__ == "__main__":
    main()
