"""The one table of which tool does what a command does, and with which fields."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from execplan.core.plan_store.hint_reader import NEW_TEXT

TEXT_PLACEHOLDER: Final = "…"
"""What a suggested call has in place of a text that its caller writes."""
_EXAMPLES: Final = ("-", NEW_TEXT, "FILE", "What was wrong")
"""Texts of suggested commands that nobody should pass as they are."""
_PLAN: Final = {"-p": "plan", "--plan": "plan"}
_COMMIT: Final = {**_PLAN, "--commit": "commit"}
_AGENT: Final = {**_COMMIT, "--as": "agent"}
_FLAGS: Final = ("create", "claim", "commit")
_LISTS: Final = ("tasks", "failed")
_NUMBERS: Final = ("budget",)
_FIXED_VALUES: Final[Mapping[str, Mapping[str, str]]] = {"--verify": {"action": "verify"}, "--keep-links": {}}
"""The fields for an option without a value that is no field of its own."""
_DROPPED: Final = ""
"""The field of an operand or option that a tool has no use for: it does the same without."""


class _Tool(NamedTuple):
    """A tool that does what a command does."""

    name: str
    operands: tuple[str, ...] = ()
    """Fields of the operands of the command, in order."""
    options: Mapping[str, str] = _PLAN
    """Fields of its options; with any other option, no tool does the same."""
    fixed: Mapping[str, str] = {}
    """Fields that select the command."""


def _record(kind: str, detail: str) -> _Tool:
    return _Tool("record", ("text",), {**_AGENT, detail: "detail"}, {"kind": kind})


def _edit(action: str, *operands: str, **options: str) -> _Tool:
    option_fields = {f"--{option}": field for option, field in options.items()}
    return _Tool("edit_task", operands, {**_AGENT, **option_fields}, {"action": action})


_EVALUATION: Final = _Tool("steps", ("plan",), fixed={"view": "evaluation"})
_STEPS: Final = _Tool("steps", ("plan",))
_TOOLS: Final = {
    "status": _Tool("status", (), {"--state": "state"}),
    "list": _Tool("status", (), {"--state": "state"}),
    "show": _Tool("show", ("plan",), {**_PLAN, "--section": "section"}),
    "edit": _Tool("show", ("plan",)),
    "next": _Tool("next_task", ("plan",), {**_PLAN, "--claim": "claim", "--as": "agent"}),
    "new": _Tool(
        "new_plan",
        ("title",),
        {"--purpose": "purpose", "--template": "template", "--task": "tasks", "--from": "markdown", "--commit": "commit"},
    ),
    "add": _edit("add", "text"),
    "done": _edit("done", "task", verify="action"),
    "reopen": _edit("reopen", "task"),
    "reword": _edit("reword", "task", "text"),
    "split": _edit("split", "task", done="text", remaining="remaining"),
    "decide": _record("decision", "--why"),
    "discover": _record("discovery", "--evidence"),
    "outcome": _record("outcome", "--excerpt"),
    "note": _record("note", "--excerpt"),
    "revise": _record("revision", "--excerpt"),
    "set": _Tool("set_section", ("section", "text"), {**_COMMIT, "--create": "create"}),
    "lint": _Tool("lint", ("plan",)),
    "context": _Tool("context", ("plan",), {**_PLAN, "--task": "task", "--budget": "budget"}),
    "evaluate": _EVALUATION,
    "compile": _EVALUATION,
    "handoff": _STEPS,
    "run": _STEPS,
    "report": _Tool(
        "report_step",
        ("step",),
        {**_PLAN, "--status": "status", "--result": "result", "--evidence": "evidence"},
    ),
    "replan": _Tool("replan", (_DROPPED,), {**_PLAN, "--reason": "reason", "--failed": "failed"}),
    "summarize": _Tool("summarize", ("plan",), {**_PLAN, "--as": "form", "--length": "length"}),
    "archive": _Tool(
        "archive",
        ("plan",),
        {**_COMMIT, "--as": "ended", "--reason": "reason", "--by": "superseded_by", "--keep-links": _DROPPED},
    ),
}  # fmt: skip
"""The tool for each command. Agents get the evaluation of what they can't approve, and perform what they can't run, and edit a file without an editor."""
FIELDS: Final = {
    "--why": "detail", "--evidence": "detail", "--done": "text", "--by": "superseded_by", "--as": "ended",
    **_COMMIT,
    **{f"--{name}": name for name in ("reason", "section", "create", "claim", "budget", "task", "template", "state")},
    **{f"--{name}": name for name in ("purpose", "remaining", "status", "result")},
}  # fmt: skip
"""The field for an option that a message mentions without its command."""


def as_call(command: str, arguments: str) -> str | None:
    """Return the call of the tool that does the same as a command, such as `archive(ended='abandoned')`, if one does."""
    tool = _TOOLS.get(command)
    try:
        fields = None if tool is None else _read_fields(tool, shlex.split(arguments))
    except ValueError:
        return None
    if tool is None or fields is None:
        return None
    return f"{tool.name}({', '.join([f'{name}={value!r}' for name, value in fields.items()])})"


def _read_fields(tool: _Tool, words: list[str]) -> dict[str, Any] | None:
    """Return the fields for the arguments of a command; None if the tool has none for one of them."""
    fields: dict[str, Any] = dict(tool.fixed)
    operands = list(tool.operands)
    options = {"--as": _DROPPED, **tool.options}
    while words:
        option, has_value, value = words.pop(0).partition("=")
        if not option.startswith("-") or option == "-":
            if not operands:
                return None
            _set_field(fields, operands.pop(0), f"{option}{has_value}{value}")
        elif option == "--":
            continue
        elif option not in options:
            return None
        elif (name := options[option]) in _FLAGS:
            fields[name] = True
        elif option in _FIXED_VALUES:
            fields.update(_FIXED_VALUES[option])
        else:
            is_missing = not has_value and (not words or words[0].startswith("--"))
            _set_field(fields, name, TEXT_PLACEHOLDER if is_missing else value or words.pop(0))
    return fields


def _set_field(fields: dict[str, Any], name: str, value: str) -> None:
    if value in _EXAMPLES:
        value = TEXT_PLACEHOLDER
    if name in _LISTS:
        fields[name] = [*fields.get(name, ()), value]
    elif name in _NUMBERS and value.isdecimal():
        fields[name] = int(value)
    elif name != _DROPPED:
        fields.setdefault(name, value)
