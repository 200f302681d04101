"""Addresses of OpenAI-compatible servers."""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

OPENAI_HOST = "api.openai.com"
_ENDPOINTS = ("/chat/completions", "/completions", "/embeddings", "/models")
_LONGEST = 2000  # characters
_SHOWN = 300  # characters of a wrong one


def is_address(url: str) -> bool:
    """Whether this is meant as a server's address, and not as a file."""
    return url.strip().lower().startswith(("http://", "https://"))


def normalize_url(url: str) -> str:
    """Base address for the client: "http://host" and "http://host/v1/embeddings" -> "http://host/v1".

    Of an endpoint its parent is taken, a bare host gets "/v1", and any other path is kept.
    TypeError for what is no string; ValueError unless http or https with a host that can be one,
    and for a user, query or fragment in it.
    """
    if not isinstance(url, str):
        raise TypeError(f"url must be a string, got {type(url).__name__}")
    url = url.strip()
    parts = _split(url)
    if "?" in url or "#" in url or "@" in (url if parts is None else parts.netloc):
        # not shown: it may hold a password
        raise ValueError("url must have no user, query or fragment; a key is given as api_key")
    if parts is None:
        raise ValueError(f"url must be like http://host:port/v1, got {url[:_SHOWN]!r}")
    path = parts.path.rstrip("/")
    for endpoint in _ENDPOINTS:
        if path.endswith(endpoint):
            path = path.removesuffix(endpoint)
            break
    return f"{parts.scheme}://{parts.netloc.lower()}{path or '/v1'}"


def _split(url: str) -> SplitResult | None:
    """Parts of an address, None where it is none."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode("ascii")  # no label over 63 letters
        if ":" in host:
            ipaddress.IPv6Address(host)
        elif not re.fullmatch(r"[\w.-]+", host):
            return None
        sound = parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:  # the brackets, the port, a label
        return None
    sound = sound and url.isprintable() and " " not in url and len(url) <= _LONGEST
    return parts if sound else None


def same_server(configured: str | None, url: str) -> bool:
    """Does what is configured beside one address, or beside none, hold for `url`?"""
    if not configured:
        return True
    one, other = _split(configured.strip()), _split(url.strip())
    if one is None or other is None:
        return False
    return (one.scheme, one.netloc.lower()) == (other.scheme, other.netloc.lower())
