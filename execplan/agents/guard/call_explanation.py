"""What a denial says about a call of execplan that is more than the plain command: what was not understood, and the fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.agents.guard.command_list import disallowed_constructs
from execplan.agents.guard.execplan_calls import AGENT_VARIABLE, naming_problem
from execplan.agents.guard.execplan_commands import NAME, shorten

if TYPE_CHECKING:
    from execplan.execution.shell.simple_command import SimpleCommand

_RULE = f"agents must call {NAME} by exactly that name, with nothing but a pipe around it"
_SINGLE_QUOTES = "put the text in single quotes, because in double quotes a shell still runs `…` and replaces $"
_FIXES = {
    "a here-document": "its input must come from the pipe, a file, or a here-document with a quoted delimiter",
    "a redirection": "its output can't go to a file, and its input comes from the pipe, a file, or a here-document with a quoted delimiter",
    "an unclosed quote": r"write ' in a text as '\''",
}
"""What to do instead, for each construct around a call that agents often use."""


def explain_call(simple: SimpleCommand, text: str) -> str:
    """Return why a call of execplan in a text of commands was not understood, and what to write instead."""
    for name, value in simple.assignments:
        if name != AGENT_VARIABLE:
            return f"{_RULE}: leave out the variable {shorten(name)}"
        if problem := naming_problem(simple.argv, value):
            return problem
    if simple.via and simple.via != ("|",):
        return f"{_RULE}: call it alone, not in {shorten(simple.via[0])}"
    if simple.via and not text:
        return f"{_RULE}: only commands that read can stand before the pipe"
    if simple.argv[0] != NAME:
        return f"{_RULE}, not as {shorten(simple.argv[0])}"
    constructs = disallowed_constructs(text)
    for construct in constructs:
        if construct.endswith((" is expanded", " is translated")) or construct == "a glob pattern":
            return f"{_RULE}: {construct}; {_SINGLE_QUOTES}"
    construct = next(filter(None, constructs), "")
    fix = _FIXES.get(construct, "")
    return (
        f"{_RULE}: " + "; ".join(filter(None, [construct, fix]))
        if construct
        else f"{_RULE}; {_FIXES['a here-document']}"
    )
