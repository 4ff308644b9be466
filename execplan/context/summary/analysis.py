"""The form `analysis`: what was found out, what was decided and why, what was given up, what went otherwise, how fast."""

from __future__ import annotations

from execplan.context.summary import facts
from execplan.context.summary.making import STEP, listed, of_entries, of_sentences, of_tasks
from execplan.context.summary.pace import pace
from execplan.context.summary.piece import Part, Piece, Said, Subject
from execplan.context.summary.words import said
from execplan.plan.model import OTHER

_SPLIT = 8


def parts(subject: Subject) -> list[Part]:
    """What the logs and the stamps say; nothing about what they do not."""
    plan, few = subject.plan, subject.length.few
    found, decided, revised = [facts.newest(log) for log in (plan.discoveries, plan.decisions, plan.revisions)]
    unlike = [task for task in plan.tasks if task.state == OTHER and facts.named(task)]
    turned = facts.turned(subject)
    otherwise = [*of_tasks(subject, unlike, 20), *of_sentences(subject, turned, 25)]
    return [
        listed("found", "Found out", of_entries(subject, found, 10, behind="Evidence: "), found, few),
        listed("decided", "Decided, and why", of_entries(subject, decided, 0, behind="Why: "), decided, few),
        listed("superseded", "Superseded", _superseded(subject), (), few, ""),
        listed("otherwise", "Otherwise than planned", otherwise, turned, few, ""),
        listed("revised", "Revised", of_entries(subject, revised, 30), revised, few, ""),
        Part("pace", "Pace", tuple(pace(subject, 5)), none="No tick has a stamp."),
    ]


def _superseded(subject: Subject) -> list[Piece]:
    """What decisions took the place of."""
    made = []
    for at, entry in enumerate(facts.newest([each for each in subject.plan.decisions if each.supersedes])):
        old, new = said(subject, entry.supersedes or ""), said(subject, entry.text)
        if old and new:
            parts = (Said("", old), Said(" Now: ", new))
            made.append(Piece(parts, "", _SPLIT + at * STEP, entry.start + 1, entry.end))
    return made
