"""The chat client against a real server on the loopback, well behaved or not."""

import asyncio
import copy
import logging
import multiprocessing
import os
import pickle
import signal
import threading
import time
import warnings

import pytest

from hyperhop.llm import (
    CallableModel,
    ChatClient,
    ChatModel,
    LLMError,
    Reply,
    SchemaRefused,
    Usage,
    chat_batch,
)
from hyperhop.llm.batch import achat_batch
from loopback import (
    Loopback,
    completion,
    cut_off,
    dripping,
    dropped,
    dump,
    half_json,
    html,
    raw,
    redirect,
    slow,
    status,
    text,
)

pytestmark = pytest.mark.needs("llm")

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hé 🌍?"}]
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
KEY = "sk-tell-nobody"


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in list(os.environ):
        if name.startswith(("HYPERHOP_LLM", "OPENAI_")):
            monkeypatch.delenv(name)


@pytest.fixture
def server():
    with Loopback() as server:
        yield server


def client(server, **options):
    options = {"timeout": 30.0, **options}
    return ChatClient(options.pop("base_url", server.url), "any-name", **options)


def failure(model, messages=MESSAGES, **options):
    with pytest.raises(LLMError) as caught:
        model.chat(messages, **options)
    return caught.value


# --- one call ----------------------------------------------------------------------------------


def test_one_call_is_one_request(server):
    server.script = [text(" Lima\n")]
    with client(server, seed=3) as model:
        assert isinstance(model, ChatModel)
        assert model.chat(MESSAGES) == Reply(" Lima\n", 1, 11, 3, False)
        assert model.usage == Usage(1, 0, 1, 11, 3)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.body == {
        "model": "any-name",
        "messages": MESSAGES,
        "temperature": 0.0,
        "max_tokens": 512,
        "seed": 3,
    }


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_any_common_form_of_the_address_works(server, ending):
    with client(server, base_url=server.host + ending) as model:
        assert model.chat(MESSAGES).text == "ok"
        assert model.url == server.url


def test_nothing_is_sent_that_was_switched_off(server):
    with client(
        server, temperature=None, max_tokens=None, extra={"max_completion_tokens": 7}
    ) as model:
        model.chat(MESSAGES)
        model.chat(MESSAGES, grammar='root ::= "x"', max_tokens=9)
    first, second = server.bodies()
    assert first == {"model": "any-name", "messages": MESSAGES, "max_completion_tokens": 7}
    assert second == {**first, "grammar": 'root ::= "x"', "max_tokens": 9}


def test_a_reply_that_was_cut_says_so(server):
    server.script = [text("Lim", finish="length")]
    with client(server) as model:
        assert model.chat(MESSAGES).cut


def test_content_in_parts_is_joined(server):
    server.script = [text([{"type": "text", "text": "Li"}, {"type": "text", "text": "ma"}])]
    with client(server) as model:
        assert model.chat(MESSAGES).text == "Lima"


@pytest.mark.parametrize("usage", [None, "12", {"prompt_tokens": -1, "completion_tokens": 1.5}])
def test_a_server_that_counts_no_tokens(server, usage):
    reply = {**completion("Lima"), "usage": usage}
    server.script = [raw(dump(reply).decode())]
    with client(server) as model:
        assert model.chat(MESSAGES) == Reply("Lima")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"base_url": "localhost:8000"}, "url must be like"),
        ({"base_url": "http://\N{SNOWMAN}.example"}, "url must be like"),
        (
            {"timeout": float("inf")},
            "timeout must be positive and at most 1000000 seconds, got inf",
        ),
        ({"temperature": float("inf")}, "temperature must be 0 or more, got inf"),
        ({"base_url": f"http://user:{KEY}@host/v1"}, "no user, query or fragment"),
        ({"timeout": 0}, "timeout must be positive and at most 1000000 seconds, got 0"),
        ({"retries": -1}, "retries must be 0 or more, got -1"),
        ({"concurrency": 0}, "concurrency must be 1 or more, got 0"),
        ({"max_tokens": 0}, "max_tokens must be 1 or more, got 0"),
        ({"temperature": -1}, "temperature must be 0 or more, got -1"),
    ],
)
def test_options_out_of_range(options, match):
    with pytest.raises(ValueError, match=match) as caught:
        ChatClient(options.pop("base_url", "http://localhost/v1"), "m", **options)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"base_url": None}, "url must be a string, got NoneType"),
        ({"timeout": "5"}, "timeout must be a number, got str"),
        ({"retries": 1.5}, "retries must be a whole number, got float"),
        ({"max_tokens": "9"}, "max_tokens must be a whole number, got str"),
        ({"temperature": "0"}, "temperature must be a number, got str"),
    ],
)
def test_options_of_another_kind(options, match):
    with pytest.raises(TypeError, match=match):
        ChatClient(options.pop("base_url", "http://localhost/v1"), "m", **options)


def test_a_model_must_be_named():
    with pytest.raises(ValueError, match="model must be the name of a model, got ''"):
        ChatClient("http://localhost/v1", "")


# --- failures ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "step",
    [status(429), status(429, retry_after="0"), status(500), status(503), dropped(), cut_off()],
    ids=["429", "429 with Retry-After", "500", "503", "dropped", "cut off"],
)
def test_what_may_pass_is_tried_again_and_counted(server, step):
    server.script = [step, text("Lima")]
    with client(server) as model:
        assert model.chat(MESSAGES) == Reply("Lima", 2, 11, 3)
        assert model.usage == Usage(1, 0, 2, 11, 3)
    assert len(server.requests) == 2


def test_retry_after_is_honoured(server):
    server.script = [status(429, retry_after="1"), text("Lima")]
    start = time.perf_counter()
    with client(server) as model:
        assert model.chat(MESSAGES).attempts == 2
    assert time.perf_counter() - start >= 1.0


def test_a_server_that_asks_for_an_hour_is_not_waited_for(server):
    server.script = [status(429, retry_after="3600")]
    with client(server) as model:
        error = failure(model)
    assert error.attempts == 1
    assert "status 429" in str(error)
    assert "3600 s" in str(error)


def test_a_late_server_is_asked_again(server):
    server.script = [slow(60), text("Lima")]
    with client(server, timeout=0.5) as model:
        assert model.chat(MESSAGES).attempts == len(server.requests) > 1


@pytest.mark.parametrize("code", [200, 400])
@pytest.mark.parametrize("form", ["sync", "async"])
def test_a_reply_that_keeps_coming_is_not_waited_for(server, code, form):
    server.script = [dripping(code=code)]  # 14 s in all
    start = time.perf_counter()
    with (
        client(server, timeout=0.5, retries=0) as model,
        pytest.raises(LLMError, match="no answer in time"),
    ):
        model.chat(MESSAGES) if form == "sync" else asyncio.run(model.achat(MESSAGES))
    assert time.perf_counter() - start < 5


def test_every_request_of_a_failed_call_is_counted(server):
    server.script = [status(500, "out of memory")] * 3
    with client(server, retries=2) as model:
        error = failure(model)
        assert error.attempts == len(server.requests) == 3
        assert "status 500: out of memory (attempt 3)" in str(error)
        assert model.usage == Usage(0, 1, 3)


def test_nobody_there():
    with Loopback() as gone:
        pass
    with client(gone, retries=0) as model:
        error = failure(model)
    assert error.attempts == 1
    assert "no connection" in str(error)


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422])
def test_what_cannot_pass_is_not_tried_again(server, code):
    server.script = [status(code, "no such thing"), text("never asked")]
    with client(server) as model:
        error = failure(model)
    assert (error.attempts, len(server.requests)) == (1, 1)
    assert f"status {code}: no such thing" in str(error)


@pytest.mark.parametrize(
    ("step", "match"),
    [
        (html(), "the reply is not JSON"),
        (half_json(), "the reply is not JSON"),
        (raw(""), "the reply is not JSON"),
        (raw("[" * 200_000), "the reply is not JSON"),
        (raw("[]"), "the reply is no chat completion"),
        (raw('{"object": "list"}'), "the reply has no choices"),
        (raw('{"choices": []}'), "the reply has no choices"),
        (raw('{"choices": [{"text": "old form"}]}'), "the reply has no choices"),
        (raw('{"error": {"message": "busy"}}'), "error: busy$"),
        (raw('{"error": {"message": "", "code": 7}}'), "error: .*'code': 7"),
        (raw('{"error": "\\u001b[2Jbusy"}'), r"error: \\x1b\[2Jbusy$"),
        (text(None), "the reply is empty"),
        (text("  \n"), "the reply is empty"),
        (text("", finish="length"), "cut by max_tokens"),
        (text(None, finish="content_filter"), "withheld"),
        (text(None, refusal="I will not."), "refused: I will not."),
        (text(None, reasoning_content="Well..."), r"thought \(7 characters\) but gave no answer"),
        (text("", reasoning="Well..."), r"thought \(7 characters\) but gave no answer"),
    ],
)
def test_no_answer_is_an_error_that_says_why(server, step, match):
    server.script = [step, text("never asked")]
    with client(server) as model:
        with pytest.raises(LLMError, match=match) as caught:
            model.chat(MESSAGES)
        assert caught.value.attempts == len(server.requests) == 1
        assert (model.usage.calls, model.usage.failures) == (0, 1)


def test_tokens_of_an_empty_reply_are_paid_for(server):
    server.script = [text("")]
    with client(server) as model:
        failure(model)
        assert model.usage == Usage(0, 1, 1, 11, 3)


def test_what_is_no_character_is_sent_as_a_question_mark(server):
    with client(server, extra={"stop": ["\ud800"]}) as model:
        messages = [{"role": "user", "content": "a\ud800b 🌍"}]
        model.chat(messages, schema={"enum": ["\udfff"]}, grammar='root ::= "\udfff"')
    body = server.bodies()[0]
    assert body["messages"] == [{"role": "user", "content": "a?b 🌍"}]
    assert (body["stop"], body["grammar"]) == (["?"], 'root ::= "?"')
    assert body["response_format"]["json_schema"]["schema"] == {"enum": ["?"]}
    assert messages[0]["content"] == "a\ud800b 🌍"


def test_wrong_arguments_are_no_failure_of_the_model(server):
    with client(server) as model, pytest.raises(TypeError, match="role and a content, got 'a'"):
        model.chat("a question without a role")
    assert not server.requests


# --- structured output -------------------------------------------------------------------------


def test_a_schema_is_sent_and_its_success_remembered(server):
    server.answer = lambda messages: '{"answer": "Lima"}'
    with client(server) as model:
        assert model.takes_schema is None
        model.chat(MESSAGES, schema=SCHEMA)
        assert model.takes_schema is True
        server.script = [status(400, "context too long for this schema")]
        assert type(failure(model, schema=SCHEMA)) is LLMError
    assert server.bodies()[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
    }


def test_a_reply_nested_too_deep_is_no_proof_of_a_schema(server):
    server.script = [text("[" * 200_000)]
    with client(server) as model:
        assert len(model.chat(MESSAGES, schema=SCHEMA).text) == 200_000
        assert model.takes_schema is None


def test_a_server_that_ignores_the_schema_is_not_trusted(server):
    with client(server) as model:
        assert model.chat(MESSAGES, schema=SCHEMA).text == "ok"
        assert model.takes_schema is None


@pytest.mark.parametrize("code", [400, 404, 422, 501])
def test_a_refusal_is_told_and_remembered(server, code):
    server.script = [status(code, "response_format is not supported")]
    with client(server, retries=0) as model:
        error = failure(model, schema=SCHEMA)
        assert (type(error), error.attempts) == (SchemaRefused, 1)
        assert model.takes_schema is False
        assert model.chat(MESSAGES).text == "ok"
        error = failure(model, schema=SCHEMA)
        assert (type(error), error.attempts, len(server.requests)) == (SchemaRefused, 0, 2)


def test_an_unclear_refusal_is_told_but_not_remembered(server):
    server.script = [status(404, "no model any-name")] * 2
    with client(server) as model:
        assert type(failure(model, schema=SCHEMA)) is SchemaRefused
        assert model.takes_schema is None
        assert type(failure(model)) is LLMError


def test_the_caller_may_settle_it(server):
    server.takes_schema = False
    with client(server, structured=False) as model:
        assert type(failure(model, schema=SCHEMA)) is SchemaRefused
        assert not server.requests
    with client(server, structured=True) as model:
        assert type(failure(model, schema=SCHEMA)) is LLMError


@pytest.mark.parametrize("code", [401, 403])
def test_a_wrong_key_is_no_refusal_of_the_schema(server, code):
    server.script = [status(code)]
    with client(server) as model:
        assert type(failure(model, schema=SCHEMA)) is LLMError


# --- many calls, threads, loops, processes -----------------------------------------------------


def questions(count):
    return [[{"role": "user", "content": f"{i}"}] for i in range(count)]


def echo(messages):
    return messages[-1]["content"]


def test_a_batch_keeps_its_order_and_its_limit(server):
    server.answer, server.pause = echo, 0.02
    seen = []
    with client(server, concurrency=3) as model:
        replies = model.chat_batch(questions(12), progress=lambda *now: seen.append(now))
        assert [reply.text for reply in replies] == [str(i) for i in range(12)]
        assert seen == [(i, 12) for i in range(1, 13)]
        assert 1 < server.peak <= 3
        assert model.usage.calls == 12
        assert model.chat_batch([]) == []


def test_one_failure_loses_nothing(server):
    def answer(messages):
        return "" if echo(messages) == "4" else echo(messages)

    server.answer = answer
    with client(server) as model:
        replies = model.chat_batch(questions(8))
        assert model.usage == Usage(7, 1, 8, 88, 24)
    assert [type(reply) for reply in replies] == [Reply] * 4 + [LLMError] + [Reply] * 3
    assert [reply.text for reply in replies if isinstance(reply, Reply)] == list("0123567")


def test_a_mistake_of_the_caller_ends_the_batch(server):
    with client(server) as model:
        with pytest.raises(TypeError):
            model.chat_batch([*questions(2), "a question without a role"])
        with pytest.raises(TypeError):
            asyncio.run(model.achat_batch([*questions(2), "a question without a role"]))


@pytest.mark.parametrize("step", [slow(60), status(429, retry_after="30")], ids=["slow", "again"])
def test_an_interrupt_ends_a_batch_at_once(server, step):
    server.script = [step] * 9
    model = client(server, concurrency=3)

    def interrupt():
        while len(server.requests) < 3:
            time.sleep(0.01)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    others = {thread for thread in threading.enumerate() if thread.daemon}
    threading.Thread(target=interrupt).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        model.chat_batch(questions(9))
    assert time.perf_counter() - start < 5
    deadline = time.perf_counter() + 5
    while {thread for thread in threading.enumerate() if thread.daemon} - others:
        assert time.perf_counter() < deadline  # hung up, not sent again
        time.sleep(0.01)
    assert len(server.requests) == 3
    server.script.clear()
    assert model.chat(MESSAGES).text == "ok"
    model.close()


def test_closing_ends_the_calls_of_other_threads(server):
    server.script = [slow(60)]
    model = client(server, retries=0)
    errors = []
    thread = threading.Thread(target=lambda: errors.append(failure(model)))
    thread.start()
    while not server.requests:
        time.sleep(0.01)
    model.close()
    thread.join(5)
    assert "no connection" in str(errors[0])


@pytest.mark.parametrize("batch", [chat_batch, lambda *a, **k: asyncio.run(achat_batch(*a, **k))])
def test_a_batch_needs_room_for_one_call(server, batch):
    with client(server) as model, pytest.raises(ValueError, match="concurrency must be 1 or more"):
        batch(model, questions(2), concurrency=0)


def test_sync_calls_inside_a_running_loop(server):
    server.answer = echo

    async def main():
        with client(server) as model:
            one = model.chat(questions(1)[0])
            many = model.chat_batch(questions(3))
            return one, many, await model.achat(questions(1)[0])

    one, many, awaited = asyncio.run(main())
    assert [one.text, awaited.text] == ["0", "0"]
    assert [reply.text for reply in many] == ["0", "1", "2"]


def test_async_calls_overlap_within_the_limit(server):
    server.answer, server.pause = echo, 0.05
    seen = []

    async def main(model):
        free = await asyncio.gather(*(model.achat(messages) for messages in questions(12)))
        batch = await model.achat_batch(questions(12), progress=lambda *now: seen.append(now))
        return free, batch

    with client(server, concurrency=4) as model:
        for replies in asyncio.run(main(model)):
            assert [reply.text for reply in replies] == [str(i) for i in range(12)]
        assert 1 < server.peak <= 4
        assert model.usage.calls == 24
    assert seen == [(i, 12) for i in range(1, 13)]


def test_one_object_in_one_loop_after_another(server):
    with client(server) as model:
        for _ in range(3):
            assert asyncio.run(model.achat(MESSAGES)).text == "ok"


def test_async_failures_are_like_the_others(server):
    server.script = [status(429), status(500), half_json()]
    with client(server) as model:
        with pytest.raises(LLMError, match="not JSON") as caught:
            asyncio.run(model.achat(MESSAGES))
        assert caught.value.attempts == 3
        server.script = [status(400, "response_format is not supported")]
        with pytest.raises(SchemaRefused):
            asyncio.run(model.achat(MESSAGES, schema=SCHEMA))
        replies = asyncio.run(model.achat_batch(questions(2), schema=SCHEMA))
        assert [type(reply) for reply in replies] == [SchemaRefused] * 2
        assert model.usage == Usage(0, 2, 4)


def test_a_cancelled_call_leaves_nothing_behind(server):
    server.script = [slow(60)]

    async def main(model):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(model.achat(MESSAGES), 0.2)
        return await model.achat(MESSAGES)

    with client(server) as model:
        assert asyncio.run(main(model)).text == "ok"


def test_two_threads_with_a_loop_each(server):
    server.answer, server.pause = echo, 0.01
    texts = {}

    def work(name, model):
        async def main():
            return await model.achat_batch(questions(10))

        texts[name] = [reply.text for reply in asyncio.run(main())]
        texts[name] += [model.chat(messages).text for messages in questions(5)]

    with client(server) as model:
        threads = [threading.Thread(target=work, args=(name, model)) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert model.usage.calls == 30
    assert texts["a"] == texts["b"] == [*map(str, range(10)), *map(str, range(5))]


def test_a_forked_child_opens_connections_of_its_own(server):
    server.answer = echo
    with client(server) as model:
        model.chat(questions(1)[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12: there are threads
            child = os.fork()
        if child == 0:
            fine = [model.chat(messages).text for messages in questions(3)] == ["0", "1", "2"]
            os._exit(0 if fine and model.usage.calls == 4 else 3)
        assert [model.chat(messages).text for messages in questions(3)] == ["0", "1", "2"]
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert model.usage.calls == 4


def ask_elsewhere(model, queue):
    queue.put((model.chat(MESSAGES).text, model.usage.calls))


def test_a_spawned_process_gets_the_model_without_the_key(server, monkeypatch):
    monkeypatch.setenv("SERVER_KEY", KEY)
    server.key = KEY
    with client(server, key_env="SERVER_KEY") as model:
        model.chat(MESSAGES)
        context = multiprocessing.get_context("spawn")
        queue = context.SimpleQueue()
        process = context.Process(target=ask_elsewhere, args=(model, queue))
        process.start()
        assert queue.get() == ("ok", 1)
        process.join()
        process.close()
        queue.close()


def test_settings_survive_a_pickle(server):
    with client(server, temperature=0.5, max_tokens=5, structured=True) as model:
        model.chat(MESSAGES)
        for again in (pickle.loads(pickle.dumps(model, 5)), copy.deepcopy(model)):
            assert (again.name, again.url, again.usage) == (model.name, model.url, Usage())
            again.chat(MESSAGES)
            again.close()
    assert server.bodies()[0] == server.bodies()[1] == server.bodies()[2]


def test_a_closed_client_opens_again(server):
    model = client(server)
    model.chat(MESSAGES)
    model.close()
    model.close()
    assert model.chat(MESSAGES).text == "ok"
    model.close()


# --- keys --------------------------------------------------------------------------------------


def sent_keys(server):
    return {request.headers.get("authorization") for request in server.requests}


def test_the_key_shows_nowhere(server, caplog):
    caplog.set_level(logging.DEBUG)
    server.key = "another"  # the server's message repeats the wrong key
    with client(server, api_key=KEY) as model:
        error = failure(model)
        seen = [repr(model), str(model), str(error), repr(error), caplog.text]
        held = [pickle.dumps(model), pickle.dumps(error), pickle.dumps(copy.copy(model))]
    assert sent_keys(server) == {f"Bearer {KEY}"}
    assert "wrong key Bearer ***" in str(error)
    assert not any(KEY in shown for shown in seen)
    assert not any(KEY.encode() in shown for shown in held)
    assert error.__context__ is None  # nor does the request hang behind the error


def test_a_key_in_the_place_of_its_variables_name_is_not_shown():
    for api_key in (None, "another"):
        with pytest.raises(ValueError, match=r"key_env must name .* that is set$") as caught:
            ChatClient("http://localhost/v1", "m", api_key, key_env="hf_TellNobody")
        assert "hf_" not in str(caught.value)


def test_a_server_that_wants_no_key_gets_none(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", KEY)
    monkeypatch.setenv("OPENAI_PROJECT_ID", KEY)
    with client(server) as model:
        model.chat(MESSAGES)
        asyncio.run(model.achat(MESSAGES))
    assert not any(KEY in value for r in server.requests for value in r.headers.values())


def test_the_key_of_the_environment_goes_to_its_server_only(server, monkeypatch):
    monkeypatch.setenv("HYPERHOP_LLM_KEY", KEY)
    with client(server) as model:
        model.chat(MESSAGES)
    assert sent_keys(server) == {f"Bearer {KEY}"}
    server.requests.clear()
    monkeypatch.setenv("HYPERHOP_LLM_URL", "http://another.example/v1")
    with client(server) as model:
        model.chat(MESSAGES)
        again = pickle.loads(pickle.dumps(model))
        again.chat(MESSAGES)
        again.close()
    assert not any(KEY in key for key in sent_keys(server))


def test_a_redirect_elsewhere_does_not_carry_the_key(server):
    with Loopback() as other:
        server.script = [redirect(f"{other.url}/chat/completions")]
        with client(server, api_key=KEY) as model:
            assert model.chat(MESSAGES).text == "ok"
        assert sent_keys(server) == {f"Bearer {KEY}"}
        assert sent_keys(other) == {None}


def test_this_machine_is_reached_without_a_proxy(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with client(server, retries=0) as model:
        assert model.chat(MESSAGES).text == "ok"
        assert asyncio.run(model.achat(MESSAGES)).text == "ok"


# --- a function as a model ---------------------------------------------------------------------


def shout(messages):
    return messages[-1]["content"].upper()


def test_a_function_is_a_model():
    model = CallableModel(shout)
    assert isinstance(model, ChatModel)
    assert (model.name, model.takes_schema) == ("shout", False)
    assert CallableModel(shout, name="loud").name == "loud"
    assert model.chat([{"role": "user", "content": "lima"}]) == Reply("LIMA")
    assert asyncio.run(model.achat([{"role": "user", "content": "lima"}])) == Reply("LIMA")
    assert model.usage == Usage(2, 0, 2)
    assert pickle.loads(pickle.dumps(model, 5)).chat(MESSAGES).text == "HÉ 🌍?"


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda messages: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda messages: None, "expected text, got NoneType"),
        (lambda messages: "", "expected text, got an empty text"),
    ],
)
def test_a_function_that_fails(function, match):
    model = CallableModel(function, name="f")
    with pytest.raises(LLMError, match=match) as caught:
        model.chat(MESSAGES)
    assert caught.value.attempts == 1
    assert model.usage == Usage(0, 1, 1)


def test_a_function_takes_no_schema_and_must_be_one():
    with pytest.raises(SchemaRefused):
        CallableModel(shout).chat(MESSAGES, schema=SCHEMA)
    with pytest.raises(SchemaRefused):
        CallableModel(shout).chat(MESSAGES, grammar='root ::= "x"')
    with pytest.raises(TypeError, match="function must be callable, got 'shout'"):
        CallableModel("shout")


def test_any_model_runs_in_batches():
    busy, peak, lock = [], [], threading.Lock()

    def slowly(messages):
        with lock:
            busy.append(1)
            peak.append(len(busy))
        time.sleep(0.02)
        busy.pop()
        return echo(messages)

    model = CallableModel(slowly)
    replies = chat_batch(model, questions(6), concurrency=2)
    assert [reply.text for reply in replies] == list("012345")
    replies = asyncio.run(achat_batch(model, questions(6), concurrency=2))
    assert [reply.text for reply in replies] == list("012345")
    assert max(peak) == 2


# --- totals ------------------------------------------------------------------------------------


def test_totals_of_a_stretch():
    before, after = Usage(1, 2, 3, 4, 5), Usage(10, 20, 30, 40, 50)
    assert after - before == Usage(9, 18, 27, 36, 45)
    assert before + (after - before) == after
