r"""Tables of secrets and of texts without secrets; their values are drawn when they are read, so that no scanner takes a file for real.

A line is `name TAB secret TAB text`, where `§` in the text stands for the secret, or `name TAB text`. `<h:40>` are forty drawn
characters of a class: see CLASSES. `\n` is a new line, `\\` a backslash.
"""

from __future__ import annotations

import random
import re
import string
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
CLASSES = {
    "a": string.ascii_letters + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "d": string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "l": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "w": string.ascii_letters + string.digits + "_-",
}
_DRAWN = re.compile(r"<([abdhHlUw]):(\d+)>")
SEED = 20261123


class Form(NamedTuple):
    """A secret, and a text that it stands in."""

    name: str
    secret: str
    text: str


def forms(name: str, seed: int = SEED) -> list[Form]:
    """The secrets of a table, each with its text."""
    drawn_forms = []
    for line in _lines(name):
        title, secret, text = line.split("\t")
        draw = random.Random(f"{seed}{line}")
        value = _filled(secret, draw)
        drawn_forms.append(Form(title, value, _filled(_unescaped(text), draw).replace("§", value)))
    return drawn_forms


def readable(name: str, seed: int = SEED) -> list[tuple[str, str]]:
    """The names and texts of a table of texts without secrets."""
    rows = [line.split("\t") for line in _lines(name)]
    return [(title, _filled(_unescaped(text), random.Random(f"{seed}{title}"))) for title, text in rows]


def remaining_secret(form: Form, text: str) -> str:
    """What of a secret a text holds: eight characters in a row of it, or all of a shorter one; nothing when it holds none."""
    size = min(8, len(form.secret))
    fragments = [form.secret[at : at + size] for at in range(len(form.secret) - size + 1)]
    return next((fragment for fragment in fragments if fragment in text), "")


def _lines(name: str) -> list[str]:
    return [
        line for line in (FOLDER / name).read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")
    ]


def _filled(text: str, draw: random.Random) -> str:
    """A text with drawn characters; no class is drawn without a digit and a letter where it has both."""

    def fill_placeholder(match: re.Match[str]) -> str:
        chars, size = CLASSES[match[1]], int(match[2])
        value = [draw.choice(chars) for _ in range(size)]
        if size > 3 and match[1] != "d":
            at = draw.randrange(1, size)
            value[at] = draw.choice("23456789")
        return "".join(value)

    return _DRAWN.sub(fill_placeholder, text)


def _unescaped(text: str) -> str:
    return text.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
