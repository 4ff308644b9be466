"""The form `report`: the same headings every time, for whoever pays for the work and asks how it goes."""

from __future__ import annotations

from execplan.context.summary import facts
from execplan.context.summary.making import of_entries, of_sentences, of_tasks
from execplan.context.summary.piece import MORE, Part, Piece, Subject, ours


def parts(subject: Subject) -> list[Part]:
    """Status, done, open, decisions, findings, risks and outcome; what the plan does not have is said to be missing."""
    plan, few = subject.plan, subject.length.few
    told = facts.standing(subject)
    status = [
        ours(f"{told.state.capitalize()}, {told.tasks}."),
        *([ours(f"{told.left.capitalize()}.")] if told.left else []),
    ]
    stamps = facts.stamped(plan.tasks)
    if stamps:
        status.append(ours(f"First stamp {stamps[0].date}, last {stamps[-1].date}."))
    status += of_sentences(subject, facts.purpose(subject, 1 if few <= 2 else 3), 5)
    why = "" if few <= 2 else "Why: "
    return [
        Part("status", "Status", tuple(status)),
        _listed("done", "Done", of_tasks(subject, facts.behind(subject), 40), few, "Nothing yet."),
        _listed("open", "Open", of_tasks(subject, facts.ahead(subject), 10), few, "Nothing."),
        _listed("decisions", "Decisions", of_entries(subject, facts.newest(plan.decisions), 20, behind=why), few),
        _listed("findings", "Findings", of_entries(subject, facts.newest(plan.discoveries), 50), few),
        _listed("risks", "Risks", of_sentences(subject, facts.risks(subject), 30), few),
        _listed("outcome", "Outcome", of_entries(subject, facts.newest(plan.outcomes), 15), few),
    ]


def _listed(name: str, heading: str, pieces: list[Piece], few: int, none: str = "None written down.") -> Part:
    return Part(name, heading, tuple(pieces), few, MORE, none=none)
