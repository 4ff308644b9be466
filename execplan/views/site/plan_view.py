"""The content of a plan's page, loaded from the plan's file and the records next to it, without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.core.plan import reader
from execplan.core.text.text_lines import digest
from execplan.views.site.comment_items import CommentItems, load_comment_items
from execplan.views.site.decision_items import DecisionWriter
from execplan.views.site.link_resolver import LinkResolver
from execplan.views.site.plan_records import PlanRecords, load_records
from execplan.views.site.plan_sections import PlanContent, plan_markdown, render_content
from execplan.views.site.redacted_records import redact_cards, redact_events, redact_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
    from execplan.core.project.project import Project
    from execplan.linter.rule import Finding
    from execplan.team.history.history_event import HistoryEvent
    from execplan.views.board.board_cards import Card
    from execplan.views.site.artifact_copies import Artifact
    from execplan.views.site.decision_items import DecisionItem
    from execplan.views.site.page_charts import ChartImage
    from execplan.views.site.page_context import PageContext
    from execplan.views.site.page_names import PageNames
    from execplan.views.site.redacted_records import RedactText


class PlanView(NamedTuple):
    """The content of a plan's page. Texts are not escaped unless they are `Markup`."""

    card: Card
    page: str
    """Path of the page in the site."""
    digest: str
    """SHA-256 of the plan's file as shown, for `if_match`; empty if it can't be read."""
    content: PlanContent | None
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
        plan = reader.read(redacted_text.encode("utf-8"))
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
