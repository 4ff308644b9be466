"""The form `bullet_points`: a flat list, a point each, to be pasted into a message."""

from __future__ import annotations

from execplan.context.summary import facts
from execplan.context.summary.making import RANK_STEP, with_label, entry_pieces, sentence_pieces, task_pieces
from execplan.context.summary.piece import SummarySection, Subject, unquoted_piece

_BULLET_PURPOSE_SENTENCES = {"brief": 1, "detailed": 2, "comprehensive": 4}


def build_bullet_points(subject: Subject) -> list[SummarySection]:
    """What it is for, where it stands, what is next, was done, was decided, was found, came of it, may go wrong."""
    plan, max_entries = subject.plan, subject.length.max_entries
    open_tasks, done_tasks = facts.open_tasks(subject), facts.done_tasks(subject)
    progress = facts.plan_progress(subject)
    is_brief = max_entries <= 2
    entries_by_kind = (
        ("purpose", "For", sentence_pieces(subject, facts.purpose_sentences(subject, _BULLET_PURPOSE_SENTENCES[subject.length.name]), 1)),
        ("standing", "", [unquoted_piece(f"State: {progress.state}, {progress.summary}")]),
        ("next", "Next", task_pieces(subject, open_tasks[:1], 2)),
        ("open", "Open", task_pieces(subject, open_tasks[1:], RANK_STEP // 2)),
        ("done", "Done", task_pieces(subject, done_tasks, 5)),
        ("decisions", "Decided", entry_pieces(subject, facts.newest_entries(plan.decisions), 3, detail_label="" if is_brief else "Why: ")),
        ("discoveries", "Found", entry_pieces(subject, facts.newest_entries(plan.discoveries), 6)),
        ("outcomes", "Outcome", entry_pieces(subject, facts.newest_entries(plan.outcomes), 4)),
        ("risks", "Risk", [] if is_brief else sentence_pieces(subject, facts.risk_sentences(subject), RANK_STEP // 2)),
    )
    max_pieces = 1 if is_brief else max_entries
    return [
        SummarySection(name, "", tuple([with_label(piece, label) if label else piece for piece in pieces]), max_pieces)
        for name, label, pieces in entries_by_kind
    ]
