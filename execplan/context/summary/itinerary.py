"""The form `itinerary`: the way in its order, what lies behind with its stamps, the next step, what lies ahead."""

from __future__ import annotations

import re

from execplan.context.summary import facts
from execplan.context.summary.making import MOST
from execplan.context.summary.piece import EARLIER, MORE, Part, Piece, Said, Subject, ours
from execplan.context.summary.words import said, visible
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
    told, between = facts.standing(subject), facts.between(subject)
    way = ours(f"{told.state.capitalize()}: {told.tasks}{f', {between}' if between else ''}.")
    top = Part("way", "", (way,))
    return [top, Part("milestones", "Milestones", tuple(_milestones(subject)), 0, MORE), *_tasks(subject)]


def _milestones(subject: Subject) -> list[Piece]:
    """The headings that name a milestone, outside of Progress."""
    found: list[Piece] = []
    for head in _headings(subject.plan)[:MOST]:
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
    beyond: dict[str, int] = {}
    for at, task in enumerate(tasks):
        group = task.heading if headed else _AHEAD if task.state == OPEN else _BEHIND
        if abs(at - here) > MOST:
            beyond[group] = beyond.get(group, 0) + 1
        else:
            pieces = groups.setdefault(group, [])
            pieces += _step(subject, task, 2 * (at - here) if at >= here else 2 * (here - at) - 1, last=at == here)
    made = []
    for at, (name, pieces) in enumerate(groups.items(), 1):
        rest = EARLIER if all([piece.rank % 2 for piece in pieces]) else MORE
        named = (f"tasks-{at}", said(subject, name, _NAMES)) if headed else (name.lower(), name)
        made.append(Part(*named, tuple(pieces), 0, rest, beyond.get(name, 0)))
    return made


def _step(subject: Subject, task: Task, away: int, *, last: bool) -> list[Piece]:
    """A task with its box, its number and its stamp; the nearer to the next one, the more it is wanted."""
    words = said(subject, task.text)
    if not words:
        return []
    stamp = f"{facts.when(task.stamp)} " if task.stamp is not None and task.state == DONE else ""
    lead = f"[{visible(task.mark)}] {task.number}. {stamp}"
    tail = f" (next: {subject.ids[task.number - 1]})" if last else ""
    return [Piece((Said(lead, words),), tail, away, task.box + 1, task.end)]
