"""Addresses, keys, retries and embeddings of OpenAI-compatible servers, over real HTTP."""

import asyncio
import importlib
import logging
import pickle
import sys
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, formatdate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop._server import (
    ServerError,
    find_key,
    make_async_client,
    make_client,
    normalize_url,
    with_retries_async,
)
from hyperhop._server import http as http_room
from hyperhop._server.retries import _pause
from hyperhop.text import OpenAIEncoder, TextEncoder, encode_queries, get_encoder
from loopback import (
    Loopback,
    Step,
    cut_off,
    dropped,
    dump,
    embeddings,
    half_json,
    html,
    raw,
    status,
    vector,
)  # fmt: skip

KEY = "sk-never-to-be-seen"
VARIABLES = ("HYPERHOP_LLM_KEY", "HYPERHOP_LLM_URL", "OPENAI_API_KEY", "OPENAI_ORG_ID")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    with Loopback() as running:
        yield running


def ask(server, **options):
    return OpenAIEncoder(server.host, "m", backoff=0.001, **options)


def unit(texts, dim=8):
    rows = np.array([vector(text, dim) for text in texts]).reshape(-1, dim)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:8080", "http://localhost:8080/v1"),
        ("http://localhost:8080/", "http://localhost:8080/v1"),
        ("http://localhost:8080/v1/", "http://localhost:8080/v1"),
        (" HTTPS://HOST/v1/embeddings ", "https://host/v1"),
        ("http://host/v1/chat/completions/", "http://host/v1"),
        ("http://host/v1/models", "http://host/v1"),
        ("http://host/embeddings", "http://host/v1"),
        ("https://host/openai/v1", "https://host/openai/v1"),
        ("https://host/v1beta/openai/", "https://host/v1beta/openai"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1"),
    ],
)
def test_addresses(url, expected):
    assert normalize_url(url) == expected
    assert normalize_url(expected) == expected


@pytest.mark.parametrize(
    "url",
    [
        "localhost:80",
        "ftp://h",
        "",
        "http://",
        "http://h:port/v1",
        "http://h:0",
        "http://[::1",
        "http://[1]/v1",
        "http://..../v1",
        f"http://{'a' * 64}.org/v1",
        "http://exa mple/v1",
        "http://h/\x00",
        "http://h\x00/",
        "http://h/\ud800",
        f"http://h/{'a' * 70_000}",
    ],
)
def test_no_address(url):
    with pytest.raises(ValueError, match="url must be like http://host:port/v1, got"):
        normalize_url(url)


@pytest.mark.parametrize("url", [None, 5, b"http://h"])
def test_an_address_is_a_string(url):
    with pytest.raises(TypeError, match="url must be a string, got"):
        normalize_url(url)


@pytest.mark.parametrize(
    "url",
    [
        f"http://me:{KEY}@h",
        f"http://me:{KEY}@[::1",
        f"me:{KEY}@h",
        f"http://h/v1?key={KEY}",
        f"http://h#{KEY}",
    ],
)
def test_an_address_with_a_secret_is_refused_without_showing_it(url):
    with pytest.raises(ValueError, match="no user, query or fragment") as caught:
        normalize_url(url)
    assert KEY not in str(caught.value)


def test_whose_key_goes_where(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    assert find_key("https://api.openai.com/v1") == "theirs"
    for elsewhere in ("http://api.openai.com/v1", "https://api.openai.com.evil/v1", "http://h/v1"):
        assert find_key(elsewhere) is None
    monkeypatch.setenv("HYPERHOP_LLM_KEY", "ours\n")
    assert find_key("http://h/v1") == find_key("https://api.openai.com/v1") == "ours"
    assert find_key("http://h/v1", "mine") == "mine"
    with pytest.raises(ValueError, match="not printable ASCII") as caught:
        find_key("http://h/v1", KEY + "\x00")
    assert KEY not in str(caught.value)


def test_missing_openai_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ImportError, match=r'OpenAIEncoder needs .* "hyperhop\[llm\]"'):
        get_encoder("http://localhost:1#m")


@pytest.mark.needs("llm")
@pytest.mark.parametrize("ending", ["", "/v1", "/v1/", "/v1/embeddings"])
def test_embeddings_without_a_key(server, ending, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-never-to-be-seen")
    encoder = OpenAIEncoder(server.host + ending, "any/name#1", batch_size=3)
    texts = ["a", "", "b", " \n", "秘鲁 😀", "c", "a"]
    rows = encoder.encode(texts)
    assert rows.dtype == np.float32
    filled = [0, 2, 4, 5, 6]
    np.testing.assert_allclose(rows[filled], unit([texts[i] for i in filled]), atol=1e-7)
    assert not rows[[1, 3]].any()
    assert [body["input"] for body in server.bodies()] == [["a", "b", "秘鲁 😀"], ["c", "a"]]
    assert encoder.dim == 8
    assert encoder.encode([]).shape == (0, 8)
    assert len(server.requests) == 2  # the length was known by then
    sent = str([request.headers for request in server.requests])
    assert KEY not in sent
    assert "org-never" not in sent
    assert encoder.name == f"{server.url}#any/name#1"
    assert get_encoder(encoder.name).name == encoder.name
    assert isinstance(encoder, TextEncoder)


@pytest.mark.needs("llm")
@given(st.lists(st.text(min_size=1, max_size=4), max_size=9), st.integers(1, 4))
def test_rows_keep_the_order_of_their_texts(backwards, texts, batch_size):
    rows = backwards[batch_size].encode(texts)
    for row, text in zip(rows, texts, strict=True):
        expected = unit([text.encode("utf-8", "replace").decode()])[0] if text.strip() else 0
        np.testing.assert_allclose(row, expected, atol=1e-6)


@pytest.fixture(scope="module")
def backwards():
    """Encoders by batch size, of a server that sends items last first."""
    with Loopback() as running:
        running.script = Endless(embeddings(lambda items: items[::-1]))
        yield {size: OpenAIEncoder(running.url, "m", batch_size=size) for size in range(1, 5)}


class Endless(list):
    """A script whose one step is never done."""

    def __init__(self, step):
        super().__init__([step])

    def pop(self, place=-1):
        return self[place]


@pytest.mark.needs("llm")
def test_dim_is_asked_once_and_kept(server):
    server.dim = 384
    encoder = ask(server)
    assert encoder.dim == encoder.dim == 384
    assert len(server.requests) == 1
    server.dim = 768
    with pytest.raises(ServerError, match="embedding 0 has 768 numbers, 384 were expected"):
        encoder.encode(["a"])


@pytest.mark.needs("llm")
def test_question_prompt(server):
    encoder = ask(server, query_prompt="query: ")
    encode_queries(encoder, ["who?"])
    encoder.encode(["who?"])
    assert [body["input"] for body in server.bodies()] == [["query: who?"], ["who?"]]


@pytest.mark.needs("llm")
def test_the_key_is_sent_and_never_shown(server, caplog):
    caplog.set_level(logging.DEBUG)
    server.key = KEY
    encoder = ask(server, api_key=KEY)
    encoder.encode(["a"])
    server.script = [
        status(400, f"who sends {KEY} here"),
        status(403, "x" * 290 + KEY),
        raw(dump({"error": f"{KEY} has no quota"}).decode()),
    ]
    for told in ("status 400", "status 403", r"error: \*\*\* has no quota"):
        with pytest.raises(ServerError, match=told) as caught:
            encoder.encode(["a"])
        assert KEY[:8] not in str(caught.value)
    copy = pickle.dumps(encoder)
    for shown in (repr(encoder), str(vars(encoder)["_url"]), encoder.name, caplog.text, str(copy)):
        assert KEY not in shown
    with pytest.raises(ServerError, match=r"status 401: .*a key is given as api_key or in HYPER"):
        pickle.loads(copy).encode(["a"])


@pytest.mark.needs("llm")
def test_a_copy_takes_its_key_from_the_environment(server, monkeypatch):
    server.key = KEY
    copy = pickle.dumps(ask(server, api_key=KEY, query_prompt="q: "))
    monkeypatch.setenv("HYPERHOP_LLM_KEY", KEY)
    encoder = pickle.loads(copy)
    assert encoder.encode(["a"]).shape == (1, 8)
    assert (encoder.name, encoder.query_prompt) == (f"{server.url}#m", "q: ")


@pytest.mark.needs("llm")
@pytest.mark.parametrize(
    "trouble",
    [status(429), status(500), status(503), dropped(), cut_off(), Step(200, b"{}", delay=0.6)],
    ids=["429", "500", "503", "dropped", "cut off", "late"],
)
def test_passing_troubles_are_tried_again(server, trouble):
    server.script = [trouble, trouble]
    rows = ask(server, retries=2, timeout=0.3).encode(["a"])
    np.testing.assert_allclose(rows, unit(["a"]), atol=1e-7)
    assert len(server.requests) == 3
    server.script = [trouble, trouble]
    with pytest.raises(ServerError, match=r"\(attempt 2\)") as caught:
        ask(server, retries=1, timeout=0.3).encode(["a"])
    assert caught.value.attempts == 2
    assert len(server.requests) == 5


@pytest.mark.needs("llm")
@pytest.mark.parametrize(
    ("step", "message", "code"),
    [
        (status(400, "too long"), "status 400: too long", 400),
        (status(404, "no such model"), "status 404: no such model", 404),
        (html(), "the reply is not JSON", None),
        (half_json(), "the reply is not JSON", None),
        (raw("[" * 200_000), "the reply is not JSON", None),
        (raw("[]"), "no list of embeddings", None),
        (raw('{"error": {"message": "no quota"}}'), "error: no quota$", None),
        (raw('{"error": "no quota"}'), "error: no quota$", None),
        (raw('{"data": ["a"]}'), "no list of embeddings", None),
        (Step(429, dump({"error": {"code": "insufficient_quota", "message": "pay"}})), "pay", 429),
        (status(429, retry_after="3600"), "it asks to wait 3600 s", 429),
    ],
)
def test_lasting_troubles_are_told_at_once(server, step, message, code):
    server.script = [step]
    with pytest.raises(ServerError, match=message) as caught:
        ask(server).encode(["a"])
    assert (caught.value.attempts, caught.value.status) == (1, code)
    assert len(server.requests) == 1
    assert server.url in str(caught.value)
    assert isinstance(caught.value, OSError)
    assert pickle.loads(pickle.dumps(caught.value)).attempts == 1


@pytest.mark.needs("llm")
def test_a_servers_words_cannot_command_a_terminal(server):
    words = "\x1b[2J\x1b]0;title\x07 \x9b31m no"
    server.script = [status(400, words), raw(dump({"error": words}).decode())]
    for _ in range(2):
        with pytest.raises(ServerError) as caught:
            ask(server).encode(["a"])
        assert str(caught.value).isprintable()
    server.models = [words, "b"]
    with pytest.raises(ValueError, match="has 2 models") as listed:
        get_encoder(server.url)
    assert str(listed.value).isprintable()


@pytest.mark.needs("llm")
@pytest.mark.parametrize(
    ("timeout", "error"),
    [(np.inf, ValueError), (np.nan, ValueError), (1e12, ValueError), ("5", TypeError)],
)
def test_a_time_that_no_socket_takes(timeout, error):
    with pytest.raises(error, match="OpenAIEncoder: timeout must be"):
        OpenAIEncoder("http://127.0.0.1:9", "m", timeout=timeout)


@pytest.mark.needs("llm")
@pytest.mark.parametrize("host", ["\N{SNOWMAN}.example", "999.1.1.1"])
def test_a_host_that_is_none(host):
    with pytest.raises(ValueError, match="OpenAIEncoder: url must be like"):
        OpenAIEncoder(f"http://{host}/v1", "m")


@pytest.mark.needs("llm")
def test_the_wait_for_a_retry_is_limited():
    error = importlib.import_module("openai").APITimeoutError(request=None)
    assert 45 <= _pause(error, 5000, 9000, 0.5, "http://h", None) <= 60


@pytest.mark.needs("llm")
def test_certificates_are_read_once():
    http_room._certificates.cache_clear()
    for _ in range(2):
        make_client("the test", "https://host/v1", None, 5.0).close()
        asyncio.run(make_async_client("the test", "https://host/v1", None, 5.0).close())
    assert http_room._certificates.cache_info().misses == 1


@pytest.mark.needs("llm")
def test_a_server_that_is_not_there():
    with Loopback() as gone:
        pass
    with pytest.raises(ServerError, match=r"no connection .*\(attempt 2\)"):
        OpenAIEncoder(gone.url, "m", retries=1, backoff=0.001).encode(["a"])


@pytest.mark.needs("llm")
@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_waited_for(server, form):
    later = datetime.now(UTC) + timedelta(seconds=2)
    said = "0.2" if form == "seconds" else format_datetime(later, usegmt=True)
    server.script = [status(429, retry_after=said)]
    start = time.perf_counter()
    ask(server).encode(["a"])
    assert time.perf_counter() - start >= 0.19


@pytest.mark.needs("llm")
@pytest.mark.parametrize("said", ["nan", "-1", "soon", formatdate(0, usegmt=True)])
def test_an_odd_retry_after_does_not_matter(server, said):
    server.script = [status(429, retry_after=said)]
    assert ask(server).encode(["a"]).shape == (1, 8)


@pytest.mark.needs("llm")
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda items: items[:-1], "3 texts were sent, but 2 embeddings came back, .* 0, 1"),
        (lambda items: [*items, items[0]], "3 texts were sent, but 4 embeddings"),
        (lambda items: [items[0], items[0], items[2]], "indexes 0, 0, 2"),
        (lambda items: [{**i, "index": i["index"] + 1} for i in items], "indexes 1, 2, 3"),
        (lambda items: [{"embedding": i["embedding"]} for i in items], "indexes None, None"),
        (lambda items: [{**i, "index": str(i["index"])} for i in items], "indexes 0, 1, 2"),
        (lambda items: [], "0 embeddings came back, with the indexes none"),
        (lambda items: [*items[:2], {**items[2], "embedding": [1.0]}], "embedding 2 has 1 numbers"),
        (lambda items: [{**i, "embedding": [0.0] * 8} for i in items], "embedding 0 is a zero"),
        (lambda items: [{**i, "embedding": [float("nan")] * 8} for i in items], "NaN or infinity"),
        (lambda items: [{**i, "embedding": [None] * 8} for i in items], "no number"),
        (lambda items: [{**i, "embedding": "AACAPw=="} for i in items], "no list of numbers"),
        (lambda items: [{**i, "embedding": []} for i in items], "no list of numbers"),
        (
            lambda items: [{**i, "embedding": [10**400, 1]} for i in items],
            "number that is too large",
        ),
    ],
)
def test_wrong_items_are_one_clear_error(server, edit, message):
    server.script = [embeddings(edit)]
    with pytest.raises(ServerError, match=message):
        ask(server).encode(["a", "b", "c"])
    assert len(server.requests) == 1


@pytest.mark.needs("llm")
def test_numbers_of_any_size_become_unit_rows(server):
    server.script = [embeddings(lambda items: [{"index": 0, "embedding": [3e300, 4e300]}])]
    np.testing.assert_allclose(ask(server).encode(["a"]), [[0.6, 0.8]], atol=1e-7)


@pytest.mark.needs("llm")
def test_the_only_model_of_a_server(server):
    assert get_encoder(server.host).name == f"{server.url}#loopback"
    server.models = [f"model-{i}" for i in range(30)]
    with pytest.raises(ValueError, match=r"has 30 models, name one: model-0, .* model-19, \.\.\.$"):
        get_encoder(server.url)
    server.models = []
    with pytest.raises(ServerError, match="lists no model"):
        get_encoder(server.url)


@pytest.mark.needs("llm")
def test_retries_inside_an_event_loop(server):
    async def main():
        client = make_async_client("the test", server.url, None, 5.0)
        try:
            return await with_retries_async(
                lambda: client.embeddings.with_raw_response.create(model="m", input=["a"]),
                retries=2, backoff=0.001, url=server.url, key=None,
            )  # fmt: skip
        finally:
            await client.close()

    server.script = [status(500), status(429)]
    assert asyncio.run(main())[1] == 3
    server.script = [status(400, "no")]
    with pytest.raises(ServerError, match="status 400: no"):
        asyncio.run(main())
