"""Which language model to use: arguments, then the environment, then the configuration file."""

import os
from typing import Any

from hyperhop._server import (
    KEY_VARIABLE,
    URL_VARIABLE,
    ServerError,
    UnlistedModels,
    config_path,
    find_key,
    is_address,
    make_client,
    normalize_url,
    only_model,
    read_config,
    same_server,
)
from hyperhop.llm.chat import ChatModel, LLMError
from hyperhop.llm.client import ChatClient
from hyperhop.llm.local import LocalModel
from hyperhop.llm.pretrained import TransformersModel, is_folder_of_model

MODEL_VARIABLE = "HYPERHOP_LLM_MODEL"

_SERVER = ("timeout", "retries", "concurrency", "max_tokens", "temperature", "structured")
_LOCAL = ("timeout", "max_tokens", "temperature", "threads", "context")
_FOLDER = ("max_tokens", "contrast", "plausibility")
_NO_CONTRAST = "contrast needs a folder of transformers, whose scores can be read, got {!r}"
_TIMEOUT = 60.0  # seconds, to tell which models there are


def open_chat(
    url: str | None = None,
    model: str | None = None,
    api_key: str | None = None,
    *,
    contrast: float | None = None,
) -> ChatModel:
    """The language model that was asked for or configured.

    `url` is the address of an OpenAI-compatible server (a ChatClient), or the path of a .gguf file
    (a LocalModel) or of a folder of transformers (a TransformersModel, the only one that takes
    `contrast`); without one, that of HYPERHOP_LLM_URL or of the configuration file. `model`
    comes from HYPERHOP_LLM_MODEL or the file, or is the only one that the server offers. A model
    or key that is configured beside a url is used for that server alone; HYPERHOP_LLM_KEY without
    HYPERHOP_LLM_URL belongs to the server that the file names.

    ValueError where nothing is configured, or not clearly; LLMError if the server must be asked
    for its models and does not tell; ImportError without the extra `llm`, `local`
    or `transformers`.
    """
    config = read_config()
    url = url or os.environ.get(URL_VARIABLE) or config.get("url")
    if not url:
        raise ValueError(
            "no language model is configured: name one with url (--llm URL), in the environment "
            f"variable {URL_VARIABLE}, or as url under [llm] in {config_path()}"
        )
    url = str(url)
    if not is_address(url):
        if model:
            raise ValueError(f"model names one of a server's models, but {url!r} is no server")
        return _open_path(url, config, contrast)
    if contrast is not None:
        raise ValueError(_NO_CONTRAST.format(url))
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
            # its name is not shown: it may be a key that was put in the wrong place
            raise ValueError(f"{config_path()}: key_env names a variable that is not set")
    options = {name: config[name] for name in _SERVER if name in config}
    return ChatClient(url, model or _only_model(url, api_key), api_key, key_env=key_env, **options)


def _open_path(path: str, config: dict[str, Any], contrast: float | None) -> ChatModel:
    if is_folder_of_model(path):
        options = {name: config[name] for name in _FOLDER if name in config}
        if contrast is not None:
            options["contrast"] = contrast
        return TransformersModel(path, **options)
    if not path.endswith(".gguf"):
        raise ValueError(
            "a language model is an address like http://host:port/v1, a .gguf file or a folder of "
            f"transformers, which holds a config.json; got {path!r}"
        )
    if contrast is not None:
        raise ValueError(_NO_CONTRAST.format(path))
    return LocalModel(path, **{name: config[name] for name in _LOCAL if name in config})


def _only_model(url: str, api_key: str | None) -> str:
    url = normalize_url(url)
    key = find_key(url, api_key)
    with make_client("a language model behind a server", url, key, _TIMEOUT) as client:
        try:
            return only_model(client, url, key, retries=1)
        except ServerError as error:
            hint = "; name one with --model" if isinstance(error, UnlistedModels) else ""
            problem = LLMError(f"{error}{hint}", error.attempts)
    raise problem
