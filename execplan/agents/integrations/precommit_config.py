"""Parser for .pre-commit-config.yaml, which finds where to extend its list `repos`. The only importer of PyYAML."""

from __future__ import annotations

from typing import Any

import yaml

from execplan.core.named_tuple import NamedTuple

INSIDE, INSTEAD, END = "inside", "instead", "end"


class InvalidConfigError(Exception):
    """The file can't be extended with a hook; the message has the form `:line: problem`."""


class PreCommitConfig(NamedTuple):
    """The list `repos` and the other fields of a pre-commit configuration."""

    repos: list[Any]
    other_fields: dict[Any, Any]


class HookPosition(NamedTuple):
    """The position at which a hook can be added to a file."""

    mode: str
    """Where the position is in the file.

    It is `inside` the list, at the start of a line; `instead` of the line of an empty list; or at the `end` of the
    file.
    """
    start: int
    """Offset in bytes, like `end`."""
    end: int
    indent: str = ""


def parse_config(data: bytes) -> PreCommitConfig:
    """Parse the bytes of a configuration. Raises InvalidConfigError."""
    try:
        document = yaml.safe_load(data.decode("utf-8"))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InvalidConfigError(f":{line}: {error.problem or 'not YAML'}") from None
    except (yaml.YAMLError, RecursionError, UnicodeDecodeError, ValueError) as error:
        raise InvalidConfigError(f":1: {' '.join(str(error).split()) or 'nested too deep'}") from None
    if document is None:
        return PreCommitConfig([], {})
    if not isinstance(document, dict):
        raise InvalidConfigError(":1: the file is not a mapping with the key repos")
    repos = document.pop("repos", None)
    if not isinstance(repos, list | None):
        raise InvalidConfigError(":1: repos is not a list")
    return PreCommitConfig(repos or [], document)


def find_hook_position(text: str) -> HookPosition | None:
    """Find where a hook can be added to a file that `parse_config` accepts; None if its form does not allow it."""
    events = list(yaml.parse(text, Loader=yaml.SafeLoader))
    root = events[2] if len(events) > 2 else None
    repos_node = _repos_value(events)
    if repos_node is None:
        return _byte_position(text, END, len(text), len(text)) if not getattr(root, "flow_style", False) else None
    key, value = repos_node
    first_event, last_event = value[0], [event for event in value if not _is_block_end(event)][-1]
    if isinstance(first_event, yaml.SequenceStartEvent) and len(value) > 2:
        start = _event_start(first_event)
        if text[start] != "-":
            return None
        indent = text[_line_start(text, start) : start].lstrip("\ufeff")
        offset = _event_end(last_event)
        offset = offset if offset == _line_start(text, offset) else _next_line(text, offset)
        while (line := text[offset : _next_line(text, offset)]).startswith(indent + " ") and line.lstrip().startswith(
            "#"
        ):
            offset += len(line)  # a comment that belongs to the last item
        return _byte_position(text, INSIDE, offset, offset, indent) if not indent.strip() else None
    begin, end = _event_start(key), _event_end(last_event)
    line_start = _line_start(text, begin)
    if text[line_start:begin].strip("\ufeff") or line_start != _line_start(text, end):
        return None
    return _byte_position(text, INSTEAD, begin, begin + len(text[begin : _next_line(text, end)].rstrip("\r\n")))


def _repos_value(events: list[yaml.Event]) -> tuple[yaml.Event, list[yaml.Event]] | None:
    """Return the key `repos` of the document, and the events of its value."""
    nodes: list[list[yaml.Event]] = []
    depth = 0
    for event in events:
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth == 1 and isinstance(event, yaml.NodeEvent):
            nodes.append([])
        if depth and nodes:
            nodes[-1].append(event)
        depth += isinstance(event, yaml.CollectionStartEvent)
    for key, value in zip(nodes[::2], nodes[1::2], strict=False):
        if isinstance(key[0], yaml.ScalarEvent) and key[0].value == "repos":
            return key[0], value
    return None


def _is_block_end(event: yaml.Event) -> bool:
    """Check whether an event is the end of a block collection, whose position is that of the next token."""
    return isinstance(event, yaml.CollectionEndEvent) and _event_start(event) == _event_end(event)


def _event_start(event: yaml.Event) -> int:
    assert event.start_mark is not None
    return event.start_mark.index


def _event_end(event: yaml.Event) -> int:
    assert event.end_mark is not None
    return event.end_mark.index


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def _next_line(text: str, offset: int) -> int:
    """Return the start of the next line after an offset."""
    ends = [end for end in (text.find("\n", offset), text.find("\r", offset)) if end >= 0]
    if not ends:
        return len(text)
    return min(ends) + (2 if text.startswith("\r\n", min(ends)) else 1)


def _byte_position(text: str, mode: str, start: int, end: int, indent: str = "") -> HookPosition:
    """Convert a position from characters to bytes."""
    return HookPosition(mode, len(text[:start].encode("utf-8")), len(text[:end].encode("utf-8")), indent)
