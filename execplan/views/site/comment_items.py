"""The review comments of a plan for its page, without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_anchors import DECISION, PLAN, TASK
from execplan.core.plan_store.comment_location import has_comments
from execplan.team.review.comment_records import REOPEN, RESOLVE
from execplan.team.review.plan_comments import load_comments

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.team.review.comment_records import CommentRecord
    from execplan.team.review.plan_comments import PlacedThread
    from execplan.views.site.redacted_records import RedactText

_ACTIONS: Final = {RESOLVE: "resolved it", REOPEN: "reopened it"}


class MessageItem(NamedTuple):
    """A comment or a reply. Texts are not escaped."""

    author: str
    time: str
    """UTC timestamp."""
    action: str
    """What the author did, such as `resolved it`; empty for a comment or a plain reply."""
    text: str
    """Text, maybe of several lines; empty for a resolution without a reason."""


class CommentItem(NamedTuple):
    """A comment with its replies, and the part of the plan that it is about."""

    id: str
    label: str
    """Current name of the part, such as `task 3`."""
    part_text: str
    """Text of the task or entry; of a part that is gone, its former text. Empty for the whole plan and for a section."""
    anchor: str
    """ID of the part on the page; empty if it has none."""
    is_open: bool
    is_stale: bool
    messages: tuple[MessageItem, ...]


class CommentItems(NamedTuple):
    """The comments of a plan, open ones first."""

    items: tuple[CommentItem, ...] = ()
    problems: tuple[str, ...] = ()
    """Why some comments can't be read."""

    @property
    def open_count(self) -> int:
        """Return the number of open comments."""
        return len([item for item in self.items if item.is_open])


def load_comment_items(project: Project, ref: PlanRef, plan: ParsedPlan, redact_text: RedactText) -> CommentItems:
    """Load the comments of a plan; what can't be read becomes a problem in the result."""
    if not has_comments(project, ref):
        return CommentItems()
    try:
        comments = load_comments(project, ref, plan)
    except ExecplanError as error:
        return CommentItems(problems=(f"the comments can't be read: {redact_text(error.message)}",))
    threads = sorted(comments.threads, key=lambda placed: not placed.thread.is_open)
    items = tuple([_make_item(placed, redact_text) for placed in threads])
    return CommentItems(items, tuple(map(redact_text, comments.problems)))


def _make_item(placed: PlacedThread, redact_text: RedactText) -> CommentItem:
    comment, target = placed.thread.comment, placed.target
    part_text = comment.anchor.text if target is None else target.anchor.text
    messages = tuple(
        [
            _make_message(record, _ACTIONS.get(record.kind, ""), redact_text)
            for record in (comment, *placed.thread.replies)
        ]
    )
    has_own_text = target is None or not target.label.endswith(part_text)
    return CommentItem(
        comment.id,
        redact_text(target.label if target is not None else f"a {comment.anchor.kind} that is gone"),
        redact_text(part_text) if has_own_text and comment.anchor.kind != PLAN else "",
        _page_anchor(placed),
        placed.thread.is_open,
        placed.is_stale,
        messages,
    )


def _make_message(record: CommentRecord, action: str, redact_text: RedactText) -> MessageItem:
    return MessageItem(redact_text(record.author), record.time, action, redact_text(record.text))


def _page_anchor(placed: PlacedThread) -> str:
    """Return the ID of a task or decision on the plan's page."""
    target = placed.target
    if target is None:
        return ""
    if target.anchor.kind == TASK:
        return f"task-{target.task_id}"
    return target.label.replace(" ", "-") if target.anchor.kind == DECISION else ""
