"""The changes of the logs: decide, discover, outcome, revise."""

from __future__ import annotations

from execplan.clock import PLAIN, read_stamp, write_stamp
from execplan.errors import INPUT, ExecplanError
from execplan.plan import outline
from execplan.plan.change import Change, Facts, facts, fill, padded, section_for, with_section
from execplan.plan.grammar import (
    DATE_AUTHOR,
    DECISION,
    EVIDENCE,
    OBSERVATION,
    RATIONALE,
    SUPERSEDES,
    is_note,
    read_label,
)
from execplan.plan.model import Entry, Plan, Section
from execplan.plan.seek import find_decision, fold
from execplan.plan.shape import Shape, escape, shape_of, wrap, wrap_width
from execplan.text.blocks import PARAGRAPH
from execplan.text.edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from execplan.plan.change import Changer

_NOTES = "Revision Notes"


def decide(
    words: str, why: str, author: str, moment: datetime, *, supersedes: str | None = None, create: bool = False
) -> Changer:
    """Add a decision, behind the last one or, in a log that has the newest first, before the first."""

    def change(plan: Plan) -> Change:
        section = section_for(plan, outline.DECISIONS, create=create)
        before = facts(plan)
        same = _same(plan.decisions, words, why)
        if same is not None:
            return _there(before, same)
        old = find_decision(plan.decisions, supersedes) if supersedes is not None else None
        told = (f"{old.text} ({old.date})" if old.date else old.text) if old else None
        date, line = _date_author(plan.text.lines, plan.decisions, moment, author)
        fields = [(RATIONALE, why), (DATE_AUTHOR, line)] + ([(SUPERSEDES, told)] if told else [])
        edit, first, titles = _log(plan, section, outline.DECISIONS, plan.decisions, (DECISION, words), fields)
        new = (words, why, date, author, told)
        decisions = (new, *before.decisions) if first else (*before.decisions, new)
        expected = before._replace(sections=titles or before.sections, decisions=decisions)
        return Change((edit,), expected, f"decide, {words}", (f"decided: {words}",))

    return change


def discover(words: str, evidence: str, *, create: bool = False) -> Changer:
    """Add a discovery with what shows it, behind the last one."""

    def change(plan: Plan) -> Change:
        section = section_for(plan, outline.SURPRISES, create=create)
        before = facts(plan)
        same = _same(plan.discoveries, words, evidence)
        if same is not None:
            return _there(before, same)
        head = (OBSERVATION, words)
        edit, first, titles = _log(plan, section, outline.SURPRISES, plan.discoveries, head, [(EVIDENCE, evidence)])
        new = (words, evidence)
        discoveries = (new, *before.discoveries) if first else (*before.discoveries, new)
        expected = before._replace(sections=titles or before.sections, discoveries=discoveries)
        return Change((edit,), expected, f"discover, {words}", (f"discovered: {words}",))

    return change


def outcome(words: str, *, create: bool = False) -> Changer:
    """Add an outcome: an item where the outcomes are items, else a paragraph."""

    def change(plan: Plan) -> Change:
        section = section_for(plan, outline.OUTCOMES, create=create)
        before = facts(plan)
        text = escape(words)
        stamp = read_stamp(text)
        told = text[len(stamp.text) + len(stamp.after) :] if stamp else text
        same = _same(plan.outcomes, told, "")
        if same is not None:
            return _there(before, same)
        lines = plan.text.lines
        last = plan.outcomes[-1] if plan.outcomes else None
        listed = _bullet(lines, last) if last is not None else ""
        mark = "- " if is_note(words) and not listed else listed  # a paragraph would be a revision note
        spans = [(entry.start, entry.end) for entry in plan.outcomes if bool(_bullet(lines, entry)) == bool(mark)]
        shape = shape_of(lines, spans, indent=" " * len(mark), loose=False)
        new = wrap(mark, text, shape if mark else shape._replace(indent=""))
        titles: tuple[str, ...] = before.sections
        if section is None:
            edit, titles = with_section(plan, outline.OUTCOMES, new)
        elif last is not None and listed and not shape.loose:
            edit = Edit(last.end, last.end, tuple(new))
        else:
            edit = fill(plan, section, new)
        expected = before._replace(sections=titles, outcomes=(*before.outcomes, told))
        return Change((edit,), expected, f"outcome, {words}", (f"noted: {words}",))

    return change


def revise(words: str, moment: datetime) -> Changer:
    """Add a revision note where the plan keeps them, at its end if it keeps none."""

    def change(plan: Plan) -> Change:
        before = facts(plan)
        if plan.title is None and not plan.sections:
            hint = "give it a first line: # Its title"
            raise ExecplanError("no-title", "the plan has no title and no section", exit=INPUT, hint=hint)
        same = _same(plan.revisions, words, "")
        if same is not None:
            return _there(before, same)
        date = write_stamp(moment, PLAIN).strip("()")
        note = f"Plan revision note: {date} - {words}"
        own = next((section for section in plan.sections if is_note(section.title)), None)
        last = plan.revisions[-1] if plan.revisions else None
        if last is not None and own is not None and own.start < last.start < own.end:
            bullet = _bullet(plan.text.lines, last)
            edit = Edit(last.end, last.end, (f"{bullet}{date} - {words}",))
            if not bullet:
                edit = padded(plan.text.lines, last.end, [note])
        elif own is not None:
            edit = fill(plan, own, [note])
        elif last is not None or (plan.sections and plan.sections[-1].end == len(plan.text.lines)):
            edit = padded(plan.text.lines, last.end if last else len(plan.text.lines), [note])
        else:
            edit = padded(plan.text.lines, len(plan.text.lines), [f"## {_NOTES}", "", note])
            before = before._replace(sections=(*before.sections, _NOTES))
        expected = before._replace(revisions=(*before.revisions, words))
        return Change((edit,), expected, f"revise, {words}", (f"noted: {words}",))

    return change


def _same(entries: Sequence[Entry], words: str, ground: str) -> Entry | None:
    """The entry that says the same words already, on the same ground: rationale or evidence."""
    for entry in entries:
        if fold(entry.text) == fold(words) and fold(entry.rationale or entry.evidence or "") == fold(ground):
            return entry
    return None


def _there(before: Facts, entry: Entry) -> Change:
    return Change((), before, "", (f"there already, in line {entry.start + 1}: {entry.text}",))


def _log(
    plan: Plan,
    section: Section | None,
    name: str,
    entries: list[Entry],
    head: tuple[str, str],
    fields: list[tuple[str, str]],
) -> tuple[Edit, bool, tuple[str, ...]]:
    """The edit that adds an entry to a log, whether it comes first, and the sections' titles if one was added."""
    lines = plan.text.lines
    models = [entry for entry in entries if entry.labelled and _bullet(lines, entry)]
    model = models[-1] if models else None
    mark = _bullet(lines, model) if model else "" if _are_prose(plan, entries) else "- "
    around = "**" if model is not None and lines[model.start][len(mark) :].startswith("**") else ""
    spans = [(entry.start, entry.end) for entry in models]
    shape = shape_of(lines, spans, indent=" " * len(mark), loose=True)
    if not shape.indent.strip(" ") and len(shape.indent) < len(mark):
        shape = shape._replace(indent=" " * len(mark))
    shape = Shape(_wrapped(lines, models), shape.indent, shape.loose)
    new = _entry_lines(mark, shape, around, head, fields)
    if section is None:
        edit, titles = with_section(plan, name, new)
        return edit, False, titles
    if not entries:
        return fill(plan, section, new), False, ()
    if newest_first(entries):
        at = entries[0].start
        return Edit(at, at, (*new, "") if shape.loose or not models else tuple(new)), True, ()
    at = entries[-1].end
    if entries[-1] is model and not shape.loose:
        return Edit(at, at, tuple(new)), False, ()
    return padded(lines, at, new), False, ()


def _are_prose(plan: Plan, entries: Sequence[Entry]) -> bool:
    """Whether there are entries and all are paragraphs: beside an item, paragraphs would no longer be read as entries."""
    prose = {block.start for block in plan.blocks if block.kind == PARAGRAPH and not block.depth}
    return bool(entries) and all([entry.start in prose for entry in entries])


def _entry_lines(
    mark: str, shape: Shape, around: str, head: tuple[str, str], fields: list[tuple[str, str]]
) -> list[str]:
    """An entry: its head behind the bullet, a label a line below it; `around` is what makes labels bold."""
    lines = wrap(f"{mark}{around}{head[0]}:{around} ", head[1], shape)
    for label, words in fields:
        lines += wrap(f"{shape.indent}{around}{label}:{around} ", words, shape)
    return lines


def _wrapped(lines: Sequence[str], entries: Sequence[Entry]) -> int:
    """The width at which entries are wrapped by hand, or 0: some field of theirs goes on in a line without a label."""
    widths = []
    for entry in entries:
        for at in range(entry.start + 1, entry.end):
            if lines[at].strip() and read_label(lines[at]) is None and lines[at - 1].strip():
                widths += [len(lines[at]), len(lines[at - 1])]
    return wrap_width(widths)


def newest_first(entries: Sequence[Entry]) -> bool:
    """Whether the dates of a log fall from the first entry to the last."""
    dates = [entry.date[:10] for entry in entries if entry.date]
    return len(dates) > 1 and dates[0] > dates[-1] and dates == sorted(dates, reverse=True)


def _date_author(lines: Sequence[str], entries: Sequence[Entry], moment: datetime, author: str) -> tuple[str, str]:
    """The date, and date and author in one, in the shape of the last decision that has both."""
    for entry in reversed(entries):
        if not (entry.date and entry.author):
            continue
        for line in lines[entry.start : entry.end]:
            label = read_label(line)
            stamp = read_stamp(label[1]) if label and label[0] == DATE_AUTHOR else None
            if label and stamp and stamp.possible and stamp.bare:
                date = write_stamp(moment, stamp)
                rest = label[1][len(stamp.text) :]
                if rest.startswith(" ("):
                    return date, f"{date} ({author})"
                return date, f"{date}, {author}" if rest.startswith(",") else f"{date} / {author}"
    date = write_stamp(moment, PLAIN)[1:11]
    return date, f"{date} / {author}"


def _bullet(lines: Sequence[str], entry: Entry) -> str:
    """The bullet that an entry begins with, with the white space around it, or nothing."""
    line = lines[entry.start]
    bare = line.lstrip(" ")
    if bare[:2] not in ("- ", "* ", "+ "):
        return ""
    return line[: len(line) - len(bare[1:].lstrip(" "))]
