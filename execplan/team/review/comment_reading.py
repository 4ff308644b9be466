"""Reading the comments of a plan, without their places in the plan."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING, Final

from execplan.core.errors import INPUT, POLICY, ExecplanError
from execplan.core.files import file_access
from execplan.core.plan_store.comment_location import comments_path
from execplan.core.project.project import ensure_inside
from execplan.core.text.message_parts import format_count, join_first
from execplan.team.review.comment_records import ParsedRecords, parse_records
from execplan.team.review.comment_threads import CommentThread, build_threads

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

MAX_BYTES: Final = 5 << 20
"""Maximum size of the file of comments in bytes."""
_MAX_IDS: Final = 20
"""Maximum number of comments that a warning names."""


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
            exit=POLICY,
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
            exit=INPUT,
            hint="shorten the comment, or archive the plan and continue in a new one",
        )
