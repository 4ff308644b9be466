"""The markdown of an agent program's plan, without what surrounds it, and made safe to copy into an ExecPlan."""

from __future__ import annotations

from typing import Any, NamedTuple

from execplan.core.plan.reader import find_conflict_markers
from execplan.core.text.markdown_blocks import FENCE, HTML, front_matter_length, scan_blocks
from execplan.core.text.text_lines import Text

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


class NativeFrontMatter(NamedTuple):
    """The content of front matter."""

    name: str = ""
    overview: str = ""
    todos: tuple[Todo, ...] = ()
    other_lines: tuple[str, ...] = ()
    """The whole front matter as a code block, if it has more than the known fields; IDs of to-dos are no content."""


def read_front_matter(lines: list[str]) -> tuple[NativeFrontMatter, int]:
    """Return the content of the front matter at the start of lines, and its length in lines."""
    length = front_matter_length(lines)
    if not length:
        return NativeFrontMatter(), 0
    inner_lines = lines[1 : length - 1]
    copy = ("```yaml", *[line.replace("```", "'''") for line in inner_lines], "```")
    fields = _parse(inner_lines) if length <= MAX_LINES else None
    if fields is None:
        return NativeFrontMatter(other_lines=copy), length
    todos = _todos(fields.get("todos"))
    name, overview = _first_text(fields, _NAMES), _first_text(fields, _OVERVIEWS)
    is_known = fields.keys() <= _KNOWN_FIELDS and todos is not None
    is_known = is_known and sum([key in fields for key in _NAMES]) <= 1 >= sum([key in fields for key in _OVERVIEWS])
    is_known = is_known and all([isinstance(fields.get(key, ""), str) for key in (*_NAMES, *_OVERVIEWS, "isProject")])
    is_known = is_known and not any([line.lstrip().startswith("#") for line in inner_lines])
    return NativeFrontMatter(name, overview, todos or (), () if is_known else copy), length


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


_OPENING, _CLOSING = "<proposed_plan>", "</proposed_plan>"
"""Tags that Codex writes around a plan, each at the start of a line."""
_MAX_ROUNDS = 20
"""Number of times that blocks are closed: closing one may show that another is open."""


class NativeText(NamedTuple):
    """A plan's markdown, and what was written around it."""

    lines: list[str]
    front_matter: NativeFrontMatter
    surrounding_lines: list[str]
    """Lines before and after a block of tags, without earlier blocks, which the last one replaces."""


def read_native_text(text: str) -> NativeText:
    """Split a text into the plan and what surrounds it."""
    lines = [_printable(line) for line in Text.from_str(text).lines]
    plan_lines, surrounding_lines = _split_tags(lines)
    front_matter, length = read_front_matter(plan_lines)
    return NativeText(
        make_safe(plan_lines[length:]),
        front_matter._replace(other_lines=tuple(make_safe(list(front_matter.other_lines)))),
        make_safe(surrounding_lines),
    )


def find_tagged_plan(text: str) -> str | None:
    """Return the last plan between tags in a text; None if there is none."""
    lines = Text.from_str(text).lines
    return "\n".join(_split_tags(lines)[0]).strip("\n") if any(map(_is_opening, lines)) else None


def _is_opening(line: str) -> bool:
    return line.lstrip().startswith(_OPENING)


def _split_tags(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines of the last block between tags, and those outside of all blocks; all lines if there is none."""
    if not any(map(_is_opening, lines)):
        return lines, []
    block: list[str] = []
    outside: list[str] = []
    is_inside = False
    for line in lines:
        content = line
        if not is_inside and _is_opening(line):
            is_inside, block, content = True, [], line.strip().removeprefix(_OPENING)
            if not content:
                continue
        if not is_inside:
            if content.strip() or (outside and outside[-1].strip()):
                outside.append(content)
            continue
        before, tag, after = content.partition(_CLOSING)
        if before.strip() or not tag:
            block.append(before)
        if tag:
            is_inside = False
            outside.append(after)
    return block, outside


def make_safe(lines: list[str]) -> list[str]:
    """Return lines in which every block is closed, no code block has attributes, and nothing is a conflict marker."""
    lines = list(lines)
    for index in find_conflict_markers(lines):
        lines[index] = f" {lines[index]}"
    for block in scan_blocks(lines, allow_front_matter=False):
        if block.kind == FENCE and "{" in block.text:
            at = lines[block.start].index(block.mark * 3)
            info = lines[block.start][at:].replace("{", "(").replace("}", ")")
            lines[block.start] = lines[block.start][:at] + info
    for _ in range(_MAX_ROUNDS):
        open_blocks = [block for block in scan_blocks(lines, allow_front_matter=False) if not block.is_closed]
        if not open_blocks:
            return lines
        for block in reversed(open_blocks):
            if block.kind == HTML:
                lines[block.start] = lines[block.start].replace("<", "\\<", 1)
            elif block.kind == FENCE:
                at = lines[block.start].find(block.mark * 3)
                prefix = "".join([char if char in "> \t" else " " for char in lines[block.start][:at]])
                lines.insert(block.end, prefix + block.mark * block.level)
    return fence(lines)


def fence(lines: list[str]) -> list[str]:
    """Return lines as a code block, with a mark longer than any in them."""
    mark = "```"
    while any([mark in line for line in lines]):
        mark += "`"
    return [f"{mark}text", *lines, mark]


def _printable(line: str) -> str:
    """Replace the characters that a file can't contain: a hook's JSON may have them."""
    if line.isascii() and "\0" not in line:
        return line
    return "".join(["\ufffd" if char == "\0" or "\ud800" <= char <= "\udfff" else char for char in line])
