"""Paths and passages that hyperhop finds, as nodes of LlamaIndex (pip install llama-index-core).

python examples/llamaindex_retriever.py
"""

import asyncio

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

import hyperhop as hh
from hyperhop.evidence import Retriever
from hyperhop.text.verbalize import verbalize_path

FACTS = [
    ("Requiem", "composer", "Wolfgang Amadeus Mozart"),
    ("Requiem", "completed_by", "Franz Xaver Süssmayr"),
    ("Wolfgang Amadeus Mozart", "birthplace", "Salzburg"),
    ("Franz Xaver Süssmayr", "birthplace", "Schwanenstadt"),
    ("Salzburg", "country", "Austria"),
]
QUESTION = "What is the birthplace of the composer of the Requiem?"
HIDDEN = ["entities", "relations"]  # the text says it already; a prompt need not repeat it


class HyperhopRetriever(BaseRetriever):
    """Any retriever of hyperhop in a query engine; `aretrieve` runs it in a thread."""

    def __init__(self, retriever: Retriever) -> None:
        super().__init__()
        self._retriever = retriever

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        evidence = self._retriever.retrieve(query_bundle.query_str)
        paths = [
            NodeWithScore(
                node=TextNode(
                    text=verbalize_path(path.entities, path.relations),
                    metadata={"entities": path.entities, "relations": path.relations},
                    excluded_llm_metadata_keys=HIDDEN,
                    excluded_embed_metadata_keys=HIDDEN,
                ),
                score=path.score,
            )
            for path in evidence.paths
        ]
        passages = [
            NodeWithScore(node=TextNode(id_=passage.id, text=passage.text), score=passage.score)
            for passage in evidence.passages
        ]
        return paths + passages

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def main() -> None:
    """Ask one question from plain code, then another from an event loop."""
    retriever = HyperhopRetriever(hh.PathHD(hh.KnowledgeGraph.from_triples(FACTS), k=1))
    found = retriever.retrieve(QUESTION)
    found += asyncio.run(retriever.aretrieve("Who completed the Requiem?"))
    for node in found:
        print(f"{node.text}  {node.score:.3f}  {node.metadata}")


if __name__ == "__main__":
    main()
