"""The front matter of a plan: keys with texts, lists of texts and maps of them; other values are left out.

Most front matter is so simple that it is read here, because importing a YAML parser takes longer than a check of a plan.
Everything else goes to PyYAML.
"""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.markdown_blocks import front_matter_length

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    FrontValue = str | list[str] | dict[str, str | list[str]]

MAX_CHARACTERS = 32 * 1024
"""Maximum length of front matter that is parsed; real ones have a hundredth of it."""
_MAX_BRACKETS = 500
"""Maximum number of opening brackets, because PyYAML takes quadratic time for nested ones."""


class FrontMatter(NamedTuple):
    """The fields of front matter; values are texts as written, without quotes."""

    fields: dict[str, FrontValue]
    end: int
    """Line after the front matter; 0 if the plan has none."""
    problem: str = ""
    """Why it can't be read; empty if it can."""
    problem_line: int = 0
    """Line of the problem."""


def parse_front_matter(lines: list[str]) -> FrontMatter:
    """Parse the front matter at the start of a plan's lines."""
    end = front_matter_length(lines)
    if not end:
        return FrontMatter({}, 0)
    inner_lines = lines[1 : end - 1]
    if excess := _describe_excess(inner_lines):
        return FrontMatter({}, end, excess, 0)
    fields = read_simple_fields(inner_lines)
    return FrontMatter(fields, end) if fields is not None else _parse_yaml(inner_lines, end)


def _describe_excess(lines: Sequence[str]) -> str:
    """Return which limit the lines of front matter exceed; empty if none."""
    if sum([len(line) for line in lines]) > MAX_CHARACTERS:
        return f"longer than {MAX_CHARACTERS:,} characters"
    if sum([line.count("[") + line.count("{") for line in lines]) > _MAX_BRACKETS:
        return f"more than {_MAX_BRACKETS} brackets"
    return ""


def find_unread_front_matter(lines: list[str]) -> str:
    """Return why lines at the start, which YAML reads as keys, are no front matter here; empty if there are none."""
    if not lines or lines[0].rstrip() != "---" or front_matter_length(lines):
        return ""
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() in ("---", "...")), 0)
    inner_lines = lines[1:end]
    if _describe_excess(inner_lines) or not _parse_yaml(inner_lines, end).fields:
        return ""
    return "a blank line follows ---" if not inner_lines[0].strip() else "its first line is not `key: value`"


def key_lines(lines: Sequence[str], end: int, key: str) -> tuple[int, int]:
    """Return the lines of a key of the front matter that ends before line `end`, as start and end; (0, 0) if not found."""
    for start in range(1, end - 1):
        line = lines[start]
        if line[:1] in ("", " ", "\t", "#") or line.partition(":")[0].strip().strip("\"'") != key:
            continue
        stop = start + 1
        while stop < end - 1 and (lines[stop][:1] in ("", " ", "\t") or lines[stop].startswith(("- ", "#"))):
            stop += 1
        while not lines[stop - 1].strip() or lines[stop - 1].startswith("#"):
            stop -= 1
        return start, stop
    return 0, 0


def read_simple_fields(lines: Sequence[str]) -> dict[str, FrontValue] | None:
    """Read front matter of keys with plain or quoted texts, lists of them and maps of texts; None for anything else.

    The result equals that of a YAML parser.
    """
    fields: dict[str, FrontValue] = {}
    open_key, open_indent = "", -1
    for line in lines:
        if not line.isprintable():
            return None
        content = line.lstrip(" ")
        if not content or content[0] == "#":
            continue
        indent = len(line) - len(content)
        if indent or content[:2] == "- ":
            if not open_key or (open_indent >= 0 and indent != open_indent):
                return None
            value = _add_nested(fields[open_key], content)
            if value is None:
                return None
            fields[open_key] = value
            open_indent = indent
            continue
        pair = _read_pair(content)
        if pair is None or pair[0] in fields:
            return None
        fields[pair[0]] = pair[1]
        is_open = content.partition(" #")[0].rstrip(" ").endswith(":")
        open_key, open_indent = pair[0] if is_open else "", -1
    return fields


def _add_nested(value: FrontValue, content: str) -> FrontValue | None:
    """Return the value of a key with another item of its list, or another entry of its map; None if it is none."""
    if content[:2] == "- ":
        item = content[2:].strip(" ")
        text = _read_scalar(item)
        if text is None or ": " in item or item.endswith(":") or isinstance(value, dict):
            return None
        return [*value, text] if isinstance(value, list) else [text]
    pair = _read_pair(content)
    if pair is None or isinstance(value, list):
        return None
    entries = dict(value) if isinstance(value, dict) else {}
    return {**entries, pair[0]: pair[1]} if pair[0] not in entries else None


def _read_pair(content: str) -> tuple[str, str | list[str]] | None:
    """Return the key and the value of a line; None if the line is not that simple."""
    key, colon, value = content.partition(":")
    if not colon or not key.isascii() or not key.replace("_", "").replace("-", "").isalnum() or key[0] in "-0123456789":
        return None
    if value[:1] not in ("", " "):
        return None
    value = value.strip(" ")
    if value[:1] == "#":
        value = ""
    if value[:1] != "[":
        text = _read_scalar(value) if value else ""
        return (key, text) if text is not None else None
    inner, bracket, tail = value[1:].partition("]")
    if not bracket or (tail.strip(" ") and not tail.lstrip(" ").startswith("#")) or (tail and tail[0] == "#"):
        return None
    if not inner.strip(" "):
        return key, []
    items = [_read_scalar(item.strip(" ")) if item.strip(" ") else None for item in inner.split(",")]
    texts = [item for item in items if item is not None]
    is_simple = len(texts) == len(items) and not set("[]{}#\\:?") & set(inner) and "- " not in inner
    return (key, texts) if is_simple and not any([item.strip(" ") == "-" for item in inner.split(",")]) else None


def _read_scalar(value: str) -> str | None:
    """Return the text of a plain or quoted scalar; None if it may be something else."""
    if value[:1] in ("'", '"'):
        text, quote, tail = value[1:].partition(value[0])
        has_tail = bool(tail.strip(" ")) and not tail.startswith(" #") and not tail.lstrip(" ").startswith("#")
        if not quote or has_tail or (tail and tail[0] in "'\"#") or "\\" in text:
            return None
        return text
    return read_plain_text(value.partition(" #")[0].rstrip(" "))


def read_plain_text(text: str) -> str | None:
    """Return a text if YAML reads it as this text without quotes; None if it may be something else."""
    is_plain = text[:1].isalnum() or text[:1] in ("/", ".", "_", "(", "+", "$")
    is_safe = text.isprintable() and text == text.strip(" ") and text != "..."
    return text if is_plain and is_safe and ": " not in text and " #" not in text and not text.endswith(":") else None


def _parse_yaml(lines: list[str], end: int) -> FrontMatter:
    """Parse front matter with PyYAML; all scalars become texts, and aliases are not expanded inside of values."""
    import yaml

    try:
        document = yaml.load("\n".join(lines), Loader=yaml.BaseLoader)  # noqa: S506 - it makes texts, lists and dicts only
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 + min(mark.line, len(lines) - 1) if mark is not None else 0
        return FrontMatter({}, end, error.problem or "not valid", line)
    except (yaml.YAMLError, RecursionError, ValueError, TypeError):
        return FrontMatter({}, end, "not valid")
    if not isinstance(document, dict):
        return FrontMatter({}, end, "not a map of keys")
    return FrontMatter({key: _flat_value(value) for key, value in document.items() if isinstance(key, str)}, end)


def is_yaml(text: str) -> bool:
    """Return whether a text is valid YAML."""
    return not _parse_yaml([f"key: {text}"], 0).problem


def read_nested_values(lines: list[str], key: str) -> Any:
    """Return the value of a key of front matter that can be read, with all that is nested in it; None without the key."""
    import yaml

    end = front_matter_length(lines)
    document = yaml.load("\n".join(lines[1 : max(end - 1, 1)]), Loader=yaml.BaseLoader)  # noqa: S506 - it makes texts, lists and dicts only
    return document.get(key) if isinstance(document, dict) else None


def _flat_value(value: Any) -> FrontValue:
    """Return a value without what is nested deeper than a list in a map."""
    if isinstance(value, dict):
        return {key: _flat_list(entry) for key, entry in value.items() if isinstance(key, str)}
    return _flat_list(value)


def _flat_list(value: Any) -> str | list[str]:
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str)]
    return value if isinstance(value, str) else ""
