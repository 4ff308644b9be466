"""What a .pre-commit-config.yaml says, and where its list `repos` can be added to. The only importer of PyYAML."""

from __future__ import annotations

from typing import Any

import yaml

from execplan.record import NamedTuple

INSIDE, INSTEAD, END = "inside", "instead", "end"


class UnreadableError(Exception):
    """The file is none that a hook can be added to: `:line: what is wrong`."""


class Config(NamedTuple):
    """What the file says."""

    repos: list[Any]
    rest: dict[Any, Any]


class Spot(NamedTuple):
    """Where a hook can be added."""

    how: str
    """`inside` the list, where a line begins; `instead` of the line of an empty list; at the `end` of the file."""
    start: int
    """In bytes, as `end`."""
    end: int
    indent: str = ""


def load(data: bytes) -> Config:
    """What the bytes say; raises UnreadableError."""
    try:
        said = yaml.safe_load(data.decode("utf-8"))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UnreadableError(f":{line}: {error.problem or 'not YAML'}") from None
    except (yaml.YAMLError, RecursionError, UnicodeDecodeError, ValueError) as error:
        raise UnreadableError(f":1: {' '.join(str(error).split()) or 'nested too deep'}") from None
    if said is None:
        return Config([], {})
    if not isinstance(said, dict):
        raise UnreadableError(":1: the file holds no mapping with a key repos")
    repos = said.pop("repos", None)
    if not isinstance(repos, list | None):
        raise UnreadableError(":1: repos is no list")
    return Config(repos or [], said)


def spot(text: str) -> Spot | None:
    """Where a hook can be added to a file that `load` takes, None where its form leaves no place."""
    events = list(yaml.parse(text, Loader=yaml.SafeLoader))
    root = events[2] if len(events) > 2 else None
    found = _value(events)
    if found is None:
        return _bytes(text, END, len(text), len(text)) if not getattr(root, "flow_style", False) else None
    key, value = found
    first, last = value[0], [each for each in value if not _is_block_end(each)][-1]
    if isinstance(first, yaml.SequenceStartEvent) and len(value) > 2:
        start = _start(first)
        if text[start] != "-":
            return None
        indent = text[_line_start(text, start) : start].lstrip("\ufeff")
        at = _end(last)
        at = at if at == _line_start(text, at) else _next_line(text, at)
        while (line := text[at : _next_line(text, at)]).startswith(indent + " ") and line.lstrip().startswith("#"):
            at += len(line)  # a comment that belongs to the last item
        return _bytes(text, INSIDE, at, at, indent) if not indent.strip() else None
    begin, end = _start(key), _end(last)
    above = _line_start(text, begin)
    if text[above:begin].strip("\ufeff") or above != _line_start(text, end):
        return None
    return _bytes(text, INSTEAD, begin, begin + len(text[begin : _next_line(text, end)].rstrip("\r\n")))


def _value(events: list[yaml.Event]) -> tuple[yaml.Event, list[yaml.Event]] | None:
    """The key `repos` of the document, and the events of its value."""
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
    """Whether an event is the end of a block collection, which stands where the next token begins."""
    return isinstance(event, yaml.CollectionEndEvent) and _start(event) == _end(event)


def _start(event: yaml.Event) -> int:
    assert event.start_mark is not None
    return event.start_mark.index


def _end(event: yaml.Event) -> int:
    assert event.end_mark is not None
    return event.end_mark.index


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _next_line(text: str, at: int) -> int:
    """Where the line behind that of a place begins."""
    ends = [end for end in (text.find("\n", at), text.find("\r", at)) if end >= 0]
    if not ends:
        return len(text)
    return min(ends) + (2 if text.startswith("\r\n", min(ends)) else 1)


def _bytes(text: str, how: str, start: int, end: int, indent: str = "") -> Spot:
    """A place in characters as one in bytes."""
    return Spot(how, len(text[:start].encode("utf-8")), len(text[:end].encode("utf-8")), indent)
