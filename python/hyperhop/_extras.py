"""Optional libraries, imported when they are first needed."""

import importlib
from typing import Any


def optional(module: str, what: str, extra: str) -> Any:
    """Import `module`; where it is missing, raise ImportError that names the extra."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        raise ImportError(
            f'{what} needs the extra {extra!r}: pip install "hyperhop[{extra}]"'
        ) from None
