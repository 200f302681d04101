"""A language model in this process: any GGUF file, run by llama.cpp (extra `local`)."""

import ctypes
import os
import secrets
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperhop._extras import optional
from hyperhop.llm.client import ChatClient

_RUNNING: dict[int, Any] = {}  # servers by the id of their LocalModel


def _keep_running() -> None:
    """In a forked child, ending a server would wait for ever for threads that are not there."""
    for server in _RUNNING.values():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(server))


os.register_at_fork(after_in_child=_keep_running)


class LocalModel(ChatClient):
    """A GGUF file as a ChatModel: its own server on a free port of the loopback, until `close()`.

    Other users of the machine cannot ask it: the port wants a key that nobody else knows. JSON
    schema and GBNF grammar hold for each call. A forked child asks its parent's server; a pickle
    holds the path and the settings, and loads the file again.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        threads: int = 1,
        context: int = 4096,
        parallel: int = 1,
        timeout: float = 600.0,
        temperature: float = 0.0,
        max_tokens: int = 512,
        seed: int | None = 1,
    ) -> None:
        """Loads the file (a second for 100 MB) and keeps it in memory.

        `context` tokens are shared by `parallel` calls at once. More `threads` than idle cores are
        slower than one. ImportError without the extra, FileNotFoundError, and ValueError for what
        is no GGUF file or cannot be loaded.
        """
        engine = optional("xllamacpp", "a local language model", "local")
        for name, value in (("threads", threads), ("context", context), ("parallel", parallel)):
            if value < 1:
                raise ValueError(f"LocalModel: {name} must be 1 or more, got {value}")
        file = _gguf(path)
        key = secrets.token_urlsafe(24)
        server = _start(engine, file, key, threads, context, parallel)
        super().__init__(
            server.listening_address,
            file.stem,
            key,
            timeout=timeout,
            retries=0,
            concurrency=parallel,
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed,
            structured=True,
        )
        _RUNNING[id(self)] = server
        self._end = weakref.finalize(self, _RUNNING.pop, id(self), None)
        self._settings: Mapping[str, Any] = {
            "threads": threads,
            "context": context,
            "parallel": parallel,
            "timeout": timeout,
            "temperature": temperature,
            "max_tokens": max_tokens,
            "seed": seed,
        }
        self._path = file

    @property
    def takes_grammar(self) -> bool:
        """True: a reply can be held to a GBNF grammar."""
        return True

    def close(self) -> None:
        """End the server and free the model's memory; no call works afterwards."""
        super().close()
        self._end()

    def __repr__(self) -> str:
        return f"LocalModel({str(self._path)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _open, (self._path, self._settings)


def _open(path: Path, settings: Mapping[str, Any]) -> LocalModel:
    return LocalModel(path, **settings)


def _gguf(path: str | os.PathLike[str]) -> Path:
    """The absolute path, if a GGUF file is there."""
    file = Path(path).expanduser().absolute()
    with file.open("rb") as stream:
        if stream.read(4) != b"GGUF":
            raise ValueError(f"LocalModel: {file} is no GGUF file")
    return file


def _start(engine: Any, file: Path, key: str, threads: int, context: int, parallel: int) -> Any:
    """A running server of llama.cpp that prints nothing but its fatal errors."""
    params = engine.CommonParams()
    params.model.path = str(file)
    params.hostnames, params.port = ["127.0.0.1"], 0  # any free port
    params.api_keys = [key]
    params.n_ctx, params.n_parallel = context, parallel
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.warmup = params.ui = params.fit_params = False
    params.verbosity = 0
    try:
        return engine.Server(params)
    except RuntimeError as error:
        raise ValueError(f"LocalModel: {file} cannot be loaded ({error})") from None
