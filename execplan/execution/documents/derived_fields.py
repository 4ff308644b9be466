"""Derived fields of a step: its argv, its risk and its one-line description."""

from __future__ import annotations

from typing import Any, Final

from execplan.core.text.message_parts import format_count, shorten
from execplan.execution.attributes import COMMAND_TYPES, FILE_TYPES, REPLACE, STEP_TYPES, TRANSFERS
from execplan.execution.documents.written_paths import diff_paths

_MAX_SHOWN_LENGTH = 60
MAX_DESCRIPTION_LENGTH: Final = 200
"""Maximum length of a derived description, in characters."""


def parse_command_fields(step: dict[str, Any]) -> None:
    """Parse a step's command into argv and environment, unless the step has an argv or needs a shell."""
    command = step.get("command")
    if step.get("type") not in COMMAND_TYPES or not isinstance(command, str) or step.get("argv") or step.get("shell"):
        return
    from execplan.execution.shell.command_line import parse_command

    parsed = parse_command(command)
    if parsed.argv is not None:
        step["argv"] = list(parsed.argv)
        env = step.get("env") or {}
        if parsed.assignments and isinstance(env, dict):
            step["env"] = {**env, **dict(parsed.assignments)}


def describe_step(step: dict[str, Any]) -> str:
    """Return a one-line description of a step, which may be invalid in any way."""
    kind = str(step.get("type"))
    if kind in COMMAND_TYPES:
        lines = [line.strip() for line in str(step.get("command", "")).split("\n") if line.strip()]
        shell = step.get("shell")
        verb = "Start the service" if step.get("service") else "Run"
        text = f"{verb} a script for {shell}: {'; '.join(lines)}" if shell else f"{verb} {' '.join(lines)}"
    elif kind in TRANSFERS:
        text = f"{STEP_TYPES[kind].verb} {step.get('from')} to {step.get('target')}"
    elif kind == REPLACE:
        text = _describe_replacement(step.get("replacement"))
    elif kind in FILE_TYPES:
        subject = step.get("target") or ", ".join(diff_paths(str(step.get("patch", ""))))
        text = f"{STEP_TYPES[kind].verb} {subject}"
    elif kind in STEP_TYPES:
        text = f"{STEP_TYPES[kind].verb} {step.get('tool', '')}"
    else:
        text = f"{kind} {step.get('target', '')}"
    line_range = step.get("lines")
    if isinstance(line_range, list | tuple):
        text += f", lines {' to '.join([str(number) for number in line_range])}"
    text = text.strip()
    return text if len(text) <= MAX_DESCRIPTION_LENGTH else text[: MAX_DESCRIPTION_LENGTH - 1].rstrip() + "…"


def _describe_replacement(replacement: object) -> str:
    """Return what a step replaces, on one line."""
    fields = replacement if isinstance(replacement, dict) else {}
    find = shorten(" ".join(str(fields.get("find")).split()), _MAX_SHOWN_LENGTH)
    files = shorten(", ".join(map(str, fields.get("paths") or ())), _MAX_SHOWN_LENGTH)
    return f"{STEP_TYPES[REPLACE].verb} `{find}` in {files}, {format_count(fields.get('count', 0), 'time')}"


def fill_risk(step: dict[str, Any]) -> None:
    """Set the risk of a valid step; a risk that it already has is only raised."""
    from execplan.execution.risk.step_risk import rate_step

    risk = rate_step(step)
    step["risk"] = {"level": risk.level, "reasons": list(risk.reasons)}
