"""The form `itinerary`: the way in its order, what lies behind with its stamps, the next step, what lies ahead."""

from __future__ import annotations

import re

from execplan.context.summary import facts
from execplan.context.summary.piece import EARLIER, MORE, Part, Piece, Said, Subject, ours
from execplan.context.summary.words import said
from execplan.plan.model import DONE, OPEN
from execplan.text.blocks import HEADING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan, Task
    from execplan.text.blocks import Block

_MILESTONE = re.compile(r"(?:milestone|phase|stage|workstream|slice|unit|M\d)\b", re.IGNORECASE)
_BEHIND, _AHEAD = "Behind", "Ahead"
_NAMED = 9
"""The rank of the first milestone: a few tasks are wanted more."""
_NAMES = 12
"""Words of a milestone's name."""


def parts(subject: Subject) -> list[Part]:
    """Milestones that the plan has by name, then the tasks in the order of the file."""
    told = facts.standing(subject)
    stamps = facts.stamped(subject.plan.tasks)
    way = f", from {stamps[0].moment} to {stamps[-1].moment}" if stamps else ""
    top = Part("way", "", (ours(f"{told.state.capitalize()}: {told.tasks}{way}."),))
    return [top, Part("milestones", "Milestones", tuple(_milestones(subject)), 0, MORE), *_tasks(subject)]


def _milestones(subject: Subject) -> list[Piece]:
    """The headings that name a milestone, outside of Progress."""
    found = []
    for head in _headings(subject.plan):
        words = said(subject, head.text, _NAMES)
        if words:
            rank = _NAMED + len(found)
            found.append(Piece((Said("", words),), "", rank, head.start + 1, head.end))
    return found


def _headings(plan: Plan) -> list[Block]:
    heads = [block for block in plan.blocks if block.kind == HEADING and block.level > 1 and not block.depth]
    inside = [(each.start, each.end) for each in plan.sections if each.living]
    return [
        head
        for head in heads
        if _MILESTONE.match(head.text.strip("*_ ")) and not any([start <= head.start < end for start, end in inside])
    ]


def _tasks(subject: Subject) -> list[Part]:
    """The tasks below the sub-headings of Progress; where it has none, those behind and those ahead."""
    tasks = [task for task in subject.plan.tasks if facts.named(task)]
    ahead = facts.ahead(subject)
    here = next((at for at, task in enumerate(tasks) if ahead and task is ahead[0]), len(tasks))
    headed = any([task.heading for task in tasks])
    groups: dict[str, list[Piece]] = {}
    for at, task in enumerate(tasks):
        group = task.heading if headed else _AHEAD if task.state == OPEN else _BEHIND
        piece = _step(subject, task, 2 * (at - here) if at >= here else 2 * (here - at) - 1, last=at == here)
        groups.setdefault(group, []).extend(piece)
    made = []
    for at, (name, pieces) in enumerate(groups.items(), 1):
        gone = all([piece.rank % 2 for piece in pieces])
        heading = said(subject, name, _NAMES) if headed else name
        made.append(
            Part(f"tasks-{at}" if headed else name.lower(), heading, tuple(pieces), 0, EARLIER if gone else MORE)
        )
    return made


def _step(subject: Subject, task: Task, away: int, *, last: bool) -> list[Piece]:
    """A task with its number, its box and its stamp; the nearer to the next one, the more it is wanted."""
    words = said(subject, task.text)
    if not words:
        return []
    stamp = f"{task.stamp.moment} " if task.stamp is not None and task.state == DONE else ""
    name = subject.ids[task.number - 1]
    lead = f"{task.number}. [{task.mark}] {stamp}"
    return [Piece((Said(lead, words),), f" (next: {name})" if last else "", away, task.box + 1, task.end)]
