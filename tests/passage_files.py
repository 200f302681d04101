"""A made-up set in the files of HippoRAG: who founded the firm that made a thing?"""

import json

_FIRMS = {
    "Lumo": ("Ada Brook", "Harbor City", "the Lumo lamp"),
    "Tarn": ("Ben Frost", "Milltown", "the Tarn boat"),
    "Quill": ("Cora Dale", "Westford", "the Quill pen"),
    "Ferro": ("Dan Ash", "Ironbridge", "the Ferro stove"),
    "Vela": ("Eve Lane", "Saltmarsh", "the Vela sail"),
    "Orbis": ("Finn Moor", "Hilltop", "the Orbis clock"),
}


def corpus():
    """Two passages a firm, and one that says nothing of any."""
    found = []
    for firm, (founder, city, thing) in _FIRMS.items():
        found.append({"title": firm, "text": f"{firm} was founded by {founder} in {city}."})
        found.append({"title": thing, "text": f"{thing} was made by {firm}, as many say."})
    return [*found, {"title": "Weather", "text": "It rains more often than not."}]


def questions():
    """The firm's passage and the thing's are gold; another one stands with each question."""
    found = []
    for number, (_firm, (founder, _, thing)) in enumerate(_FIRMS.items()):
        first, second = corpus()[2 * number : 2 * number + 2]
        paragraphs = [
            {"title": one["title"], "paragraph_text": one["text"], "is_supporting": gold}
            for one, gold in ((second, True), (corpus()[-1], False), (first, True))
        ]
        found.append(
            {
                "id": f"2hop__{number}",
                "question": f"Who founded the firm that made {thing}?",
                "answer": founder,
                "answer_aliases": [founder.split()[-1]],
                "paragraphs": paragraphs,
            }
        )
    return found


def openie():
    """What each passage states; the last passage states nothing."""
    triples = []
    for firm, (founder, city, thing) in _FIRMS.items():
        triples.append([[firm, "was founded by", founder], [firm, "was founded in", city]])
        triples.append([[thing, "was made by", firm]])
    return {
        "docs": [
            {
                "idx": number,
                "passage": f"{one['title']}\n{one['text']}",
                "extracted_entities": [],
                "extracted_triples": stated,
            }
            for number, (one, stated) in enumerate(zip(corpus(), [*triples, []], strict=True))
        ]
    }


def write_musique(folder):
    """The set as "musique" is read; returns the folder to name as the data's."""
    inside = folder / "hipporag_musique_train"
    inside.mkdir()
    name = "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json"
    for file, content in (
        ("musique_train.json", questions()),
        ("musique_train_corpus.json", corpus()),
        (name, openie()),
    ):
        (inside / file).write_text(json.dumps(content), "utf-8")
    return folder
