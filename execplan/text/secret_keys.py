"""Private keys, however they are written: over lines, quoted, in one line of JSON, without their end or their beginning."""

from __future__ import annotations

from typing import Final

from execplan.text.patterns import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_JOIN: Final = r"(?:\\r|\\n|[ \t\r\n>|│#*+\"',\\])"
_BODY: Final = r"(?:[A-Za-z0-9+/]{16,}={0,2}|=[A-Za-z0-9+/]{4}(?![A-Za-z0-9+/])|[A-Za-z-]{4,20}: [^\n]{0,100}|[A-Za-z0-9+/]{2,}={1,2})"
_BEGIN: Final = r"-----BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY(?: BLOCK)?-----"
_REST: Final = rf"(?:{_JOIN}{{1,16}}+{_BODY}){{0,400}}+(?:{_JOIN}{{0,16}}+[A-Za-z0-9+/]{{1,80}}={{0,2}}(?={_JOIN}{{1,16}}-----END))?"
_END: Final = rf"{_JOIN}{{0,16}}+-----END[ A-Z0-9_-]{{0,60}}PRIVATE KEY(?: BLOCK)?-----"
_CUT: Final = rf"(?:{_BODY}{_JOIN}{{1,16}}+){{1,400}}-----END[ A-Z0-9_-]{{0,60}}PRIVATE KEY(?: BLOCK)?-----"
_WINDOW: Final = 8192
_LEAST: Final = 20


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Where they begin and end, with the lines that open and close them."""
    if "PRIVATE KEY" not in text:
        return
    done = 0
    for begin in compiled(_BEGIN).finditer(text):
        if begin.start() < done:
            continue
        rest = compiled(_REST).match(text, begin.end())
        end = rest.end() if rest is not None else begin.end()
        close = compiled(_END).match(text, end)
        if end - begin.end() >= _LEAST:
            done = close.end() if close is not None else end
            yield begin.start(), done
    yield from _without_beginning(text)


def _without_beginning(text: str) -> Iterator[tuple[int, int]]:
    """What is before the end of a key whose beginning was cut off."""
    at, done = text.find("-----END"), 0
    while at >= 0:
        line, start = text[at : at + 100], max(at - _WINDOW, done)
        done = at
        if "PRIVATE KEY" in line and "-----BEGIN" not in text[start:at]:
            cut = compiled(_CUT).search(text, start, min(at + 100, len(text)))
            if cut is not None:
                yield cut.span()
        at = text.find("-----END", at + 8)
