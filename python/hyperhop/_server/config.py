"""The configuration file: which language model, and whose the keys are.

It is TOML, for example

    [llm]
    url = "http://localhost:8000/v1"  # or the path of a .gguf file
    model = "qwen3"
    key_env = "MY_SERVER_KEY"         # the variable that holds the key; never the key itself

with timeout, retries, concurrency, max_tokens, temperature and structured as in `ChatClient`, and
threads and context as in `LocalModel`. Where HYPERHOP_LLM_URL names no server, HYPERHOP_LLM_KEY
belongs to the one named here. The file is $HYPERHOP_CONFIG, or hyperhop/config.toml in
$XDG_CONFIG_HOME or ~/.config.
"""

import os
import re
from pathlib import Path
from typing import Any

CONFIG_VARIABLE = "HYPERHOP_CONFIG"

_NUMBER = (int, float)
_KEYS: dict[str, Any] = {
    "url": str,
    "model": str,
    "key_env": str,
    "timeout": _NUMBER,
    "retries": int,
    "concurrency": int,
    "max_tokens": int,
    "temperature": _NUMBER,
    "structured": bool,
    "threads": int,
    "context": int,
    "contrast": _NUMBER,
    "plausibility": _NUMBER,
}
_NAMES = {str: "a string", int: "a whole number", bool: "true or false", _NUMBER: "a number"}


def config_path() -> Path:
    """Where the configuration file is looked for; it need not exist."""
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        return Path(named).expanduser()
    folder = os.environ.get("XDG_CONFIG_HOME")
    return (Path(folder) if folder else Path.home() / ".config") / "hyperhop" / "config.toml"


def read_config() -> dict[str, Any]:
    """The table [llm] of the configuration file, checked; empty where there is no file.

    FileNotFoundError if $HYPERHOP_CONFIG names no file; ValueError, which never shows a value, for
    what is no TOML, an unknown key, a wrong kind of value or a key written into the file.
    """
    path = config_path()
    if not path.exists() and not os.environ.get(CONFIG_VARIABLE):
        return {}
    import tomllib  # not above: few programs have a file to read

    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:  # no TOML, or no UTF-8
        raise ValueError(f"{path} is no TOML: {error}") from None
    table = data.get("llm", {})
    if not isinstance(table, dict):
        raise ValueError(f"{path}: llm must be a table, [llm]")
    for name, value in table.items():
        _check(path, name, value)
    return table


def _check(path: Path, name: str, value: object) -> None:
    if name in ("key", "api_key", "token", "password"):
        raise ValueError(
            f"{path}: {name} must not be written into the file; give in key_env the name of the "
            "environment variable that holds it"
        )
    if name not in _KEYS:
        raise ValueError(f"{path}: unknown key {name!r} under [llm]; known are {', '.join(_KEYS)}")
    kind = _KEYS[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{path}: {name} must be {_NAMES[kind]}")
    if name == "key_env" and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", str(value)):
        raise ValueError(f"{path}: key_env must be the name of an environment variable")
