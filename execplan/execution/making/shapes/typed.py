"""The typed plan of an agent system: `plan_id`, `request`, `selected_tools`, `steps` of `step_number` and `tool_name`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from execplan.execution.making.shapes.tools import AGENT, fields_of

if TYPE_CHECKING:
    from execplan.execution.making.shapes.form import Form

NAME: Final = "typed"
_MADE: Final = "is a result; what has begun can't be imported"


def fits(value: dict[str, Any]) -> bool:
    """Whether a document has this shape."""
    steps = value.get("steps")
    first = steps[0] if isinstance(steps, list) and steps else None
    keys = {"step_number", "tool_name", "stepNumber", "toolName"}
    return (
        "selected_tools" in value or "selectedTools" in value or (isinstance(first, dict) and bool(keys & first.keys()))
    )


def read(form: Form) -> dict[str, Any]:
    """Our document, as plain data without risks."""
    book = form.book
    book.origins |= {"/intent/summary": form.place("request"), "/description": form.place("request")}
    kept: dict[str, Any] = {"shape": NAME, "plan_id": form.take("plan_id", str, needed=True)}
    request = form.take("request", str)
    reasoning = form.take("reasoning", str)
    kept |= {"reasoning": reasoning, "metadata": form.take("metadata", dict)}
    kept |= {"created_at": form.moment("created_at"), "updated_at": form.moment("updated_at")}
    form.pending()
    parts = form.forms("steps", needed=True)
    numbers = [part.take("step_number", int, needed=True) for part in parts]
    order = sorted(range(len(parts)), key=lambda at: numbers[at] if None not in numbers else at)
    ids = {numbers[at]: f"step-{numbers[at]}" for at in order}
    steps = [_step(parts[at], place, numbers[at], ids) for place, at in enumerate(order)]
    kept["selected_tools"] = form.words("selected_tools")
    for place, tool in enumerate(kept["selected_tools"]):
        if tool not in [step["tool"] for step in steps]:
            book.note(f"{form.place('selected_tools')}/{place}", f"no step calls {tool}")
    for each in (form, *parts):
        each.close()
    summary = reasoning if request is None else request
    return {
        "description": summary,
        "mode": "agent" if any([step["type"] == AGENT for step in steps]) else "engine",
        "intent": {"summary": summary, "category": "mixed"},
        "steps": steps,
        "kept": kept,
    }


def _step(form: Form, at: int, number: int | None, ids: dict[int, str]) -> dict[str, Any]:
    ours = f"/steps/{at}"
    form.book.origins |= {ours: form.where, f"{ours}/number": form.place("step_number")}
    form.book.origins |= {f"{ours}/id": form.place("step_number"), f"{ours}/tool": form.place("tool_name")}
    tool = form.take("tool_name", str, "", needed=True)
    parameters = form.take("parameters", dict, {})
    form.pending()
    form.nothing("result", "error", why=_MADE)
    needs = []
    for place, each in enumerate(form.take("depends_on", list, [])):
        if isinstance(each, int) and not isinstance(each, bool):
            needs.append(ids.get(each, f"step-{each}"))
        else:
            form.book.note(f"{form.place('depends_on')}/{place}", "should be the number of a step")
    return {
        "number": number,
        "id": ids.get(number, "") if number is not None else "",
        **fields_of(tool, parameters, form.place("parameters"), ours, form.book),
        "description": form.take("description", str, needed=True),
        "depends_on": needs,
    }
