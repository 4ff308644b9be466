"""The front matter of a plan from a plan mode: name, overview and to-dos, as Cursor writes them."""

from __future__ import annotations

from typing import Any, NamedTuple

from execplan.core.text.markdown_blocks import front_matter_length

MAX_LINES = 2000
"""Maximum length of front matter that is parsed; longer one is copied."""
_NAMES, _OVERVIEWS = ("name", "title"), ("overview", "description", "summary")
_KNOWN_FIELDS = {*_NAMES, *_OVERVIEWS, "todos", "isProject"}
_TODO_FIELDS = {"id", "content", "status", "dependencies"}
_DONE, _DROPPED = ("completed", "done"), ("cancelled", "canceled")


class Todo(NamedTuple):
    """A to-do of the front matter."""

    text: str
    mark: str
    """Character for the checkbox."""


class FrontMatter(NamedTuple):
    """The content of front matter."""

    name: str = ""
    overview: str = ""
    todos: tuple[Todo, ...] = ()
    other_lines: tuple[str, ...] = ()
    """The whole front matter as a code block, if it has more than the known fields; IDs of to-dos are no content."""


def read_front_matter(lines: list[str]) -> tuple[FrontMatter, int]:
    """Return the content of the front matter at the start of lines, and its length in lines."""
    length = front_matter_length(lines)
    if not length:
        return FrontMatter(), 0
    inner_lines = lines[1 : length - 1]
    copy = ("```yaml", *[line.replace("```", "'''") for line in inner_lines], "```")
    fields = _parse(inner_lines) if length <= MAX_LINES else None
    if fields is None:
        return FrontMatter(other_lines=copy), length
    todos = _todos(fields.get("todos"))
    name, overview = _first_text(fields, _NAMES), _first_text(fields, _OVERVIEWS)
    is_known = fields.keys() <= _KNOWN_FIELDS and todos is not None
    is_known = is_known and sum([key in fields for key in _NAMES]) <= 1 >= sum([key in fields for key in _OVERVIEWS])
    is_known = is_known and all([isinstance(fields.get(key, ""), str) for key in (*_NAMES, *_OVERVIEWS, "isProject")])
    is_known = is_known and not any([line.lstrip().startswith("#") for line in inner_lines])
    return FrontMatter(name, overview, todos or (), () if is_known else copy), length


def _parse(lines: list[str]) -> dict[str, Any] | None:
    """Return the fields, all scalars as texts; None if they can't be read."""
    import yaml

    try:
        fields = yaml.load("\n".join(lines), Loader=yaml.BaseLoader)  # noqa: S506 - it makes texts, lists and dicts only
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    return fields if isinstance(fields, dict) and all([isinstance(key, str) for key in fields]) else None


def _first_text(fields: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((fields[name].strip() for name in names if isinstance(fields.get(name), str)), "")


def _todos(value: Any) -> tuple[Todo, ...] | None:
    """Return the to-dos; None if a part of them is not understood."""
    if value in (None, ""):
        return ()
    if not isinstance(value, list):
        return None
    todos = []
    for item in value:
        fields = {"content": item} if isinstance(item, str) else item
        if not isinstance(fields, dict) or not fields.keys() <= _TODO_FIELDS:
            return None
        text = fields.get("content")
        if not isinstance(text, str) or not isinstance(fields.get("status", ""), str):
            return None
        status = fields.get("status", "")
        todos.append(Todo(text, "x" if status in _DONE else "-" if status in _DROPPED else " "))
    return tuple(todos)
