"""Results of commands in the words of the tools that ran them: calls of tools, and fields instead of options.

Every text of a result passes through here. A command that no tool can replace stays as it is: an agent may run it in a
shell, or asks a person to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from execplan.agents.guard.execplan_commands import ALLOWED_COMMANDS
from execplan.agents.toolkit.command_calls import FIELDS, TEXT_PLACEHOLDER, as_call
from execplan.core.plan_store.hint_reader import ASK

_COMMAND: Final = re.compile(r"execplan (?:-C (?:'[^']*'|\S+) )?(\w+)((?: (?:'[^']*'|\"[^\"]*\"|[^\s;,`()'\"])+)*)")
_FOR_PERSON: Final = re.compile(r"\ba person (?:reviews|runs|to )|in a terminal")
"""What a clause says whose command a person runs, so that it stays a command."""
_PIPED: Final = re.compile(r"name a file of the repository, or pipe it in: `[^`]*`")
"""How `handoff` says to report the output of a command."""
_OPTION: Final = re.compile(r"(?<![\w-])(--?[a-z]+)(?: PLAN\b)?")
_OMITTED_CHECK: Final = "omit --verify"
_ONLY_FOR_COMMANDS: Final = ("--help", "execplan use ", "EXECPLAN_PLAN")
"""Parts of clauses that are of no use to a tool's caller."""
_MESSAGES: Final = ("message", "hint", "then")
"""Names of the texts in the data of a document that are messages, not content of a plan."""


def name_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document of a command with tools and fields in its messages and suggestions."""
    error = document["error"]
    return {
        **document,
        "data": _name_messages(document["data"]),
        "error": None if error is None else _name_error(error),
        "warnings": [_fit_clauses(warning) for warning in document["warnings"]],
        "next": list(dict.fromkeys(_next_calls(document["next"]))),
    }


def name_calls(text: str) -> str:
    """Return a text of `prime` with calls of tools instead of commands, which are in indented lines there."""
    lines: list[str] = []
    for line in text.split("\n"):
        call = line
        if line.startswith("  "):
            call = "  " + next(_next_calls([line.strip()])) if line.startswith("  execplan ") else _name_commands(line)
        if not (line.startswith("  ") and call in lines):
            lines.append(call)
    translated = "\n".join(lines)
    note = f"Put your own text in place of {TEXT_PLACEHOLDER!r}.\n"
    return translated + note if TEXT_PLACEHOLDER in translated and TEXT_PLACEHOLDER not in text else translated


def name_step_calls(page: str) -> str:
    """Return a page of `handoff` with calls of tools instead of commands, except in the steps, which run as written."""
    instructions, heading, steps = page.partition("\n## Steps\n")
    steps, label, command = steps.rpartition("\nnext: ")
    instructions = _name_commands(_PIPED.sub("pass it as `evidence`", instructions))
    return f"{instructions}{heading}{steps}{label}{_name_commands(command)}"


def name_context_calls(text: str) -> str:
    """Return a context pack that says how to get more of it; the rest is content."""
    return re.sub(
        r"`execplan context \S+ --explain` lists them, `--item ID` prints one in full",
        "A larger `budget` leaves out less",
        text,
    )


def _name_error(error: Mapping[str, Any]) -> dict[str, Any]:
    clauses = [
        clause for clause in error["hint"].split("; ") if not any([part in clause for part in _ONLY_FOR_COMMANDS])
    ]
    hint = _fit_clauses("; ".join(clauses)) or "see the fields of the tool"
    return {**error, "message": _translate(error["message"]), "hint": hint}


def _name_messages(value: Any) -> Any:
    """Return data with tools and fields in its messages."""
    if isinstance(value, dict):
        return {
            name: _fit_clauses(item) if name in _MESSAGES and isinstance(item, str) else _name_messages(item)
            for name, item in value.items()
        }
    return [_name_messages(item) for item in value] if isinstance(value, list) else value


def _next_calls(commands: Iterable[str]) -> Iterator[str]:
    for command in commands:
        match = _COMMAND.match(command)
        translated = command if match is None else _name_commands(command)
        yield (
            f"{ASK}run: {translated}"
            if match and translated == command and match[1] not in ALLOWED_COMMANDS
            else translated
        )


def _fit_clauses(text: str) -> str:
    return "; ".join([_fit_clause(clause) for clause in text.split("; ")])


def _fit_clause(clause: str) -> str:
    """Return a clause with calls of tools; what only a person may run, after a colon, becomes a request."""
    if _FOR_PERSON.search(clause):
        return clause
    translated = _translate(clause)
    match = _COMMAND.search(translated)
    if (
        match is None
        or match[1] in ALLOWED_COMMANDS
        or not (match.start() == 0 or translated[: match.start()].endswith(": "))
    ):
        return translated
    lead = next((word for word in ("or ", "then ") if translated.startswith(word)), "")
    return f"{lead}{ASK}{'' if match.start() > len(lead) else 'run: '}{translated[len(lead) :]}"


def _translate(text: str) -> str:
    """Return a text with calls of tools instead of commands, and fields instead of options."""
    text = text.replace(_OMITTED_CHECK, "use action='done'")
    parts, end = [], 0
    for match in _COMMAND.finditer(text):
        parts += [_name_options(text[end : match.start()]), _as_call(match)]
        end = match.end()
    return "".join([*parts, _name_options(text[end:])])


def _name_commands(text: str) -> str:
    return _COMMAND.sub(_as_call, text)


def _name_options(text: str) -> str:
    return _OPTION.sub(lambda match: f"`{FIELDS[match[1]]}`" if match[1] in FIELDS else match[0], text)


def _as_call(match: re.Match[str]) -> str:
    arguments = match[2].rstrip(".:")
    call = as_call(match[1], arguments)
    return match[0] if call is None else call + match[2][len(arguments) :]
