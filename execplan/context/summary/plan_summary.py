"""Summaries of a plan in one of six forms and three lengths, quoted from the plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from execplan.context.summary import itinerary, summary_forms
from execplan.context.summary.plan_sentences import count_words
from execplan.context.summary.summary_pieces import (
    EARLIER_LABEL,
    LENGTHS,
    MORE_LABEL,
    Subject,
    SummarySection,
    escape_hidden,
    quote_text,
)
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import DOCUMENT, ParsedPlan
from execplan.core.plan.reader import read_text
from execplan.core.secrets.redaction import REDACTED, Redactor
from execplan.core.text.text_lines import Text


def fit_sections(sections: Sequence[SummarySection], max_words: int, form: SummaryForm) -> list[SummarySection]:
    """Return the sections with the pieces that fit into `max_words`.

    A piece that is quoted already is repeated only if its section has no other. Pieces are taken by rank. When one of a
    section that counts what it leaves out does not fit, no further piece of that section is taken.
    """
    frame_sizes = [_frame_size(section, form) for section in sections]
    remaining_words = max_words - sum(
        [frame_size for section, frame_size in zip(sections, frame_sizes, strict=True) if section.empty_text]
    )
    candidates = [
        (piece.rank, index, position)
        for index, section in enumerate(sections)
        for position, piece in enumerate(section.pieces)
    ]
    selected: list[list[int]] = [[] for _ in sections]
    repeat_counts = [0 for _ in sections]
    full_sections: set[int] = set()
    seen_quotes: set[str] = set()
    for _, index, position in sorted(candidates):
        piece = sections[index].pieces[position]
        quotes = set(piece.quotes)
        if quotes and quotes <= seen_quotes and selected[index]:
            repeat_counts[index] += 1
            continue
        if index in full_sections:
            continue
        word_count = (
            form.mark_words
            + count_words(piece.text)
            + (frame_sizes[index] if not (selected[index] or sections[index].empty_text) else 0)
        )
        is_full = sections[index].max_pieces and len(selected[index]) == sections[index].max_pieces
        if word_count > remaining_words or is_full:
            if is_full or sections[index].omitted_label:
                full_sections.add(index)
            continue
        remaining_words -= word_count
        seen_quotes |= quotes
        selected[index].append(position)
    return [
        section._replace(
            pieces=tuple([section.pieces[position] for position in sorted(positions)]),
            omitted_count=section.omitted_count + len(section.pieces) - len(positions) - repeats,
        )
        for section, positions, repeats in zip(sections, selected, repeat_counts, strict=True)
    ]


def _frame_size(section: SummarySection, form: SummaryForm) -> int:
    """Count the words around a section's pieces.

    A section with text for the empty case is always printed, others only with pieces.
    """
    if section.pieces:
        frame_text = format_omitted(section._replace(omitted_count=section.omitted_count + len(section.pieces)))
        frame_text = frame_text or (OMITTED_FIELD if section.empty_text else "")
    else:
        frame_text = section.empty_text
    heading_words = form.mark_words + count_words(section.heading) if form.with_headings else 0
    return heading_words + (form.mark_words + count_words(frame_text) if frame_text else 0)


def format_omitted(section: SummarySection) -> str:
    """Format the number of omitted pieces, if the section shows it."""
    if section.omitted_label and section.omitted_count:
        return f"and {section.omitted_count:,} {section.omitted_label}"
    return ""


def redact_plan(plan: ParsedPlan, redaction: Redactor) -> ParsedPlan:
    """Return the plan with each secret replaced; its lines keep their numbers."""
    source = plan.text.to_str()
    secret_spans = redaction.spans(source)
    if not secret_spans:
        return plan
    for start, end in reversed(secret_spans):
        line_ends = "".join([char for char in source[start:end] if char in "\r\n"])
        source = source[:start] + REDACTED + line_ends + source[end:]
    text = Text.from_str(source)
    text.titles = plan.text.titles
    return read_text(text)


OMITTED_FIELD = "…"
"""Value of a field whose content does not fit."""


class SummaryForm(NamedTuple):
    """Form of a summary: the functions that build and format its sections."""

    build_sections: Callable[[Subject], list[SummarySection]]
    format_text: Callable[[str, list[SummarySection]], str]
    """Function that joins the title and the sections."""
    markup: bool
    """Whether the output is Markdown rather than plain text."""
    with_headings: bool
    """Whether headings are printed."""
    mark_words: int
    """Number of marks before a heading and before a piece, which `wc -w` counts."""


class Summary(NamedTuple):
    """A finished summary, with its form, length and sections."""

    form: str
    length: str
    max_words: int
    """Maximum words of the summary."""
    word_count: int
    text: str
    title: str
    sections: tuple[SummarySection, ...]


def summarize_plan(
    plan: ParsedPlan, plan_id: str, state: str, task_ids: Sequence[str], form_name: str, length_name: str
) -> Summary:
    """Summarize a plan in a form and a length; `task_ids` are the IDs of its tasks.

    Raises ExecplanError for an unknown form or length.
    """
    lengths = {length.name: length for length in LENGTHS}
    for name, choices in ((form_name, FORMS), (length_name, lengths)):
        if name not in choices:
            message = f"unknown form or length of a summary: {name!r}"
            raise ExecplanError("usage", message, hint=f"use one of {', '.join(choices)}")
    summary_form, max_length = FORMS[form_name], lengths[length_name]
    subject = Subject(plan, plan_id, state, tuple(task_ids), summary_form.markup, max_length)
    title = quote_text(subject, plan.title or "")
    if not title or count_words(title) > max_length.max_words // 3:
        title = escape_hidden(plan_id)
    max_words = max_length.max_words - (
        0 if form_name == "structured" else summary_form.mark_words + count_words(title)
    )
    build_sections = summary_form.build_sections
    if plan.state() == DOCUMENT and form_name != "structured":
        build_sections = summary_forms.build_document
    attempts = []
    for share in (1.0, 0.5, 0.0):
        shorter_subject = subject._replace(
            length=max_length._replace(max_sentence_words=round(max_length.max_sentence_words * share))
        )
        attempts.append(fit_sections(build_sections(shorter_subject), max_words, summary_form))
        if not _count_empty_sections(attempts[-1]):
            break
    sections = _drop_empty_sections(min(attempts, key=_count_empty_sections))
    text = summary_form.format_text(title, sections)
    return Summary(form_name, length_name, max_length.max_words, count_words(text), text, title, tuple(sections))


def _drop_empty_sections(sections: Sequence[SummarySection]) -> list[SummarySection]:
    """Leave out sections without pieces; what they would have said is counted by the last one that counts."""
    printed = [section for section in sections if section.pieces or section.empty_text]
    dropped_count = sum(
        [section.omitted_count for section in sections if section.omitted_label and section not in printed]
    )
    for at in reversed(range(len(printed))):
        if printed[at].omitted_label and dropped_count:
            printed[at] = printed[at]._replace(
                omitted_count=printed[at].omitted_count + dropped_count, omitted_label=MORE_LABEL
            )
            break
    return printed


def _count_empty_sections(sections: Sequence[SummarySection]) -> int:
    """Count the sections that have no room for any of their pieces."""
    return len([section for section in sections if section.omitted_count and not section.pieces])


def _format_paragraphs(title: str, sections: Sequence[SummarySection]) -> str:
    """Format the summary as plain text with one paragraph per section."""
    paragraphs = [title]
    for section in sections:
        omitted_note = format_omitted(section)
        paragraphs.append(
            " ".join(
                [
                    *[piece.text for piece in section.pieces],
                    *([f"{omitted_note.capitalize()}."] if omitted_note else []),
                ]
            )
        )
    return "\n\n".join(paragraphs) + "\n"


def _format_sections(title: str, sections: Sequence[SummarySection]) -> str:
    """Format the summary as Markdown with headings and lists."""
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
    """Format the summary as a Markdown list."""
    lines = [f"# {title}", ""]
    for section in sections:
        lines += [f"- {piece.text}" for piece in section.pieces]
        if omitted_note := format_omitted(section):
            lines.append(f"- {section.heading}: {omitted_note}")
    return "\n".join(lines) + "\n"


def _format_fields(title: str, sections: Sequence[SummarySection]) -> str:
    """Format one field per line as a name, a colon and a value; pieces of lists include their name."""
    lines = []
    for section in sections:
        name = f"{section.heading}: " if section.heading else ""
        lines += [f"{name}{piece.text}" for piece in section.pieces] or (
            [f"{name}{OMITTED_FIELD if section.omitted_count else section.empty_text}"] if name else []
        )
    return "\n".join(lines) + "\n"


FORMS = {
    "summary": SummaryForm(summary_forms.build_prose, _format_paragraphs, False, False, 0),
    "report": SummaryForm(summary_forms.build_report, _format_sections, True, True, 1),
    "itinerary": SummaryForm(itinerary.build_itinerary, _format_sections, True, True, 1),
    "analysis": SummaryForm(summary_forms.build_analysis, _format_sections, True, True, 1),
    "structured": SummaryForm(summary_forms.build_structured, _format_fields, False, True, 0),
    "bullet_points": SummaryForm(summary_forms.build_bullet_points, _format_points, True, True, 1),
}
