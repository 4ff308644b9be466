"""Secrets in a text: what looks like a key, a token or a password that works somewhere, and is no example of one.

Nearly every secret has sixteen letters and digits in a row; these rows are found in one pass, and what looks at them closely is
loaded when there is one. Shorter passwords are looked for only behind a few names.
"""

from __future__ import annotations

from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.text.tokens import Secret


_RUN = b"a" * 16
_RUNS = bytes([97 if chr(at).isalnum() and at < 128 else 32 for at in range(256)])
_KEY = "PRIVATE KEY-----"
_NEEDLES = ("assword", "ASSWORD", "asswd", "PASSWD", "AccountKey=", " -u ")
"""What stands before a password that is shorter than such a row."""
_SHOWN = 4
"""Characters of a secret that may be shown, so that it can be told which one it is."""
_LONG = 20
"""Characters of a password of which some may be shown."""


def find(source: str) -> list[Secret]:
    """Every secret in a text, in order."""
    rows = list(_rows(source))
    locked, addressed = _KEY in source, "@" in source and "://" in source
    named = any([needle in source for needle in _NEEDLES])
    if not (rows or locked or addressed or named):
        return []
    from execplan.text import tokens

    found = list(tokens.tokens(source, rows))
    if locked:
        found += tokens.keys(source, _KEY)
    if addressed:
        found += tokens.urls(source)
    if named:
        from execplan.text.passwords import passwords

        known = sorted([(each.start, each.end) for each in found])
        for each in passwords(source, _NEEDLES):
            at = bisect_left(known, (each.end, 0))
            if not at or known[at - 1][1] <= each.start:
                found.append(each)
    return sorted(found, key=lambda secret: secret.start)


def shown(secret: Secret) -> int:
    """How many characters of a secret may be shown: of a short one that no service is known for, none."""
    return 0 if secret.kind in ("password", "secret") and secret.end - secret.start < _LONG else _SHOWN


def masked(text: str) -> str:
    """The text with every secret as asterisks but for what may be shown of it, as long as it was."""
    for secret in find(text):
        begin = min(secret.start + shown(secret), secret.end)
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
