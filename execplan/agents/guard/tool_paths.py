"""Paths that the arguments of a tool may name, whatever the tool makes of them: decoded, and joined from several."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_LONGEST = 3 * 4096
"""Maximum length of a path whose characters are all encoded."""
_MAX_FIELDS = 32
"""Maximum number of values that may be parts of a path; of all pairs of more, the check would take too long."""
_MAX_TRIPLE_FIELDS = 8
_WEB_SCHEMES = ("http", "https", "ws", "wss", "mailto", "data")


class UnclearPathsError(Exception):
    """Arguments may name more paths than can be checked; the message says why."""


def possible_paths(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths that a tool's arguments may name. Raises UnclearPathsError for too many combinations."""
    fields: dict[str, None] = {}
    elements: dict[str, None] = {}
    joined: list[str] = []
    pending: list[object] = [arguments]
    for value in pending:  # the list grows in the loop
        if isinstance(value, dict):
            elements |= dict.fromkeys(_decoded_texts(list(value)))
            fields |= dict.fromkeys(_decoded_texts(list(value.values())))
            pending += value.values()
        elif isinstance(value, (list, tuple)):
            texts = [text for text in value if isinstance(text, str)]
            elements |= dict.fromkeys(_decoded_texts(texts))
            if len(texts) == len(value) > 1 and len(texts) <= _MAX_FIELDS:
                joined.append("/".join([text.strip() for text in texts]))
            pending += value
    if len(fields) > _MAX_FIELDS:
        raise UnclearPathsError(f"it has more than {_MAX_FIELDS} parameters that may be parts of a path")
    parts = [*fields, *[element for element in elements if element not in fields]]
    yield from parts
    yield from _decoded_texts(joined)
    for base in fields:
        yield from [os.path.join(base, part) for part in parts if part != base and not _is_absolute(part)]
        if len(fields) <= _MAX_TRIPLE_FIELDS:
            yield from [
                os.path.join(base, middle, part)
                for middle in fields
                for part in fields
                if len({base, middle, part}) == 3 and not _is_absolute(middle) and not _is_absolute(part)
            ]


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~"))


def _decoded_texts(values: list[Any]) -> Iterator[str]:
    """Yield the paths that texts may be: without white space around them, decoded, and as the path of a URI."""
    for value in values:
        if not isinstance(value, str) or len(value) > _LONGEST:
            continue
        text = value.strip()
        if not text or "\n" in text or "\0" in text or text.partition(":")[0].casefold() in _WEB_SCHEMES:
            continue
        for form in dict.fromkeys((text, _decode(text), _decode(text).replace("\\", "/"))):
            yield form
            scheme, colon, rest = form.partition(":")
            if colon and scheme.isalnum() and len(scheme) > 1 and "/" in rest:
                yield f"/{rest[2:].partition('/')[2]}" if rest.startswith("//") else rest
            if "$" in form:
                yield os.path.expandvars(form)


def _decode(text: str) -> str:
    """Decode `%2e` and the like until nothing is encoded."""
    from urllib.parse import unquote

    for _ in range(4):
        if "%" not in text:
            break
        text = unquote(text)
    return text
