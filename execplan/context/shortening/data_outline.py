"""Outline of data: the head and size of a table, the keys and value types of JSON, and excerpts of both."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Final

from execplan.context.shortening.excerpt import REST_RANK, CountTokens, Excerpt, TextPart, render_excerpt, truncate_text
from execplan.context.text_search import count_shared_words

_DEPTHS = (6, 4, 3, 2, 1)
_MAX_KEYS: Final = 40
"""Maximum number of keys of an object that its outline names."""
_SPARE_KEYS: Final = 3
"""Number of extra keys whose names may be shorter than the marker that replaces them."""
_SUMMARY_ROWS: Final = 2
"""Number of table rows in a summary."""
_SHAPE_DIVISOR: Final = 3
"""Divisor for the room that the outline of JSON may take if values follow: a third."""
_MIN_VALUE_TOKENS: Final = 48
"""Minimum room for values in tokens."""
_MAX_INLINE_CHARS: Final = 240
"""Maximum characters of an object or a list on one line."""
_COMMON_LINE_DIVISOR: Final = 10
"""Divisor for the number of lines: matches in more than one line in ten do not show which line matters."""
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]')


def split_settings(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """Split settings into ranked lines: those with keywords first, then by indentation, the least indented first."""
    parts = []
    for line_index, line in enumerate(lines):
        depth_rank = 1 + min((len(line) - len(line.lstrip()) + 1) // 2, 5)
        parts.append(
            TextPart(
                line,
                line_index,
                REST_RANK if not line.strip() else 0 if count_shared_words(line, keywords) else depth_rank,
            )
        )
    return parts


def split_table(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """Split a table into ranked rows: the header, the first rows, then rows with keywords, then the others."""
    parts = []
    for row_index, line in enumerate([line for line in lines if line.strip()]):
        rank = REST_RANK if count_shared_words(line, keywords) else REST_RANK + 1
        parts.append(TextPart(line, row_index, min(row_index, 1) if row_index <= _SUMMARY_ROWS else rank))
    return parts


def summarize_json(
    content: str, keywords: Collection[str], max_tokens: int, count_tokens: CountTokens, *, include_rest: bool
) -> str | None:
    """Return the outline of a JSON document, as deep as fits; None if it is not JSON or does not fit.

    With `include_rest`, as many of its values as fit follow.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return None
    shapes = [
        f"… only the structure of {len(content):,} characters of JSON:\n{_describe(value, depth)}" for depth in _DEPTHS
    ]
    sizes = [count_tokens(text) for text in shapes]
    if include_rest and min(sizes) + _MIN_VALUE_TOKENS <= max_tokens:
        index = next(
            (index for index, size in enumerate(sizes) if size <= max_tokens // _SHAPE_DIVISOR), sizes.index(min(sizes))
        )
        shape = f"… the structure of {len(content):,} characters of JSON:\n{_describe(value, _DEPTHS[index])}\n… and some of its values:\n"
        lines = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if max([len(line) for line in lines]) > _MAX_INLINE_CHARS:
            excerpt = Excerpt(_rank_json_lines(_break_json_lines(content), keywords), count_tokens, noun="value")
        else:
            excerpt = Excerpt(_rank_json_lines(lines, keywords), count_tokens)
        remaining_tokens = max_tokens - count_tokens(shape)
        while remaining_tokens >= _MIN_VALUE_TOKENS // 2:
            values = render_excerpt(excerpt, remaining_tokens, include_rest=True)
            if values is not None and (excess_tokens := count_tokens(shape + values) - max_tokens) > 0:
                remaining_tokens -= excess_tokens
                continue
            if values is not None:
                return shape + values
            break
    return next((text for text, size in zip(shapes, sizes, strict=True) if size <= max_tokens), None)


def _rank_json_lines(lines: Sequence[str], keywords: Collection[str]) -> list[TextPart]:
    """Rank the lines of a JSON document: those with keywords and their containers first, unless there are too many."""
    relevant_lines: set[int] = set()
    open_lines: list[int] = []
    match_count = 0
    for line_index, line in enumerate(lines):
        if count_shared_words(line, keywords):
            relevant_lines.update([line_index, *open_lines])
            match_count += 1
        for token in _JSON_TOKEN.finditer(line):
            if token[0] in ("[", "{"):
                open_lines.append(line_index)
            elif token[0] in ("]", "}") and open_lines:
                open_lines.pop()
    if match_count * _COMMON_LINE_DIVISOR > len(lines):
        relevant_lines = set()
    return [
        TextPart(line, line_index, REST_RANK if line_index in relevant_lines else REST_RANK + 1)
        for line_index, line in enumerate(lines)
    ]


def _break_json_lines(content: str) -> list[str]:
    """Break JSON into lines; a value that is too long for a line gets one for each of its members."""
    tokens = [match for match in _JSON_TOKEN.finditer(content) if len(match[0]) == 1]
    ends: dict[int, int] = {}
    open_starts: list[int] = []
    for token in tokens:
        if token[0] in ("[", "{"):
            open_starts.append(token.start())
        elif token[0] in ("]", "}"):
            ends[open_starts.pop()] = token.end()
    lines: list[str] = []
    start, closed_until = 0, 0
    for token in tokens:
        token_start = token.start()
        if token_start < closed_until:
            continue
        if token[0] in ("[", "{") and ends[token_start] - token_start <= _MAX_INLINE_CHARS:
            closed_until = ends[token_start]
            continue
        end = token_start if token[0] in ("]", "}") else token.end()
        if content[start:end].strip():
            lines.append(" ".join(content[start:end].split("\n")).strip())
        start = end
    return [*lines, content[start:].strip()]


def _describe_or_quote(value: object, depth: int, indent: str = "", *, is_sample: bool = False) -> str:
    """Describe a value in words to a depth, or return its JSON if that is not longer.

    `is_sample` means that the value also represents others, whose values may differ.
    """
    text = _describe(value, depth, indent, is_sample=is_sample)
    json_text = None if is_sample else _format_json(value, len(text))
    return text if json_text is None else json_text


def _describe(value: object, depth: int, indent: str = "", *, is_sample: bool = False) -> str:
    if isinstance(value, dict):
        if not depth or not value:
            return f"an object with {len(value):,} key{'s' * (len(value) != 1)}" if value else "{}"
        inner_indent = indent + "  "
        rows = [
            f"{inner_indent}{json.dumps(truncate_text(str(key), len), ensure_ascii=False)}: {_describe_or_quote(member, depth - 1, inner_indent, is_sample=is_sample)}"
            for key, member in list(value.items())[: _MAX_KEYS + _SPARE_KEYS]
        ]
        marker = f"{inner_indent}… {len(value) - _MAX_KEYS:,} keys left out"
        if len(value) > _MAX_KEYS + _SPARE_KEYS or len("\n".join(rows[_MAX_KEYS:])) > len(marker):
            rows[_MAX_KEYS:] = [marker]
        return "\n".join(["{", *rows, indent + "}"])
    if isinstance(value, list):
        count_prefix = f"{len(value):,} × " if len(value) != 1 else ""
        if value:
            member_shape = _describe_or_quote(
                value[0], max(depth - 1, 0), indent, is_sample=is_sample or len(value) > 1
            )
        else:
            member_shape = ""
        return f"[{count_prefix}{member_shape}]" if value else "[]"
    return {str: "string", bool: "true or false", type(None): "null"}.get(type(value), "number")


def _format_json(value: object, max_chars: int) -> str | None:
    """Return a value as JSON, or None if that has more than `max_chars` characters."""
    if isinstance(value, str) and len(value) > max_chars:
        return None
    if not isinstance(value, (dict, list)):
        text = json.dumps(value, ensure_ascii=False)
        return text if len(text) <= max_chars else None
    if 3 * len(value) > max_chars + 2:  # a member takes at least one character, plus two for its separator
        return None
    formatted_members: list[str] = []
    members = value.items() if isinstance(value, dict) else [(None, member) for member in value]
    for key, member in members:
        name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
        inner = _format_json(member, max_chars - len(name))
        if inner is None:
            return None
        formatted_members.append(name + inner)
        max_chars -= len(formatted_members[-1]) + 2
        if max_chars < 0:
            return None
    return ("{%s}" if isinstance(value, dict) else "[%s]") % ", ".join(formatted_members)
