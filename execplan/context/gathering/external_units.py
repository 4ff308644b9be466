"""Units from an external file with one JSON object per line; all problems are reported together."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Final

from execplan.context.context_pack import FILE, INSTRUCTION, MESSAGE, TOOL_RESULT, Unit
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.text import fast_json
from execplan.core.text.message_parts import format_count

MAX_BYTES: Final = 64 << 20
"""Maximum size of a units file in bytes."""
ALLOWED_TYPES = (FILE, MESSAGE, TOOL_RESULT, INSTRUCTION)
"""Unit types that a units file may contain."""
_STRING_FIELDS = ("id", "type", "content", "title", "path")
_REQUIRED_FIELDS = _STRING_FIELDS[:3]
_FIELDS = (*_STRING_FIELDS, "pinned", "references")
_MAX_PROBLEMS: Final = 50
_PIN_REASON: Final = "its line marks it as pinned"


def read_units(unit_file: str, reserved_ids: Collection[str]) -> list[Unit]:
    """Read the units of a file; later ones are newer. Raises ExecplanError for bad units or an ID in `reserved_ids`."""
    data, size = file_access.read(unit_file, MAX_BYTES)
    if size > MAX_BYTES:
        hint = "provide only the newest items"
        raise ExecplanError("too-large", f"{unit_file} has {size:,} bytes, more than {MAX_BYTES:,}", hint=hint)
    units: list[Unit] = []
    problems: list[str] = []
    line_by_id: dict[str, int] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            unit = _parse_unit(line, number)
            if unit.id in line_by_id:
                raise ValueError(f"ID {unit.id!r} is already on line {line_by_id[unit.id]}")
            if unit.id in reserved_ids:
                raise ValueError(f"ID {unit.id!r} belongs to an item of the plan or the repository")
        except ValueError as error:
            problems.append(f"line {number}: {error}")
            continue
        line_by_id[unit.id] = number
        units.append(unit)
    if problems or not units:
        raise _bad_units_error(unit_file, problems)
    return units


def _bad_units_error(unit_file: str, problems: list[str]) -> ExecplanError:
    if problems:
        message = f"{unit_file} has {format_count(len(problems), 'invalid line')}"
    else:
        message = f"{unit_file} contains no items"
    hint = 'a line looks like {"id": "m1", "type": "message", "content": "…"}; see: execplan explain context'
    shown_problems = problems[:_MAX_PROBLEMS] + (
        [f"and {len(problems) - _MAX_PROBLEMS} more"] if len(problems) > _MAX_PROBLEMS else []
    )
    return ExecplanError("bad-units", message, hint=hint, candidates=shown_problems)


def _parse_unit(line: bytes, number: int) -> Unit:
    """Parse the unit on a line. Raises ValueError if the line is invalid."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    try:
        fields = fast_json.loads(text.removeprefix("\ufeff"), parse_int=float)
    except json.JSONDecodeError as error:
        raise ValueError(f"invalid JSON: {error.msg.lower()}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(fields, dict):
        raise ValueError("it is not an object")  # noqa: TRY004 - reported like any other bad line
    problems = list(_field_problems(fields))
    if problems:
        raise ValueError("; ".join(problems))
    pin_reason = _PIN_REASON if fields.get("pinned") else ""
    references = tuple(fields.get("references", ()))
    title, path = fields.get("title", ""), fields.get("path", "")
    return Unit(
        fields["id"], fields["type"], fields["content"], title or path, path, 0, 0, number, pin_reason, references
    )


def _field_problems(fields: dict[str, Any]) -> list[str]:
    """Return all problems of a unit's JSON object."""
    problems = [f"it has no {name}" for name in _REQUIRED_FIELDS if name not in fields]
    problems += [f"unknown field {name!r}" for name in fields if name not in _FIELDS]
    problems += [f"{name} is not a string" for name in _STRING_FIELDS if not isinstance(fields.get(name, ""), str)]
    if fields.get("id") == "":
        problems.append("its ID is empty")
    if isinstance(fields.get("type"), str) and fields["type"] not in ALLOWED_TYPES:
        problems.append(f"type must be one of {', '.join(ALLOWED_TYPES)}, not {fields['type']!r}")
    if type(fields.get("pinned", False)) is not bool:
        problems.append("pinned must be true or false")
    references = fields.get("references", [])
    if not isinstance(references, list) or not all([isinstance(reference, str) for reference in references]):
        problems.append("references must be a list of strings")
    return problems
