"""Passages and their triples in, the passages that hold the answer out, without a language model.

python examples/ask_documents.py
"""

import hyperhop as hh

PASSAGES = [
    {
        "id": "bridge",
        "title": "Calder Bridge",
        "text": "Calder Bridge crosses the Ouse. It was built by the engineer Brandt in 1887.",
    },
    {
        "id": "brandt",
        "title": "Brandt",
        "text": "Brandt grew up in the town of Bergen, and studied under Karl Holm.",
    },
    {
        "id": "holm",
        "title": "Karl Holm",
        "text": "Karl Holm built harbours, and wrote a handbook on tides.",
    },
    {
        "id": "amberley",
        "title": "Amberley",
        "text": "Amberley is a town with two bridges, a mill and an engineer's monument.",
    },
]
TRIPLES = {
    "bridge": [
        ("Calder Bridge", "was built by the engineer", "Brandt"),
        ("Calder Bridge", "crosses", "Ouse"),
    ],
    "brandt": [
        ("Brandt", "grew up in the town of", "Bergen"),
        ("Brandt", "studied under", "Karl Holm"),
    ],
    "holm": [
        ("Karl Holm", "built", "harbours"),
        ("Karl Holm", "wrote a handbook on", "tides"),
    ],
    "amberley": [("Amberley", "is a town with", "two bridges")],
}
QUESTION = "In which town did the engineer grow up who built Calder Bridge?"


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
