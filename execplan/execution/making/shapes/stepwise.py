"""The plan of a coding assistant: `id`, `description`, `risk_level`, `steps` of `type`, `target`, `action`, `content`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from execplan.execution.attributes import LEVELS, RUNS
from execplan.execution.documents.rules_parts import TYPES

if TYPE_CHECKING:
    from execplan.execution.making.shapes.form import Form

NAME: Final = "stepwise"
_NO_TOOL: Final = "none.known"
"""That of a type that there is not, which is refused by itself."""
_RESULTS: Final = ("execution", "resources", "validation")


def fits(value: dict[str, Any]) -> bool:
    """Whether a document has this shape."""
    return "steps" in value and "description" in value


def read(form: Form) -> dict[str, Any]:
    """Our document, as plain data without risks."""
    kept: dict[str, Any] = {"shape": NAME, "plan_id": form.take("id", str, needed=True)}
    description = form.take("description", str, needed=True)
    form.book.origins["/intent/summary"] = form.place("description")
    kept["created_at"] = form.moment("created_at")
    form.pending()
    level = form.take("risk_level", str)
    if level is not None and level not in LEVELS:
        form.note("risk_level", f"is none of {', '.join(LEVELS)}")
    form.nothing("validation", why="is a result; what has begun can't be imported")
    metadata = form.form("metadata")
    metadata.nothing(*_RESULTS, why="is a result; what has begun can't be imported")
    kept |= {"risk_level": level, "metadata": metadata.value}
    parts = form.forms("steps", needed=True)
    steps = [_step(part, at, level if level in LEVELS else None) for at, part in enumerate(parts)]
    for each in (form, *parts):
        each.close()
    return {
        "description": description,
        "intent": {"summary": description, "category": "mixed"},
        "steps": steps,
        "kept": kept,
    }


def _step(form: Form, at: int, level: str | None) -> dict[str, Any]:
    ours = f"/steps/{at}"
    form.book.origins |= {
        ours: form.where,
        f"{ours}/lines": form.place("line_range"),
        f"{ours}/tool": form.place("type"),
    }
    kind = form.take("type", str, "", needed=True)
    target, content = form.take("target", str), form.take("content", str)
    command = form.take("command", str)
    if kind in RUNS and command is None:
        command, content = content, None
        form.book.origins[f"{ours}/command"] = form.place("content")
    description = form.take("description", str)
    action = form.take("action", str)
    step = {
        "number": at + 1,
        "id": form.take("id", str, f"step-{at + 1}"),
        "type": kind,
        "tool": TYPES[kind].tool if kind in TYPES else _NO_TOOL,
        "target": target,
        "action": action,
        "content": content,
        "command": command,
        "lines": form.take("line_range", list),
        "description": description or " ".join([each for each in (action or kind, target or command) if each]),
        "validation": _validation(form.form("validation"), ours),
        "rollback": _rollback(form.form("rollback")),
        "checkpoint": form.take("checkpoint", bool),
        "timeout_s": form.take("timeout", int),
        "risk": _risk(form, level),
    }
    form.book.origins[f"{ours}/timeout_s"] = form.place("timeout")
    return {name: value for name, value in step.items() if value is not None}


def _validation(form: Form, ours: str) -> dict[str, Any]:
    checked = form.take("syntax_check", bool, True)
    test = form.value.get("test_after", form.value.get("testAfter"))
    form.book.origins[f"{ours}/validation/test_after"] = form.place("test_after")
    argv: list[str] | None = None
    if test is True:
        form.nothing("test_after", why="names no command; write the one that tests")
    elif isinstance(test, str):
        argv = _words(form, form.take("test_after", str))
    elif test is False:
        form.take("test_after", bool)
    else:
        argv = form.take("test_after", list)
    form.close()
    return {"syntax_check": checked, "test_after": argv}


def _words(form: Form, line: str) -> list[str] | None:
    from execplan.execution.command.parse import parse

    read = parse(line)
    if read.argv is None or read.assigned:
        form.note("test_after", "needs a shell, or can't be read; write its words as an array")
        return None
    return list(read.argv)


def _risk(form: Form, plan_level: str | None) -> dict[str, Any] | None:
    """The risk that the document gives a step itself, or the whole plan; None where it gives neither."""
    own = form.take("risk_level", str)
    level, rated = (own, "this step") if own else (plan_level, "the whole plan")
    return {"level": level, "reasons": [f"the imported document rates {rated} {level}"]} if level else None


def _rollback(form: Form) -> dict[str, Any]:
    enabled = form.take("enabled", bool, True)
    form.nothing("backup_id", why="names a backup of another system; what has begun can't be imported")
    form.close()
    return {"enabled": enabled}
