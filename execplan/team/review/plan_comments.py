"""The comments of a plan with their places in its current version, and new comments, replies and resolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.core.clock import utc_timestamp
from execplan.core.errors import ExecplanError
from execplan.core.git.blob_reader import read_blobs
from execplan.core.git.git_query import index_files
from execplan.core.plan.plan_anchors import PLAN, Anchor, find_target, list_targets, locate_anchors
from execplan.core.plan_store.author import author, clean_name
from execplan.core.plan_store.comment_location import comments_path
from execplan.team.review.comment_file import read_records
from execplan.team.review.comment_threads import (
    COMMENT,
    REOPEN,
    REPLY,
    RESOLVE,
    CommentRecord,
    CommentThread,
    build_threads,
    find_thread,
    parse_records,
)

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan.plan_anchors import PlanTarget
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.team.review.comment_file import StoredRecord
    from execplan.team.review.comment_threads import ParsedRecords


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


class PlacedThread(NamedTuple):
    """A thread with the place of its comment in the current version of the plan."""

    thread: CommentThread
    target: PlanTarget | None
    """The part that the comment is about; None if its text is no longer in the plan."""
    is_in_conflict: bool = False
    """Whether the plan has conflict markers, so that a part without its old text may be one that a merge brings back."""

    @property
    def is_stale(self) -> bool:
        """Return whether the part that the comment is about is gone."""
        return self.target is None and not self.is_in_conflict

    @property
    def missing_part(self) -> str:
        """Return a description of a part that isn't found, such as `task that is no longer in the plan`."""
        reason = "can't be found while the plan is in conflict" if self.is_in_conflict else "is no longer in the plan"
        return f"{self.thread.comment.anchor.kind} that {reason}"

    @property
    def label(self) -> str:
        """Return the part's current name, such as `task 3`, or its former text if it is gone."""
        if self.target is not None:
            return self.target.label
        return f"{self.missing_part}: {self.thread.comment.anchor.text}"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; lines count from 1, and a stale comment has none."""
        anchor, target = self.thread.comment.anchor, self.target
        place = {
            "on": anchor.kind,
            "label": target.label if target is not None else None,
            "task": (target.task_id or None) if target is not None else None,
            "line": target.line + 1 if target is not None else None,
            "stale": self.is_stale,
            "part_text": anchor.text or None,
        }
        return {**self.thread.to_json(), **place}


class PlanComments(NamedTuple):
    """The comments of a plan, the oldest first."""

    threads: tuple[PlacedThread, ...] = ()
    problems: tuple[str, ...] = ()
    """Lines of the file that are not used, each with its place and the reason."""

    @property
    def open_threads(self) -> list[PlacedThread]:
        """Return the threads that are not resolved."""
        return [placed for placed in self.threads if placed.thread.is_open]


def load_comments(project: Project, ref: PlanRef, plan: ParsedPlan) -> PlanComments:
    """Load the comments of a plan; raises ExecplanError if their file can't be read."""
    parsed = read_records(project, ref)
    threads = build_threads(parsed.records)
    targets = read_targets(plan) if threads else []
    located = locate_anchors(targets, [thread.comment.anchor for thread in threads])
    places = {thread.comment.id: target for thread, target in zip(threads, located, strict=True)}
    lost = [thread.comment for thread in threads if places[thread.comment.id] is None]
    if lost:
        from execplan.team.review.anchor_tracking import track_anchors

        tracked = zip(lost, track_anchors(project, ref, plan, [comment.anchor for comment in lost]), strict=True)
        anchors = {comment.id: anchor for comment, anchor in tracked if anchor is not None}
        places.update(zip(anchors, locate_anchors(targets, anchors.values()), strict=True))
    is_in_conflict = bool(plan.conflict_lines)
    placed = tuple([PlacedThread(thread, places[thread.comment.id], is_in_conflict) for thread in threads])
    return PlanComments(placed, describe_problems(project, ref, parsed))


def describe_problems(project: Project, ref: PlanRef, parsed: ParsedRecords) -> tuple[str, ...]:
    """Return the problems of a plan's comments, each with its file and line."""
    path = project.display_path(comments_path(project, ref))
    return tuple([f"{path}:{problem.line}: {problem.message}" for problem in parsed.problems])


def read_targets(plan: ParsedPlan) -> list[PlanTarget]:
    """Return the parts of a plan that can be commented on, with the steps of its annotated code blocks."""
    from execplan.execution.annotations.annotated_steps import find_annotated_steps

    return list_targets(plan, [(draft.id, draft.start) for draft in find_annotated_steps(plan).drafts])


def add_comment(project: Project, ref: PlanRef, on: str | None, text: str, options: WriteOptions) -> StoredRecord:
    """Comment on a part of a plan, or on the whole plan if `on` is None; raises ExecplanError.

    A command that is repeated, maybe after a crash, adds nothing to an equal open comment of the same author.
    """
    from execplan.team.review.comment_file import add_record

    def make_record(plan: ParsedPlan, parsed: ParsedRecords) -> CommentRecord | None:
        anchor = find_target(read_targets(plan), on).anchor if on is not None else Anchor(PLAN)
        record = _new_record(project, COMMENT, text, anchor=anchor)
        comments = [thread.comment for thread in build_threads(parsed.records) if thread.is_open]
        return None if _is_repeated(record, *comments) else record

    return add_record(project, ref, make_record, options, command="comment", summary="comment")


def add_reply(
    project: Project, ref: PlanRef, comment: str, text: str, options: WriteOptions, *, reopen: bool = False
) -> StoredRecord:
    """Reply to the comment whose ID begins with `comment`, and reopen it if requested; raises ExecplanError."""
    kind = REOPEN if reopen else REPLY
    return _add_to_thread(project, ref, comment, kind, text, options, command="reply")


def resolve_comment(project: Project, ref: PlanRef, comment: str, reason: str, options: WriteOptions) -> StoredRecord:
    """Resolve the comment whose ID begins with `comment`; `reason` may be empty. Raises ExecplanError.

    A resolved comment stays as it is.
    """
    return _add_to_thread(project, ref, comment, RESOLVE, reason, options, command="resolve")


def _add_to_thread(
    project: Project, ref: PlanRef, query: str, kind: str, text: str, options: WriteOptions, *, command: str
) -> StoredRecord:
    from execplan.team.review.comment_file import add_record

    def make_record(plan: ParsedPlan, parsed: ParsedRecords) -> CommentRecord | None:
        thread = find_thread(build_threads(parsed.records), query, f"execplan show {ref.shell_name} --comments")
        if not thread.is_open and kind == RESOLVE:
            if text:
                raise ExecplanError(
                    "comment-resolved",
                    f"the comment {thread.short_id} is resolved already; the reason was not recorded",
                    hint=f"add it as a reply: execplan reply {thread.short_id} TEXT -p {ref.shell_name}",
                )
            return None
        new_kind = REPLY if thread.is_open and kind == REOPEN else kind
        record = _new_record(project, new_kind, text, to=thread.comment.id)
        return None if _is_repeated(record, *thread.replies[-1:]) else record

    return add_record(project, ref, make_record, options, command=command, summary=command)


def _is_repeated(record: CommentRecord, *records: CommentRecord) -> bool:
    """Return whether one of some records has the same author, kind, place and text as a new one."""
    return any([record._replace(id=other.id, time=other.time, line=other.line) == other for other in records])


def _new_record(project: Project, kind: str, text: str, *, to: str = "", anchor: Anchor | None = None) -> CommentRecord:
    name = clean_name(author(project))
    return CommentRecord("", kind, utc_timestamp(), name, text, to, anchor or Anchor(PLAN))
