"""What may be a secret in a text that leaves this machine: more is suspected here than is taken out of a transcript.

What is suspected wrongly comes back as it was, so that a false suspicion costs a model a word, and nobody else anything.
"""

from __future__ import annotations

import re
from binascii import Error as NotBase64
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAME = (
    r"(?:passw(?:or)?d|passwort|passphrase|passcode|pwd|secret|token|credentials?|authorization|cookie|bearer"
    r"|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|auth[_-]?key|session[_-]?id|_pass|_key|_pin)"
)
"""How the name ends, or goes on, of what is one."""
_GIVEN = re.compile(
    rf"(?i){_NAME}[\w.-]{{0,40}}[\"'`\]]{{0,2}}[ \t]{{0,8}}(?:=>|:=|[:=])[ \t]{{0,8}}"
    r"(?:(?:bearer|basic|token)[ \t]+)?(?:\"([^\"\n]{1,2000})\"|'([^'\n]{1,2000})'|([^\s\"'`,;&|(){}<>$\[\]]{1,2000}))(?![(\[])"
)
"""A value that is given to such a name: `password: …`, `TOKEN=…`, `"secret": "…"`, `?token=…`."""
_OPTION = re.compile(
    rf"(?i)(?:^|\s)--?[\w-]{{0,40}}{_NAME}[\w-]{{0,40}}[ \t]{{1,8}}(?!-)"
    r"(?:\"([^\"\n]{1,2000})\"|'([^'\n]{1,2000})'|([^\s\"'`$;&|]{1,2000}))"
)
_FLAG = re.compile(rf"(?i)^--?[\w-]*{_NAME}[\w-]*$")
_USER_OPTION = re.compile(r"(?:^|\s)(?:-u|--user)[ \t=]{0,8}[\"']?[^\s\"':/]{1,200}:([^\s\"']{1,2000})")
_HEADER = re.compile(r"(?i)\b(?:bearer|basic)[ \t]+([\w.~+/=-]{0,2000}\d[\w.~+/=-]{0,2000})")
_ADDRESS = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,20}://([^\s/@\"'`<>]{1,300})@")
_ROW = re.compile(r"[A-Za-z0-9+/_=-]{16,}")
_HEX = re.compile(r"^(?=.*\d)(?=.*[a-fA-F])[0-9a-fA-F]{32,}$")
_CODE = re.compile(
    r"(?i)^(?:[a-z_]+(?:\.[a-z_]+)+|none|null|true|false|str|string|int|bytes|bool|any|optional|\*+|\.+|\$\{?\w+\}?|\$\{\{.*)$"
)
"""What is given to such a name and is none: an attribute, a type, a variable, a value that is missing."""
_LONG = 20
_MIXED = 0.36
"""Of pairs of neighbours how many are of two kinds in what was drawn by a machine: 0.62 of such, 0.2 of names in code."""


def suspected(text: str) -> Iterator[tuple[int, int]]:
    """Where it may stand; places may overlap."""
    for pattern in (_GIVEN, _OPTION, _USER_OPTION, _HEADER, _ADDRESS):
        for found in pattern.finditer(text):
            part = found.lastindex or 0
            if part and not _CODE.match(found[part]):
                yield found.span(part)
    for found in _ROW.finditer(text):
        if _is_drawn(found[0]) or _holds_one(found[0]):
            yield found.span()


def in_arguments(argv: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Which arguments are given to an option of such a name, as in `--password`, then the password, and where it begins."""
    for at, (name, value) in enumerate(pairwise(argv), 1):
        if _FLAG.match(name) and not value.startswith("-"):
            yield at, 0
        elif name in ("-u", "--user") and ":" in value:
            yield at, value.index(":") + 1


def _is_drawn(row: str) -> bool:
    """Whether letters and digits were drawn by a machine, as far as can be told."""
    if _HEX.match(row):
        return True
    kinds = [_kind(char) for char in row if char.isalnum()]
    if len(kinds) < _LONG or len(set(kinds)) < 3:
        return False
    changes = sum([one != other for one, other in pairwise(kinds)])
    return changes >= _MIXED * (len(kinds) - 1)


def _kind(char: str) -> int:
    return 0 if char.isdigit() else 1 if char.isupper() else 2


def _holds_one(row: str) -> bool:
    """Whether it is the base64 of a text in which something is suspected."""
    from base64 import b64decode

    try:
        data = b64decode(row.rstrip("=") + "=" * (-len(row.rstrip("=")) % 4), b"-_" if {"-", "_"} & set(row) else None)
        text = data.decode("utf-8")
    except (NotBase64, ValueError):
        return False
    return "".join(text.split()).isprintable() and any(True for _ in suspected(text))
