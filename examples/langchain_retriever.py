"""Paths and passages that hyperhop finds, as documents of LangChain (pip install langchain-core).

python examples/langchain_retriever.py
"""

import asyncio

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

import hyperhop as hh
from hyperhop.evidence import Retriever
from hyperhop.text.verbalize import verbalize_path

FACTS = [
    ("Vltava", "flows_into", "Elbe"),
    ("Elbe", "flows_into", "North Sea"),
    ("Prague", "lies_on", "Vltava"),
    ("Dresden", "lies_on", "Elbe"),
    ("Prague", "capital_of", "Czechia"),
]


class HyperhopRetriever(BaseRetriever):
    """Any retriever of hyperhop in a chain; `ainvoke` and `abatch` run it in a thread."""

    retriever: Retriever

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        evidence = self.retriever.retrieve(query)
        paths = [
            Document(
                verbalize_path(path.entities, path.relations),
                metadata={
                    "entities": path.entities,
                    "relations": path.relations,
                    "score": path.score,
                },
            )
            for path in evidence.paths
        ]
        passages = [
            Document(passage.text, id=passage.id, metadata={"score": passage.score})
            for passage in evidence.passages
        ]
        return paths + passages


def main() -> None:
    """Ask one question from plain code, then two at once from an event loop."""
    retriever = HyperhopRetriever(retriever=hh.PathHD(hh.KnowledgeGraph.from_triples(FACTS), k=1))
    print(retriever.invoke("What does the river that Prague lies on flow into?"))
    for found in asyncio.run(
        retriever.abatch(["Which river does Dresden lie on?", "What is Prague the capital of?"])
    ):
        print(found)


if __name__ == "__main__":
    main()
