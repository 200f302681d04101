"""Reading a chat completion as servers send it: whatever is no reply says why."""

from typing import Any

from hyperhop._server import said_error
from hyperhop.llm.chat import Reply
from hyperhop.llm.usage import Usage


def read_completion(data: Any, attempts: int) -> Reply:
    """The reply in a completion's JSON; ValueError with one sentence where there is none."""
    if not isinstance(data, dict):
        raise ValueError("the reply is no chat completion")
    said = said_error(data)
    if said:
        raise ValueError(said)
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise ValueError("the reply has no choices")
    message = choice["message"]
    text = _text(message.get("content"))
    cut = choice.get("finish_reason") == "length"
    if not text.strip():
        raise ValueError(_why_empty(message, choice.get("finish_reason")))
    usage = read_usage(data)
    return Reply(text, attempts, usage.prompt_tokens, usage.completion_tokens, cut)


def read_usage(data: Any) -> Usage:
    """Tokens of a completion's JSON, 0 where it does not say."""
    usage = data.get("usage") if isinstance(data, dict) else None
    usage = usage if isinstance(usage, dict) else {}
    return Usage(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _text(content: Any) -> str:
    """Content as text; some servers send it in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _why_empty(message: dict[str, Any], finish: Any) -> str:
    thought = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thought, str) and thought.strip():
        return (
            f"the model thought ({len(thought)} characters) but gave no answer: raise max_tokens, "
            "or switch its thinking off"
        )
    if message.get("refusal"):
        return f"the model refused: {message['refusal']}"
    if finish == "length":
        return "the reply is empty, cut by max_tokens"
    if finish == "content_filter":
        return "the reply was withheld by the server's content filter"
    return "the reply is empty"
