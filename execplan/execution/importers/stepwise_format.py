"""Import format of a coding assistant's plan.

Its fields are `id`, `description`, `risk_level` and `steps` of `type`, `target`, `action`, `content`.
"""

from __future__ import annotations

from typing import Any, Final

from execplan.execution.attributes import COMMAND_TYPES, LEVELS, STEP_TYPES
from execplan.execution.importers.object_reader import ObjectReader

NAME: Final = "stepwise"
_NO_TOOL: Final = "none.known"
"""Tool of an unknown step type, which is rejected separately."""
_RESULTS: Final = ("execution", "resources", "validation")


def fits(value: dict[str, Any]) -> bool:
    """Return whether a document has this format."""
    return "steps" in value and "description" in value


def read(reader: ObjectReader) -> dict[str, Any]:
    """Return the execution plan as plain data without risks."""
    preserved: dict[str, Any] = {"shape": NAME, "plan_id": reader.get("id", str, required=True)}
    description = reader.get("description", str, required=True)
    reader.report.origins["/intent/summary"] = reader.pointer_to("description")
    preserved["created_at"] = reader.get_time("created_at")
    reader.require_pending()
    level = reader.get("risk_level", str)
    if level is not None and level not in LEVELS:
        reader.add_violation("risk_level", f"should be one of {', '.join(LEVELS)}")
    reader.reject_values("validation", why="is a result; only plans that have not started can be imported")
    metadata = reader.get_object("metadata")
    metadata.reject_values(*_RESULTS, why="is a result; only plans that have not started can be imported")
    preserved |= {"risk_level": level, "metadata": metadata.value}
    step_readers = reader.get_objects("steps", required=True)
    steps = [
        _read_step(step_reader, index, level if level in LEVELS else None)
        for index, step_reader in enumerate(step_readers)
    ]
    for section in (reader, *step_readers):
        section.reject_unknown_keys()
    return {
        "description": description,
        "intent": {"summary": description, "category": "mixed"},
        "steps": steps,
        "kept": preserved,
    }


def _read_step(reader: ObjectReader, index: int, level: str | None) -> dict[str, Any]:
    step_pointer = f"/steps/{index}"
    reader.report.origins |= {
        step_pointer: reader.location,
        f"{step_pointer}/lines": reader.pointer_to("line_range"),
        f"{step_pointer}/tool": reader.pointer_to("type"),
    }
    kind = reader.get("type", str, "", required=True)
    target, content = reader.get("target", str), reader.get("content", str)
    command = reader.get("command", str)
    if kind in COMMAND_TYPES and command is None:
        command, content = content, None
        reader.report.origins[f"{step_pointer}/command"] = reader.pointer_to("content")
    description = reader.get("description", str)
    action = reader.get("action", str)
    step = {
        "number": index + 1,
        "id": reader.get("id", str, f"step-{index + 1}"),
        "type": kind,
        "tool": STEP_TYPES[kind].tool if kind in STEP_TYPES else _NO_TOOL,
        "target": target,
        "action": action,
        "content": content,
        "command": command,
        "lines": reader.get("line_range", list),
        "description": description or " ".join([text for text in (action or kind, target or command) if text]),
        "validation": _read_validation(reader.get_object("validation"), step_pointer),
        "rollback": _read_rollback(reader.get_object("rollback")),
        "checkpoint": reader.get("checkpoint", bool),
        "timeout_s": reader.get("timeout", int),
        "risk": _read_risk(reader, level),
    }
    reader.report.origins[f"{step_pointer}/timeout_s"] = reader.pointer_to("timeout")
    return {name: value for name, value in step.items() if value is not None}


def _read_validation(reader: ObjectReader, step_pointer: str) -> dict[str, Any]:
    checks_syntax = reader.get("syntax_check", bool, True)
    test = reader.value.get("test_after", reader.value.get("testAfter"))
    reader.report.origins[f"{step_pointer}/validation/test_after"] = reader.pointer_to("test_after")
    argv: list[str] | None = None
    if test is True:
        reader.reject_values("test_after", why="specifies no command; write the command that tests")
    elif isinstance(test, str):
        argv = _parse_test_command(reader, reader.get("test_after", str))
    elif test is False:
        reader.get("test_after", bool)
    else:
        argv = reader.get("test_after", list)
    reader.reject_unknown_keys()
    return {"syntax_check": checks_syntax, "test_after": argv}


def _parse_test_command(reader: ObjectReader, line: str) -> list[str] | None:
    from execplan.execution.shell.command_line import parse_command

    parsed = parse_command(line)
    if parsed.argv is None or parsed.assignments:
        reader.add_violation("test_after", "needs a shell, or can't be parsed; write its words as an array")
        return None
    return list(parsed.argv)


def _read_risk(reader: ObjectReader, plan_level: str | None) -> dict[str, Any] | None:
    """Return the stated risk of a step, or of the whole plan; None if the document states neither."""
    step_level = reader.get("risk_level", str)
    level, subject = (step_level, "this step") if step_level else (plan_level, "the whole plan")
    return {"level": level, "reasons": [f"the imported document rates {subject} {level}"]} if level else None


def _read_rollback(reader: ObjectReader) -> dict[str, Any]:
    enabled = reader.get("enabled", bool, True)
    reader.reject_values(
        "backup_id", why="refers to a backup of another system; only plans that have not started can be imported"
    )
    reader.reject_unknown_keys()
    return {"enabled": enabled}
