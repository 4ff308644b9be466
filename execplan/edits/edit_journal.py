"""The journal of a plan: every operation on it, with the text before and after it. Not committed.

A journal is a file of lines, which only grows until `retention` shortens it:

- `op`: an operation that begins, with all of `Journaled`;
- `edit`: the same, as older versions wrote it;
- `made NUMBER`: it came to the disk;
- `undone NUMBER`: it no longer counts, without an operation that undid it;
- `with NUMBER PATH`: another plan whose text followed the move of this one;
- `left NUMBER PATH`: a path that the plan, or a file of its artifacts, was moved away from.
"""

from __future__ import annotations

import os

from execplan.clock import DEFAULT_TIMESTAMP, now, write_timestamp
from execplan.edits import operation_log, text_codec
from execplan.edits.append_log import append_lines, read_lines, read_tail
from execplan.edits.edit_entries import EDIT, FOLLOW, MOVE, REMOVE, JournalEntry, parse_entries
from execplan.errors import ExecplanError
from execplan.files import file_access
from execplan.named_tuple import NamedTuple
from execplan.plan_store.author import actor
from execplan.project import project_state
from execplan.text.text_lines import digest
from execplan.trace import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from execplan.project.project import Project

MAX_BYTES = 4 << 20
"""Above this a journal is shortened, see `retention`; an edit takes some 500 bytes, and its share of a whole text."""
JOURNAL_DIR = "journal"
_MAX_CHAIN_LENGTH = 50
"""After so many differences the texts are stored whole again, so that one damaged line costs few others."""


class Operation(NamedTuple):
    """What an entry of the journal belongs to."""

    id: str = ""
    """The same in every plan whose text it changes; empty for a new one."""
    kind: str = EDIT
    undoes: str = ""
    """For `undo` and `redo`, the id of the operation that is undone or redone."""
    details: str = "-"
    """What else it takes to undo it, packed JSON."""


class JournalTransaction:
    """Journals an operation before it is done, and that it was done; removes the entry when it was not."""

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
        self.summary = summary
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
        stored_texts = text_codec.encode_delta(old, new) if is_consecutive else text_codec.encode_full(old, new)
        timestamp = write_timestamp(now(), DEFAULT_TIMESTAMP).strip("()").replace(" ", "T")
        operation_id, kind, undoes, details = self.operation
        fields = [timestamp, self.command, kind, operation_id, undoes or "-", text_codec.quote(actor(self.project))]
        fields += [
            text_codec.quote(self.summary),
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
            append_lines(self.path, f"made {last_entry.number}\n")  # whoever made it was killed before it could say so
        if kind not in (FOLLOW, MOVE):
            operation_log.add(self.project, operation_id, self.plan_path)
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
        except (OSError, ExecplanError) as failed:  # the plan is as it should be, and it tells what was made
            log(f"the journal {self.path} could not be brought up to date: {failed}")

    @property
    def journal_sizes(self) -> tuple[int, int]:
        """The size of the journal before and after."""
        return self._size, os.path.getsize(self.path) if os.path.exists(self.path) else 0

    def cancel(self) -> None:
        """Remove the entry: nothing of the operation was done."""
        self._ended = True
        try:
            os.truncate(self.path, self._size)
        except OSError as error:  # an entry that does not say that it was made does not count
            log(f"{self.path} keeps an entry of what was not done: {error}")

    def _is_applied(self) -> bool:
        """Whether the plan holds the new text, or is gone, however the operation ended."""
        if self.operation.kind == REMOVE:
            return not os.path.lexists(self.plan_path)
        try:
            return file_access.read(self.plan_path, len(self.old_and_new[1]))[0] == self.old_and_new[1]
        except ExecplanError:
            return False


def new_operation_id() -> str:
    """The id of a new operation."""
    return os.urandom(6).hex()


def read_entries(project: Project, path: str) -> list[JournalEntry]:
    """Every entry of the journal of the plan at the path, in order; raises ExecplanError."""
    return read_entries_from(journal_path(project, path))


def is_known_text(project: Project, path: str, data: bytes) -> bool:
    """Whether the bytes are what the plan at the path held before or after one of its last three edits."""
    text_digest = digest(data)
    for entry in read_entries(project, path)[:-4:-1]:
        try:
            if text_digest in (entry.old_digest, entry.new_digest) if entry.new_digest else data in entry.unpack():
                return True
        except ValueError:
            continue
    return False


def mark_undone(project: Project, path: str, number: int) -> None:
    """Remember that an edit no longer counts."""
    append_lines(journal_path(project, path), f"undone {number}\n")


def journal_path(project: Project, path: str) -> str:
    """The file of a plan's journal."""
    return os.path.join(project.state, JOURNAL_DIR, project_state.path_key(os.path.realpath(path)))


def read_entries_from(path: str) -> list[JournalEntry]:
    """Every entry in the file of a journal, in order; raises ExecplanError."""
    return parse_entries(read_lines(path))


def _read_last_entry(path: str) -> tuple[JournalEntry | None, int, int]:
    """The last entry of a journal, how many differences lead to it, and the size of the file; raises ExecplanError."""
    lines, size = read_tail(path)
    entries = parse_entries(lines)
    if not entries:
        lines = read_lines(path)
        entries = parse_entries(lines)
    if not entries:
        return None, 0, size
    fields = [line for line in lines if line.startswith(("op ", "edit "))][-1].split(" ")
    if fields[1] != str(entries[-1].number):  # a damaged line comes last: no difference can refer to it
        return entries[-1]._replace(new_digest=""), 0, size
    chain = fields[11] if fields[0] == "op" and len(fields) == 14 else "0"
    return entries[-1], int(chain) if chain.isdecimal() else _MAX_CHAIN_LENGTH, size
