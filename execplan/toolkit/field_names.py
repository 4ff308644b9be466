"""Errors of commands in the words of the tools that ran them: tools and their fields instead of commands and options."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_TOOLS: Final = {
    "show": "show", "status": "status", "list": "status", "next": "next_task", "new": "new_plan", "set": "set_section",
    "lint": "lint", "context": "context", "handoff": "steps", "report": "report_step", "archive": "archive",
    **dict.fromkeys(("add", "done", "reopen", "reword", "split"), "edit_task"),
    **dict.fromkeys(("decide", "discover", "outcome", "note", "revise"), "record"),
}  # fmt: skip
"""The tool that runs each command."""
_FIELDS: Final = {
    "-p": "plan", "--plan": "plan", "--why": "detail", "--evidence": "detail", "--as": "ended", "--by": "superseded_by",
    "--done": "text", "--verify": "action=verify",
    **{f"--{name}": name for name in ("reason", "section", "create", "claim", "commit", "budget", "task", "template", "state")},
    **{f"--{name}": name for name in ("purpose", "remaining", "status", "result")},
}  # fmt: skip
"""The field for each option."""
_COMMAND: Final = re.compile(r"execplan (?:-C \S+ )?(\w+)((?: (?:'[^']*'|[^\s;,]+))*)")
_OPTION: Final = re.compile(r"(?<![\w-])(--?[a-z]+)(?: PLAN\b)?")
_ONLY_FOR_COMMANDS: Final = ("--help", "execplan use ", "EXECPLAN_PLAN")
"""Parts of clauses that are of no use to a tool's caller."""


def name_fields(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error of a document with tools and fields in its message and hint."""
    clauses = [
        clause for clause in error["hint"].split("; ") if not any([part in clause for part in _ONLY_FOR_COMMANDS])
    ]
    hint = "; ".join([_translate(clause) for clause in clauses]) or "see the fields of the tool"
    return {**error, "message": _translate(error["message"]), "hint": hint}


def _translate(text: str) -> str:
    calls = _COMMAND.sub(_as_call, text)
    return _OPTION.sub(lambda match: f"`{_FIELDS[match[1]]}`" if match[1] in _FIELDS else match[0], calls)


def _as_call(match: re.Match[str]) -> str:
    """Return a command as a call of its tool, such as `archive(ended=abandoned)`; unchanged without a tool."""
    tool = _TOOLS.get(match[1])
    try:
        words = shlex.split(match[2])
    except ValueError:
        return match[0]
    if tool is None:
        return match[0]
    fields = []
    for index, word in enumerate(words):
        value = words[index + 1] if index + 1 < len(words) else ""
        if word in _FIELDS:
            fields.append(f"{_FIELDS[word]}={value!r}" if value and not value.startswith("-") else _FIELDS[word])
    return f"{tool}({', '.join(fields)})"
