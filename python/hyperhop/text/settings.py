"""What an index keeps of its encoder, and the refusal of another one."""

from collections.abc import Mapping
from typing import Any, TypedDict

from hyperhop.text.batches import query_prompt
from hyperhop.text.protocol import TextEncoder
from hyperhop.text.registry import get_encoder

DEFAULT_ENCODER = "hashing"


class EncoderSettings(TypedDict):
    """Recorded in an index: the encoder's name, length of its vectors, prompt of questions."""

    encoder: str
    encoder_dim: int
    query_prompt: str


def encoder_settings(encoder: TextEncoder) -> EncoderSettings:
    """What to record of an encoder."""
    return EncoderSettings(
        encoder=encoder.name, encoder_dim=encoder.dim, query_prompt=query_prompt(encoder)
    )


def encoder_for(
    settings: Mapping[str, Any] | None, encoder: str | TextEncoder | None = None
) -> TextEncoder:
    """The encoder to use with an index that has these settings (None: it has none).

    Without `encoder` it is the index's own, else `hashing`. One given by name takes the index's
    query prompt. ValueError, with both names and dims, if the index was made with another encoder,
    or its encoder's vectors have another length now.
    """
    stored = settings or {}
    made_with, dim, prompt = (stored.get(k) for k in ("encoder", "encoder_dim", "query_prompt"))
    chosen = (made_with or DEFAULT_ENCODER) if encoder is None else encoder
    found = get_encoder(chosen) if isinstance(chosen, str) else chosen
    if made_with and (found.name != made_with or dim not in (None, found.dim)):
        raise ValueError(
            f"the index was made with the encoder {made_with!r} (dim {dim or 'not recorded'}), "
            f"got {found.name!r} (dim {found.dim}): leave the encoder out or index again"
        )
    if isinstance(chosen, str) and prompt is not None and prompt != query_prompt(found):
        return get_encoder(chosen, query_prompt=prompt)
    return found
