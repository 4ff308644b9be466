"""Forms of a summary: structured fields, prose, bullet points, analysis and report."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from execplan.context.summary import plan_facts
from execplan.context.summary.plan_sentences import read_sentences
from execplan.context.summary.summary_pieces import (
    MORE_LABEL,
    RANK_STEP,
    Segment,
    Subject,
    SummaryPiece,
    SummarySection,
    as_sentences,
    entry_pieces,
    escape_hidden,
    list_section,
    quote_text,
    sentence_pieces,
    task_pieces,
    unquoted_piece,
    with_label,
)
from execplan.core.plan.model import DONE, OTHER
from execplan.core.plan.section_roles import DECISIONS, PURPOSE, RISKS, find_role

_LIST_RANK = 50
"""Rank of the lists that only longer summaries have."""


def build_structured(subject: Subject) -> list[SummarySection]:
    """Build one section per field; a hyphen marks a missing value. Longer summaries add lists."""
    plan, counts = subject.plan, subject.plan.counts()
    timestamps = plan_facts.sorted_timestamps(plan.tasks)
    done_tasks, open_tasks = plan_facts.done_tasks(subject), plan_facts.open_tasks(subject)
    decisions = plan_facts.newest_entries(plan.decisions)
    values = {
        "plan": escape_hidden(subject.id),
        "state": subject.state,
        **{f"tasks_{name}": counts[name] for name in ("total", "done", "open", "other")},
        "first_stamp": plan_facts.format_timestamp(timestamps[0]) if timestamps else "-",
        "last_stamp": plan_facts.format_timestamp(timestamps[-1]) if timestamps else "-",
        "decisions": len(plan.decisions),
        "discoveries": len(plan.discoveries),
        "outcomes": len(plan.outcomes),
        "revisions": len(plan.revisions),
        "guidance_left": len(plan.placeholder_lines),
        "next_task_id": subject.ids[open_tasks[0].number - 1] if open_tasks else "-",
    }
    last_decision = decisions[0] if decisions else None
    fields = [
        _field_section(
            "title",
            [
                SummaryPiece(
                    (Segment("", quote_text(subject, plan.title or "")),),
                    start=plan.title_line + 1,
                    end=plan.title_line + 1,
                )
            ],
        ),
        *[_field_section(name, [unquoted_piece(f"{value}")]) for name, value in values.items()],
        _field_section("next_task", task_pieces(subject, open_tasks[:1], 1, dated=False)),
        _field_section("purpose", sentence_pieces(subject, plan_facts.purpose_sentences(subject)[:1], 2)),
        _field_section("last_done", task_pieces(subject, done_tasks[:1], 3, dated=False)),
        _field_section("last_decision", entry_pieces(subject, decisions[:1], 4, dated=False)),
        _field_section(
            "last_decision_date",
            [unquoted_piece(escape_hidden(last_decision.date[:24]))]
            if last_decision is not None and last_decision.date
            else [],
        ),
        _field_section(
            "last_discovery", entry_pieces(subject, plan_facts.newest_entries(plan.discoveries)[:1], 6, dated=False)
        ),
        _field_section(
            "last_outcome", entry_pieces(subject, plan_facts.newest_entries(plan.outcomes)[:1], 5, dated=False)
        ),
    ]
    return fields if subject.length.max_entries <= 2 else [*fields, *_list_sections(subject)]


def _field_section(name: str, pieces: list[SummaryPiece]) -> SummarySection:
    return SummarySection(name, name, tuple([piece for piece in pieces if piece.text][:1]), empty_text="-")


def _list_sections(subject: Subject) -> list[SummarySection]:
    """Build the lists: one line per entry, newest first, and open tasks with the next one first."""
    plan, max_entries = subject.plan, subject.length.max_entries
    pieces_by_kind = {
        "open": task_pieces(subject, plan_facts.open_tasks(subject), _LIST_RANK),
        "done": task_pieces(subject, plan_facts.done_tasks(subject), _LIST_RANK + 1),
        "dropped": task_pieces(subject, plan_facts.dropped_tasks(subject), _LIST_RANK + 1),
        "decision": entry_pieces(subject, plan_facts.newest_entries(plan.decisions), _LIST_RANK + 2),
        "discovery": entry_pieces(subject, plan_facts.newest_entries(plan.discoveries), _LIST_RANK + 3),
        "outcome": entry_pieces(subject, plan_facts.newest_entries(plan.outcomes), _LIST_RANK + 4),
        "risk": sentence_pieces(subject, plan_facts.risk_entries(subject), _LIST_RANK + 5),
    }
    return [
        SummarySection(name, "", tuple([with_label(piece, name) for piece in pieces]), max_entries)
        for name, pieces in pieces_by_kind.items()
    ]


_HOUR, _DAY = 60, 1440


def pace_pieces(subject: Subject, rank: int) -> list[SummaryPiece]:
    """Return pieces about the pace: the date range, number of days, and usual and longest time between completed tasks."""
    done_tasks = [task for task in subject.plan.tasks if task.state == DONE]
    timestamps = plan_facts.sorted_timestamps(done_tasks)
    if not timestamps:
        return []
    days = len({timestamp.date for timestamp in timestamps})
    tasks = "completed task" if len(done_tasks) == 1 else "completed tasks"
    first, last = plan_facts.format_timestamp(timestamps[0]), plan_facts.format_timestamp(timestamps[-1])
    if first != last:
        range_text = f", from {first} to {last}, on {days} {'days' if days > 1 else 'day'}"
    else:
        range_text = f", {first}"
    pieces = [unquoted_piece(f"{len(timestamps)} of {len(done_tasks)} {tasks} with a timestamp{range_text}.", rank)]
    timed_tasks = sorted(
        [
            (minute, task.number, task)
            for task in done_tasks
            if task.timestamp
            and task.timestamp.time
            and (minute := plan_facts.earliest_minute(task.timestamp)) is not None
        ]
    )
    gaps = [(later[0] - earlier[0], later[2]) for earlier, later in itertools.pairwise(timed_tasks)]
    if len(gaps) < 2:
        return pieces
    usual_gap = sorted([gap for gap, _ in gaps])[len(gaps) // 2]
    longest_gap, task = max(gaps, key=lambda gap_and_task: gap_and_task[0])
    if not longest_gap:
        return pieces
    if usual_gap:
        usual_text = f"Usually {_format_duration(usual_gap)} from one completed task to the next"
    else:
        usual_text = "Mostly no time from one completed task to the next"
    lead = f"{usual_text}; the longest gap, {_format_duration(longest_gap)}, before: "
    quote = quote_text(subject, task.text)
    if quote:
        return [*pieces, SummaryPiece((Segment(lead, quote),), "", rank + 1, task.box_line + 1, task.end)]
    return pieces


def _format_duration(minutes: int) -> str:
    """Format a duration in whole minutes, hours or days."""
    for size, name in ((_DAY, "day"), (_HOUR, "hour"), (1, "minute")):
        if minutes >= 2 * size or size == 1:
            number = round(minutes / size)
            return f"{number:,} {name}{'' if number == 1 else 's'}"
    raise AssertionError


_PROSE_PURPOSE_SENTENCES = {"brief": 2, "detailed": 5, "comprehensive": 10}


def build_prose(subject: Subject) -> list[SummarySection]:
    """Build one paragraph per topic; topics that the plan does not cover are left out."""
    plan, max_entries = subject.plan, subject.length.max_entries
    is_brief = max_entries <= 2
    purpose = _best_in_order(subject, _PROSE_PURPOSE_SENTENCES)
    done_tasks, open_tasks = plan_facts.done_tasks(subject), plan_facts.open_tasks(subject)
    done_pieces = task_pieces(subject, done_tasks[: 1 if is_brief else 3], 50, dated=not is_brief)
    next_pieces = task_pieces(subject, open_tasks, 2)
    decisions = plan_facts.newest_entries(plan.decisions)[: 1 if is_brief else max_entries]
    decision_pieces = entry_pieces(subject, decisions, 3, detail_label="Why: ", dated=not is_brief)
    outcome_pieces = entry_pieces(subject, plan_facts.newest_entries(plan.outcomes)[:max_entries], 4, dated=False)
    discovery_pieces = entry_pieces(subject, plan_facts.newest_entries(plan.discoveries)[:max_entries], 30, dated=False)
    return [
        SummarySection("purpose", "Purpose", tuple(as_sentences(purpose))),
        SummarySection(
            "standing",
            "Standing",
            (_progress_piece(subject), *_lead_sentences(done_pieces, "Last completed", "Before that")),
        ),
        SummarySection(
            "next",
            "Next",
            tuple(_lead_sentences(next_pieces, "Next", "Then")),
            1 if is_brief else max_entries,
            MORE_LABEL,
        ),
        SummarySection(
            "decisions", "Decisions", tuple(_lead_sentences(decision_pieces, "Last decided", "Before that"))
        ),
        SummarySection(
            "discoveries",
            "Discoveries",
            tuple([] if is_brief else _lead_sentences(discovery_pieces, "Discovered", "Also")),
        ),
        SummarySection("outcomes", "Outcomes", tuple(_lead_sentences(outcome_pieces, "Result", "Also"))),
    ]


def _progress_piece(subject: Subject) -> SummaryPiece:
    """Return a sentence with the plan's state and task counts."""
    progress = plan_facts.plan_progress(subject)
    return unquoted_piece(f"The plan is {progress.state}: {progress.summary}.")


def _lead_sentences(pieces: list[SummaryPiece], first_label: str, next_label: str) -> list[SummaryPiece]:
    """Turn the pieces into sentences, each after a label; the first one has a different label."""
    return as_sentences([with_label(piece, next_label if index else first_label) for index, piece in enumerate(pieces)])


def _best_in_order(subject: Subject, counts: Mapping[str, int]) -> list[SummaryPiece]:
    """Return the pieces that describe the purpose, in the order of the plan."""
    best = plan_facts.purpose_sentences(subject)[: counts[subject.length.name]]
    pieces = [(sentence.position, piece) for sentence in best for piece in sentence_pieces(subject, [sentence], 1)]
    return [piece for _, piece in sorted(pieces, key=lambda pair: pair[0])]


def build_document(subject: Subject) -> list[SummarySection]:
    """Build the summary of a document that is no plan: what it is about, and how each section begins."""
    purpose = _best_in_order(subject, _PROSE_PURPOSE_SENTENCES)
    decisions = plan_facts.newest_entries(subject.plan.decisions)
    parts: list[SummaryPiece] = []
    for section in subject.plan.sections:
        title = quote_text(subject, section.title)
        if find_role(section.title, {}) in (PURPOSE, DECISIONS, RISKS):
            continue
        sentences = read_sentences(subject.plan, section.body_start, section.end)
        for sentence in [sentence for sentence in sentences if not sentence.text.endswith((":", "："))][:1]:
            segments = (Segment("", title), Segment(": ", quote_text(subject, sentence.text)))
            if all([segment.quote for segment in segments]):
                rank = 2 + RANK_STEP * len(parts)
                parts.append(SummaryPiece(segments, "", rank, section.start + 1, sentence.end))
    return [
        SummarySection("purpose", "Purpose", tuple(as_sentences(purpose))),
        SummarySection("contents", "Contents", tuple(as_sentences(parts)), 0, MORE_LABEL),
        *[
            SummarySection(name, heading, tuple(_lead_sentences(pieces, label, label)), subject.length.max_entries)
            for name, heading, label, pieces in (
                ("decisions", "Decisions", "Decided", entry_pieces(subject, decisions, 3)),
                ("risks", "Risks", "Risk", sentence_pieces(subject, plan_facts.risk_entries(subject), 4)),
            )
        ],
    ]


_BULLET_PURPOSE_SENTENCES = {"brief": 1, "detailed": 2, "comprehensive": 4}


def build_bullet_points(subject: Subject) -> list[SummarySection]:
    """Build bullet points about the purpose, state, tasks, decisions, discoveries, outcomes and risks."""
    plan, max_entries = subject.plan, subject.length.max_entries
    open_tasks, done_tasks = plan_facts.open_tasks(subject), plan_facts.done_tasks(subject)
    progress = plan_facts.plan_progress(subject)
    is_brief = max_entries <= 2
    entries_by_kind = (
        (
            "purpose",
            "For",
            _best_in_order(subject, _BULLET_PURPOSE_SENTENCES),
        ),
        ("standing", "", [unquoted_piece(f"State: {progress.state}, {progress.summary}")]),
        ("next", "Next", task_pieces(subject, open_tasks[:1], 2)),
        ("open", "Open", task_pieces(subject, open_tasks[1:], RANK_STEP // 2)),
        ("done", "Done", task_pieces(subject, done_tasks, 5)),
        ("dropped", "Dropped", task_pieces(subject, plan_facts.dropped_tasks(subject), 5)),
        (
            "decisions",
            "Decided",
            entry_pieces(
                subject, plan_facts.newest_entries(plan.decisions), 3, detail_label="" if is_brief else "Why: "
            ),
        ),
        ("discoveries", "Found", entry_pieces(subject, plan_facts.newest_entries(plan.discoveries), 6)),
        ("outcomes", "Outcome", entry_pieces(subject, plan_facts.newest_entries(plan.outcomes), 4)),
        (
            "risks",
            "Risk",
            [] if is_brief else sentence_pieces(subject, plan_facts.risk_entries(subject), RANK_STEP // 2),
        ),
    )
    max_pieces = 1 if is_brief else max_entries
    return [
        SummarySection(
            name,
            label,
            tuple([with_label(piece, label) if label else piece for piece in pieces]),
            max_pieces,
            MORE_LABEL if name in ("open", "done", "dropped") else "",
        )
        for name, label, pieces in entries_by_kind
    ]


_SUPERSEDED_RANK = 8


def build_analysis(subject: Subject) -> list[SummarySection]:
    """Build an analysis from the logs and timestamps; it adds nothing that they do not state."""
    plan, max_entries = subject.plan, subject.length.max_entries
    discoveries, decisions, revisions = [
        plan_facts.newest_entries(log) for log in (plan.discoveries, plan.decisions, plan.revisions)
    ]
    other_tasks = [task for task in plan.tasks if task.state == OTHER and plan_facts.has_text(task)]
    deviations = plan_facts.deviation_sentences(subject)
    deviation_pieces = [*task_pieces(subject, other_tasks, 20), *sentence_pieces(subject, deviations, 25)]
    return [
        list_section(
            "found",
            "Discovered",
            entry_pieces(subject, discoveries, 10, detail_label="Evidence: "),
            discoveries,
            max_entries,
        ),
        list_section(
            "decided",
            "Decided, and why",
            entry_pieces(subject, decisions, 0, detail_label="Why: "),
            decisions,
            max_entries,
        ),
        list_section("superseded", "Superseded", _superseded_pieces(subject), (), max_entries, ""),
        list_section("otherwise", "Deviations from the plan", deviation_pieces, deviations, max_entries, ""),
        list_section("revised", "Revised", entry_pieces(subject, revisions, 30), revisions, max_entries, ""),
        SummarySection("pace", "Pace", tuple(pace_pieces(subject, 5)), empty_text="No completed task has a timestamp."),
    ]


def _superseded_pieces(subject: Subject) -> list[SummaryPiece]:
    """Return pieces for the decisions that were superseded, with their replacements."""
    pieces = []
    for index, entry in enumerate(
        plan_facts.newest_entries([decision for decision in subject.plan.decisions if decision.supersedes])
    ):
        old, new = quote_text(subject, entry.supersedes or ""), quote_text(subject, entry.text)
        if old and new:
            segments = (Segment("", old), Segment(" Now: ", new))
            pieces.append(SummaryPiece(segments, "", _SUPERSEDED_RANK + index * RANK_STEP, entry.start + 1, entry.end))
    return pieces


def build_report(subject: Subject) -> list[SummarySection]:
    """Build a report with status, done, open, decisions, findings, risks and outcome; missing parts are reported."""
    plan, max_entries = subject.plan, subject.length.max_entries
    progress = plan_facts.plan_progress(subject)
    status_pieces = [
        unquoted_piece(f"{progress.state.capitalize()}, {progress.task_counts}."),
        *([unquoted_piece(f"{progress.template_note.capitalize()}.")] if progress.template_note else []),
    ]
    if timestamp_range := plan_facts.timestamp_range(subject):
        status_pieces.append(unquoted_piece(f"{timestamp_range[:1].upper()}{timestamp_range[1:]}."))
    status_pieces += sentence_pieces(subject, plan_facts.purpose_sentences(subject)[: 1 if max_entries <= 2 else 3], 5)
    reason_label = "" if max_entries <= 2 else "Why: "
    done_tasks, open_tasks, dropped_tasks, risk_entries = (
        plan_facts.done_tasks(subject),
        plan_facts.open_tasks(subject),
        plan_facts.dropped_tasks(subject),
        plan_facts.risk_entries(subject),
    )
    decisions, discoveries, outcomes = [
        plan_facts.newest_entries(log) for log in (plan.decisions, plan.discoveries, plan.outcomes)
    ]
    return [
        SummarySection("status", "Status", tuple(status_pieces)),
        list_section("done", "Done", task_pieces(subject, done_tasks, 40), done_tasks, max_entries, "Nothing yet."),
        list_section("open", "Open", task_pieces(subject, open_tasks, 10), open_tasks, max_entries, "Nothing."),
        list_section("dropped", "Dropped", task_pieces(subject, dropped_tasks, 45), dropped_tasks, max_entries, ""),
        list_section(
            "decisions",
            "Decisions",
            entry_pieces(subject, decisions, 20, detail_label=reason_label),
            decisions,
            max_entries,
        ),
        list_section("findings", "Findings", entry_pieces(subject, discoveries, 50), discoveries, max_entries),
        list_section("risks", "Risks", sentence_pieces(subject, risk_entries, 30), risk_entries, max_entries),
        list_section("outcome", "Outcome", entry_pieces(subject, outcomes, 15), outcomes, max_entries),
    ]
