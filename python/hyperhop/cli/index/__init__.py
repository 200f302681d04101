"""``hyperhop index``: triples into a graph, passages into an index that HELP asks."""

from hyperhop.cli.index.command import index

__all__ = ["index"]
