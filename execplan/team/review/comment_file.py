"""The file with the review comments of a plan, among its artifacts: reading, search and the only way to add to it.

The file is a line for each record and only grows, so that branches that both added to it merge without conflicts: the
`.gitattributes` next to it selects git's own `union` merge.
"""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING, Final, NamedTuple

from execplan.core.edits.digest_check import ensure_digest_matches
from execplan.core.edits.plan_preconditions import ensure_not_archived, ensure_plan_exists
from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.comment_location import ATTRIBUTES_FILE, COMMENTS_FILE, comments_path
from execplan.core.project import project_discovery, project_state
from execplan.core.project.project import ensure_inside
from execplan.core.project.project_discovery import require_existing
from execplan.core.text.message_parts import format_count, join_first
from execplan.core.text.text_lines import digest
from execplan.team.review.comment_threads import (
    CommentThread,
    ParsedRecords,
    build_threads,
    derive_id,
    describe_thread,
    match_threads,
    parse_records,
    without_conflict_markers,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.team.review.comment_threads import CommentRecord

    MakeRecord = Callable[[ParsedPlan, ParsedRecords], CommentRecord | None]

MAX_BYTES: Final = 5 << 20
"""Maximum size of the file of comments in bytes."""
_MAX_IDS: Final = 20
"""Maximum number of comments that a warning names."""
_ATTRIBUTES_LINE: Final = f"{COMMENTS_FILE} merge=union\n".encode()


def load_threads(project: Project, ref: PlanRef) -> tuple[CommentThread, ...]:
    """Return the threads of a plan; none if the comments can't be read."""
    try:
        return build_threads(read_records(project, ref).records)
    except ExecplanError:
        return ()


def open_comment_warnings(project: Project, ref: PlanRef) -> tuple[str, ...]:
    """Return a warning if a plan that is archived has open comments."""
    short_ids = [thread.short_id for thread in load_threads(project, ref) if thread.is_open]
    if not short_ids:
        return ()
    comments = f"{format_count(len(short_ids), 'open comment')}: {join_first(short_ids, _MAX_IDS)}"
    return (f"{comments}; to resolve comments, restore the plan first: execplan restore {ref.shell_name}",)


def read_records(project: Project, ref: PlanRef) -> ParsedRecords:
    """Read the records of a plan; none if it has no file of comments. Raises ExecplanError if it can't be read."""
    return parse_records(read_file(project, comments_path(project, ref)) or b"")


def read_file(project: Project, path: str) -> bytes | None:
    """Return the bytes of a file among the artifacts, or None if there is none; raises ExecplanError."""
    if not os.path.lexists(path):
        return None
    ensure_inside(project, path)
    if os.path.islink(path):  # a branch of somebody else could let comments be written to any file of the repository
        raise ExecplanError(
            "linked-comments",
            f"{project.display_path(path)} is a symbolic link, and comments are not written to other files",
            hint=f"remove the link: rm {quote(project.display_path(path))}",
        )
    data, size = file_access.read(path, MAX_BYTES)
    ensure_size_allowed(project, path, size)
    return data


def ensure_size_allowed(project: Project, path: str, size: int) -> None:
    """Raise ExecplanError if a file of comments has, or would have, too many bytes."""
    if size > MAX_BYTES:
        raise ExecplanError(
            "too-large",
            f"{project.display_path(path)} has {size:,} bytes; the comments of a plan have at most {MAX_BYTES:,}",
            hint="shorten the comment, or archive the plan and continue in a new one",
        )


class StoredRecord(NamedTuple):
    """The result of adding a record."""

    record: CommentRecord | None
    """The record; None if there was nothing to add."""
    path: str
    """Path of the file from the repository root."""
    paths: tuple[str, ...]
    """Paths of all files that were written, or would be in a dry run."""
    digest: str
    """SHA-256 of the file with the record."""
    diff: str
    """Unified diff, in a dry run only."""
    commit: str | None
    warnings: tuple[str, ...]


def add_record(
    project: Project, ref: PlanRef, make_record: MakeRecord, options: WriteOptions, *, command: str, summary: str
) -> StoredRecord:
    """Add a record to a plan's comments under the plan's lock, and commit the file if requested; raises ExecplanError.

    `make_record` gets the plan and the records before, and is called again if another program changes the file
    meanwhile. It returns a record without an ID, or None if there is nothing to add.
    """
    require_existing(project)
    ensure_not_archived(project, ref)
    path = comments_path(project, ref)
    if options.dry_run:
        return _preview_record(project, ref, path, make_record, options)
    options.prepare_commit(project)
    with project_state.lock(project, ref.real_path, f"{command} of {ref.id}"):
        ensure_plan_exists(project, ref)

        def write_once() -> tuple[CommentRecord | None, bytes | None, bytes]:
            record, old, new = _append(project, ref, path, make_record, options)
            if record is not None:
                atomic_files.replace_if_unchanged(path, old, new, within=project.root, make_directories=True)
            elif old is not None:
                atomic_files.remove_leftover(path, (old,), within=project.root)
            return record, old, new

        _append(project, ref, path, make_record, options)  # reports an error before anything is written
        adds_attributes = _write_attributes(project, path)
        record, old, new = atomic_files.retry_on_change(write_once, project.display_path(path))
        stored = _stored_record(project, path, record, new, adds_attributes=adds_attributes)
        if record is None or not options.should_commit(project):
            return stored
        from execplan.core.edits.plan_commit import commit_paths

        plan = plan_store.parse_or_none(project, plan_store.read_bytes(project, ref.path))
        title = plan.title if plan is not None else None
        old_contents = {path: old} if old is not None else {}
        file_paths = [path, _attributes_path(path)]
        commit_result = commit_paths(project, ref.id, file_paths, command, summary, old_contents, title)
        return stored._replace(commit=commit_result.digest, warnings=commit_result.warnings)


def _preview_record(
    project: Project, ref: PlanRef, path: str, make_record: MakeRecord, options: WriteOptions
) -> StoredRecord:
    from execplan.core.edits.plan_writer import format_diff

    record, old, new = _append(project, ref, path, make_record, options)
    stored = _stored_record(project, path, record, new, adds_attributes=_needs_attributes(project, path))
    return stored._replace(diff=format_diff(old or b"", new, stored.path)) if record is not None else stored


def _stored_record(
    project: Project, path: str, record: CommentRecord | None, data: bytes, *, adds_attributes: bool
) -> StoredRecord:
    files: list[str] = []
    if record is not None:
        files = [path, _attributes_path(path)] if adds_attributes else [path]
    paths = tuple([project.display_path(file) for file in files])
    return StoredRecord(record, project.display_path(path), paths, digest(data), "", None, ())


def _append(
    project: Project, ref: PlanRef, path: str, make_record: MakeRecord, options: WriteOptions
) -> tuple[CommentRecord | None, bytes | None, bytes]:
    """Return a new record, and the bytes of the file before and after; raises ExecplanError."""
    plan_data = plan_store.read_bytes(project, ref.path)
    ensure_digest_matches(project, ref, options.if_match, plan_data)
    ensure_inside(project, path)  # also if only its directory exists
    old = read_file(project, path)
    record = make_record(plan_store.parse(project, plan_data), parse_records(old or b""))
    if record is None:
        return None, old, old or b""
    record = record._replace(id=derive_id(record, ref.id, old or b""))
    old_lines = without_conflict_markers(old or b"")
    line_end = b"" if old_lines.endswith(b"\n") or not old_lines else b"\n"
    new = old_lines + line_end + record.to_line().encode("utf-8")
    ensure_size_allowed(project, path, len(new))
    return record, old, new


def _attributes_path(path: str) -> str:
    return os.path.join(os.path.dirname(path), ATTRIBUTES_FILE)


def _needs_attributes(project: Project, path: str) -> bool:
    """Return whether git does not know yet how to merge the file of comments."""
    return project.git is not None and COMMENTS_FILE.encode() not in (read_file(project, _attributes_path(path)) or b"")


def _write_attributes(project: Project, path: str) -> bool:
    """Select git's `union` merge for the file of comments, and return whether this was necessary."""

    def write_once() -> bool:
        if not _needs_attributes(project, path):
            return False
        old = read_file(project, _attributes_path(path))
        line_end = b"\n" if old and not old.endswith(b"\n") else b""
        new = (old or b"") + line_end + _ATTRIBUTES_LINE
        attributes_path = _attributes_path(path)
        atomic_files.replace_if_unchanged(attributes_path, old, new, within=project.root, make_directories=True)
        return True

    return atomic_files.retry_on_change(write_once, project.display_path(_attributes_path(path)))


def select_commented_plan(start: str, plan: str | None, comment: str) -> tuple[Project, PlanRef]:
    """Return the named plan or, without a name, the plan that has the comment; an archived one if no open plan has it.

    Raises ExecplanError if there is no such plan, or if several have a comment whose ID begins like this.
    """
    if plan is not None or plan_selection.plan_from_environment() is not None:
        return plan_selection.select_plan(start, plan)
    projects = project_discovery.with_nested_projects(project_discovery.require(start))
    for archive in (False, True):
        matches = [
            (project, ref, thread)
            for project in projects
            for ref in plan_store.refs(project, archive=archive)
            for thread in match_threads(load_threads(project, ref), comment)
        ]
        if matches:
            break
    if len(matches) == 1:
        return matches[0][:2]
    if matches:
        raise ExecplanError(
            "ambiguous-comment",
            f"{comment!r} matches {len(matches)} comments",
            hint="use more characters of the comment's ID, or name the plan with -p",
            candidates=[f"{ref.id}: {describe_thread(thread)}" for _, ref, thread in matches],
        )
    raise ExecplanError(
        "no-such-comment",
        f"no plan has a comment whose ID begins with {comment!r}",
        hint="see a plan's comments: execplan show PLAN --comments",
    )
