"""The request of a summary of any markdown, checked as a document is."""

from __future__ import annotations

import os
from typing import Literal

from execplan.context.summary.plan_summary import Summary, redact_plan, summarize_plan
from execplan.core.documents.document_model import Model
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.reader import parse
from execplan.core.secrets.redaction import Redactor

SummaryFormat = Literal["summary", "report", "itinerary", "analysis", "structured", "bullet_points"]
SummaryLength = Literal["brief", "detailed", "comprehensive"]


class SummarizationRequest(Model):
    """Input for a summary: the text, and the form and the length of its summary."""

    markdown: str
    form: SummaryFormat = "summary"
    length: SummaryLength = "brief"


def summarize_markdown(request: SummarizationRequest) -> Summary:
    """Return the summary of a text, such as a plan, in its own words and without secrets. Raises ExecplanError."""
    redaction = Redactor(os.environ, os.environ)
    plan = redact_plan(parse(request.markdown), redaction)
    state = plan.state(archived=False)
    summary = summarize_plan(plan, "text", state, task_ids(plan.tasks), request.form, request.length)
    return summary._replace(text=redaction.redact_text(summary.text))
