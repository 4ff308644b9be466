"""Shortening of journals: an edit is dropped only after a commit contains it or it was undone."""

from __future__ import annotations

import os
from collections.abc import Sequence

from execplan.core.edits import edit_journal
from execplan.core.edits.edit_entries import FOLLOW, JournalEntry, entry_number, parse_entries, read_texts
from execplan.core.edits.undo_stack import build_stack
from execplan.core.files import atomic_files, file_access
from execplan.core.files.append_log import read_lines
from execplan.core.git import git_history, git_query
from execplan.core.project.plan_journal import former_paths, journal_path
from execplan.core.project.project import Project
from execplan.core.text import text_codec
from execplan.core.trace import log

_CHECKS_PER_LIMIT = 8
"""Number of checks while a journal grows by its size limit."""


def count_entries_in_git(project: Project, path: str, texts: Sequence[bytes | None], *, lasting: bool) -> int:
    """Return how many of the oldest entries precede the last text that git has. Raises ExecplanError if git fails.

    `texts` are those before and after each entry in turn, None if a text is not to be looked for. If git's copy should
    be `lasting`, only commits on branches and the like count, otherwise also the index and commits in a reflog, such as
    stashes.
    """
    if project.git is None:
        return 0
    root = os.path.realpath(project.root)
    files = [os.path.relpath(file_access.resolve_path(source), root) for source in (path, *former_paths(project, path))]
    paths = [file for file in files if not file.startswith("../")]
    blobs = git_history.committed_blobs(project, paths, with_reflogs=not lasting)
    if not lasting:
        blobs |= {file.blob for file in git_query.index_files(project, paths)}
    for index in range(len(texts) - 1 if blobs else -1, -1, -1):
        text = texts[index]
        if text and not blobs.isdisjoint(git_history.possible_blob_ids(text)):
            return (index + 1) // 2
    return 0


def shorten_journal(project: Project, path: str, size: int) -> None:
    """Drop the oldest entries that need not be kept from a journal above its size limit.

    `size` is the journal's size before the last entry. The caller holds the plan's lock. Raises ExecplanError or
    OSError and leaves the journal unchanged if it can't be shortened.
    """
    file = journal_path(project, path)
    interval = max(edit_journal.MAX_BYTES // _CHECKS_PER_LIMIT, 1)
    if os.path.getsize(file) // interval == size // interval and size > edit_journal.MAX_BYTES:
        return
    lines = read_lines(file)
    entries = parse_entries(lines)
    texts_by_number = read_texts(entries)
    forgettable = _count_forgettable(project, path, entries, texts_by_number)
    excess = os.path.getsize(file) - edit_journal.MAX_BYTES * 3 // 4
    sizes: dict[int, int] = {}
    for line in lines:
        sizes[entry_number(line)] = sizes.get(entry_number(line), 0) + len(line) + 1
    dropped: set[int] = set()
    for entry in entries[:forgettable]:
        if excess <= 0:
            break
        dropped.add(entry.number)
        excess -= sizes[entry.number]
    if dropped:
        _rewrite_journal(
            file,
            lines,
            dropped,
            next((candidate for candidate in entries if candidate.number not in dropped), None),
            texts_by_number,
        )
        log(f"shortened {file} by {len(dropped)} entries")


def _count_forgettable(
    project: Project, path: str, entries: Sequence[JournalEntry], texts_by_number: dict[int, tuple[bytes, bytes]]
) -> int:
    """Return how many of the oldest entries are committed or undone. The last entry is never counted."""
    stack = build_stack(entries)
    counts = {step.latest.number for step in stack.undoable} | {step.operation.number for step in stack.undoable}
    counts |= {candidate.number for candidate in entries if candidate.is_written and candidate.kind == FOLLOW}
    texts: list[bytes | None] = []
    for entry in entries:
        old, new = texts_by_number.get(entry.number, (None, None))
        texts += [old, new if entry.is_written else None]
    committed = count_entries_in_git(project, path, texts, lasting=True)
    for index, entry in enumerate(entries[:-1]):
        if index >= committed and entry.number in counts:
            return index
    return max(len(entries) - 1, 0)


def _rewrite_journal(
    file: str,
    lines: list[str],
    dropped: set[int],
    first_kept: JournalEntry | None,
    texts_by_number: dict[int, tuple[bytes, bytes]],
) -> None:
    """Rewrite a journal without the dropped entries, storing the texts of the first kept entry in full."""
    kept_lines = [line for line in lines if line.startswith("left ") or entry_number(line) not in dropped]
    if first_kept is not None and first_kept.number in texts_by_number:
        at = next((at for at, line in enumerate(kept_lines) if line.startswith(f"op {first_kept.number} ")), None)
        if at is not None:
            fields = kept_lines[at].split(" ")
            fields[11:13] = ["0", text_codec.encode_full(*texts_by_number[first_kept.number])]
            kept_lines[at] = " ".join(fields)
    atomic_files.replace(file, "".join([f"{line}\n" for line in kept_lines]).encode(), mode=0o666)
