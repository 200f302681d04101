"""Which language model to use: arguments, then the environment, then a configuration file.

The file is TOML, for example

    [llm]
    url = "http://localhost:8000/v1"  # or the path of a .gguf file
    model = "qwen3"
    key_env = "MY_SERVER_KEY"         # the variable that holds the key; never the key itself

with timeout, retries, concurrency, max_tokens, temperature and structured as in `ChatClient`, and
threads and context as in `LocalModel`. It is $HYPERHOP_CONFIG, or hyperhop/config.toml in
$XDG_CONFIG_HOME or ~/.config.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from hyperhop._openai import (
    KEY_VARIABLE,
    URL_VARIABLE,
    ServerError,
    find_key,
    make_client,
    normalize_url,
    only_model,
    same_server,
)
from hyperhop.llm.chat import ChatModel, LLMError
from hyperhop.llm.client import ChatClient
from hyperhop.llm.local import LocalModel

MODEL_VARIABLE = "HYPERHOP_LLM_MODEL"
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
}
_SERVER = ("timeout", "retries", "concurrency", "max_tokens", "temperature", "structured")
_LOCAL = ("timeout", "max_tokens", "temperature", "threads", "context")
_TIMEOUT = 60.0  # seconds, to tell which models there are
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
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no TOML, or no UTF-8
        raise ValueError(f"{path} is no TOML: {error}") from None
    table = data.get("llm", {})
    if not isinstance(table, dict):
        raise ValueError(f"{path}: llm must be a table, [llm]")
    for name, value in table.items():
        _check(path, name, value)
    return table


def open_chat(
    url: str | None = None, model: str | None = None, api_key: str | None = None
) -> ChatModel:
    """The language model that was asked for or configured.

    `url` is the address of an OpenAI-compatible server (a ChatClient) or the path of a .gguf file
    (a LocalModel); without one, that of HYPERHOP_LLM_URL or of the configuration file. `model`
    comes from HYPERHOP_LLM_MODEL or the file, or is the only one that the server offers. A model
    or key that is configured beside a url is used for that server alone.

    ValueError where nothing is configured, or not clearly; LLMError if the server must be asked
    for its models and does not tell; ImportError without the extra `llm` or `local`.
    """
    config = read_config()
    url = url or os.environ.get(URL_VARIABLE) or config.get("url")
    if not url:
        raise ValueError(
            "no language model is configured: name one with url (--llm URL), in the environment "
            f"variable {URL_VARIABLE}, or as url under [llm] in {config_path()}"
        )
    url = str(url)
    if not url.startswith(("http://", "https://")):
        if model:
            raise ValueError(f"model names one of a server's models, but {url!r} is no server")
        return _open_file(url, config)
    in_environment = same_server(os.environ.get(URL_VARIABLE), url)
    in_file = same_server(config.get("url"), url)
    if not model and in_environment:
        model = os.environ.get(MODEL_VARIABLE)
    if not model and in_file:
        model = config.get("model")
    key_env = None
    if not api_key and not (in_environment and os.environ.get(KEY_VARIABLE)) and in_file:
        key_env = config.get("key_env")
        api_key = os.environ.get(key_env) if key_env else None
        if key_env and not api_key:
            raise ValueError(f"{config_path()}: key_env names {key_env}, which is not set")
    options = {name: config[name] for name in _SERVER if name in config}
    return ChatClient(url, model or _only_model(url, api_key), api_key, key_env=key_env, **options)


def _open_file(path: str, config: dict[str, Any]) -> LocalModel:
    if not path.endswith(".gguf"):
        raise ValueError(
            f"a language model is an address like http://host:port/v1 or a .gguf file, got {path!r}"
        )
    return LocalModel(path, **{name: config[name] for name in _LOCAL if name in config})


def _only_model(url: str, api_key: str | None) -> str:
    url = normalize_url(url)
    key = find_key(url, api_key)
    with make_client("a language model behind a server", url, key, _TIMEOUT) as client:
        try:
            return only_model(client, url, key, retries=1)
        except ServerError as error:
            problem = LLMError(f"{error}; name one with --model", error.attempts)
    raise problem


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
