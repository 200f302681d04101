"""OpenAI-compatible servers, as encoders and chat models share them."""

from hyperhop._server.address import is_address, normalize_url, same_server
from hyperhop._server.config import config_path, read_config
from hyperhop._server.connect import check_server, make_async_client, make_client
from hyperhop._server.errors import ServerError, UnlistedModels, scrub
from hyperhop._server.keys import KEY_VARIABLE, URL_VARIABLE, find_key
from hyperhop._server.replies import only_model, read_json, said_error
from hyperhop._server.retries import with_retries, with_retries_async

__all__ = [
    "KEY_VARIABLE",
    "URL_VARIABLE",
    "ServerError",
    "UnlistedModels",
    "check_server",
    "config_path",
    "find_key",
    "is_address",
    "make_async_client",
    "make_client",
    "normalize_url",
    "only_model",
    "read_config",
    "read_json",
    "said_error",
    "same_server",
    "scrub",
    "with_retries",
    "with_retries_async",
]
