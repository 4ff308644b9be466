"""Line edits of front matter: one key at a time, so that all other lines stay byte for byte."""

from __future__ import annotations

from execplan.core.plan.front_matter import is_yaml, key_lines, parse_front_matter, read_plain_text
from execplan.core.text.text_lines import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.front_matter import FrontValue

_INDENT = "  "
_CLOSING = {"'": "'", '"': '"', "[": "]", "{": "}"}
"""The last character of a value by its first one."""
_TYPED_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "y", "n", "null", "~"))
"""Texts that YAML reads as something else, unless they are quoted."""


def new_front_matter(key: Sequence[str], value: str | Sequence[str]) -> Edit:
    """Return the edit that inserts front matter with one key at the start of a plan."""
    return Edit(0, 0, ("---", *_format_key(key, value), "---", ""))


def set_key(lines: list[str], key: Sequence[str], value: str | Sequence[str]) -> Edit | None:
    """Return the edit that sets a key of the front matter, or adds it at the end; None if it has this value.

    `key` is the name at the top, and for a key of a map also the name in the map.
    """
    front_matter = parse_front_matter(lines)
    start, stop = key_lines(lines, front_matter.end, key[0])
    if not stop:
        at = front_matter.end - 1
        return Edit(at, at, tuple(_format_key(key, value)))
    current = front_matter.fields.get(key[0], "")
    if len(key) > 1:
        return _set_map_key(lines, start, stop, key, value, current)
    if current == (value if isinstance(value, str) else list(value)):
        return None
    return Edit(start, stop, tuple(_replace_value(lines[start:stop], key[0], value)))


def remove_key(lines: list[str], key: Sequence[str]) -> Edit | None:
    """Return the edit that removes a key of the front matter, with the map or the front matter if nothing is left in it."""
    front_matter = parse_front_matter(lines)
    start, stop = key_lines(lines, front_matter.end, key[0])
    if not stop:
        return None
    value = front_matter.fields.get(key[0], "")
    if len(key) > 1:
        if not isinstance(value, dict) or key[1] not in value:
            return None
        if len(value) > 1 or _has_comment_line(lines[start:stop]):
            child_start, child_stop = _child_lines(lines, start, stop, key[1])
            if not child_stop:  # a flow map
                rest = {name: entry for name, entry in value.items() if name != key[1]}
                return Edit(start, stop, _format_map(lines[start:stop], rest))
            return Edit(child_start, child_stop, ())
    if any([lines[at].strip() for at in (*range(1, start), *range(stop, front_matter.end - 1))]):
        return Edit(start, stop, ())
    end = front_matter.end
    return Edit(0, end + (end < len(lines) and not lines[end].strip()), ())


def _set_map_key(
    lines: list[str], start: int, stop: int, key: Sequence[str], value: str | Sequence[str], current: FrontValue
) -> Edit | None:
    entries = current if isinstance(current, dict) else {}
    new_entry = value if isinstance(value, str) else list(value)
    if entries.get(key[1]) == new_entry:
        return None
    child_start, child_stop = _child_lines(lines, start, stop, key[1])
    if child_stop:
        indent = lines[child_start][: len(lines[child_start]) - len(lines[child_start].lstrip(" "))]
        children = [line[len(indent) :] for line in lines[child_start:child_stop]]
        replaced = [indent + line for line in _replace_value(children, key[1], value)]
        return Edit(child_start, child_stop, tuple(replaced))
    if entries and stop > start + 1:
        first = lines[start + 1]
        indent = first[: len(first) - len(first.lstrip(" "))]
        return Edit(stop, stop, (f"{indent}{key[1]}: {_format_value(value)}",))
    return Edit(start, stop, _format_map(lines[start:stop], {**entries, key[1]: new_entry}))


def _child_lines(lines: list[str], start: int, stop: int, name: str) -> tuple[int, int]:
    """Return the lines of a key of a map whose own key is on line `start`; (0, 0) if it has no lines of its own."""
    for at in range(start + 1, stop):
        line = lines[at]
        indent = len(line) - len(line.lstrip(" "))
        if not indent or line.partition(":")[0].strip().strip("\"'") != name:
            continue
        end = at + 1
        while end < stop and (
            not lines[end].strip()
            or len(lines[end]) - len(lines[end].lstrip(" ")) > indent
            or lines[end].startswith(" " * indent + "- ")
        ):
            end += 1
        while not lines[end - 1].strip():
            end -= 1
        return at, end
    return 0, 0


def _replace_value(old_lines: Sequence[str], name: str, value: str | Sequence[str]) -> list[str]:
    """Return the lines of a key with another value: a list keeps its style, a comment after the value stays."""
    head = old_lines[0]
    written_name = head.partition(":")[0]
    written_name = written_name if written_name.strip().strip("\"'") == name else name
    old_value = head.partition(":")[2]
    is_in_lines_below = not old_value.partition(" #")[0].strip()
    comment = _comment_after(old_value) if len(old_lines) == 1 or is_in_lines_below else ""
    comment_lines = [line for line in old_lines[1:] if is_in_lines_below and _has_comment_line([line])]
    bullets = [line for line in old_lines[1:] if line.lstrip(" ").startswith("- ")]
    if bullets and not isinstance(value, str):
        indent = bullets[0][: len(bullets[0]) - len(bullets[0].lstrip(" "))]
        return [f"{written_name}:{comment}", *comment_lines, *[f"{indent}- {_format_text(text)}" for text in value]]
    return [f"{written_name}: {_format_value(value)}{comment}", *comment_lines]


def _comment_after(value: str) -> str:
    """Return the comment after a value on one line, with the space before it; empty if there is none."""
    text = value.lstrip(" ")
    tail = _after_delimited_value(text) if "#" in text and text[:1] in _CLOSING else value
    at = tail.find(" #")
    if at < 0:
        return ""
    while at and tail[at - 1] == " ":
        at -= 1
    return tail[at:]


def _after_delimited_value(text: str) -> str:
    """Return what follows the quoted text, the list or the map at the start of a text."""
    for at in range(1, len(text)):
        tail = text[at + 1 :]
        if text[at] == _CLOSING[text[0]] and tail.lstrip(" ")[:1] in ("", "#") and is_yaml(text[: at + 1]):
            return tail
    return ""


def _format_key(key: Sequence[str], value: str | Sequence[str]) -> list[str]:
    if len(key) > 1:
        return [f"{key[0]}:", f"{_INDENT}{key[1]}: {_format_value(value)}"]
    return [f"{key[0]}: {_format_value(value)}"]


def _format_map(old_lines: Sequence[str], entries: dict[str, str | list[str]]) -> tuple[str, ...]:
    """Return the lines of a map in place of an empty value or a map on one line; comments stay."""
    head, *comment_lines = old_lines
    name, _, value = head.partition(":")
    children = [f"{_INDENT}{key}: {_format_value(value)}" for key, value in entries.items()]
    return (f"{name}:{_comment_after(value)}", *comment_lines, *children)


def _has_comment_line(lines: Sequence[str]) -> bool:
    return any([line.lstrip(" ").startswith("#") for line in lines])


def _format_value(value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return _format_text(value)
    return f"[{', '.join([_format_text(text, in_list=True) for text in value])}]"


def _format_text(text: str, *, in_list: bool = False) -> str:
    """Return a text as a YAML scalar: plain if every YAML parser reads it as this text or as a date, else quoted."""
    is_plain = read_plain_text(text) == text and text.lower() not in _TYPED_WORDS and not _is_number(text)
    if is_plain and not (in_list and set(text) & set("[]{},?:\\#")) and not text.startswith("- "):
        return text
    return "'" + text.replace("'", "''") + "'"


def _is_number(text: str) -> bool:
    """Return whether a YAML parser may read a text as a number; dates are none."""
    bare = text.lower().replace("_", "").replace(":", "").lstrip("+-")
    if bare[:2] in ("0x", "0o", "0b"):
        return True
    return bare.replace(".", "").replace("e", "").replace("+", "").replace("-", "").isdigit() and text.count("-") < 2
