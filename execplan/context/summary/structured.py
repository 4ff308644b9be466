"""The form `structured`: a field a line, always the same names in the same order, for grep and for tables."""

from __future__ import annotations

from execplan.context.summary import facts
from execplan.context.summary.making import with_label, entry_pieces, sentence_pieces, task_pieces
from execplan.context.summary.piece import SummarySection, SummaryPiece, Segment, Subject, unquoted_piece
from execplan.context.summary.words import quote_text, escape_hidden

_LIST_RANK = 50
"""The rank of what comes only with longer ones."""


def build_structured(subject: Subject) -> list[SummarySection]:
    """One part a field; what the plan does not have is a hyphen. Longer ones add lists behind these."""
    plan, counts = subject.plan, subject.plan.counts()
    timestamps = facts.sorted_timestamps(plan.tasks)
    done_tasks, open_tasks = facts.done_tasks(subject), facts.open_tasks(subject)
    decisions = facts.newest_entries(plan.decisions)
    values = {
        "plan": escape_hidden(subject.id),
        "state": subject.state,
        **{f"tasks_{name}": counts[name] for name in ("total", "done", "open", "other")},
        "first_stamp": facts.format_timestamp(timestamps[0]) if timestamps else "-",
        "last_stamp": facts.format_timestamp(timestamps[-1]) if timestamps else "-",
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
                    (Segment("", quote_text(subject, plan.title or "", 20)),), start=plan.title_line + 1, end=plan.title_line + 1
                )
            ],
        ),
        *[_field_section(name, [unquoted_piece(f"{value}")]) for name, value in values.items()],
        _field_section("next_task", task_pieces(subject, open_tasks[:1], 1, dated=False)),
        _field_section("purpose", sentence_pieces(subject, facts.purpose_sentences(subject, 1), 2)),
        _field_section("last_done", task_pieces(subject, done_tasks[:1], 3, dated=False)),
        _field_section("last_decision", entry_pieces(subject, decisions[:1], 4, dated=False)),
        _field_section("last_decision_date", [unquoted_piece(escape_hidden(last_decision.date[:24]))] if last_decision is not None and last_decision.date else []),
        _field_section("last_discovery", entry_pieces(subject, facts.newest_entries(plan.discoveries)[:1], 6, dated=False)),
        _field_section("last_outcome", entry_pieces(subject, facts.newest_entries(plan.outcomes)[:1], 5, dated=False)),
    ]
    return fields if subject.length.max_entries <= 2 else [*fields, *_list_sections(subject)]


def _field_section(name: str, pieces: list[SummaryPiece]) -> SummarySection:
    return SummarySection(name, name, tuple([piece for piece in pieces if piece.text][:1]), empty_text="-")


def _list_sections(subject: Subject) -> list[SummarySection]:
    """Every entry of a kind as a line of its own, the newest first, tasks the next first."""
    plan, max_entries = subject.plan, subject.length.max_entries
    pieces_by_kind = {
        "open": task_pieces(subject, facts.open_tasks(subject), _LIST_RANK),
        "done": task_pieces(subject, facts.done_tasks(subject), _LIST_RANK + 1),
        "decision": entry_pieces(subject, facts.newest_entries(plan.decisions), _LIST_RANK + 2),
        "discovery": entry_pieces(subject, facts.newest_entries(plan.discoveries), _LIST_RANK + 3),
        "outcome": entry_pieces(subject, facts.newest_entries(plan.outcomes), _LIST_RANK + 4),
        "risk": sentence_pieces(subject, facts.risk_sentences(subject), _LIST_RANK + 5),
    }
    return [SummarySection(name, "", tuple([with_label(piece, name) for piece in pieces]), max_entries) for name, pieces in pieces_by_kind.items()]
