"""The comments of a plan with their places in its current version, and new comments, replies and resolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.clock import utc_timestamp
from execplan.errors import ExecplanError
from execplan.plan.plan_anchors import PLAN, Anchor, find_target, list_targets, locate_anchor
from execplan.plan_store.author import author, clean_name
from execplan.review import comment_file
from execplan.review.anchor_tracking import track_anchors
from execplan.review.comment_records import COMMENT, REOPEN, REPLY, RESOLVE, CommentRecord
from execplan.review.comment_threads import CommentThread, build_threads, find_thread

if TYPE_CHECKING:
    from execplan.edits.plan_writer import WriteOptions
    from execplan.plan.model import ParsedPlan
    from execplan.plan.plan_anchors import PlanTarget
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project
    from execplan.review.comment_file import StoredRecord
    from execplan.review.comment_records import ParsedRecords


class PlacedThread(NamedTuple):
    """A thread with the place of its comment in the current version of the plan."""

    thread: CommentThread
    target: PlanTarget | None
    """The part that the comment is about; None if its text is no longer in the plan, so the comment is stale."""

    @property
    def is_stale(self) -> bool:
        """Return whether the part that the comment is about is gone."""
        return self.target is None

    @property
    def label(self) -> str:
        """Return the part's current name, such as `task 3`, or its former text if it is gone."""
        if self.target is not None:
            return self.target.label
        anchor = self.thread.comment.anchor
        return f"{anchor.kind} that is gone: {anchor.text}"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; lines count from 1, and a stale comment has none."""
        anchor, target = self.thread.comment.anchor, self.target
        place = {
            "on": anchor.kind,
            "label": target.label if target is not None else None,
            "task": (target.task_id or None) if target is not None else None,
            "line": target.line + 1 if target is not None else None,
            "stale": self.is_stale,
            "anchor_text": anchor.text or None,
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
    parsed = comment_file.read_records(project, ref)
    threads = build_threads(parsed.records)
    targets = read_targets(plan) if threads else []
    places = {thread.comment.id: locate_anchor(targets, thread.comment.anchor) for thread in threads}
    lost = [thread.comment for thread in threads if places[thread.comment.id] is None]
    if lost:
        anchors = track_anchors(project, ref, plan, [comment.anchor for comment in lost])
        for comment, anchor in zip(lost, anchors, strict=True):
            places[comment.id] = locate_anchor(targets, anchor) if anchor is not None else None
    placed = tuple([PlacedThread(thread, places[thread.comment.id]) for thread in threads])
    return PlanComments(placed, describe_problems(project, ref, parsed))


def describe_problems(project: Project, ref: PlanRef, parsed: ParsedRecords) -> tuple[str, ...]:
    """Return the problems of a plan's comments, each with its file and line."""
    path = project.display_path(comment_file.comments_path(project, ref))
    return tuple([f"{path}:{problem.line}: {problem.message}" for problem in parsed.problems])


def load_threads(project: Project, ref: PlanRef) -> tuple[CommentThread, ...]:
    """Return the threads of a plan without their places; none if the comments can't be read."""
    try:
        return build_threads(comment_file.read_records(project, ref).records)
    except ExecplanError:
        return ()


def count_open_comments(project: Project, ref: PlanRef) -> int:
    """Return the number of open comments of a plan; 0 if they can't be read."""
    if not comment_file.has_comments(project, ref):
        return 0
    return len([thread for thread in load_threads(project, ref) if thread.is_open])


def read_targets(plan: ParsedPlan) -> list[PlanTarget]:
    """Return the parts of a plan that can be commented on, with the steps of its annotated code blocks."""
    from execplan.execution.annotations.annotated_steps import find_annotated_steps

    return list_targets(plan, [(draft.id, draft.start) for draft in find_annotated_steps(plan).drafts])


def add_comment(project: Project, ref: PlanRef, on: str | None, text: str, options: WriteOptions) -> StoredRecord:
    """Comment on a part of a plan, or on the whole plan if `on` is None; raises ExecplanError."""

    def make_record(plan: ParsedPlan, parsed: ParsedRecords) -> CommentRecord:
        anchor = find_target(read_targets(plan), on).anchor if on is not None else Anchor(PLAN)
        return _new_record(project, COMMENT, text, anchor=anchor)

    return comment_file.add_record(project, ref, make_record, options, command="comment", summary="comment")


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

    def make_record(plan: ParsedPlan, parsed: ParsedRecords) -> CommentRecord | None:
        thread = find_thread(build_threads(parsed.records), query, f"execplan show {ref.shell_name} --comments")
        if not thread.is_open and kind == RESOLVE:
            return None
        return _new_record(project, REPLY if thread.is_open and kind == REOPEN else kind, text, to=thread.comment.id)

    return comment_file.add_record(project, ref, make_record, options, command=command, summary=command)


def _new_record(project: Project, kind: str, text: str, *, to: str = "", anchor: Anchor | None = None) -> CommentRecord:
    name = clean_name(author(project))
    return CommentRecord("", kind, utc_timestamp(), name, text, to, anchor or Anchor(PLAN))
