"""Answers of commands, printed as text or as one JSON document."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.cli.error_handler import json_document, printable_line
from execplan.cli.output.terminal_text import printable_lines, printable_text
from execplan.cli.plan_hints import denied_commands, fit_plan_names
from execplan.core import features, trace
from execplan.core.errors import OK
from execplan.core.plan_store import hint_reader
from execplan.core.plan_store.author import can_ask, explicit_actor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.approvals.artifact_store import StoredArtifact
    from execplan.execution.engine.replanning.run_replan import ReplanResult
    from execplan.team.advice.advice import Work
    from execplan.team.review.comment_file import StoredRecord

    WrittenFile = StoredArtifact | StoredRecord | ReplanResult


NOTHING_TO_COMMIT = "nothing to commit: the files are as in the last commit"
"""Text for a command that was to commit what it wrote, for example an undo of an edit that wasn't committed."""


class Call(NamedTuple):
    """The global options of a command invocation."""

    folder: str | None = None
    quiet: bool = False
    verbose: bool = False
    as_json: bool = False


class Answer(NamedTuple):
    """The result of a command: its data, its text and its exit status."""

    data: dict[str, Any]
    text: str
    """Text for people; printed with terminal control characters escaped, and with a final line end."""
    exit: int = OK
    warnings: tuple[str, ...] = ()
    next_commands: tuple[str, ...] = ()
    """Useful commands to run next."""
    is_requested: bool = True
    """Whether the user asked for the text, so that `--quiet` keeps it."""
    is_raw: bool = False
    """Whether the text is a file for another program, so that characters are escaped only on a terminal."""
    work: Work | None = None
    """Work to do before its command; people see it instead of the first of `next_commands`."""
    is_fitted: bool = False
    """Whether the suggested commands already have the form for the reader."""


def json_fields(record: object, names: str) -> dict[str, Any]:
    """Return fields of a record, named in one text, for the data of an answer; one with a question mark is None if empty."""
    fields: dict[str, Any] = {}
    for name in names.split():
        value = getattr(record, name.removesuffix("?"))
        if name.endswith("?"):
            fields[name[:-1]] = value or None
        else:
            fields[name] = list(value) if type(value) is tuple else value
    return fields


def written_answer(
    result: WrittenFile,
    data: dict[str, Any],
    lines: Sequence[str],
    next_commands: tuple[str, ...] = (),
    *,
    dry_run: bool,
) -> Answer:
    """Build the answer of a command that writes a file: lines about it, and its commit; in a dry run, with the diff."""
    if dry_run:
        return Answer({**data, "diff": result.diff}, printable_lines(lines, result.diff), warnings=result.warnings)
    lines = [*lines, *([f"committed {result.commit[:12]}"] if result.commit else [])]
    text = printable_lines(lines)
    return Answer(data, text, warnings=result.warnings, next_commands=next_commands, is_requested=False)


def print_answer(answer: Answer, call: Call, kind: str, *, may_page: bool = False) -> int:
    """Print an answer and return its exit status; with `may_page`, long text goes to a pager on a terminal."""
    answer = _fit_to_reader(answer._replace(warnings=(*trace.warnings, *answer.warnings)), call.folder)
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
        if not (may_page and sys.stdout.isatty() and features.load(features.PAGER)(text)):
            sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    if not call.quiet and answer.work is not None:
        text = answer.work.to_text(in_editor=can_ask() and not hint_reader.is_agent())
        print(f"next: {printable_line(text)}")
    elif not call.quiet and answer.next_commands:
        print(f"next: {printable_line(answer.next_commands[0])}")
    return answer.exit


def _fit_to_reader(answer: Answer, directory: str | None) -> Answer:
    """Return the answer with suggested commands for its reader, with the names by which plans are found.

    A named agent claims a task before it does it.
    """
    fit_names = fit_plan_names(directory)
    work, commands = answer.work, tuple([fit_names(command) for command in answer.next_commands])
    if work is not None:
        work = work._replace(
            command=fit_names(work.command),
            editor_command=fit_names(work.editor_command),
            claim_command=fit_names(work.claim_command),
            otherwise=fit_names(work.otherwise),
        )
    if work is not None and work.claim_command and explicit_actor() is not None:
        commands = (work.claim_command, *commands)
        work = None
    elif work is not None:
        work = work._replace(
            command=hint_reader.fit_command(work.command),
            otherwise=hint_reader.fit_hint(work.otherwise, denied_commands()),
        )
    if commands and not answer.is_fitted:
        commands = hint_reader.fit_commands(commands, denied_commands())
    return answer._replace(work=work, next_commands=commands)
