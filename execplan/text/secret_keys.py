"""Private keys, however they are written: over lines, quoted, in one line of JSON, without their end or their beginning."""

from __future__ import annotations

from typing import Final

from execplan.text.patterns import compile_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE_JOIN: Final = r"(?:\\r|\\n|[ \t\r\n>|│#*+\"',\\])"
_BODY_LINE: Final = r"(?:[A-Za-z0-9+/]{16,}={0,2}|=[A-Za-z0-9+/]{4}(?![A-Za-z0-9+/])|[A-Za-z-]{4,20}: [^\n]{0,100}|[A-Za-z0-9+/]{2,}={1,2})"
_KEY_BEGIN: Final = r"-----BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY(?: BLOCK)?-----"
_KEY_BODY: Final = rf"(?:{_LINE_JOIN}{{1,16}}+{_BODY_LINE}){{0,400}}+(?:{_LINE_JOIN}{{0,16}}+[A-Za-z0-9+/]{{1,80}}={{0,2}}(?={_LINE_JOIN}{{1,16}}-----END))?"
_KEY_END: Final = rf"{_LINE_JOIN}{{0,16}}+-----END[ A-Z0-9_-]{{0,60}}PRIVATE KEY(?: BLOCK)?-----"
_KEY_WITHOUT_BEGIN: Final = rf"(?:{_BODY_LINE}{_LINE_JOIN}{{1,16}}+){{1,400}}-----END[ A-Z0-9_-]{{0,60}}PRIVATE KEY(?: BLOCK)?-----"
_WINDOW: Final = 8192
_MIN_BODY: Final = 20


def find_private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Where they begin and end, with the lines that open and close them."""
    if "PRIVATE KEY" not in text:
        return
    previous_end = 0
    for begin in compile_pattern(_KEY_BEGIN).finditer(text):
        if begin.start() < previous_end:
            continue
        body = compile_pattern(_KEY_BODY).match(text, begin.end())
        end = body.end() if body is not None else begin.end()
        closing_line = compile_pattern(_KEY_END).match(text, end)
        if end - begin.end() >= _MIN_BODY:
            previous_end = closing_line.end() if closing_line is not None else end
            yield begin.start(), previous_end
    yield from _find_truncated_keys(text)


def _find_truncated_keys(text: str) -> Iterator[tuple[int, int]]:
    """What is before the end of a key whose beginning was cut off."""
    index, previous_end = text.find("-----END"), 0
    while index >= 0:
        line, start = text[index : index + 100], max(index - _WINDOW, previous_end)
        previous_end = index
        if "PRIVATE KEY" in line and "-----BEGIN" not in text[start:index]:
            key_match = compile_pattern(_KEY_WITHOUT_BEGIN).search(text, start, min(index + 100, len(text)))
            if key_match is not None:
                yield key_match.span()
        index = text.find("-----END", index + 8)
