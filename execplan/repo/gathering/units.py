"""Units from a file of others: a JSON object a line, all that is wrong with it told at once."""

from __future__ import annotations

import json

from execplan.context.unit import FILE, INSTRUCTION, MESSAGE, TOOL_RESULT, Unit
from execplan.errors import INPUT, ExecplanError
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any, Final

LIMIT: Final = 64 << 20
"""Bytes of such a file."""
GIVEN = (FILE, MESSAGE, TOOL_RESULT, INSTRUCTION)
"""The types that they may have."""
_TEXTS = ("id", "type", "content", "title", "path")
_NEEDED = _TEXTS[:3]
_FIELDS = (*_TEXTS, "pinned", "references")
_SHOWN: Final = 50
_PINNED: Final = "its line says that it is needed"


def read_units(file: str, taken: Collection[str]) -> list[Unit]:
    """The units of a file, the later ones newer; `taken` are ids that others have. Raises ExecplanError."""
    data, size = disk.read(file, LIMIT)
    if size > LIMIT:
        hint = "hand over what is newest"
        raise ExecplanError("too-large", f"{file} has {size:,} bytes, more than {LIMIT:,}", exit=INPUT, hint=hint)
    units: list[Unit] = []
    troubles: list[str] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            unit = _unit(line, number)
            if unit.id in lines:
                raise ValueError(f"the id {unit.id!r} stands in line {lines[unit.id]} already")
            if unit.id in taken:
                raise ValueError(f"the id {unit.id!r} is that of a unit of the plan or the repository")
        except ValueError as error:
            troubles.append(f"line {number}: {error}")
            continue
        lines[unit.id] = number
        units.append(unit)
    if troubles or not units:
        raise _refused(file, troubles)
    return units


def _refused(file: str, troubles: list[str]) -> ExecplanError:
    many = f"{len(troubles)} lines are" if len(troubles) > 1 else "a line is"
    message = f"{file}: {many} no unit" if troubles else f"{file} holds no unit"
    hint = 'a line is {"id": "m1", "type": "message", "content": "…"}; see execplan explain context'
    shown = troubles[:_SHOWN] + ([f"and {len(troubles) - _SHOWN} more"] if len(troubles) > _SHOWN else [])
    return ExecplanError("bad-units", message, exit=INPUT, hint=hint, candidates=shown)


def _unit(line: bytes, number: int) -> Unit:
    """The unit of a line; raises ValueError."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    try:
        value = json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=_once, parse_constant=_no_number, parse_int=float
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg.lower()}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(value, dict):
        raise ValueError("it is no object")  # noqa: TRY004 - told like all else that is wrong with a line
    wrong = list(_wrong(value))
    if wrong:
        raise ValueError("; ".join(wrong))
    why = _PINNED if value.get("pinned") else ""
    named = tuple(value.get("references", ()))
    title, path = value.get("title", ""), value.get("path", "")
    return Unit(value["id"], value["type"], value["content"], title or path, path, 0, 0, number, why, named)


def _wrong(value: dict[str, Any]) -> list[str]:
    """All that is wrong with an object."""
    found = [f"it has no {name}" for name in _NEEDED if name not in value]
    found += [f"there is no field {name!r}" for name in value if name not in _FIELDS]
    found += [f"{name} is no string" for name in _TEXTS if not isinstance(value.get(name, ""), str)]
    if value.get("id") == "":
        found.append("its id is empty")
    if isinstance(value.get("type"), str) and value["type"] not in GIVEN:
        found.append(f"type is one of {', '.join(GIVEN)}, not {value['type']!r}")
    if type(value.get("pinned", False)) is not bool:
        found.append("pinned is true or false")
    names = value.get("references", [])
    if not isinstance(names, list) or not all([isinstance(each, str) for each in names]):
        found.append("references is a list of strings")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands in it twice")
    return found


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no JSON")
