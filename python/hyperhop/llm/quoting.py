"""Text from elsewhere in a prompt: quoted, so that it stays data."""

import json
import re

# What could end the quote's line, hide in it, turn it around, or be a control token of a chat
# template ("<|im_end|>", "[INST]"). Line breaks and quotes are escaped by JSON itself.
_RISKY = re.compile(
    "[<\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
    r"|\[(?=/?(?:[A-Z_]{3,}|[gs]MASK)\])"
)


def quote(text: str) -> str:
    """`text` as a JSON string on one line, letters of every script left as they are.

    Reading it as JSON gives `text` back. Nothing inside can close the quote, begin a line or a
    list, or play a role of the chat; what is invisible or a control character is escaped.
    """
    return _RISKY.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    letter = found[0]
    if 0xD800 <= ord(letter) < 0xE000:  # half a pair, which cannot be encoded
        return f"\\u{ord(letter):04x}"
    pair = letter.encode("utf-16-be").hex()
    return "".join(f"\\u{pair[i : i + 4]}" for i in range(0, len(pair), 4))
