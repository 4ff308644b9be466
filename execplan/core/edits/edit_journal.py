"""The journal of a plan: every operation on it, with the text before and after. It is not committed.

A journal is a file of lines that only grows until `journal_retention` shortens it:

- `op`: an operation that begins, with all fields of `JournalEntry`;
- `edit`: the same, in the format of older versions;
- `made NUMBER`: the operation is on disk;
- `undone NUMBER`: the entry no longer counts, although no operation undid it;
- `with NUMBER PATH`: another plan whose text was updated after the move of this one;
- `left NUMBER PATH`: a former path of the plan or of one of its artifacts.

A file next to the journals has the order of all operations in a checkout, one line each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType

from execplan.core.clock import now
from execplan.core.edits.edit_entries import EDIT, FOLLOW, MOVE, REMOVE, JournalEntry, parse_entries
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.files.append_log import append_lines, read_lines, read_tail
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store.author import actor
from execplan.core.project import project_state
from execplan.core.project.plan_journal import JOURNAL_DIR, journal_path
from execplan.core.project.project import Project
from execplan.core.text.message_parts import shorten
from execplan.core.text.text_codec import encode_delta, encode_full, quote, unquote
from execplan.core.text.text_lines import digest
from execplan.core.timestamps import DEFAULT_TIMESTAMP, write_timestamp
from execplan.core.trace import log

_FILE = "operations"
_MAX_BYTES = 4 << 20
"""Size in bytes above which a new file is started; the previous one is kept."""
_MAX_DEPTH = 100
"""Maximum number of stashed journals of earlier plans considered per path."""
MAX_BYTES = 4 << 20
"""Maximum journal size before `journal_retention` shortens it.

An edit takes about 500 bytes plus its share of a full text.
"""
STEP_SEPARATOR = "."
"""Separates the ID of an operation on several plans from the number of a step, in the step's ID."""
_MAX_CHAIN_LENGTH = 50
"""Number of differences after which the full texts are stored again, so that one damaged line affects few others."""


def add(project: Project, operation: str, path: str, new_path: str = "") -> None:
    """Append an operation on the plan at the path; it is a move if `new_path` is given.

    Raises ExecplanError if the log can't be written.
    """
    file = _log_path(project)
    project_state.make_state_dir(project, "journal")
    fields = [quote(_relative_path(project, location)) for location in (path, new_path) if location]
    append_lines(file, f"{operation} {' '.join(fields)}\n")
    try:
        if os.path.getsize(file) > _MAX_BYTES:
            os.replace(file, f"{file}.old")  # a process that has the file open still writes into it
    except OSError as error:
        log(f"couldn't recreate {file}: {error}")


def newest_first(project: Project) -> Iterator[tuple[str, str]]:
    """Yield each operation with the current path of its plan, newest first. An operation may have failed, or be undone.

    Raises ExecplanError if the log can't be read.
    """
    # Journals per path, the top one first: the path where each is now, and its depth there.
    journals: dict[str, list[tuple[str, int]]] = {}
    seen_ids: set[str] = set()
    for line in reversed(_read_operations(project)):
        operation, *fields = line.split(" ")
        if operation in seen_ids or not 1 <= len(fields) <= 2:
            continue
        seen_ids.add(operation)
        paths = [unquote(field) for field in fields]
        for path in paths:
            journals.setdefault(path, [(path, depth) for depth in range(_MAX_DEPTH)])
        if len(paths) > 1 and paths[0] != paths[1] and journals[paths[1]]:
            journals[paths[0]].insert(0, journals[paths[1]].pop(0))
        path, depth = (journals[paths[0]] or [("", 1)])[0]
        if not depth:
            yield operation, os.path.normpath(os.path.join(project.path_base, path))


def _relative_path(project: Project, path: str) -> str:
    """Return a path in the form that the log stores; for a symlink, the path of the link."""
    folder, name = os.path.split(path)
    return os.path.relpath(os.path.join(file_access.resolve_path(folder), name), os.path.realpath(project.path_base))


def _read_operations(project: Project) -> list[str]:
    file = _log_path(project)
    try:
        return [*read_lines(f"{file}.old"), *read_lines(file)]
    except ExecplanError as error:
        log(f"{file} can't be read: {error.message}")
        return []


def _log_path(project: Project) -> str:
    return os.path.join(project.state, _FILE)


class Operation(NamedTuple):
    """The operation that a journal entry belongs to."""

    id: str = ""
    """ID shared by a plan and those whose text follows its move; empty for a new operation."""
    kind: str = EDIT
    undoes: str = ""
    """For `undo` and `redo`, the ID of the operation that is undone or redone."""
    details: str = "-"
    """Other data needed to undo the operation, as packed JSON."""


class JournalTransaction:
    """A context manager that journals an operation before it runs.

    Marks the entry as written afterward, or removes it if the operation failed.
    """

    def __init__(
        self,
        project: Project,
        path: str,
        command: str,
        summary: str,
        old: bytes,
        new: bytes,
        operation: Operation = Operation(),  # noqa: B008
    ) -> None:
        self.project = project
        self.plan_path = path
        self.path = journal_path(project, path)
        self.command = command
        self.summary = shorten(summary)
        self.old_and_new = old, new
        self.operation = operation._replace(id=operation.id or new_operation_id())
        self._number = 0
        self._size = 0
        self._ended = False

    def __enter__(self) -> JournalTransaction:
        project_state.make_state_dir(self.project, JOURNAL_DIR)
        old, new = self.old_and_new
        last_entry, chain, self._size = _read_last_entry(self.path)
        self._number = last_entry.number + 1 if last_entry else 1
        old_digest, new_digest = digest(old), digest(new)
        is_consecutive = last_entry is not None and last_entry.new_digest == old_digest and chain < _MAX_CHAIN_LENGTH
        stored_texts = encode_delta(old, new) if is_consecutive else encode_full(old, new)
        timestamp = write_timestamp(now(), DEFAULT_TIMESTAMP).strip("()").replace(" ", "T")
        operation_id, kind, undoes, details = self.operation
        fields = [timestamp, self.command, kind, operation_id, undoes or "-", quote(actor(self.project))]
        fields += [
            quote(self.summary),
            old_digest,
            new_digest,
            str(chain + 1 if is_consecutive else 0),
            stored_texts,
            details,
        ]
        if (
            last_entry is not None
            and not last_entry.is_written
            and last_entry.old_digest != last_entry.new_digest == old_digest
        ):
            append_lines(
                self.path, f"made {last_entry.number}\n"
            )  # the process that made the edit was killed before it could record that
        if kind not in (FOLLOW, MOVE):
            add(self.project, operation_id, self.plan_path)
        append_lines(self.path, f"op {self._number} {' '.join(fields)}\n", durable=kind == REMOVE)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ended:
            return
        if kind is not None and not self._is_applied():
            self.cancel()
            return
        try:
            append_lines(self.path, f"made {self._number}\n")
        except (
            OSError,
            ExecplanError,
        ) as failed:  # the plan is correct, and its text shows that the operation is on disk
            log(f"couldn't update the journal {self.path}: {failed}")

    @property
    def journal_sizes(self) -> tuple[int, int]:
        """Size of the journal in bytes before and after the operation."""
        return self._size, os.path.getsize(self.path) if os.path.exists(self.path) else 0

    def cancel(self) -> None:
        """Remove the entry because the operation changed nothing."""
        self._ended = True
        try:
            os.truncate(self.path, self._size)
        except OSError as error:  # an entry that is not marked as made does not count
            log(f"{self.path} keeps an entry of an edit that was not made: {error}")

    def _is_applied(self) -> bool:
        """Return whether the plan has the new text, or is removed, however the operation ended."""
        if self.operation.kind == REMOVE:
            return not os.path.lexists(self.plan_path)
        try:
            return file_access.read(self.plan_path, len(self.old_and_new[1]))[0] == self.old_and_new[1]
        except ExecplanError:
            return False


def new_operation_id() -> str:
    """Return a random ID for a new operation."""
    return os.urandom(6).hex()


def group_id(operation_id: str) -> str:
    """Return the ID of the operation on several plans that an operation is a step of, or else its own ID."""
    return operation_id.partition(STEP_SEPARATOR)[0]


def read_entries(project: Project, path: str) -> list[JournalEntry]:
    """Return all journal entries of the plan at the path, in order.

    Raises ExecplanError if the journal can't be read.
    """
    return read_entries_from(journal_path(project, path))


def is_known_text(project: Project, path: str, data: bytes) -> bool:
    """Return whether the bytes are the plan's text before or after one of its last three edits."""
    text_digest = digest(data)
    for entry in read_entries(project, path)[:-4:-1]:
        try:
            if text_digest in (entry.old_digest, entry.new_digest) if entry.new_digest else data in entry.unpack():
                return True
        except ValueError:
            continue
    return False


def mark_undone(project: Project, path: str, number: int) -> None:
    """Record that an edit no longer counts."""
    append_lines(journal_path(project, path), f"undone {number}\n")


def read_entries_from(path: str) -> list[JournalEntry]:
    """Return all entries of a journal file, in order. Raises ExecplanError if the file can't be read."""
    return parse_entries(read_lines(path))


def _read_last_entry(path: str) -> tuple[JournalEntry | None, int, int]:
    """Return a journal's last entry, the number of differences that lead to it, and the file size.

    Raises ExecplanError if the journal can't be read.
    """
    lines, size = read_tail(path)
    if not (entries := parse_entries(lines)):
        lines = read_lines(path)
        entries = parse_entries(lines)
    if not entries:
        return None, 0, size
    fields = [line for line in lines if line.startswith(("op ", "edit "))][-1].split(" ")
    if fields[1] != str(entries[-1].number):  # the last line is damaged: no difference can refer to it
        return entries[-1]._replace(new_digest=""), 0, size
    chain = fields[11] if fields[0] == "op" and len(fields) == 14 else "0"
    return entries[-1], int(chain) if chain.isdecimal() else _MAX_CHAIN_LENGTH, size
