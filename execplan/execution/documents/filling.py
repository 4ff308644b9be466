"""What of a step is derived: its words as a program gets them, its risk, and what it does in a line."""

from __future__ import annotations

from execplan.execution.attributes import RUNS
from execplan.execution.documents.touched import touched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

LONGEST: Final = 200
"""Characters of a description that comes from a step's own words."""
_VERBS = {"create_file": "Create", "modify_file": "Change", "delete_file": "Delete", "refactor_code": "Change"}


def read_command(step: dict[str, Any]) -> None:
    """Read a step's command into argv and environment, where it runs one, says neither, and needs no shell."""
    command = step.get("command")
    if step.get("type") not in RUNS or not isinstance(command, str) or step.get("argv") or step.get("shell"):
        return
    from execplan.execution.command.parse import parse

    found = parse(command)
    if found.argv is not None:
        step["argv"] = list(found.argv)
        env = step.get("env") or {}
        if found.assigned and isinstance(env, dict):
            step["env"] = {**env, **dict(found.assigned)}


def describe(step: dict[str, Any]) -> str:
    """What a step does, in a line; of one that may be wrong in any way too."""
    kind = str(step.get("type"))
    if kind in RUNS:
        lines = [line.strip() for line in str(step.get("command", "")).split("\n") if line.strip()]
        shell = step.get("shell")
        words = f"Run a script for {shell}: {'; '.join(lines)}" if shell else f"Run {' '.join(lines)}"
    elif kind in _VERBS:
        words = f"{_VERBS[kind]} {step.get('target') or ', '.join(touched(str(step.get('patch', ''))))}"
    elif kind == "use_tool":
        words = f"Call {step.get('tool', '')}"
    else:
        words = f"{kind} {step.get('target', '')}"
    lines_given = step.get("lines")
    if isinstance(lines_given, list | tuple):
        words += f", lines {' to '.join([str(each) for each in lines_given])}"
    words = words.strip()
    return words if len(words) <= LONGEST else words[: LONGEST - 1].rstrip() + "…"


def rate(step: dict[str, Any]) -> None:
    """Give a valid step its risk; one that it has already is only raised."""
    from execplan.execution.risk.rating import rated

    risk = rated(step)
    step["risk"] = {"level": risk.level, "reasons": list(risk.reasons)}
