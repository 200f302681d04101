"""Text from elsewhere on one line of a terminal."""

import re

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def on_one_line(text: str) -> str:
    """Control characters as escapes: they would end the line or command the terminal."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)
