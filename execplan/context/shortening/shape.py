"""The shape of data: of a table its head and its size, of JSON the keys and what kinds of values they have."""

from __future__ import annotations

import json

from execplan.context.shortening.part import NEVER, Part, cut
from execplan.context.words import shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Final

_DEPTHS = (6, 4, 3, 2, 1)
_KEYS: Final = 40
"""Of an object that are told."""
_ROWS: Final = 2
"""Of a table that are shown."""


def outline(lines: Sequence[str], words: Collection[str]) -> list[Part]:
    """The lines of settings and the like: those with such words first, then the less they are indented the sooner."""
    parts = []
    for at, line in enumerate(lines):
        deep = 1 + min((len(line) - len(line.lstrip()) + 1) // 2, 5)
        parts.append(Part(line, at, NEVER if not line.strip() else 0 if shared(line, words) else deep))
    return parts


def table(lines: Sequence[str], tokens: int, count: Callable[[str], int]) -> str | None:
    """The first rows of a table and how many there are."""
    full = [line for line in lines if line.strip()]
    for rows in range(_ROWS, -1, -1):
        more = len(full) - 1 - rows
        told = [f"… {more:,} rows left out"] if more > 0 else []
        text = "\n".join([*[cut(line) for line in full[: rows + 1]], *told])
        if count(text) <= tokens:
            return text
    return None


def of_json(content: str, tokens: int, count: Callable[[str], int]) -> str | None:
    """The shape of a JSON document, as deep as fits; None where it is none or does not fit."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    for depth in _DEPTHS:
        text = f"… only the shape of {len(content):,} characters of JSON:\n{_shape(value, depth)}"
        if count(text) <= tokens:
            return text
    return None


def _shape(value: object, depth: int, indent: str = "") -> str:
    """What a value is, in words, so many levels deep."""
    if isinstance(value, dict):
        if not depth or not value:
            return f"an object with {len(value):,} keys" if value else "{}"
        inner = indent + "  "
        rows = [
            f"{inner}{json.dumps(cut(str(key)), ensure_ascii=False)}: {_shape(each, depth - 1, inner)}"
            for key, each in list(value.items())[:_KEYS]
        ]
        if len(value) > _KEYS:
            rows.append(f"{inner}… {len(value) - _KEYS:,} keys left out")
        return "\n".join(["{", *rows, indent + "}"])
    if isinstance(value, list):
        many = f"{len(value):,} × " if len(value) != 1 else ""
        return f"[{many}{_shape(value[0], max(depth - 1, 0), indent)}]" if value else "[]"
    return {str: "string", bool: "true or false", type(None): "null"}.get(type(value), "number")
