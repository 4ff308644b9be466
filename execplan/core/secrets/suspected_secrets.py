"""Detection of possible secrets in texts for a model, in addition to those that `all_secrets` finds.

It matches more than redaction does. A false match is restored later, so it costs the model one word and has no other
effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

_SENSITIVE_NAME = (
    r"(?:passw(?:or)?d|passwort|passphrase|passcode|pwd|secret|token|credentials?|authorization|cookie|bearer"
    r"|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|auth[_-]?key|session[_-]?id|_pass|_key|_pin)"
)
"""Pattern for the part of a name that marks its value as a secret; the name may continue after it."""
_ASSIGNED_VALUE = re.compile(
    rf"(?i){_SENSITIVE_NAME}[\w.-]{{0,40}}[\"'`\]]{{0,2}}[ \t]{{0,8}}(?:=>|:=|[:=])[ \t]{{0,8}}"
    r"(?:(?:bearer|basic|token)[ \t]+)?(?:\"([^\"\n]{1,2000})\"|'([^'\n]{1,2000})'|([^\s\"'`,;&|(){}<>$\[\]]{1,2000}))(?![(\[])"
)
"""Pattern for a value assigned to such a name: `password: …`, `TOKEN=…`, `"secret": "…"`, `?token=…`."""
_OPTION = re.compile(
    rf"(?i)(?:^|\s)--?[\w-]{{0,40}}{_SENSITIVE_NAME}[\w-]{{0,40}}[ \t]{{1,8}}(?!-)"
    r"(?:\"([^\"\n]{1,2000})\"|'([^'\n]{1,2000})'|([^\s\"'`$;&|]{1,2000}))"
)
_FLAG = re.compile(rf"(?i)^--?[\w-]*{_SENSITIVE_NAME}[\w-]*$")
_USER_OPTION = re.compile(r"(?:^|\s)(?:-u|--user)[ \t=]{0,8}[\"']?[^\s\"':/]{1,200}:([^\s\"']{1,2000})")
_HEADER = re.compile(r"(?i)\b(?:bearer|basic)[ \t]+([\w.~+/=-]{0,2000}\d[\w.~+/=-]{0,2000})")
_ADDRESS = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,20}://([^\s/@\"'`<>]{1,300})@")
_LONG_TOKEN = re.compile(r"[A-Za-z0-9+/_=-]{16,}")
_HEX = re.compile(r"^(?=.*\d)(?=.*[a-fA-F])[0-9a-fA-F]{32,}$")
_CODE_VALUE = re.compile(
    r"(?i)^(?:[a-z_]+(?:\.[a-z_]+)+|none|null|true|false|str|string|int|bytes|bool|any|optional|\*+|\.+|\$\{?\w+\}?|\$\{\{.*)$"
)
"""Pattern for assigned values that are no secrets: an attribute, a type, a variable, a missing value."""
_MIN_RANDOM_LENGTH = 20
_MIN_MIXED_RATIO = 0.36
"""Minimum share of neighboring characters that differ in kind in a random token.

Random tokens have 0.62, names in code 0.2.
"""


def find_suspected_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of possible secrets in a text; spans may overlap."""
    for pattern in (_ASSIGNED_VALUE, _OPTION, _USER_OPTION, _HEADER, _ADDRESS):
        for match in pattern.finditer(text):
            group = match.lastindex or 0
            if group and not _CODE_VALUE.match(match[group]):
                yield match.span(group)
    for match in _LONG_TOKEN.finditer(text):
        if _is_random(match[0]) or _encodes_secret(match[0]):
            yield match.span()


def find_secret_arguments(argv: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the index of each argument that follows an option for a secret, and the secret's offset in it.

    Such an option is, for example, `--password`.
    """
    for index, (name, value) in enumerate(pairwise(argv), 1):
        if _FLAG.match(name) and not value.startswith("-"):
            yield index, 0
        elif name in ("-u", "--user") and ":" in value:
            yield index, value.index(":") + 1


def _is_random(token: str) -> bool:
    """Estimate whether the letters and digits of a token are random."""
    if _HEX.match(token):
        return True
    char_classes = [_char_class(char) for char in token if char.isalnum()]
    if len(char_classes) < _MIN_RANDOM_LENGTH or len(set(char_classes)) < 3:
        return False
    changes = sum([left != right for left, right in pairwise(char_classes)])
    return changes >= _MIN_MIXED_RATIO * (len(char_classes) - 1)


def _char_class(char: str) -> int:
    if char.isdigit():
        return 0
    if char.isupper():
        return 1
    return 2


def _encodes_secret(token: str) -> bool:
    """Check whether a token is the base64 encoding of a text that contains a possible secret."""
    from base64 import b64decode

    try:
        data = b64decode(
            token.rstrip("=") + "=" * (-len(token.rstrip("=")) % 4), b"-_" if {"-", "_"} & set(token) else None
        )
        text = data.decode("utf-8")
    except ValueError:
        return False
    return "".join(text.split()).isprintable() and any(True for _ in find_suspected_secrets(text))
