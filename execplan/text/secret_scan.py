"""Every secret in a text, for what leaves this machine or is kept: the strongest detector there is here.

`lint` and `evaluate` report only what is certain, with `execplan.text.secrets.find`. What is printed, sent or written down is
searched with this: by the beginnings of tokens, by names, by structures, and within base64; and once more as a terminal shows
the text. Tokens that a narrow window has wrapped are found as well.
"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Final

from execplan.text import tokens
from execplan.text.assignments import assignments
from execplan.text.secret_keys import private_keys
from execplan.text.secret_structures import structures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

HIDDEN: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)?|[ -/]*[0-~])|[\u00ad\u200b-\u200d\u2060\ufeff]"
)
"""What a terminal does not show: colors, links, and characters without a width."""
_CODED: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_END: Final = 2000
"""Characters at the end of a text that may have been cut off."""
_LONGEST: Final = 1 << 16


def spans(text: str) -> list[tuple[int, int]]:
    """Where secrets begin and end, in order; those that overlap are one."""
    return merged_spans([*plain(text), *_seen(text), *_cut_off(text)])


def merged_spans(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order; those that overlap are one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def plain(text: str, *, coded: bool = True) -> Iterator[tuple[int, int]]:
    """Where they are in a text as it is; they may overlap."""
    for secret in tokens.tokens(text, certain=False):
        yield secret.start, secret.end
    yield from private_keys(text)
    yield from assignments(text)
    yield from structures(text)
    if coded:
        yield from _coded(text)


def _cut_off(text: str) -> Iterator[tuple[int, int]]:
    """Where they are if the text was cut off before what closes a structure at its end."""
    begin = text.find("\n", max(len(text) - _END, 0)) + 1 if len(text) > _END else 0
    end = text[begin:]
    for closer in _closers(end, end[end.rfind("\n") + 1 :]):
        for start, stop in structures(end + closer):
            if start < len(end):
                yield begin + start, begin + min(stop, len(end))


def _closers(end: str, line: str) -> list[str]:
    """What may have followed the end of a text, whose last line is given."""
    quotes = [quote for quote in "\"'`" if line.count(quote) % 2]
    closers = quotes + ([f"{quote})" for quote in (*quotes, "")] if line.count("(") > line.count(")") else [])
    if ">" in line:
        closers += ["/x>" if line.endswith("<") else "x>" if line.endswith("</") else "</x>"]
    if "://" in line or "/" in line[line.rfind(" ") :]:
        closers += ["a.b"] if line.endswith("@") else ["@a.b"]
    if line.lstrip().startswith("|"):
        closers += [" |"]
    return closers + ([f"{closer}\n}}" for closer in (*quotes, "")] if end.count("{") > end.count("}") else [])


def _seen(text: str) -> Iterator[tuple[int, int]]:
    """Where they are for a reader on a terminal."""
    if HIDDEN.search(text) is not None:
        yield from without(text, HIDDEN, plain)


def without(
    text: str, pattern: re.Pattern[str], find: Callable[[str], Iterable[tuple[int, int]]]
) -> Iterator[tuple[int, int]]:
    """What is found in a text without what matches a pattern, at its places in the whole text."""
    from bisect import bisect_right

    parts, begins, shifts, at, kept = [], [0], [0], 0, 0
    for match in pattern.finditer(text):
        parts.append(text[at : match.start()])
        kept += match.start() - at
        at = match.end()
        if begins[-1] == kept:
            shifts[-1] = at - kept
        else:
            begins.append(kept)
            shifts.append(at - kept)
    if not at:
        return
    parts.append(text[at:])
    for start, end in find("".join(parts)):
        first = start + shifts[bisect_right(begins, start) - 1]
        last = end - 1 + shifts[bisect_right(begins, end - 1) - 1]
        yield first, last + 1


def _coded(text: str) -> Iterator[tuple[int, int]]:
    """Base64 of a text in which there is a secret."""
    for match in _CODED.finditer(text):
        row = match[0].rstrip("=")
        if len(row) > _LONGEST or len(row) % 4 == 1:
            continue
        try:
            data = b64decode(row.replace("-", "+").replace("_", "/") + "=" * (-len(row) % 4), validate=True)
            told = data.decode("utf-8")
        except ValueError:
            continue
        if "".join(told.split()).isprintable() and any(True for _ in plain(told, coded=False)):
            yield match.span()
