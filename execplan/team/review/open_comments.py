"""The open review comments of a plan, for the linter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.git.blob_reader import read_blobs
from execplan.core.git.git_query import index_files
from execplan.core.plan.plan_anchors import PLAN, Anchor
from execplan.core.plan_store.comment_location import comments_path
from execplan.team.review.comment_reading import read_records
from execplan.team.review.comment_records import parse_records
from execplan.team.review.comment_threads import build_threads

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.team.review.comment_records import ParsedRecords


def list_open_comments(
    project: Project, ref: PlanRef, *, is_staged: bool
) -> tuple[tuple[str, str, str, str, int, int, str], ...]:
    """Return the open review comments of a plan, on disk or as the next commit contains them, in plain tuples that a cache can store.

    What can't be read is a comment without an ID and an author, whose text is the reason. Raises ExecplanError if Git
    fails.
    """
    try:
        parsed = _read_staged_records(project, ref) if is_staged else read_records(project, ref)
    except ExecplanError as error:
        if is_staged:
            raise
        return (("", "", *Anchor(PLAN), error.message),)
    unreadable = [f"line {problem.line}: {problem.message}" for problem in parsed.problems if problem.is_unreadable]
    open_threads = [thread for thread in build_threads(parsed.records) if thread.is_open]
    return (
        *[("", "", *Anchor(PLAN), reason) for reason in unreadable],
        *[
            (thread.short_id, thread.comment.author, *thread.comment.anchor, " ".join(thread.comment.text.split()))
            for thread in open_threads
        ],
    )


def _read_staged_records(project: Project, ref: PlanRef) -> ParsedRecords:
    """Read the records of a plan as the next commit contains them. Raises ExecplanError if Git fails."""
    files = index_files(project, [project.display_path(comments_path(project, ref))])
    return parse_records(b"\n".join([data for data, _ in read_blobs(project, files)]))
