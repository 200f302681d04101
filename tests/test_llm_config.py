"""Which model is used: arguments, then the environment, then the file; keys stay where they are."""

import os
import pickle
import subprocess
import sys

import pytest

import hyperhop.llm
from hyperhop.llm import ChatClient, LLMError, open_chat
from hyperhop.llm.config import config_path, read_config
from hyperhop.text import get_encoder
from loopback import Loopback, html, raw, status

MESSAGES = [{"role": "user", "content": "?"}]
KEY = "sk-tell-nobody"


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith(("HYPERHOP_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.fixture
def server():
    with Loopback() as server:
        yield server


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "hyperhop" / "config.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def asked(model, server):
    """Model name and key that arrive with a question."""
    with model:
        model.chat(MESSAGES)
    request = server.requests[-1]
    return request.body["model"], request.headers["authorization"].removeprefix("Bearer ")


def test_every_public_name_is_there():
    for name in hyperhop.llm.__all__:
        assert getattr(hyperhop.llm, name) is not None
        assert name in dir(hyperhop.llm)
    with pytest.raises(AttributeError, match="has no attribute 'Oracle'"):
        hyperhop.llm.Oracle


def test_the_vector_reader_waits_for_no_client():
    code = (
        "import sys, hyperhop.llm, hyperhop.pathhd; hyperhop.llm.VectorReader()\n"
        "print(sorted({'openai', 'asyncio', 'tomllib', 'xllamacpp'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- the file ----------------------------------------------------------------------------------


def test_where_the_file_is_looked_for(monkeypatch, tmp_path):
    assert config_path() == tmp_path / "hyperhop" / "config.toml"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert config_path() == tmp_path / ".config" / "hyperhop" / "config.toml"
    monkeypatch.setenv("HYPERHOP_CONFIG", "~/mine.toml")
    assert config_path() == tmp_path / "mine.toml"


def test_no_file_is_no_error_unless_one_was_named(monkeypatch):
    assert read_config() == {}
    monkeypatch.setenv("HYPERHOP_CONFIG", "/nowhere/config.toml")
    with pytest.raises(FileNotFoundError, match=r"/nowhere/config\.toml"):
        read_config()


def test_a_byte_order_mark_is_no_fault(write):
    write('\ufeff[llm]\nmodel = "m"\n')
    assert read_config() == {"model": "m"}


def test_other_tables_are_left_alone(write):
    write('[other]\nx = 1\n[llm]\nmodel = "m"\ntimeout = 5\ntemperature = 0.5\n')
    assert read_config() == {"model": "m", "timeout": 5, "temperature": 0.5}
    write("")
    assert read_config() == {}


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[llm]\nurl = ", "is no TOML"),
        ("llm = 3", r"llm must be a table, \[llm\]"),
        ("[llm]\nmodle = 'm'", "unknown key 'modle' under .*; known are url, model, key_env"),
        ("[llm]\ntimeout = 'long'", "timeout must be a number"),
        ("[llm]\nretries = 1.5", "retries must be a whole number"),
        ("[llm]\nretries = true", "retries must be a whole number"),
        ("[llm]\nmodel = 3", "model must be a string"),
        ("[llm]\nstructured = 1", "structured must be true or false"),
        (f"[llm]\nkey = '{KEY}'", "key must not be written into the file; give in key_env"),
        (f"[llm]\napi_key = '{KEY}'", "api_key must not be written into the file"),
        (f"[llm]\nkey_env = '{KEY}'", "key_env must be the name of an environment variable"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(write, text, match):
    path = write(text)
    with pytest.raises(ValueError, match=match) as caught:
        open_chat("http://127.0.0.1:9", "m")
    assert str(path) in str(caught.value)
    assert KEY not in str(caught.value)


# --- what is used ------------------------------------------------------------------------------


def test_nothing_configured_names_all_three_ways():
    with pytest.raises(ValueError, match="no language model is configured") as caught:
        open_chat()
    for way in ("--llm URL", "HYPERHOP_LLM_URL", str(config_path())):
        assert way in str(caught.value)


def test_what_is_no_address_and_no_file():
    with pytest.raises(ValueError, match=r"a \.gguf file or .*; got .localhost"):
        open_chat("localhost:8000")

    with pytest.raises(ValueError, match=r"one of a server's models, but 'a\.gguf' is no server"):
        open_chat("a.gguf", "m")


def test_a_missing_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ImportError, match=r'the extra \'llm\': pip install "hyperhop\[llm\]"'):
        open_chat("http://127.0.0.1:9", "m")
    with pytest.raises(ImportError, match=r'the extra \'local\': pip install "hyperhop\[local\]"'):
        open_chat(str(tmp_path / "a.gguf"))


@pytest.mark.needs("llm")
def test_arguments_then_environment_then_file(server, write, monkeypatch):
    monkeypatch.setenv("FILE_KEY", "of-the-file")
    write(f'[llm]\nurl = "{server.url}"\nmodel = "file"\nkey_env = "FILE_KEY"\nmax_tokens = 9\n')
    assert asked(open_chat(), server) == ("file", "of-the-file")
    assert server.requests[-1].body["max_tokens"] == 9
    monkeypatch.setenv("HYPERHOP_LLM_MODEL", "environment")
    monkeypatch.setenv("HYPERHOP_LLM_KEY", "of-the-environment")
    assert asked(open_chat(), server) == ("environment", "of-the-environment")
    model = open_chat(server.host, "argument", "of-the-call")
    assert isinstance(model, ChatClient)
    assert asked(model, server) == ("argument", "of-the-call")


@pytest.mark.needs("llm")
def test_a_key_in_no_variable(server, write):
    write(f'[llm]\nurl = "{server.url}"\nmodel = "m"\nkey_env = "FILE_KEY"\n')
    with pytest.raises(ValueError, match="key_env names a variable that is not set"):
        open_chat()


@pytest.mark.needs("llm")
def test_a_key_in_the_place_of_its_variables_name_is_not_shown(server, write):
    write(f'[llm]\nurl = "{server.url}"\nmodel = "m"\nkey_env = "hf_TellNobody"\n')
    with pytest.raises(ValueError, match="key_env names a variable that is not set") as caught:
        open_chat()
    assert "hf_" not in str(caught.value)


@pytest.mark.needs("llm")
def test_a_key_alone_belongs_to_the_server_of_the_file(server, write, monkeypatch):
    monkeypatch.setenv("HYPERHOP_LLM_KEY", KEY)
    assert asked(open_chat(server.url, "m"), server)[1] == KEY  # no server is named
    write(f'[llm]\nurl = "{server.host}"\n')
    assert asked(open_chat(server.url, "m"), server)[1] == KEY
    write('[llm]\nurl = "model.gguf"\n')  # a file needs no key
    assert asked(open_chat(server.url, "m"), server)[1] == KEY
    write('[llm]\nurl = "http://file.example"\n')
    server.requests.clear()
    with ChatClient(server.url, "m") as direct:
        for model in (open_chat(server.url), direct, pickle.loads(pickle.dumps(direct))):
            asked(model, server)
    get_encoder(server.url)
    assert not any(KEY in value for r in server.requests for value in r.headers.values())
    monkeypatch.setenv("HYPERHOP_LLM_URL", server.url)  # goes before the file
    assert asked(open_chat(server.url, "m"), server)[1] == KEY


@pytest.mark.needs("llm")
def test_what_is_configured_need_not_be_an_address(server, write, monkeypatch):
    monkeypatch.setenv("HYPERHOP_LLM_KEY", KEY)
    write('[llm]\nurl = "http://[::1"\nmodel = "file"\n')
    assert KEY not in asked(open_chat(server.url), server)
    with pytest.raises(ValueError, match=r"url must be like .*, got 'http://\[::1'"):
        open_chat()


@pytest.mark.needs("llm")
def test_model_and_key_belong_to_the_server_they_stand_beside(server, write, monkeypatch):
    monkeypatch.setenv("FILE_KEY", KEY)
    write('[llm]\nurl = "http://file.example"\nmodel = "file"\nkey_env = "FILE_KEY"\n')
    monkeypatch.setenv("HYPERHOP_LLM_URL", "http://environment.example")
    monkeypatch.setenv("HYPERHOP_LLM_MODEL", "environment")
    monkeypatch.setenv("HYPERHOP_LLM_KEY", KEY)
    model, key = asked(open_chat(server.url), server)
    assert (model, KEY in key) == ("loopback", False)
    assert not any(KEY in value for r in server.requests for value in r.headers.values())


@pytest.mark.needs("llm")
def test_the_only_model_of_a_server_needs_no_name(server):
    assert asked(open_chat(server.url), server)[0] == "loopback"
    server.models = ["b", "a"]
    with pytest.raises(ValueError, match="has 2 models, name one: b, a"):
        open_chat(server.url)
    server.models = []
    with pytest.raises(LLMError, match="lists no model; name one with --model"):
        open_chat(server.url)


@pytest.mark.needs("llm")
@pytest.mark.parametrize("step", [html(), raw("[]"), raw('{"data": [3]}'), html(404)])
def test_a_server_that_does_not_list_its_models(server, step):
    server.script = [step]
    with pytest.raises(LLMError, match="name one with --model"):
        open_chat(server.url)


@pytest.mark.needs("llm")
@pytest.mark.parametrize(
    ("step", "told"),
    [
        (status(401), "a key is given as"),
        (status(403), "a key is given as"),
        (status(400, "no credit"), "no credit"),
        (raw('{"error": {"message": "quota"}}'), "error: quota"),
    ],
)
def test_where_a_models_name_would_not_help_none_is_asked_for(server, step, told):
    server.script = [step]
    with pytest.raises(LLMError, match=told) as caught:
        open_chat(server.url)
    assert "--model" not in str(caught.value)
    with Loopback() as gone:
        pass
    with pytest.raises(LLMError, match="no connection") as caught:
        open_chat(gone.url)
    assert "--model" not in str(caught.value)


@pytest.mark.needs("llm")
def test_an_address_in_capitals(server):
    assert asked(open_chat(server.url.replace("http", "HTTP"), "m"), server)[0] == "m"


@pytest.mark.needs("llm")
def test_the_key_is_sent_when_models_are_asked_for(server, write, monkeypatch):
    server.key = KEY
    monkeypatch.setenv("FILE_KEY", KEY)
    write(f'[llm]\nurl = "{server.url}"\nkey_env = "FILE_KEY"\n')
    assert asked(open_chat(), server) == ("loopback", KEY)
