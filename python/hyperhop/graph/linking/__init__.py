"""The parts of `EntityLinker`: spans of a text, keys, aliases, close keys, close meanings."""
