"""The form `summary`: prose on what the plan is for, where it stands, what is next, what was decided and what came of it."""

from __future__ import annotations

from execplan.context.summary import facts
from execplan.context.summary.making import ended, led, of_entries, of_sentences, of_tasks
from execplan.context.summary.piece import Part, Piece, Subject, ours

_FOR = {"brief": 2, "detailed": 5, "comprehensive": 10}


def parts(subject: Subject) -> list[Part]:
    """A paragraph each; nothing is said where the plan says nothing."""
    plan, few = subject.plan, subject.length.few
    brief = few <= 2
    aims = of_sentences(subject, facts.purpose(subject, _FOR[subject.length.name]), 1)
    behind, ahead = facts.behind(subject), facts.ahead(subject)
    done = of_tasks(subject, behind[: 1 if brief else 3], 50, dated=not brief)
    steps = of_tasks(subject, ahead[: 1 if brief else few], 2)
    decisions = facts.newest(plan.decisions)[: 1 if brief else few]
    decided = of_entries(subject, decisions, 3, behind="Why: ", dated=not brief)
    came = of_entries(subject, facts.newest(plan.outcomes)[:few], 4, dated=False)
    found = of_entries(subject, facts.newest(plan.discoveries)[:few], 30, dated=False)
    return [
        Part("purpose", "Purpose", tuple(ended(aims))),
        Part("standing", "Standing", (_where(subject), *_told(done, "Done last", "Before that"))),
        Part("next", "Next", tuple(_told(steps, "Next", "Then"))),
        Part("decisions", "Decisions", tuple(_told(decided, "Decided last", "Before that"))),
        Part("discoveries", "Discoveries", tuple([] if brief else _told(found, "Found out", "Also"))),
        Part("outcomes", "Outcomes", tuple(_told(came, "What came of it", "Also"))),
    ]


def _where(subject: Subject) -> Piece:
    """Its state and its tasks in a sentence."""
    told = facts.standing(subject)
    return ours(f"The plan is {told.state}: {told.line}.")


def _told(pieces: list[Piece], first: str, then: str) -> list[Piece]:
    """The pieces as sentences behind a word of ours, that of the first another one."""
    return ended([led(piece, then if at else first) for at, piece in enumerate(pieces)])
