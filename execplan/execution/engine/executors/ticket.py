"""Tickets: the commands of steps as plain data for another process, and the results that come back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final

from execplan.core.named_tuple import NamedTuple
from execplan.execution.engine.commands.command_result import CommandResult
from execplan.execution.engine.workspace.file_archive import Entry, FileArchive, pack_archive, unpack_archive

SCHEMA: Final = "execplan/ticket/1"
"""Version of tickets, their results and workspaces: workers with another one are not used."""
MAX_BYTES: Final = 512 << 20
"""Size limit in bytes for the files that are sent with a ticket or come back from it."""
_DIGEST: Final = re.compile("[0-9a-f]{64}")
STDOUT, OUTPUT, TAIL = "stdout", "output", "tail"
"""Attachments of a result: the standard output, both streams in order of arrival, and the end of both."""


class Ticket(NamedTuple):
    """A command to run in a copy of the workspace."""

    id: str
    """Unique for each attempt; a worker runs a ticket at most once."""
    worker: str
    """Token of the worker process that may run it, and no other."""
    run: str
    plan: str
    """SHA-256 digest of the execution plan."""
    step: str
    attempt: int
    argv: tuple[str, ...]
    cwd: str
    """Working directory, from the root of the workspace."""
    env: dict[str, str]
    """Variables in addition to those that the worker's machine determines."""
    seconds: float
    """Time limit of the command."""
    memory_mb: int
    processes: int
    file_mb: int
    output_kb: int
    """Amount of the output that is kept, in kilobytes."""
    sandbox: str
    """The policy's setting: off, auto or required."""
    network: bool
    programs: dict[str, str]
    """Programs by name with their approved paths; a worker that finds others doesn't run the ticket. Empty: any."""
    workspace: str
    """ID of the workspace that the command starts from."""
    name: str
    """Name of the workspace's directory."""
    inputs: dict[str, str]
    """Declared inputs: SHA-256 digest by path of a file."""
    outputs: tuple[str, ...]
    """Declared outputs, normalized."""
    effect: str
    """Whether the command may run again if its outcome is unknown: idempotent or once."""


def pack_ticket(ticket: Ticket, entries: Sequence[Entry], read: Callable[[str], bytes]) -> bytes:
    """Return a ticket with the files that differ from its workspace; `read` returns the content of a path."""
    return pack_archive({"schema": SCHEMA, "ticket": ticket._asdict()}, entries, read)


def unpack_ticket(data: bytes) -> tuple[Ticket, FileArchive]:
    """Return a ticket and its files. Raises ValueError."""
    archive = unpack_archive(data)
    if archive.header.get("schema") != SCHEMA:
        message = f"the ticket has the format {archive.header.get('schema')!r}, not {SCHEMA!r}"
        raise ValueError(message)
    fields = archive.header["ticket"]
    return Ticket(**{**fields, "argv": tuple(fields["argv"]), "outputs": tuple(fields["outputs"])}), archive


class TicketResult(NamedTuple):
    """What came back for a ticket."""

    ended: CommandResult
    sandbox: str
    """Name of the sandbox that the command ran in; empty without one."""
    output: list[tuple[int, bytes]]
    """Output in order of arrival: 0 and data of the standard output, or 1 and data of the standard error."""
    left_out: int
    """Number of bytes in the middle of the output that did not come back."""
    notes: list[str]
    has_outputs: bool
    """Whether the command ran and its outputs could be collected."""
    files: FileArchive


def pack_result(ticket_id: str, result: TicketResult, entries: Sequence[Entry], read: Callable[[str], bytes]) -> bytes:
    """Return a result with the output files of the command; `read` returns the content of a path."""
    ended = result.ended._asdict()
    attachments = {
        STDOUT: ended.pop("stdout"),
        TAIL: ended.pop("output_tail"),
        OUTPUT: b"".join([data for _, data in result.output]),
    }
    header = {
        "schema": SCHEMA,
        "ticket": ticket_id,
        "ended": ended,
        "sandbox": result.sandbox,
        "output": [[kind, len(data)] for kind, data in result.output],
        "left_out": result.left_out,
        "notes": result.notes,
        "has_outputs": result.has_outputs,
    }
    return pack_archive(header, entries, read, attachments)


def unpack_result(data: bytes, ticket_id: str) -> TicketResult:
    """Return the result of a ticket, with valid fields. Raises ValueError."""
    archive = unpack_archive(data)
    header, attachments = archive.header, archive.attachments
    if header.get("schema") != SCHEMA or header.get("ticket") != ticket_id:
        message = "not the result of this ticket"
        raise ValueError(message)
    try:
        remainder, output = attachments[OUTPUT], []
        for kind, size in header["output"]:
            if kind not in (0, 1) or type(size) is not int or size < 0:
                raise ValueError(kind)
            output.append((kind, remainder[:size]))
            remainder = remainder[size:]
        ended = header["ended"]
        if ended.keys() != _ENDED_CHECKS.keys() or not all(
            [check(ended[name]) for name, check in _ENDED_CHECKS.items()]
        ):
            raise ValueError(ended)
        stdout = attachments[STDOUT]
        if ended["is_complete"] and ended["stdout_sha256"] not in ("", sha256(stdout).hexdigest()):
            raise ValueError(ended)
        ended["reason"] = ended["reason"][:_MAX_TEXT]
        result = CommandResult(**ended, stdout=stdout, output_tail=attachments[TAIL])
        notes = [str(note)[:_MAX_TEXT] for note in header["notes"][:_MAX_NOTES]]
        has_outputs, left_out = bool(header["has_outputs"]), int(header["left_out"])
        return TicketResult(result, str(header["sandbox"]), output, left_out, notes, has_outputs, archive)
    except (KeyError, TypeError, AttributeError):
        message = "the result lacks a field"
        raise ValueError(message) from None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < _MAX_NUMBER  # which NaN and infinity are not


def _is_optional_in(*numbers: int) -> Callable[[Any], bool]:
    return lambda value: value is None or (type(value) is int and numbers[0] <= value <= numbers[1])


_MAX_NUMBER = 1 << 53
_MAX_TEXT, _MAX_NOTES = 2000, 20
"""Limits for the length of a text and the number of notes from a worker; longer ones are cut."""
_ENDED_CHECKS: dict[str, Callable[[Any], bool]] = {
    "exit": _is_optional_in(0, 255),
    "signal": _is_optional_in(1, 64),
    "cause": lambda value: value in ("", "timeout", "limit", "interrupted", "error"),
    "reason": lambda value: isinstance(value, str),
    "seconds": _is_number,
    "cpu_s": _is_number,
    "peak_memory_bytes": lambda value: type(value) is int and _is_number(value),
    "stdout_sha256": lambda value: isinstance(value, str) and (not value or bool(_DIGEST.fullmatch(value))),
    "is_complete": lambda value: isinstance(value, bool),
}
"""Checks of the fields of a command's result, as a worker returns them in JSON: the journal takes nothing else."""
