"""The content of a plan's page, loaded from the plan's file and the records next to it, without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_anchors import DECISION, PLAN, TASK
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.comment_location import has_comments
from execplan.core.text.text_lines import digest
from execplan.team.review.comment_threads import REOPEN, RESOLVE
from execplan.team.review.plan_comments import load_comments
from execplan.views.site.decision_items import DecisionWriter
from execplan.views.site.link_resolver import LinkResolver
from execplan.views.site.plan_records import PlanRecords, load_records
from execplan.views.site.plan_sections import RenderedPlan, plan_markdown, render_content
from execplan.views.site.redacted_records import redact_cards, redact_events, redact_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project
    from execplan.linter.rule import Finding
    from execplan.team.history.history_event import HistoryEvent
    from execplan.team.review.comment_threads import CommentRecord
    from execplan.team.review.plan_comments import PlacedThread
    from execplan.views.board.board_cards import Card
    from execplan.views.site.artifact_copies import Artifact
    from execplan.views.site.decision_items import DecisionItem
    from execplan.views.site.page_charts import ChartImage
    from execplan.views.site.page_context import PageContext, PageNames
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
        redact_text(target.label if target is not None else f"a {placed.missing_part}"),
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


class PlanView(NamedTuple):
    """The content of a plan's page. Texts are not escaped unless they are `Markup`."""

    card: Card
    page: str
    """Path of the page in the site."""
    digest: str
    """SHA-256 of the plan's file as shown, for `if_match`; empty if it can't be read."""
    content: RenderedPlan | None
    """None for a broken plan; the card has the reason."""
    findings: tuple[Finding, ...]
    records: PlanRecords
    artifacts: tuple[Artifact, ...]
    history: tuple[HistoryEvent, ...]
    """Events in the plan's life, latest first, with their texts but without details."""
    charts: tuple[ChartImage, ...] = ()
    comments: CommentItems = CommentItems()
    checked_paths: Mapping[str, bool] = {}
    """Absolute paths to which the plan links, and whether they exist."""


class PageFacts(NamedTuple):
    """Facts about a plan that a static site loads for all plans before their pages, and a server for one."""

    findings: Sequence[Finding]
    history: Sequence[HistoryEvent]
    artifacts: tuple[Artifact, ...]
    charts: tuple[ChartImage, ...] = ()


class PublishedPlan(NamedTuple):
    """A plan's text without secrets, parsed."""

    project: Project
    ref: PlanRef
    digest: str
    """SHA-256 of the file, with its secrets; empty if it can't be read."""
    plan: ParsedPlan | None
    error: str
    """Why there is no plan; empty otherwise."""


def publish_plan(stored_plan: StoredPlan, redact_text: RedactText) -> PublishedPlan:
    """Redact the secrets of a plan that is loaded, before anything else sees its text."""
    project, ref, plan = stored_plan.project, stored_plan.ref, stored_plan.plan
    if plan is None:
        assert stored_plan.error is not None
        message = stored_plan.error.message.replace(ref.path, project.display_path(ref.path))
        return PublishedPlan(project, ref, "", None, redact_text(message))
    text = plan.text.to_str()
    redacted_text = redact_text(text)
    if redacted_text != text:
        plan = plan_store.parse(project, redacted_text.encode("utf-8"))
    return PublishedPlan(project, ref, digest(stored_plan.data), plan, "")


def load_plan_view(
    published: PublishedPlan,
    card: Card,
    context: PageContext,
    pages: PageNames,
    redact_text: RedactText,
    facts: PageFacts,
) -> PlanView:
    """Load the content of a plan's page; `context` is that of this page.

    A plan that can't be read has no content, and its card has the error.
    """
    project, ref = published.project, published.ref
    page = pages.page(card.path)
    copies = {artifact.path: artifact.target for artifact in facts.artifacts if artifact.target}
    resolver = LinkResolver(context, pages, project, ref, copies)
    (card,) = redact_cards([card], redact_text)
    content = None

    def shorten_path(text: str) -> str:
        return text.replace(ref.path, project.display_path(ref.path))

    if published.plan is not None:
        content = render_content(published.plan, resolver.resolve, {claim.id: claim for claim in card.claims})
    else:
        card = card._replace(error=published.error)
    messages = redact_lines([shorten_path(finding.message) for finding in facts.findings], redact_text)
    return PlanView(
        card,
        page,
        published.digest,
        content,
        tuple([finding._replace(message=text) for finding, text in zip(facts.findings, messages, strict=True)]),
        load_records(project, ref, facts.artifacts),
        facts.artifacts,
        redact_events(facts.history, lambda text: redact_text(shorten_path(text)), _shown_texts(published.plan)),
        facts.charts,
        load_comment_items(project, ref, published.plan, redact_text) if published.plan is not None else CommentItems(),
        resolver.checked_paths,
    )


def _shown_texts(plan: ParsedPlan | None) -> set[str]:
    """Return texts of a published plan that are on its page, and that events may have, too."""
    if plan is None:
        return set()
    entries = [*plan.decisions, *plan.discoveries, *plan.outcomes, *plan.revisions]
    texts = [*[task.text for task in plan.tasks], *[entry.text for entry in entries]]
    return {*texts, *[section.title for section in plan.sections]}


def load_decisions(
    published: PublishedPlan, card: Card, context: PageContext, pages: PageNames
) -> tuple[DecisionItem, ...]:
    """Return the decisions of a plan for the page with all decisions, whose context is given."""
    plan = published.plan
    if plan is None or not plan.decisions:
        return ()
    resolver = LinkResolver(context, pages, published.project, published.ref, {}, own_page=pages.page(card.path))
    return DecisionWriter(plan, plan_markdown(plan, resolver.resolve, lambda text: "")).decisions()
