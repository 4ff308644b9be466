"""What a verb answers, printed as text or as one JSON document."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan import trace
from execplan.cli.error_handler import json_document, printable_line
from execplan.cli.output.terminal_text import printable_text
from execplan.errors import OK

if TYPE_CHECKING:
    from execplan.advice.plan_advice import Work


class Call(NamedTuple):
    """How a verb was called."""

    folder: str | None = None
    quiet: bool = False
    verbose: bool = False
    as_json: bool = False


class Answer(NamedTuple):
    """What a verb found or did."""

    data: dict[str, Any]
    text: str
    """For people; printed with what acts on a terminal escaped, and with a line end if it lacks one."""
    exit: int = OK
    warnings: tuple[str, ...] = ()
    next_commands: tuple[str, ...] = ()
    """Commands that make sense now."""
    is_requested: bool = True
    """Whether the text was asked for, so that `--quiet` keeps it."""
    is_raw: bool = False
    """Whether the text is a file that another program reads: only a terminal gets it with escapes."""
    work: Work | None = None
    """What to do before the command that follows it; people read that in place of `next`."""


def print_answer(answer: Answer, call: Call, kind: str) -> int:
    """Print an answer; its exit status."""
    answer = answer._replace(warnings=(*trace.warnings, *answer.warnings))
    if call.as_json:
        ok = answer.exit == OK
        data = {**answer.data, "do": answer.work.to_json()} if answer.work is not None else answer.data
        print(json_document(kind, data, ok=ok, warnings=answer.warnings, next_commands=answer.next_commands))
        return answer.exit
    for warning in answer.warnings:
        print(f"execplan: warning: {printable_line(warning)}", file=sys.stderr)
    if answer.text and (answer.is_requested or not call.quiet):
        sys.stdout.flush()
        text = answer.text if answer.text.endswith(("\n", "\r")) else answer.text + "\n"
        text = text if answer.is_raw and not sys.stdout.isatty() else printable_text(text)
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    if not call.quiet and answer.work is not None:
        print(
            f"next: {printable_line(answer.work.description)}, {answer.work.lead}: {printable_line(answer.work.command)}"
        )
    elif not call.quiet and answer.next_commands:
        print(f"next: {printable_line(answer.next_commands[0])}")
    return answer.exit
