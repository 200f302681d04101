"""Keys of servers: no server may see that of another."""

import os
from urllib.parse import urlsplit

from hyperhop._server.address import OPENAI_HOST, is_address, same_server
from hyperhop._server.config import read_config

URL_VARIABLE = "HYPERHOP_LLM_URL"
KEY_VARIABLE = "HYPERHOP_LLM_KEY"


def find_key(url: str, api_key: str | None = None) -> str | None:
    """The key to send to `url`: the argument, else HYPERHOP_LLM_KEY, else none.

    No server may see the key of another: HYPERHOP_LLM_KEY belongs to the server of
    HYPERHOP_LLM_URL or, without one, to that of the configuration file, where one of them is set;
    OPENAI_API_KEY belongs to https://api.openai.com alone. ValueError (which does not show it) for
    a key that no HTTP header can carry.
    """
    key = api_key
    if not key and os.environ.get(KEY_VARIABLE) and same_server(_configured_server(), url):
        key = os.environ[KEY_VARIABLE]
    parts = urlsplit(url)
    if not key and parts.scheme == "https" and parts.hostname == OPENAI_HOST:
        key = os.environ.get("OPENAI_API_KEY")
    if key and not isinstance(key, str):
        raise TypeError(f"api_key must be a string, got {type(key).__name__}")
    key = (key or "").strip()
    if not (key.isascii() and key.replace(" ", "").isprintable()):
        raise ValueError("api_key holds characters that are not printable ASCII")
    return key or None


def _configured_server() -> str | None:
    """Address beside which HYPERHOP_LLM_KEY stands; a file, which needs no key, is none."""
    url = os.environ.get(URL_VARIABLE)
    if url and is_address(url):
        return url
    url = read_config().get("url")
    return url if url and is_address(url) else None
