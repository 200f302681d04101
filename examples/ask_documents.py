"""Passages and their triples in, the passages that hold the answer out, without a language model.

python examples/ask_documents.py
"""

import hyperhop as hh

PASSAGES = [
    {
        "id": "bridge",
        "title": "Calder Bridge",
        "text": "Calder Bridge crosses the Ouse near Amberley. Its engineer was Ida Brandt.",
    },
    {
        "id": "brandt",
        "title": "Ida Brandt",
        "text": "Ida Brandt grew up in Bergen. She studied under Karl Holm for two years.",
    },
    {
        "id": "holm",
        "title": "Karl Holm",
        "text": "Karl Holm built harbours, and wrote a handbook on tides.",
    },
    {
        "id": "amberley",
        "title": "Amberley",
        "text": "Amberley has two bridges, a mill and an engineer's monument.",
    },
]
TRIPLES = {
    "bridge": [
        ("Calder Bridge", "crosses", "Ouse"),
        ("Calder Bridge", "engineer", "Ida Brandt"),
    ],
    "brandt": [
        ("Ida Brandt", "grew up in", "Bergen"),
        ("Ida Brandt", "studied under", "Karl Holm"),
    ],
    "holm": [("Karl Holm", "built", "harbours"), ("Karl Holm", "wrote", "handbook on tides")],
    "amberley": [("Amberley", "has", "two bridges"), ("Amberley", "has", "a mill")],
}
QUESTION = "Where did the engineer of Calder Bridge grow up?"


def main() -> None:
    """Ask one question, whose answer takes two passages, and print what it rests on."""
    system = hh.HELP.build(PASSAGES, TRIPLES, passages=2)
    evidence = system.retrieve(QUESTION)
    answer = system.reader.read(QUESTION, evidence)
    print(QUESTION)
    print(answer.text)
    for number in answer.citations:
        passage = evidence.passages[number]
        print(f"  [{number}] {passage.title}: {passage.text}")
    nearest = evidence.hypernodes[0]
    for triple in nearest.triples:
        print(f"  {' - '.join(triple)}")


if __name__ == "__main__":
    main()
