"""Session logs in a form that is common to all agent programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from execplan.context.context_pack import MESSAGE, TOOL_RESULT, Unit
from execplan.core.named_tuple import NamedTuple

Line = dict[str, Any]


class SessionLog(NamedTuple):
    """Content of a log that the model still sees."""

    program: str
    model: str
    """Model that the log names last, or empty."""
    units: tuple[Unit, ...]
    unreadable_lines: int
    """Number of lines that are not a JSON object or have an unknown form."""
    earlier_messages: int
    """Number of messages before the last compaction, which the model no longer sees."""
    other_agent_lines: int
    """Number of lines of subagents; their outcome is in the result of the call."""


class UnitCollector:
    """Collector of a log's units; IDs contain the line number, so that they stay the same while the log grows."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self._call_indexes: dict[str, int] = {}
        self._id_counts: dict[str, int] = {}

    def add_message(self, line: int, speaker: str, text: str) -> None:
        """Add a message, unless it is empty."""
        if text.strip():
            self._add(f"message:{line}", MESSAGE, text, speaker, line)

    def add_call(self, line: int, name: str, call_id: str, arguments: object) -> None:
        """Add a tool call; its result comes later."""
        self._call_indexes[call_id] = len(self.units)
        self._add(f"tool:{line}", TOOL_RESULT, f"{_format_arguments(arguments)}\n", name or "tool", line)

    def add_result(self, line: int, call_id: str, text: str) -> None:
        """Append a result to its call, or add it as a separate unit if there is no call."""
        index = self._call_indexes.get(call_id)
        if index is None:
            self._add(f"tool:{line}", TOOL_RESULT, text, "tool", line)
        else:
            call_unit = self.units[index]
            self.units[index] = call_unit._replace(content=f"{call_unit.content}\n{text}".rstrip("\n"), order=line)

    def clear(self) -> int:
        """Drop all units, because the session was compacted, and return how many of them were messages."""
        count = len([unit for unit in self.units if unit.type == MESSAGE])
        self.units.clear()
        self._call_indexes.clear()
        return count

    def _add(self, unit_id: str, unit_type: str, text: str, title: str, line: int) -> None:
        self._id_counts[unit_id] = self._id_counts.get(unit_id, 0) + 1
        unit_id = unit_id if self._id_counts[unit_id] == 1 else f"{unit_id}-{self._id_counts[unit_id]}"
        self.units.append(Unit(unit_id, unit_type, text, f"{title}, line {line}", order=line))


def parse_lines(data: bytes) -> Iterator[tuple[int, Line | None]]:
    """Yield the lines of a log with their numbers; None for a line that is not a JSON object."""
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if raw.strip():
            try:
                value = json.loads(raw)
            except (ValueError, RecursionError):
                value = None
            yield number, value if isinstance(value, dict) else None


def extract_text(content: object) -> str:
    """Return the text of a content, which is a string or a list of parts; for a part that is not text, its type."""
    while isinstance(content, dict):
        content = content.get("content", content.get("output", ""))
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = []
    for content_part in content:
        if isinstance(content_part, str):
            texts.append(content_part)
        elif isinstance(content_part, dict):
            text = content_part.get("text")
            texts.append(text if isinstance(text, str) else f"({content_part.get('type', 'something')}, not text)")
    return "\n".join(texts)


def _format_arguments(arguments: object) -> str:
    """Format the arguments of a tool for people: a string as it is, an object with one field per line."""
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, dict):
        return _to_json(arguments)
    return "\n".join(
        [f"{name}: {value if isinstance(value, str) else _to_json(value)}" for name, value in arguments.items()]
    )


def _to_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply)"
