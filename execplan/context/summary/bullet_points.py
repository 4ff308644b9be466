"""The form `bullet_points`: a flat list, a point each, to be pasted into a message."""

from __future__ import annotations

from execplan.context.summary import facts
from execplan.context.summary.making import STEP, led, of_entries, of_sentences, of_tasks
from execplan.context.summary.piece import Part, Subject, ours

_AIMS = {"brief": 1, "detailed": 2, "comprehensive": 4}


def parts(subject: Subject) -> list[Part]:
    """What it is for, where it stands, what is next, was done, was decided, was found, came of it, may go wrong."""
    plan, few = subject.plan, subject.length.few
    ahead, behind = facts.ahead(subject), facts.behind(subject)
    told = facts.standing(subject)
    brief = few <= 2
    lists = (
        ("purpose", "For", of_sentences(subject, facts.purpose(subject, _AIMS[subject.length.name]), 1)),
        ("standing", "", [ours(f"State: {told.state}, {told.line}")]),
        ("next", "Next", of_tasks(subject, ahead[:1], 2)),
        ("open", "Open", of_tasks(subject, ahead[1:], STEP // 2)),
        ("done", "Done", of_tasks(subject, behind, 5)),
        ("decisions", "Decided", of_entries(subject, facts.newest(plan.decisions), 3, behind="" if brief else "Why: ")),
        ("discoveries", "Found", of_entries(subject, facts.newest(plan.discoveries), 6)),
        ("outcomes", "Outcome", of_entries(subject, facts.newest(plan.outcomes), 4)),
        ("risks", "Risk", [] if brief else of_sentences(subject, facts.risks(subject), STEP // 2)),
    )
    most = 1 if brief else few
    return [
        Part(name, "", tuple([led(each, word) if word else each for each in pieces]), most)
        for name, word, pieces in lists
    ]
