"""A plan in one of six forms and three lengths, in its own words."""

from __future__ import annotations

from execplan.context.summary import analysis, bullet_points, in_prose, itinerary, report, structured
from execplan.context.summary.fit import fit_sections, format_omitted
from execplan.context.summary.piece import EARLIER_LABEL, LENGTHS, SummarySection, Subject
from execplan.context.summary.sentences import count_words
from execplan.context.summary.words import quote_text, escape_hidden
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.plan.model import Plan

_MAX_TITLE_WORDS = 20
"""The most words of the title."""


OMITTED_FIELD = "…"
"""What stands in a field for what does not fit."""


class SummaryForm(NamedTuple):
    """One way to tell a plan."""

    build_sections: Callable[[Subject], list[SummarySection]]
    format_text: Callable[[str, list[SummarySection]], str]
    """Title and parts, put together."""
    markup: bool
    """Whether it is markdown; else it is plain text."""
    with_headings: bool
    """Whether headings are printed."""


class Summary(NamedTuple):
    """What came of it."""

    form: str
    length: str
    max_words: int
    """The most words that it may have."""
    word_count: int
    text: str
    title: str
    sections: tuple[SummarySection, ...]


def summarize_plan(plan: Plan, plan_id: str, state: str, task_ids: Sequence[str], form_name: str, length_name: str) -> Summary:
    """The plan in a form and a length; `task_ids` are those of its tasks."""
    summary_form = FORMS[form_name]
    max_length = next(candidate for candidate in LENGTHS if candidate.name == length_name)
    subject = Subject(plan, plan_id, state, tuple(task_ids), summary_form.markup, max_length)
    title = quote_text(subject, plan.title or "", _MAX_TITLE_WORDS) or escape_hidden(plan_id)
    max_words = max_length.max_words - (0 if form_name == "structured" else count_words(title))
    attempts = []
    for share in (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3):
        shorter_subject = subject._replace(length=max_length._replace(max_sentence_words=round(max_length.max_sentence_words * share)))
        attempts.append(fit_sections(summary_form.build_sections(shorter_subject), max_words, with_headings=summary_form.with_headings))
        if not _count_empty_sections(attempts[-1]):
            break
    sections = [section for section in min(attempts, key=_count_empty_sections) if section.pieces or section.empty_text]
    text = summary_form.format_text(title, sections)
    return Summary(form_name, length_name, max_length.max_words, count_words(text), text, title, tuple(sections))


def _count_empty_sections(sections: Sequence[SummarySection]) -> int:
    """How many parts have no room for anything of theirs."""
    return len([section for section in sections if section.omitted_count and not section.pieces])


def _format_paragraphs(title: str, sections: Sequence[SummarySection]) -> str:
    """Plain text, a paragraph a part."""
    return (
        "\n\n".join([title, *[" ".join([piece.text for piece in section.pieces]) for section in sections if section.pieces]]) + "\n"
    )


def _format_sections(title: str, sections: Sequence[SummarySection]) -> str:
    """Markdown with headings and lists."""
    blocks = [f"# {title}"]
    for section in sections:
        omitted_note = format_omitted(section)
        lines = [f"- {piece.text}" for piece in section.pieces] or ([] if omitted_note else [section.empty_text])
        if omitted_note:
            lines.insert(0 if section.omitted_label == EARLIER_LABEL else len(lines), f"- {omitted_note}")
        blocks += [f"## {section.heading}"] if section.heading else []
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _format_points(title: str, sections: Sequence[SummarySection]) -> str:
    """Markdown, one list."""
    return "\n".join([f"# {title}", "", *[f"- {piece.text}" for section in sections for piece in section.pieces]]) + "\n"


def _format_fields(title: str, sections: Sequence[SummarySection]) -> str:
    """A name, a colon and what it is; lists have the name in their pieces."""
    lines = []
    for section in sections:
        name = f"{section.heading}: " if section.heading else ""
        lines += [f"{name}{piece.text}" for piece in section.pieces] or (
            [f"{name}{OMITTED_FIELD if section.omitted_count else section.empty_text}"] if name else []
        )
    return "\n".join(lines) + "\n"


FORMS = {
    "summary": SummaryForm(in_prose.build_prose, _format_paragraphs, markup=False, with_headings=False),
    "report": SummaryForm(report.build_report, _format_sections, markup=True, with_headings=True),
    "itinerary": SummaryForm(itinerary.build_itinerary, _format_sections, markup=True, with_headings=True),
    "analysis": SummaryForm(analysis.build_analysis, _format_sections, markup=True, with_headings=True),
    "structured": SummaryForm(structured.build_structured, _format_fields, markup=False, with_headings=True),
    "bullet_points": SummaryForm(bullet_points.build_bullet_points, _format_points, markup=True, with_headings=False),
}
