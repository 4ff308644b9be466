"""Secrets in a text: what looks like a key, a token or a password that works somewhere, and is no example of one.

Nearly every secret has sixteen letters and digits in a row; these rows are found in one pass, and what looks at them closely is
loaded when there is one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.text.tokens import Secret


_RUN = b"a" * 16
_RUNS = bytes([97 if chr(at).isalnum() and at < 128 else 32 for at in range(256)])
_KEY = "PRIVATE KEY-----"
SHOWN = 4
"""Characters of a secret that may be shown, so that it can be told which one it is."""


def find(source: str) -> list[Secret]:
    """Every secret in a text, in order."""
    rows = list(_rows(source))
    locked, addressed = _KEY in source, "@" in source and "://" in source
    if not (rows or locked or addressed):
        return []
    from execplan.text import tokens

    found = list(tokens.tokens(source, rows))
    if locked:
        found += tokens.keys(source, _KEY)
    if addressed:
        found += tokens.urls(source)
    return sorted(found, key=lambda secret: secret.start)


def masked(text: str) -> str:
    """The text with all but the first four characters of every secret as asterisks, as long as it was."""
    for secret in find(text):
        begin = min(secret.start + SHOWN, secret.end)
        text = text[:begin] + "*" * (secret.end - begin) + text[secret.end :]
    return text


def _rows(source: str) -> Iterator[tuple[int, int]]:
    """Where rows of at least sixteen letters and digits, and of both, begin and end."""
    rows = source.encode("ascii", "replace").translate(_RUNS)
    at = rows.find(_RUN)
    while at >= 0:
        stop = rows.find(b" ", at)
        stop = len(source) if stop < 0 else stop
        row = source[at:stop]
        if not row.isalpha() and not row.isdigit():
            yield at, stop
        at = rows.find(_RUN, stop)
