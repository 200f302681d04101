"""Small random multigraphs: parallel relations, self loops, awkward names, duplicates."""

from hypothesis import strategies as st

ENTITIES = ["a", "b", "B", "a b", "a_b", "é", "日本", "🙂", '"q",']
RELATIONS = ["r", "s", "^r", "\\r", "^s"]

triples = st.tuples(
    st.sampled_from(ENTITIES[:6]), st.sampled_from(RELATIONS), st.sampled_from(ENTITIES[:6])
)
some_triples = st.lists(triples, min_size=1, max_size=14)
names = st.text(
    st.characters(codec="utf-8", exclude_characters="\t\r\n"), min_size=1, max_size=6
).filter(lambda name: name.strip(" "))
any_triples = st.lists(st.tuples(names, names, names), max_size=20)
