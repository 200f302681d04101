"""Questions to train the demo's flow model on: wordings filled with names of the graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from hyperhop.rsf.training import Example

Triple = tuple[str, str, str]

NAMES_OF_A_WORDING = 12

# "^" walks a fact against its direction.
WORDINGS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("capital",): ("What is the capital of {}?", "Which city is {}'s capital?"),
    ("borders",): ("Which countries border {}?", "What are the neighbours of {}?"),
    ("calling_code",): ("What is the calling code of {}?", "How do I dial {}?"),
    ("^also_called", "capital"): ("What is the capital of {}?",),
    ("^also_called", "calling_code"): ("What is the calling code of {}?",),
    ("^capital",): ("Which country has {} as its capital?", "{} is the capital of which country?"),
    ("^province",): ("In which country is the province of {}?", "Where is the province {}?"),
    ("^language",): ("Which countries have {} as a language?", "Where do people speak {}?"),
    ("^capital", "currency"): (
        "Which currency is used in the country whose capital is {}?",
        "How does one pay where {} is the capital?",
    ),
    ("^capital", "demonym"): (
        "What is the demonym for people from the country whose capital is {}?",
        "What are people called where {} is the capital?",
    ),
    ("^capital", "province"): (
        "Which provinces lie in the country whose capital is {}?",
        "List the provinces of the country with the capital {}.",
    ),
    ("^province", "currency"): (
        "What currency do they use in the country that has {} as a province?",
        "Which currency is used where {} is a province?",
    ),
    ("^internet_domain", "calling_code"): (
        "What is the calling code of the country whose internet domain is {}?",
    ),
    ("^intermediate_region", "capital"): (
        "Name the capitals of the countries in {}.",
        "Which capitals lie in {}?",
    ),
    ("currency", "^currency"): (
        "Which countries use the same currency as {}?",
        "Who else pays with the currency of {}?",
    ),
    ("borders", "capital"): (
        "What are the capitals of the countries bordering {}?",
        "Name the capitals of the neighbours of {}.",
    ),
    ("borders", "language"): (
        "Which languages are spoken in the countries that border {}?",
        "What do the neighbours of {} speak?",
    ),
    ("borders", "time_zone"): (
        "Which time zones are used in the countries that border {}?",
        "What time zones do the neighbours of {} have?",
    ),
    ("^capital", "borders", "currency"): (
        "Which currencies are used in the countries that border the country whose capital is {}?",
    ),
    ("^capital", "borders", "language"): (
        "Which languages are spoken in the countries that border the country whose capital is {}?",
    ),
    ("^province", "borders", "capital"): (
        "What are the capitals of the countries bordering the country that has {} as a province?",
    ),
}


def training_examples(triples: Iterable[Triple], left_out: Collection[str]) -> list[Example]:
    """Questions on these facts with all their answers, none about a text that names `left_out`.

    `left_out` are the questions to be asked later: a name that one of them contains is no topic
    here. Names are taken evenly from those that a wording can be asked about, in their order.
    """
    steps: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for head, relation, tail in triples:
        steps[head, relation].add(tail)
        steps[tail, f"^{relation}"].add(head)
    found = []
    for path, wordings in WORDINGS.items():
        topics = sorted(
            topic
            for topic, relation in steps
            if relation == path[0]
            and not any(topic in question for question in left_out)
            and _ends(steps, topic, path)
        )
        for place, wording in enumerate(wordings):
            mine = topics[place :: len(wordings)]
            every = max(1, len(mine) // NAMES_OF_A_WORDING)
            found += [
                Example.of(wording.format(topic), topic, _ends(steps, topic, path))
                for topic in mine[::every][:NAMES_OF_A_WORDING]
            ]
    return found


def _ends(
    steps: defaultdict[tuple[str, str], set[str]], topic: str, path: tuple[str, ...]
) -> set[str]:
    """What the path leads to."""
    reached = {topic}
    for relation in path:
        reached = {end for at in reached for end in steps.get((at, relation), ())}
    return reached
