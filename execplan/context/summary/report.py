"""The form `report`: the same headings every time, for whoever pays for the work and asks how it goes."""

from __future__ import annotations

from execplan.context.summary import facts
from execplan.context.summary.making import listed, of_entries, of_sentences, of_tasks
from execplan.context.summary.piece import Part, Subject, ours


def parts(subject: Subject) -> list[Part]:
    """Status, done, open, decisions, findings, risks and outcome; what the plan does not have is said to be missing."""
    plan, few = subject.plan, subject.length.few
    told = facts.standing(subject)
    status = [
        ours(f"{told.state.capitalize()}, {told.tasks}."),
        *([ours(f"{told.left.capitalize()}.")] if told.left else []),
    ]
    if between := facts.between(subject):
        status.append(ours(f"{between[:1].upper()}{between[1:]}."))
    status += of_sentences(subject, facts.purpose(subject, 1 if few <= 2 else 3), 5)
    why = "" if few <= 2 else "Why: "
    behind, ahead, risks = facts.behind(subject), facts.ahead(subject), facts.risks(subject)
    decided, found, came = [facts.newest(log) for log in (plan.decisions, plan.discoveries, plan.outcomes)]
    return [
        Part("status", "Status", tuple(status)),
        listed("done", "Done", of_tasks(subject, behind, 40), behind, few, "Nothing yet."),
        listed("open", "Open", of_tasks(subject, ahead, 10), ahead, few, "Nothing."),
        listed("decisions", "Decisions", of_entries(subject, decided, 20, behind=why), decided, few),
        listed("findings", "Findings", of_entries(subject, found, 50), found, few),
        listed("risks", "Risks", of_sentences(subject, risks, 30), risks, few),
        listed("outcome", "Outcome", of_entries(subject, came, 15), came, few),
    ]
