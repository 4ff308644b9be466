"""Errors and hints of commands in the words of the tools that ran them: tools and their fields, no commands and options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from execplan.core.plan_store.hint_reader import ASK, NEW_TEXT

_TOOLS: Final = {
    **{name: f"{name}(plan)" for name in ("show", "lint", "context", "archive")},
    "status": "status()", "list": "status()", "next": "next_task(plan)", "new": "new_plan(title)",
    "set": "set_section(section, text)", "handoff": "steps(plan)", "report": "report_step(step)", "replan": "replan()",
    "evaluate": "steps(view='evaluation', plan)", "add": "edit_task(action='add', text)",
    **{name: f"edit_task(action='{name}', task, text)" for name in ("done", "reopen", "reword", "split")},
    "decide": "record(kind='decision', text)", "discover": "record(kind='discovery', text)",
    "revise": "record(kind='revision', text)",
    **{name: f"record(kind='{name}', text)" for name in ("outcome", "note")},
}  # fmt: skip
"""The tool that runs each command, with the fields of its arguments in order."""
_FIELDS: Final = {
    "-p": "plan", "--plan": "plan", "--why": "detail", "--evidence": "detail", "--as": "ended", "--by": "superseded_by",
    "--done": "text", "--verify": "action=verify",
    **{f"--{name}": name for name in ("reason", "section", "create", "claim", "commit", "budget", "task", "template", "state")},
    **{f"--{name}": name for name in ("purpose", "remaining", "status", "result")},
}  # fmt: skip
"""The field for each option."""
_TOOLS_WITH_AGENT: Final = ("next_task", "edit_task", "record")
_FLAGS: Final = ("create", "claim", "commit")
_COMMAND: Final = re.compile(r"execplan (?:-C \S+ )?(\w+)((?: (?:'[^']*'|[^\s;,]+))*)")
_PIPED: Final = re.compile(r"name a file of the repository, or pipe it in: `[^`]*`")
"""How `handoff` says to report the output of a command."""
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


def name_next_calls(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document whose suggestions are calls of tools; those without a tool are left out."""
    data = document["data"]
    if data is not None and data.get("do") is not None:
        data = {**data, "do": {**data["do"], "then": _translate(data["do"]["then"])}}
    return {**document, "data": data, "next": list(_next_calls(document["next"]))}


def name_calls(text: str) -> str:
    """Return a text of `prime` with calls of tools instead of commands, which are in indented lines there."""
    return "\n".join([_translate(line) if line.startswith("  ") else line for line in text.split("\n")])


def name_step_calls(page: str) -> str:
    """Return a page of `handoff` with calls of tools instead of commands, except in the steps, which run as written."""
    instructions, heading, steps = page.partition("\n## Steps\n")
    steps, label, command = steps.rpartition("\nnext: ")
    lines = _PIPED.sub("pass it as `evidence`", instructions).split("\n")
    instructions = "\n".join([_translate(line) if line.startswith("execplan ") else line for line in lines])
    return f"{instructions}{heading}{steps}{label}{_translate(command)}"


def _next_calls(commands: Iterable[str]) -> Iterator[str]:
    for command in commands:
        call = _translate(command)
        if not call.startswith("execplan "):
            yield command if command.startswith(ASK) else call


def _translate(text: str) -> str:
    calls = _COMMAND.sub(_as_call, text)
    return _OPTION.sub(lambda match: f"`{_FIELDS[match[1]]}`" if match[1] in _FIELDS else match[0], calls)


def _as_call(match: re.Match[str]) -> str:
    """Return a command as a call of its tool, such as `archive(ended='abandoned')`; unchanged without a tool."""
    tool, _, names = _TOOLS.get(match[1], "").rstrip(")").partition("(")
    try:
        words = shlex.split(match[2])
    except ValueError:
        return match[0]
    if not tool:
        return match[0]
    fields = dict([name.split("=", 1) for name in names.split(", ") if "=" in name])
    operands = [name for name in names.split(", ") if name and "=" not in name]
    while words:
        word = words.pop(0)
        name = _FIELDS.get(word, "")
        if word == "--as" and tool != "archive":
            name = "agent"
        if word == "--verify":
            fields["action"] = "'verify'"
        elif name in _FLAGS:
            fields[name] = "True"
        elif name:
            value = words.pop(0) if words and not words[0].startswith("--") else "…"
            if name != "agent" or tool in _TOOLS_WITH_AGENT:
                fields[name] = repr(value)
        elif operands and not word.startswith("--"):
            fields.setdefault(operands.pop(0), repr("…" if word in ("-", NEW_TEXT) else word))
    return f"{tool}({', '.join([f'{name}={value}' for name, value in fields.items()])})"
