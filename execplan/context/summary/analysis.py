"""The form `analysis`: what was found out, what was decided and why, what was given up, what went otherwise, how fast."""

from __future__ import annotations

from execplan.context.summary import facts
from execplan.context.summary.making import RANK_STEP, list_section, entry_pieces, sentence_pieces, task_pieces
from execplan.context.summary.pace import pace_pieces
from execplan.context.summary.piece import SummarySection, SummaryPiece, Segment, Subject
from execplan.context.summary.words import quote_text
from execplan.plan.model import OTHER

_SUPERSEDED_RANK = 8


def build_analysis(subject: Subject) -> list[SummarySection]:
    """What the logs and the stamps say; nothing about what they do not."""
    plan, max_entries = subject.plan, subject.length.max_entries
    discoveries, decisions, revisions = [facts.newest_entries(log) for log in (plan.discoveries, plan.decisions, plan.revisions)]
    other_tasks = [task for task in plan.tasks if task.state == OTHER and facts.has_text(task)]
    deviations = facts.deviation_sentences(subject)
    deviation_pieces = [*task_pieces(subject, other_tasks, 20), *sentence_pieces(subject, deviations, 25)]
    return [
        list_section("found", "Found out", entry_pieces(subject, discoveries, 10, detail_label="Evidence: "), discoveries, max_entries),
        list_section("decided", "Decided, and why", entry_pieces(subject, decisions, 0, detail_label="Why: "), decisions, max_entries),
        list_section("superseded", "Superseded", _superseded_pieces(subject), (), max_entries, ""),
        list_section("otherwise", "Otherwise than planned", deviation_pieces, deviations, max_entries, ""),
        list_section("revised", "Revised", entry_pieces(subject, revisions, 30), revisions, max_entries, ""),
        SummarySection("pace", "Pace", tuple(pace_pieces(subject, 5)), empty_text="No tick has a stamp."),
    ]


def _superseded_pieces(subject: Subject) -> list[SummaryPiece]:
    """What decisions took the place of."""
    pieces = []
    for index, entry in enumerate(facts.newest_entries([decision for decision in subject.plan.decisions if decision.supersedes])):
        old, new = quote_text(subject, entry.supersedes or ""), quote_text(subject, entry.text)
        if old and new:
            segments = (Segment("", old), Segment(" Now: ", new))
            pieces.append(SummaryPiece(segments, "", _SUPERSEDED_RANK + index * RANK_STEP, entry.start + 1, entry.end))
    return pieces
