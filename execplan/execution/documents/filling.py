"""What of a step is derived: its words as a program gets them, and its risk."""

from __future__ import annotations

from execplan.execution.attributes import RUNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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


def rate(step: dict[str, Any]) -> None:
    """Give a valid step its risk; one that it has already is only raised."""
    if step["type"] == "use_tool":
        said = (step.get("risk") or {}).get("level")
        level = "CRITICAL" if said == "CRITICAL" else "HIGH"
        step["risk"] = {"level": level, "reasons": ["a tool of an agent, which nobody here knows"]}
        return
    from execplan.execution.risk.rating import rated

    risk = rated(step)
    step["risk"] = {"level": risk.level, "reasons": list(risk.reasons)}
