"""The form `summary`: prose on what the plan is for, where it stands, what is next, what was decided and what came of it."""

from __future__ import annotations

from execplan.context.summary import facts
from execplan.context.summary.making import as_sentences, with_label, entry_pieces, sentence_pieces, task_pieces
from execplan.context.summary.piece import SummarySection, SummaryPiece, Subject, unquoted_piece

_PROSE_PURPOSE_SENTENCES = {"brief": 2, "detailed": 5, "comprehensive": 10}


def build_prose(subject: Subject) -> list[SummarySection]:
    """A paragraph each; nothing is said where the plan says nothing."""
    plan, max_entries = subject.plan, subject.length.max_entries
    is_brief = max_entries <= 2
    purpose_pieces = sentence_pieces(subject, facts.purpose_sentences(subject, _PROSE_PURPOSE_SENTENCES[subject.length.name]), 1)
    done_tasks, open_tasks = facts.done_tasks(subject), facts.open_tasks(subject)
    done_pieces = task_pieces(subject, done_tasks[: 1 if is_brief else 3], 50, dated=not is_brief)
    next_pieces = task_pieces(subject, open_tasks[: 1 if is_brief else max_entries], 2)
    decisions = facts.newest_entries(plan.decisions)[: 1 if is_brief else max_entries]
    decision_pieces = entry_pieces(subject, decisions, 3, detail_label="Why: ", dated=not is_brief)
    outcome_pieces = entry_pieces(subject, facts.newest_entries(plan.outcomes)[:max_entries], 4, dated=False)
    discovery_pieces = entry_pieces(subject, facts.newest_entries(plan.discoveries)[:max_entries], 30, dated=False)
    return [
        SummarySection("purpose", "Purpose", tuple(as_sentences(purpose_pieces))),
        SummarySection("standing", "Standing", (_progress_piece(subject), *_lead_sentences(done_pieces, "Done last", "Before that"))),
        SummarySection("next", "Next", tuple(_lead_sentences(next_pieces, "Next", "Then"))),
        SummarySection("decisions", "Decisions", tuple(_lead_sentences(decision_pieces, "Decided last", "Before that"))),
        SummarySection("discoveries", "Discoveries", tuple([] if is_brief else _lead_sentences(discovery_pieces, "Found out", "Also"))),
        SummarySection("outcomes", "Outcomes", tuple(_lead_sentences(outcome_pieces, "What came of it", "Also"))),
    ]


def _progress_piece(subject: Subject) -> SummaryPiece:
    """Its state and its tasks in a sentence."""
    progress = facts.plan_progress(subject)
    return unquoted_piece(f"The plan is {progress.state}: {progress.summary}.")


def _lead_sentences(pieces: list[SummaryPiece], first_label: str, next_label: str) -> list[SummaryPiece]:
    """The pieces as sentences behind a word of ours, that of the first another one."""
    return as_sentences([with_label(piece, next_label if index else first_label) for index, piece in enumerate(pieces)])
