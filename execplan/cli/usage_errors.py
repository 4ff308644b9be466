"""Messages for command lines that click can't parse, in the words of all other messages."""

from __future__ import annotations

import re
from typing import Final

import click

from execplan.errors import USAGE, ExecplanError

_QUOTED_OPTION: Final = re.compile(r"'(-[^']*|[A-Z][^']*)'")
"""An option, or the name of an argument, in quotes."""
_REWORDINGS: Final = (
    (re.compile(r"^Got unexpected extra argument(s?) \((.*)\)$"), r"unexpected argument\1: \2"),
    (re.compile(r"^Option (\S+) requires an argument$"), r"option \1 requires a value"),
    (re.compile(r" is not a valid integer(?: range)?$"), " is not a whole number"),
    (re.compile(r" is not a valid float(?: range)?$"), " is not a number"),
)
"""Messages of click in other words."""


def convert_usage_error(error: click.UsageError) -> ExecplanError:
    """Convert a usage error of click into an error with a hint."""
    command_path = error.ctx.command_path if error.ctx is not None else "execplan"
    hint = f"see {command_path} --help"
    takes_text = _takes_text(error.ctx)
    if isinstance(error, click.NoSuchOption):
        message = f"unknown option {error.option_name}"
        if error.possibilities:
            hint = f"did you mean {error.possibilities[0]}? {hint}"
        if takes_text:
            hint += "; put -- before text that starts with a hyphen"
    else:
        message = _reword(error.format_message())
        if message.startswith("unexpected argument") and takes_text:
            hint += "; put text with spaces in quotes, and name the plan with -p"
    return ExecplanError("usage", message, exit=USAGE, hint=hint)


def _reword(message: str) -> str:
    """Return a message of click without its capital letter, its period, and the quotes around names of options."""
    subject, colon, rest = message.replace("\n", " ").removesuffix(".").partition(": ")
    text = _QUOTED_OPTION.sub(r"\1", subject) + colon + rest
    for pattern, replacement in _REWORDINGS:
        text = pattern.sub(replacement, text)
    return text[:1].lower() + text[1:]


def _takes_text(ctx: click.Context | None) -> bool:
    """Return whether a command takes free text, which may lack its quotes."""
    return ctx is not None and any([param.name in ("text", "title", "request") for param in ctx.command.params])
