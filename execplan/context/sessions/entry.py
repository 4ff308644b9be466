"""What the logs of all agent programs come to."""

from __future__ import annotations

import json

from execplan.context.unit import MESSAGE, TOOL_RESULT, Unit
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Line = dict[str, Any]


class Session(NamedTuple):
    """What a log holds that the model still sees."""

    program: str
    model: str
    """The last one that was named, or nothing."""
    units: tuple[Unit, ...]
    unreadable: int
    """Lines that are no JSON object, or not in a form that is known."""
    earlier: int
    """Messages before the last time that the program compacted the session: the model sees them no more."""
    aside: int
    """Lines of other agents that this one called: what they came to stands in the result of the call."""


class Writer:
    """Collects the units of a log; an id holds the number of the line, so that it stays while the log grows."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self._calls: dict[str, int] = {}
        self._seen: dict[str, int] = {}

    def message(self, line: int, who: str, text: str) -> None:
        """Add what somebody says, unless it is empty."""
        if text.strip():
            self._add(f"message:{line}", MESSAGE, text, who, line)

    def call(self, line: int, name: str, call: str, given: object) -> None:
        """Add a call of a tool; its result comes later."""
        self._calls[call] = len(self.units)
        self._add(f"tool:{line}", TOOL_RESULT, f"{_said(given)}\n", name or "tool", line)

    def result(self, line: int, call: str, text: str) -> None:
        """Put a result behind its call, or by itself where there is none; a result without text is none."""
        at = self._calls.get(call)
        if at is None:
            self._add(f"tool:{line}", TOOL_RESULT, text, "tool", line)
        else:
            known = self.units[at]
            self.units[at] = known._replace(content=f"{known.content}\n{text}".rstrip("\n"), order=line)

    def forget(self) -> int:
        """Drop all that was added, for the session was compacted; how many messages that were."""
        count = len([unit for unit in self.units if unit.type == MESSAGE])
        self.units.clear()
        self._calls.clear()
        return count

    def _add(self, name: str, kind: str, text: str, title: str, line: int) -> None:
        self._seen[name] = self._seen.get(name, 0) + 1
        name = name if self._seen[name] == 1 else f"{name}-{self._seen[name]}"
        self.units.append(Unit(name, kind, text, f"{title}, line {line}", order=line))


def lines_of(data: bytes) -> Iterator[tuple[int, Line | None]]:
    """The lines of a log with their numbers; None for one that is no JSON object."""
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if raw.strip():
            try:
                value = json.loads(raw)
            except (ValueError, RecursionError):
                value = None
            yield number, value if isinstance(value, dict) else None


def text_of(content: object) -> str:
    """The text of a content, which is a string or a list of parts; of a part that is no text, what it is."""
    while isinstance(content, dict):
        content = content.get("content", content.get("output", ""))
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    found = []
    for part in content:
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, dict):
            text = part.get("text")
            found.append(text if isinstance(text, str) else f"({part.get('type', 'something')}, not text)")
    return "\n".join(found)


def _said(given: object) -> str:
    """What a tool is given, as a person would write it: a string as it is, an object a field a line."""
    if isinstance(given, str):
        return given
    if not isinstance(given, dict):
        return _as_json(given)
    return "\n".join(
        [f"{name}: {value if isinstance(value, str) else _as_json(value)}" for name, value in given.items()]
    )


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deep)"
