"""What a tool and its arguments come to as a step of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from execplan.execution.documents.rules_parts import TYPES
from execplan.execution.documents.violation import pointer

if TYPE_CHECKING:
    from execplan.execution.making.shapes.form import Book

_OURS: Final = {made.tool: kind for kind, made in TYPES.items() if made.tool}
_MORE: Final = ("inputs", "outputs", "timeout_s")
_ALIASES: Final = {"path": "target"}
AGENT: Final = "use_tool"


def kind_of(tool: str) -> str:
    """The type of step that a tool is ours for; `use_tool` for one of an agent."""
    return _OURS.get(tool, AGENT)


def fields_of(tool: str, arguments: dict[str, Any], where: str, ours: str, book: Book) -> dict[str, Any]:
    """The fields of the step that calls a tool with arguments, which stand at `where` and are `ours` in our document."""
    kind = kind_of(tool)
    if kind == AGENT:
        book.origins[f"{ours}/parameters"] = where
        return {"type": kind, "tool": tool, "parameters": arguments or None}
    made, fields = TYPES[kind], {"type": kind, "tool": tool}
    for name, value in arguments.items():
        field = _ALIASES.get(name, name)
        place = where + pointer((name,))
        if field not in (*made.must, *made.may, *_MORE):
            book.note(place, f"{tool} takes {', '.join((*made.must, *made.may, *_MORE))}")
        elif field in fields:
            book.note(place, f"{field} is given twice")
        else:
            fields[field] = value
            book.origins[f"{ours}/{field}"] = place
    for name in made.must:
        book.origins.setdefault(f"{ours}/{name}", where + pointer((name,)))
    return fields
