"""The README's examples run and print what it says."""

import contextlib
import io
import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_library_example_prints_what_the_readme_shows():
    code, shown = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README, re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == shown


def test_the_two_commands_stand_alone_on_their_lines():
    commands = re.findall(r"^python3 -m venv \.venv && .*$", README, re.MULTILINE)
    assert len(commands) == 2
    assert commands[0].endswith("hyperhop demo")
    assert commands[1].endswith("pytest")
