"""EP2, the part about rest: does anybody still work on it?"""

from __future__ import annotations

from execplan.clock import read_stamp
from execplan.lint.rule import CLOCK, HINT, Given, Place, on_line, rule
from execplan.lint.stamps import WEST, day_of, last_date
from execplan.plan import outline
from execplan.plan.model import ACTIVE, OPEN
from execplan.text.blocks import HEADING, ITEM, PARAGRAPH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Plan, Task

_LAID_OFF = ("superseded", "deferred", "on hold", "abandoned")
_OF_ITSELF = ("", "is", "was", "been", "now", "status", "plan", "fully", "partially")
"""Words before one of these that make it the plan's own state, and not that of something else."""
_SHELVES = frozenset(("deferred", "superseded", "backlog", "someday"))
_HISTORIES = ("revision", "history", "changelog", "change log")
"""What the title of a section holds that tells what happened to the plan."""
_STATUS = "status"
_FAR = 60
"""Lines from the first section on in which a status may still stand."""
_DEEP = 12
"""Lines that a status may take."""
_LONG = 1000


@rule("EP209", HINT, needs=CLOCK)
def stalled(plan: Plan, given: Given) -> Iterator[Place]:
    """A plan with open tasks has had no date for as many days as `stalled_days` says (14).

    Nobody works on it, or somebody does and does not say so. Tick what is done, write down what holds it up, or archive
    it. A plan in which nothing is dated yet has not begun; one whose head or status says that it is superseded, deferred,
    on hold or abandoned, or that lies in a folder for such plans, is not expected to go on, and neither are tasks below a
    heading or a line that defers them.

    Bad (now 2026-03-29 12:00Z):
        ## Progress

        - [x] (2026-03-07 23:27Z) Read lines.
        - [ ] Build the parser.
    Good (now 2026-03-12 12:00Z):
        ## Progress

        - [x] (2026-03-07 23:27Z) Read lines.
        - [ ] Build the parser.
    """
    if given.archived or given.clock is None or plan.state() != ACTIVE:
        return
    waiting = [task for task in plan.tasks if task.state == OPEN]
    late = 1440 + WEST + given.stalled_days * 1440
    date = last_date(plan) if waiting else ""
    day = day_of(date)
    if day is None or not given.clock.past(day + late):
        return
    date = latest_date(plan)
    day = day_of(date)
    if day is None or not given.clock.past(day + late) or is_on_hold(plan, given.path):
        return
    task = waiting[0]
    yield on_line(plan, task.box, f"task {task.number} is open, and nothing is dated after {date}")


def latest_date(plan: Plan) -> str:
    """The latest date in a plan, in a timestamp, its status or its history; or nothing."""
    return max([last_date(plan), *_other_dates(plan)])


def is_on_hold(plan: Plan, path: str) -> bool:
    """Whether nobody is expected to work on a plan: its head, its directory, or what stands over its open tasks says so."""
    if not _SHELVES.isdisjoint(path.lower().split("/")[:-1]) or _is_laid_off(plan):
        return True
    waiting = [task for task in plan.tasks if task.state == OPEN]
    return bool(waiting) and _are_deferred(plan, waiting)


def _other_dates(plan: Plan) -> Iterator[str]:
    """The dates of a status at the head, and those with which the items of a history of the plan begin."""
    for line in _status(plan):
        for word in line.replace("(", " ").replace(")", " ").replace(",", " ").replace(";", " ").split():
            yield from _date(word.rstrip(":."))
    for section in plan.sections:
        if section.name is None and any([word in section.title.casefold() for word in _HISTORIES]):
            for block in plan.blocks[section.first : section.last]:
                if block.kind in (ITEM, PARAGRAPH):
                    yield from _date(block.text.lstrip("*_`["))


def _date(words: str) -> Iterator[str]:
    stamp = read_stamp(words[:10] if words[:1].isdigit() else words)
    if stamp is not None and stamp.possible:
        yield stamp.date


def _status(plan: Plan) -> list[str]:
    """The lines that tell the status of the plan at its head: above the first section, or early in it."""
    first = plan.sections[0].start if plan.sections else len(plan.text.lines)
    if _STATUS not in "\n".join(plan.text.lines[: first + _FAR]).casefold():
        return []
    lines: list[str] = []
    heads = {block.start for block in plan.blocks if block.kind == HEADING}
    for at in range(min(first + _FAR, len(plan.text.lines))):
        if _is_status(plan.text.lines[at]):
            for below in range(at, min(at + _DEEP, len(plan.text.lines))):
                if below in heads and below > at:
                    break
                lines.append(plan.text.lines[below][:_LONG])
            break
    return lines


def _is_status(line: str) -> bool:
    """Whether a line begins with the word and what stands between a name and its value."""
    bare = line.lstrip(" \t>-+*_#").casefold()
    return bare.startswith(_STATUS) and bare[len(_STATUS) :].lstrip(" *_")[:1] in ("", *":(-–—=")


def _is_laid_off(plan: Plan) -> bool:
    """Whether the head of the plan, or its status, says that it does not go on."""
    first = plan.sections[0].start if plan.sections else len(plan.text.lines)
    return _defers(" ".join(_status(plan))) or any([_tells(line.casefold()) for line in plan.text.lines[:first]])


def _tells(line: str) -> bool:
    """Whether a line of the head tells the plan's state: the word begins it, stands in parentheses or behind `is`."""
    for word in _LAID_OFF:
        before, found, _ = line[:_LONG].partition(word)
        last = before.rstrip(" >#*_:[-").rpartition(" ")[2].strip("*_")
        if found and (before.endswith("(") or last in _OF_ITSELF):
            return True
    return False


def _are_deferred(plan: Plan, tasks: list[Task]) -> bool:
    """Whether each of the tasks stands below a sub-heading or a paragraph of Progress that defers it."""
    section = plan.section(outline.PROGRESS)
    if section is None:
        return False
    leads = [
        block
        for block in plan.blocks[section.first : section.last]
        if block.kind in (HEADING, PARAGRAPH) and not block.depth
    ]
    at, deferred = 0, False
    for task in tasks:
        while at < len(leads) and leads[at].start < task.start:
            deferred = _defers(" ".join(plan.text.lines[leads[at].start : leads[at].end]))
            at += 1
        if not deferred and not _defers(task.heading):
            return False
    return True


def _defers(words: str) -> bool:
    folded = words.casefold()
    return any([word in folded for word in _LAID_OFF])
