"""The arrows between rooms only point down."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "python" / "hyperhop"

# Each room may import from rooms of a lower number, and from itself.
LEVELS = {
    "_core": 0,
    "_extras": 0,
    "_lazy": 0,
    "_lines": 0,
    "_workers": 0,
    "_arrays": 1,
    "_server": 1,
    "paths": 1,
    "flow": 2,
    "ghrr": 2,
    "hypernode": 2,
    "_topk": 2,
    "evidence": 2,
    "text": 2,
    "binders": 3,
    "graph": 3,
    "llm": 4,
    "retrieval": 4,
    "help": 5,
    "pathhd": 5,
    "rsf": 5,
    "evaluate": 6,
    "demo": 6,
    "cli": 7,
    "__main__": 8,
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def rooms_imported(path):
    """First component below `hyperhop` of every import in a file, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            joined = [f"{node.module}.{alias.name}" for alias in node.names]
            names = joined if node.module == "hyperhop" else [node.module or ""]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "hyperhop" and len(parts) > 1:
                yield parts[1]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_arrows_point_down(path):
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if room == "__init__":
        return
    for other in rooms_imported(path):
        if other.startswith("__"):  # __version__, which the package itself holds
            continue
        assert other == room or LEVELS[other] < LEVELS[room], f"{room} may not import {other}"
