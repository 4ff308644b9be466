"""What an approval of a plan would cover, for the plan's page: a person reads it there and approves in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ACTIVE, DRAFT
from execplan.core.text.markdown_html import MarkdownHtml, ResolvedLink
from execplan.execution.evaluation.evaluation_page import render_page
from execplan.execution.evaluation.evaluation_text import format_verdict

if TYPE_CHECKING:
    from execplan.library.plan_api import Plan
    from execplan.views.board.board_cards import Card
    from execplan.views.site.redacted_records import RedactText

_DIGEST_DIGITS = 16
"""Number of digits of a digest in the command; `approve` accepts eight or more."""
_NO_LINK = ResolvedLink("", "link removed")
_PREVIEW = Markup("<p>{}</p>{}<details><summary>Evaluation of each step</summary>{}</details>")
_COMMAND = Markup(
    "<p>After you have read the evaluation, approve exactly this in the terminal:</p><pre><code>{}</code></pre>"
)


def render_approval_preview(plan: Plan, card: Card, redact_text: RedactText) -> Markup:
    """Return the evaluation of a plan, with the command that approves it if it may run; empty for a plan without steps.

    If the plan can't be evaluated, return the reason.
    """
    if card.state not in (DRAFT, ACTIVE):
        return Markup()
    from execplan.library.execution_api import evaluate

    try:
        evaluated = evaluate(plan)
    except ExecplanError as error:
        if error.code == "no-steps":
            return Markup()
        return Markup("<p>{}</p>").format(escape(redact_text(f"Can't be evaluated: {error.message}")))
    if not evaluated.evaluation.steps:
        return Markup()
    evaluation, digest = evaluated.evaluation, evaluated.binding.digest
    page = render_page(evaluated.current_plan.document, evaluation, evaluated.path, digest)
    html = MarkdownHtml(lambda url: _NO_LINK, lambda text: "").block(redact_text(page))
    verdict = format_verdict(evaluation)
    command = (
        _COMMAND.format(f"execplan approve {plan.ref.shell_name} --digest {digest[:_DIGEST_DIGITS]}")
        if evaluation.ok
        else ""
    )
    return _PREVIEW.format(f"{verdict[0].upper()}{verdict[1:]}.", command, Markup(html))  # noqa: S704 (escaped by the conversion)
