"""The form `analysis`: what was found out, what was decided and why, what was given up, what went otherwise, how fast."""

from __future__ import annotations

from execplan.context.summary import facts
from execplan.context.summary.making import STEP, of_entries, of_sentences, of_tasks
from execplan.context.summary.pace import pace
from execplan.context.summary.piece import MORE, Part, Piece, Said, Subject
from execplan.context.summary.words import said
from execplan.plan.model import OTHER

_SPLIT = 8


def parts(subject: Subject) -> list[Part]:
    """What the logs and the stamps say; nothing about what they do not."""
    plan, few = subject.plan, subject.length.few
    unlike = [task for task in plan.tasks if task.state == OTHER and facts.named(task)]
    otherwise = of_tasks(subject, unlike, 20)
    otherwise += of_sentences(subject, facts.turned(subject), 20 + len(otherwise) * STEP)
    otherwise += of_entries(subject, facts.newest(plan.revisions), 30 + len(otherwise) * STEP)
    return [
        _listed(
            "found", "Found out", of_entries(subject, facts.newest(plan.discoveries), 10, behind="Evidence: "), few
        ),
        _listed(
            "decided", "Decided, and why", of_entries(subject, facts.newest(plan.decisions), 0, behind="Why: "), few
        ),
        Part("superseded", "Superseded", tuple(_superseded(subject)), few, MORE),
        Part("otherwise", "Otherwise than planned", tuple(otherwise), few, MORE),
        Part("pace", "Pace", tuple(pace(subject, 5)), none="No tick has a stamp."),
    ]


def _listed(name: str, heading: str, pieces: list[Piece], few: int) -> Part:
    return Part(name, heading, tuple(pieces), few, MORE, none="None written down.")


def _superseded(subject: Subject) -> list[Piece]:
    """What decisions took the place of."""
    made = []
    for at, entry in enumerate(facts.newest([each for each in subject.plan.decisions if each.supersedes])):
        old, new = said(subject, entry.supersedes or ""), said(subject, entry.text)
        if old and new:
            parts = (Said("", old), Said(" Now: ", new))
            made.append(Piece(parts, "", _SPLIT + at * STEP, entry.start + 1, entry.end))
    return made
