"""Edits to the log sections, for the commands decide, discover, outcome and revise."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.entry_format import entry_bullet, entry_width, is_newest_first
from execplan.core.plan.item_format import ItemFormat, detect_format
from execplan.core.plan.line_grammar import (
    DATE_AUTHOR,
    DECISION,
    EVIDENCE,
    OBSERVATION,
    RATIONALE,
    SUPERSEDES,
    is_revision_note,
    read_label,
)
from execplan.core.plan.model import Entry, ParsedPlan, Section
from execplan.core.plan.plan_change import (
    PlanChange,
    PlanContent,
    append_to_section,
    entry_message,
    insert_padded,
    insert_section,
    plan_content,
    target_section,
)
from execplan.core.plan.plan_lookup import find_decision, normalize_text
from execplan.core.plan.text_blocks import canonical_text, escape_lead, fold_text, format_blocks, has_blocks
from execplan.core.text.markdown_blocks import PARAGRAPH
from execplan.core.text.text_lines import Edit
from execplan.core.timestamps import DEFAULT_TIMESTAMP, read_timestamp, write_timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from execplan.core.plan.plan_change import ChangeBuilder

_NOTES_TITLE = "Revision Notes"


def add_decision(
    text: str, rationale: str, author: str, now: datetime, *, supersedes: str | None = None, create: bool = False
) -> ChangeBuilder:
    """Build a change that adds a decision at the end of the log or, if it is newest-first, at the start."""

    def build_change(plan: ParsedPlan) -> PlanChange:
        section = target_section(plan, outline.DECISIONS, create=create)
        content = plan_content(plan)
        body, reason = _fitting_texts(plan, plan.decisions, text, rationale)
        same_entry = _find_same_entry(plan.decisions, body, reason)
        if same_entry is not None:
            return _unchanged(content, same_entry)
        superseded = find_decision(plan.decisions, supersedes) if supersedes is not None else None
        superseded_text = None
        if superseded:
            superseded_text = f"{superseded.text} ({superseded.date})" if superseded.date else superseded.text
        date, date_author = _format_date_author(plan.text.lines, plan.decisions, now, author)
        fields = [(RATIONALE, reason), (DATE_AUTHOR, date_author)] + (
            [(SUPERSEDES, superseded_text)] if superseded_text else []
        )
        edit, is_first, titles = _insert_log_entry(
            plan, section, outline.DECISIONS, plan.decisions, (DECISION, body), fields
        )
        new_decision = (body, reason, date, author, superseded_text)
        decisions = (new_decision, *content.decisions) if is_first else (*content.decisions, new_decision)
        expected = content._replace(sections=titles or content.sections, decisions=decisions)
        summary = fold_text(body)
        return PlanChange((edit,), expected, f"decide, {summary}", (entry_message("decided", summary),))

    return build_change


def add_discovery(text: str, evidence: str, *, create: bool = False) -> ChangeBuilder:
    """Build a change that adds a discovery with its evidence at the end or, in a newest-first log, at the start."""

    def build_change(plan: ParsedPlan) -> PlanChange:
        section = target_section(plan, outline.SURPRISES, create=create)
        content = plan_content(plan)
        body, proof = _fitting_texts(plan, plan.discoveries, text, evidence)
        same_entry = _find_same_entry(plan.discoveries, body, proof)
        if same_entry is not None:
            return _unchanged(content, same_entry)
        head_field = (OBSERVATION, body)
        edit, is_first, titles = _insert_log_entry(
            plan, section, outline.SURPRISES, plan.discoveries, head_field, [(EVIDENCE, proof)]
        )
        new_discovery = (body, proof)
        discoveries = (new_discovery, *content.discoveries) if is_first else (*content.discoveries, new_discovery)
        expected = content._replace(sections=titles or content.sections, discoveries=discoveries)
        summary = fold_text(body)
        return PlanChange((edit,), expected, f"discover, {summary}", (entry_message("discovered", summary),))

    return build_change


def add_outcome(source: str, *, create: bool = False) -> ChangeBuilder:
    """Build a change that adds an outcome: an item if the last outcome is an item, otherwise a paragraph."""

    def build_change(plan: ParsedPlan) -> PlanChange:
        section = target_section(plan, outline.OUTCOMES, create=create)
        content = plan_content(plan)
        canonical = canonical_text(source)
        text = escape_lead(canonical)
        timestamp = read_timestamp(text)
        outcome_text = text[len(timestamp.text) + len(timestamp.separator) :] if timestamp else text
        same_entry = _find_same_entry(plan.outcomes, outcome_text, "")
        if same_entry is not None:
            return _unchanged(content, same_entry)
        lines = plan.text.lines
        last_outcome = plan.outcomes[-1] if plan.outcomes else None
        list_bullet = entry_bullet(lines, last_outcome) if last_outcome is not None else ""
        # A paragraph would be read as a revision note, or its blocks as other outcomes.
        needs_bullet = is_revision_note(canonical) or has_blocks(text)
        bullet = "- " if needs_bullet and not list_bullet else list_bullet
        spans = [
            (entry.start, entry.end)
            for entry in plan.outcomes
            if bool(entry_bullet(lines, entry)) == bool(bullet) and not has_blocks(entry.body)
        ]
        item_format = detect_format(lines, spans, indent=" " * len(bullet), is_loose_default=False)
        if has_blocks(text) or not bullet:
            item_format = item_format._replace(indent=" " * len(bullet))
        new_lines = format_blocks(bullet, text, item_format)
        titles: tuple[str, ...] = content.sections
        if section is None:
            edit, titles = insert_section(plan, outline.OUTCOMES, new_lines)
        elif last_outcome is not None and list_bullet and not item_format.is_loose:
            edit = Edit(last_outcome.end, last_outcome.end, tuple(new_lines))
        else:
            edit = append_to_section(plan, section, new_lines)
        expected = content._replace(sections=titles, outcomes=(*content.outcomes, outcome_text))
        summary = fold_text(source)
        return PlanChange((edit,), expected, f"outcome, {summary}", (entry_message("noted", summary),))

    return build_change


def add_revision_note(source: str, now: datetime, *, may_repeat: bool = False) -> ChangeBuilder:
    """Build a change that adds a revision note where the plan keeps them, or else at its end.

    With `may_repeat`, it is added also if the plan has the same note, except as the last one.
    """

    def build_change(plan: ParsedPlan) -> PlanChange:
        content = plan_content(plan)
        text = canonical_text(source)
        if plan.title is None and not plan.sections:
            hint = "add a first line: # Title"
            raise ExecplanError("no-title", "the plan has no title and no sections", hint=hint)
        same_entry = _find_same_entry(plan.revisions[-1:] if may_repeat else plan.revisions, text, "")
        if same_entry is not None:
            return _unchanged(content, same_entry)
        date = write_timestamp(now, DEFAULT_TIMESTAMP).strip("()")
        own_bullet = "- " if has_blocks(text) else ""  # as a paragraph its blocks would be other notes
        note_lines = _format_note(own_bullet, f"Plan revision note: {date} - ", text)
        notes_section = next((section for section in plan.sections if is_revision_note(section.title)), None)
        last_note = plan.revisions[-1] if plan.revisions else None
        if (
            last_note is not None
            and notes_section is not None
            and notes_section.start < last_note.start < notes_section.end
        ):
            bullet = entry_bullet(plan.text.lines, last_note)
            edit = Edit(last_note.end, last_note.end, tuple(_format_note(bullet, f"{date} - ", text)))
            if not bullet:
                edit = insert_padded(plan.text.lines, last_note.end, note_lines)
        elif notes_section is not None:
            edit = append_to_section(plan, notes_section, note_lines)
        elif last_note is not None:
            edit = insert_padded(plan.text.lines, last_note.end, note_lines)
        elif plan.sections and plan.sections[-1].end == len(plan.text.lines) and not own_bullet:
            edit = insert_padded(plan.text.lines, len(plan.text.lines), note_lines)
        else:
            edit = insert_padded(plan.text.lines, len(plan.text.lines), [f"## {_NOTES_TITLE}", "", *note_lines])
            content = content._replace(sections=(*content.sections, _NOTES_TITLE))
        expected = content._replace(revisions=(*content.revisions, text))
        summary = fold_text(text)
        return PlanChange((edit,), expected, f"revise, {summary}", (entry_message("noted", summary),))

    return build_change


def _format_note(bullet: str, date: str, text: str) -> list[str]:
    return format_blocks(f"{bullet}{date}", text, ItemFormat(0, " " * len(bullet), is_loose=False))


def _fitting_texts(plan: ParsedPlan, entries: Sequence[Entry], *sources: str) -> list[str]:
    """Return texts in canonical form; on one line where only paragraphs without labels are entries."""
    is_list = not _are_paragraphs(plan, entries) or all([entry.is_labeled for entry in entries])
    return [canonical_text(source) if is_list else fold_text(source) for source in sources]


def _find_same_entry(entries: Sequence[Entry], text: str, support: str) -> Entry | None:
    """Find the entry that has the same text and the same rationale or evidence."""
    for entry in entries:
        if normalize_text(entry.text) == normalize_text(text) and normalize_text(
            entry.rationale or entry.evidence or ""
        ) == normalize_text(support):
            return entry
    return None


def _unchanged(content: PlanContent, entry: Entry) -> PlanChange:
    return PlanChange((), content, "", (entry_message(f"already in the plan, on line {entry.start + 1}", entry.text),))


def _insert_log_entry(
    plan: ParsedPlan,
    section: Section | None,
    section_name: str,
    entries: list[Entry],
    head_field: tuple[str, str],
    fields: list[tuple[str, str]],
) -> tuple[Edit, bool, tuple[str, ...]]:
    """Return the edit that adds an entry to a log, whether it comes first, and all section titles if one was added."""
    lines = plan.text.lines
    model_entries = [entry for entry in entries if entry.is_labeled and entry_bullet(lines, entry)]
    model_entry = model_entries[-1] if model_entries else None
    is_long = any([has_blocks(text) for _, text in (head_field, *fields)])
    is_paragraph = _are_paragraphs(plan, entries) and not is_long
    bullet = "" if is_paragraph else "- "
    if model_entry:
        bullet = entry_bullet(lines, model_entry)
    emphasis = "**" if model_entry is not None and lines[model_entry.start][len(bullet) :].startswith("**") else ""
    spans = [(entry.start, entry.end) for entry in model_entries]
    item_format = detect_format(lines, spans, indent=" " * len(bullet), is_loose_default=True)
    if is_long or (not item_format.indent.strip(" ") and len(item_format.indent) < len(bullet)):
        item_format = item_format._replace(indent=" " * len(bullet))
    width = entry_width(lines, model_entries)
    item_format = ItemFormat(width, item_format.indent, item_format.is_loose)
    new_lines = _format_entry(bullet, item_format, emphasis, head_field, fields)
    if section is None:
        edit, titles = insert_section(plan, section_name, new_lines)
        return edit, False, titles
    if not entries:
        return append_to_section(plan, section, new_lines), False, ()
    if is_newest_first(entries):
        index = entries[0].start
        return (
            Edit(index, index, (*new_lines, "") if item_format.is_loose or not model_entries else tuple(new_lines)),
            True,
            (),
        )
    index = entries[-1].end
    if entries[-1] is model_entry and not item_format.is_loose:
        return Edit(index, index, tuple(new_lines)), False, ()
    return insert_padded(lines, index, new_lines), False, ()


def _are_paragraphs(plan: ParsedPlan, entries: Sequence[Entry]) -> bool:
    """Return whether all entries are paragraphs; paragraphs next to an item would no longer be read as entries."""
    paragraph_lines = {block.start for block in plan.blocks if block.kind == PARAGRAPH and not block.depth}
    return bool(entries) and all([entry.start in paragraph_lines for entry in entries])


def _format_entry(
    bullet: str, item_format: ItemFormat, emphasis: str, head_field: tuple[str, str], fields: list[tuple[str, str]]
) -> list[str]:
    """Format an entry as lines: the head field after the bullet, and each labeled field on a new line below it.

    `emphasis` is the markup that makes labels bold, or empty.
    """
    lines: list[str] = []
    is_after_blocks = False
    for label, text in (head_field, *fields):
        lines += [""] if is_after_blocks else []
        lines += format_blocks(
            f"{item_format.indent if lines else bullet}{emphasis}{label}:{emphasis} ", text, item_format
        )
        is_after_blocks = has_blocks(text)
    return lines


def _format_date_author(lines: Sequence[str], entries: Sequence[Entry], now: datetime, author: str) -> tuple[str, str]:
    """Return the date, and the combined date and author, in the format of the last decision that has both."""
    for entry in reversed(entries):
        if not (entry.date and entry.author):
            continue
        for line in lines[entry.start : entry.end]:
            label = read_label(line)
            timestamp = read_timestamp(label[1]) if label and label[0] == DATE_AUTHOR else None
            if label and timestamp and timestamp.is_valid and timestamp.is_bare:
                date = write_timestamp(now, timestamp)
                following_text = label[1][len(timestamp.text) :]
                if following_text.startswith(" ("):
                    return date, f"{date} ({author})"
                return date, f"{date}, {author}" if following_text.startswith(",") else f"{date} / {author}"
    date = write_timestamp(now, DEFAULT_TIMESTAMP)[1:11]
    return date, f"{date} / {author}"
