"""What servers send: bodies, errors in a body, and which models they have."""

import json
from contextlib import suppress
from typing import Any

from hyperhop._server.errors import ServerError, UnlistedModels, said, scrub
from hyperhop._server.retries import with_retries

_UNLISTED = (404, 405, 501)  # statuses of a server that does not list its models
_LISTED = 20  # models of a server


def read_json(raw: Any, url: str, attempts: int) -> Any:
    """Body of a raw response (`with_raw_response`) as JSON; ServerError if it is none."""
    try:
        return json.loads(raw.http_response.content)
    except (ValueError, RecursionError):  # the latter where it is nested too deep
        raise ServerError(f"{url}: the reply is not JSON", attempts) from None


def said_error(data: Any) -> str | None:
    """Words of the error in a reply of status 200, which some servers send, None without one."""
    error = data.get("error") if isinstance(data, dict) else None
    return f"error: {said(error)}" if error else None


def only_model(client: Any, url: str, key: str | None, retries: int) -> str:
    """Name of the only model a server has.

    ValueError, which lists them, where it has several; UnlistedModels where it does not say.
    """
    try:
        raw, attempts = with_retries(
            lambda: client.models.with_raw_response.list(), retries=retries, url=url, key=key
        )
    except ServerError as error:
        if error.status not in _UNLISTED:
            raise
        raise UnlistedModels(str(error), error.attempts, error.status) from None
    reply = None
    with suppress(ServerError):
        reply = read_json(raw, url, attempts)
    problem = said_error(reply)
    if problem:
        raise ServerError(f"{url}: {scrub(problem, key)}", attempts)
    data = reply.get("data") if isinstance(reply, dict) else None
    items = data if isinstance(data, list) else []
    listed = [item.get("id") for item in items if isinstance(item, dict)]
    names = [name for name in listed if isinstance(name, str) and name]
    if not names:
        raise UnlistedModels(f"{url}: the server lists no model", attempts)
    if len(names) > 1:
        shown = ", ".join(names[:_LISTED]) + (", ..." if len(names) > _LISTED else "")
        raise ValueError(f"{url} has {len(names)} models, name one: {scrub(shown, key)}")
    return names[0]
