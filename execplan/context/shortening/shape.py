"""The shape of data: of a table its head and its size, of JSON the keys and the kinds of values; and excerpts of both."""

from __future__ import annotations

import json
import re

from execplan.context.shortening.part import REST, Excerpt, Part, cut, pick
from execplan.context.words import shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Final

    from execplan.context.shortening.part import Count

_DEPTHS = (6, 4, 3, 2, 1)
_KEYS: Final = 40
"""Keys of an object that its shape names."""
_SPARE: Final = 3
"""Keys more of which the names may be shorter than a mark for them."""
_ROWS: Final = 2
"""Rows of a table that its summary shows."""
_SHAPE: Final = 3
"""Which part of the room the shape of JSON takes at most where values follow: a third."""
_VALUES: Final = 48
"""Tokens: the least room for values."""
_WIDE: Final = 240
"""Characters of an object or a list that is printed on one line."""
_MANY: Final = 10
"""Words that more than one line in ten has do not tell which line matters."""
_JSON = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]')


def outline(lines: Sequence[str], words: Collection[str]) -> list[Part]:
    """The lines of settings and the like: those with such words first, then the less they are indented the sooner."""
    parts = []
    for at, line in enumerate(lines):
        deep = 1 + min((len(line) - len(line.lstrip()) + 1) // 2, 5)
        parts.append(Part(line, at, REST if not line.strip() else 0 if shared(line, words) else deep))
    return parts


def table(lines: Sequence[str], words: Collection[str]) -> list[Part]:
    """The rows of a table: its head, some of the first, then those with such words, then the others."""
    parts = []
    for at, line in enumerate([line for line in lines if line.strip()]):
        rank = REST if shared(line, words) else REST + 1
        parts.append(Part(line, at, min(at, 1) if at <= _ROWS else rank))
    return parts


def of_json(content: str, words: Collection[str], tokens: int, count: Count, *, rest: bool) -> str | None:
    """The shape of a JSON document, as deep as fits, and with `rest` as many of its values; None where it is none or does not fit."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    shapes = [
        f"… only the shape of {len(content):,} characters of JSON:\n{_described(value, depth)}" for depth in _DEPTHS
    ]
    sizes = [count(text) for text in shapes]
    if rest and min(sizes) + _VALUES <= tokens:
        at = next((at for at, size in enumerate(sizes) if size <= tokens // _SHAPE), sizes.index(min(sizes)))
        shape = f"… the shape of {len(content):,} characters of JSON:\n{_described(value, _DEPTHS[at])}\n… and some of its values:\n"
        lines = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        found = (
            Excerpt(_values(_broken(content), words), count, noun="value")
            if max([len(line) for line in lines]) > _WIDE
            else Excerpt(_values(lines, words), count)
        )
        room = tokens - count(shape)
        while room >= _VALUES // 2:
            values = pick(found, room, rest=True)
            if values is not None and (over := count(shape + values) - tokens) > 0:
                room -= over
                continue
            if values is not None:
                return shape + values
            break
    return next((text for text, size in zip(shapes, sizes, strict=True) if size <= tokens), None)


def _values(lines: Sequence[str], words: Collection[str]) -> list[Part]:
    """The lines of a JSON document: those with such words and what they are in first, if these are few."""
    about: set[int] = set()
    around: list[int] = []
    many = 0
    for at, line in enumerate(lines):
        if shared(line, words):
            about.update([at, *around])
            many += 1
        for found in _JSON.finditer(line):
            if found[0] in ("[", "{"):
                around.append(at)
            elif found[0] in ("]", "}") and around:
                around.pop()
    if many * _MANY > len(lines):
        about = set()
    return [Part(line, at, REST if at in about else REST + 1) for at, line in enumerate(lines)]


def _broken(content: str) -> list[str]:
    """JSON in lines: what is too long for one begins a line for each of its members."""
    marks = [found for found in _JSON.finditer(content) if len(found[0]) == 1]
    ends: dict[int, int] = {}
    opened: list[int] = []
    for mark in marks:
        if mark[0] in ("[", "{"):
            opened.append(mark.start())
        elif mark[0] in ("]", "}"):
            ends[opened.pop()] = mark.end()
    lines: list[str] = []
    start, closed = 0, 0
    for mark in marks:
        at = mark.start()
        if at < closed:
            continue
        if mark[0] in ("[", "{") and ends[at] - at <= _WIDE:
            closed = ends[at]
            continue
        end = at if mark[0] in ("]", "}") else mark.end()
        if content[start:end].strip():
            lines.append(" ".join(content[start:end].split("\n")).strip())
        start = end
    return [*lines, content[start:].strip()]


def _shape(value: object, depth: int, indent: str = "", *, of_many: bool = False) -> str:
    """What a value is, in words, so many levels deep; the value itself where that is no longer.

    `of_many`: it stands for others, too, that may have other values.
    """
    text = _described(value, depth, indent, of_many=of_many)
    raw = None if of_many else _raw(value, len(text))
    return text if raw is None else raw


def _described(value: object, depth: int, indent: str = "", *, of_many: bool = False) -> str:
    if isinstance(value, dict):
        if not depth or not value:
            return f"an object with {len(value):,} key{'s' * (len(value) != 1)}" if value else "{}"
        inner = indent + "  "
        rows = [
            f"{inner}{json.dumps(cut(str(key), len), ensure_ascii=False)}: {_shape(each, depth - 1, inner, of_many=of_many)}"
            for key, each in list(value.items())[: _KEYS + _SPARE]
        ]
        mark = f"{inner}… {len(value) - _KEYS:,} keys left out"
        if len(value) > _KEYS + _SPARE or len("\n".join(rows[_KEYS:])) > len(mark):
            rows[_KEYS:] = [mark]
        return "\n".join(["{", *rows, indent + "}"])
    if isinstance(value, list):
        many = f"{len(value):,} × " if len(value) != 1 else ""
        inner_is = _shape(value[0], max(depth - 1, 0), indent, of_many=of_many or len(value) > 1) if value else ""
        return f"[{many}{inner_is}]" if value else "[]"
    return {str: "string", bool: "true or false", type(None): "null"}.get(type(value), "number")


def _raw(value: object, most: int) -> str | None:
    """A value as JSON, if it has at most so many characters."""
    if isinstance(value, str) and len(value) > most:
        return None
    if not isinstance(value, (dict, list)):
        text = json.dumps(value, ensure_ascii=False)
        return text if len(text) <= most else None
    if 3 * len(value) > most + 2:  # a member takes a character, and what parts it from the next
        return None
    found: list[str] = []
    members = value.items() if isinstance(value, dict) else [(None, each) for each in value]
    for key, each in members:
        name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
        inner = _raw(each, most - len(name))
        if inner is None:
            return None
        found.append(name + inner)
        most -= len(found[-1]) + 2
        if most < 0:
            return None
    return ("{%s}" if isinstance(value, dict) else "[%s]") % ", ".join(found)
