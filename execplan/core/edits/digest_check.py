"""The check that a plan still has the digest its caller saw, and a description of the changes since."""

from __future__ import annotations

import os
from collections.abc import Iterator

from execplan.core.edits import edit_journal
from execplan.core.edits.edit_entries import JournalEntry, read_texts
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest

_MAX_DIFF_LINES = 20
"""Maximum number of diff lines in the error."""
UNKNOWN_VERSION = "no version with that digest is in the journal or the checked-out commit"
"""Last line of the error's candidates if the expected version is not known."""


def ensure_digest_matches(
    project: Project, ref: PlanRef, expected_digest: str | None, data: bytes | None = None
) -> None:
    """Raise ExecplanError, with the changes, if the plan no longer has the digest that the caller expects."""
    if expected_digest is None:
        return
    data = plan_store.read_bytes(project, ref.path) if data is None else data
    if digest(data) == expected_digest.lower():
        return
    lines = _describe_changes(project, ref, data, expected_digest.lower())
    raise ExecplanError(
        "digest-differs",
        f"{project.display_path(ref.path)} has changed: its digest is {digest(data)}, not {expected_digest}",
        hint=f"read it again: execplan show {ref.shell_name} --json",
        candidates=lines,
    )


def _describe_changes(project: Project, ref: PlanRef, data: bytes, expected_digest: str) -> list[str]:
    """Describe the edits and changed lines since a version; only the last edit if that version is unknown."""
    entries = edit_journal.read_entries(project, ref.path)
    edits = [edit for edit in entries if edit.is_written]
    descriptions = [f"{edit.timestamp.replace('T', ' ')}: {edit.summary}" for edit in edits]
    version = next(_find_versions(edits, read_texts(entries), expected_digest), None)
    changes = descriptions[-1:] if version is None else descriptions[version[0] :]
    old = version[1] if version is not None else _committed_version(project, ref, expected_digest)
    if old is None:
        return [*changes, UNKNOWN_VERSION]
    from difflib import unified_diff

    old_lines, new_lines = [text.decode("utf-8", "backslashreplace").splitlines() for text in (old, data)]
    diff_lines = [line.rstrip("\n") for line in unified_diff(old_lines, new_lines, n=0)][2:]
    return (
        changes
        + diff_lines[:_MAX_DIFF_LINES]
        + ([f"and {len(diff_lines) - _MAX_DIFF_LINES} more lines"] if len(diff_lines) > _MAX_DIFF_LINES else [])
    )


def _find_versions(
    edits: list[JournalEntry], texts_by_number: dict[int, tuple[bytes, bytes]], expected_digest: str
) -> Iterator[tuple[int, bytes]]:
    """Yield each journaled version with the digest, newest first, with the number of edits before it."""
    for number in range(len(edits), 0, -1):
        for back, text in enumerate(reversed(texts_by_number.get(edits[number - 1].number, ()))):
            if digest(text) == expected_digest:
                yield number - back, text


def _committed_version(project: Project, ref: PlanRef, expected_digest: str) -> bytes | None:
    """Return the plan's version in the checked-out commit if it has the digest, else None."""
    from execplan.core.git import git_query

    name = os.path.relpath(ref.real_path, project.root)
    try:
        data = git_query.output(project, "cat-file", "blob", f"HEAD:{name}")
    except ExecplanError:
        return None
    return data if digest(data) == expected_digest else None
