"""What an index keeps of its encoder, and the refusal of another one."""

import os
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from hyperhop.text.batches import query_prompt
from hyperhop.text.protocol import TextEncoder
from hyperhop.text.registry import encoder_name, get_encoder

DEFAULT_ENCODER = "hashing"
_SERVER = ("http://", "https://")
_LOCAL = ("minilm", "sentence-transformers")


class EncoderSettings(TypedDict):
    """Recorded in an index: the encoder's name, length of its vectors, prompt of questions.

    Where the model is local also the `content_id` of its files: then they are what must be the
    same, not the name of their folder.
    """

    encoder: str
    encoder_dim: int
    query_prompt: str
    encoder_id: NotRequired[str]


def encoder_settings(encoder: TextEncoder) -> EncoderSettings:
    """What to record of an encoder."""
    settings = EncoderSettings(
        encoder=encoder.name, encoder_dim=encoder.dim, query_prompt=query_prompt(encoder)
    )
    found = encoder_id(encoder)
    if found:
        settings["encoder_id"] = found
    return settings


def encoder_id(encoder: TextEncoder) -> str | None:
    """The encoder's `content_id`; None where a name is all there is."""
    found = getattr(encoder, "content_id", None)
    return None if found is None else str(found)


def check_encoder_name(
    settings: Mapping[str, Any] | None, encoder: str | TextEncoder | None = None
) -> None:
    """ValueError for no spec, and if the settings name another encoder; nothing is loaded or asked.

    Two folders with models of one kind may hold the same: that is told by `encoder_for`.
    """
    stored = settings or {}
    made_with = stored.get("encoder")
    if encoder is None:
        return
    name = encoder_name(encoder) if isinstance(encoder, str) else encoder.name
    if not made_with or name == made_with or made_with.startswith(f"{name}#"):
        return  # the last is a server whose model is not told
    if stored.get("encoder_id") and _kind(name) == _kind(made_with):
        return
    _refuse(stored, name, None if isinstance(encoder, str) else encoder)


def open_encoder(
    settings: Mapping[str, Any] | None, encoder: str | TextEncoder | None = None
) -> TextEncoder:
    """`encoder_for` without the last check, for which a server has to be asked."""
    stored = settings or {}
    check_encoder_name(stored, encoder)
    if encoder is not None and not isinstance(encoder, str):
        return encoder
    chosen = (stored.get("encoder") or DEFAULT_ENCODER) if encoder is None else encoder
    kind, _, folder = chosen.partition(":")
    moved = kind in _LOCAL and os.path.isabs(folder) and not os.path.isdir(folder)
    if encoder is None and moved:
        raise ValueError(
            f"the index was made with the encoder {chosen!r}, a folder that is not here: give the "
            f"folder that holds the same model now, as {kind}:FOLDER"
        )
    return get_encoder(chosen, query_prompt=stored.get("query_prompt"))


def encoder_for(
    settings: Mapping[str, Any] | None, encoder: str | TextEncoder | None = None
) -> TextEncoder:
    """The encoder to use with an index that has these settings (None: it has none).

    Without `encoder` it is the index's own, else `hashing`. One given by name takes the index's
    query prompt. ValueError, with names and dims, if the index was made with another encoder, or
    its encoder's model is another one now. A local model is known by its files (`encoder_id`), so
    it may lie in another folder than it did.
    """
    stored = settings or {}
    found = open_encoder(stored, encoder)
    made_with, dim, made_id = (stored.get(k) for k in ("encoder", "encoder_dim", "encoder_id"))
    if made_with:
        found_id = encoder_id(found) if made_id else None
        same = found_id == made_id if found_id else found.name == made_with
        if not same or dim not in (None, found.dim):
            _refuse(stored, found.name, found)
    return found


def _refuse(stored: Mapping[str, Any], name: str, found: TextEncoder | None) -> None:
    """`found` is None where the encoder is known by name only."""
    made_with = stored["encoder"]
    advice = (
        "its model was changed: index again, or bring the former model back"
        if name == made_with
        else "leave the encoder out or index again"
    )
    made_id = stored.get("encoder_id")
    was, got = _told(stored.get("encoder_dim", "not recorded"), made_id), ""
    if found is not None and (name == made_with or not name.startswith(_SERVER)):
        got = _told(found.dim, encoder_id(found) if made_id else None)
    elif _kind(name) == "hashing":
        got = _told(get_encoder(name).dim, None)
    raise ValueError(
        f"the index was made with the encoder {made_with!r}{was}, got {name!r}{got}: {advice}"
    )


def _told(dim: object, content: str | None) -> str:
    return f" (dim {dim}, id {content})" if content else f" (dim {dim})"


def _kind(name: str) -> str:
    return name.partition(":")[0]
