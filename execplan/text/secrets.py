"""Secrets in a text. `find` reports what is certainly one: `lint` and `evaluate` refuse plans for that, so it makes no mistakes.

What leaves this machine or is kept is searched with `execplan.text.secret_scan`, which finds much more; `masked` does so as well.

Nearly every secret that is certain has sixteen letters and digits in a row; these rows are found in one pass, and what looks at
them closely is loaded when there is one. Shorter passwords are looked for only after a few names.
"""

from __future__ import annotations

from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.text.tokens import Secret


_RUN = b"a" * 16
_RUNS = bytes([97 if chr(at).isalnum() and at < 128 else 32 for at in range(256)])
_KEY = "PRIVATE KEY-----"
_NEEDLES = ("assword", "ASSWORD", "asswd", "PASSWD", "AccountKey=", " -u ")
"""What stands before a password that is shorter than such a row."""
_HINTS = (
    *"pass pwd psk secret token cred auth cookie bearer basic jwt dsn hook sig= key :// identified".split(),
    *(" -u", " -p", " -a", " -w", ":543", ":*:", "$2", "$6$", "$argon2"),
)
"""What is in a text, in small letters, that may hold a secret without such a row."""
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

    found = list(tokens.tokens(source)) if rows else []
    _add(found, tokens.named(source, rows))
    if locked:
        found += tokens.keys(source, _KEY)
    if addressed:
        found += tokens.urls(source)
    if named:
        from execplan.text.passwords import passwords

        _add(found, passwords(source, _NEEDLES))
    return sorted(found, key=lambda secret: secret.start)


def _add(found: list[Secret], more: Iterable[Secret]) -> None:
    """Add secrets that overlap with none of those that were found."""
    known = sorted([(each.start, each.end) for each in found])
    for each in more:
        at = bisect_left(known, (each.end, 0))
        if not at or known[at - 1][1] <= each.start:
            found.append(each)


def shown(secret: Secret) -> int:
    """How many characters of a secret may be shown: of a short one that no service is known for, none."""
    return 0 if secret.kind in ("password", "secret") and secret.end - secret.start < _LONG else _SHOWN


def masked(text: str) -> str:
    """The text with every secret as asterisks, as long as it was; of the token of a known service the first characters stay."""
    if not _may_hold_one(text):
        return text
    from execplan.text.secret_scan import spans

    open_to = {each.start: each.start + shown(each) for each in find(text)}
    for start, end in reversed(spans(text)):
        begin = min(open_to.get(start, start), end)
        text = text[:begin] + "*" * (end - begin) + text[end:]
    return text


def _may_hold_one(text: str) -> bool:
    """Whether anything in a text calls for the detector, which is loaded then."""
    folded = text.lower()
    if any([hint in folded for hint in _HINTS]) or next(_rows(text), None) is not None:
        return True
    from execplan.text.tokens import tokens

    return next(tokens(text, certain=False), None) is not None


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
