"""The form `report`: the same headings every time, for whoever pays for the work and asks how it goes."""

from __future__ import annotations

from execplan.context.summary import facts
from execplan.context.summary.making import list_section, entry_pieces, sentence_pieces, task_pieces
from execplan.context.summary.piece import SummarySection, Subject, unquoted_piece


def build_report(subject: Subject) -> list[SummarySection]:
    """Status, done, open, decisions, findings, risks and outcome; what the plan does not have is said to be missing."""
    plan, max_entries = subject.plan, subject.length.max_entries
    progress = facts.plan_progress(subject)
    status_pieces = [
        unquoted_piece(f"{progress.state.capitalize()}, {progress.task_counts}."),
        *([unquoted_piece(f"{progress.template_note.capitalize()}.")] if progress.template_note else []),
    ]
    if timestamp_range := facts.timestamp_range(subject):
        status_pieces.append(unquoted_piece(f"{timestamp_range[:1].upper()}{timestamp_range[1:]}."))
    status_pieces += sentence_pieces(subject, facts.purpose_sentences(subject, 1 if max_entries <= 2 else 3), 5)
    reason_label = "" if max_entries <= 2 else "Why: "
    done_tasks, open_tasks, risk_sentences = facts.done_tasks(subject), facts.open_tasks(subject), facts.risk_sentences(subject)
    decisions, discoveries, outcomes = [facts.newest_entries(log) for log in (plan.decisions, plan.discoveries, plan.outcomes)]
    return [
        SummarySection("status", "Status", tuple(status_pieces)),
        list_section("done", "Done", task_pieces(subject, done_tasks, 40), done_tasks, max_entries, "Nothing yet."),
        list_section("open", "Open", task_pieces(subject, open_tasks, 10), open_tasks, max_entries, "Nothing."),
        list_section("decisions", "Decisions", entry_pieces(subject, decisions, 20, detail_label=reason_label), decisions, max_entries),
        list_section("findings", "Findings", entry_pieces(subject, discoveries, 50), discoveries, max_entries),
        list_section("risks", "Risks", sentence_pieces(subject, risk_sentences, 30), risk_sentences, max_entries),
        list_section("outcome", "Outcome", entry_pieces(subject, outcomes, 15), outcomes, max_entries),
    ]
