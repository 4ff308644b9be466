"""Simulated edits of a plan on a branch: random by a seed, each made by the change function of a command."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from execplan.edits.plan_writer import apply_change
from execplan.errors import ExecplanError
from execplan.plan import log_edits, outline, reader, section_edits, task_edits, task_rewording
from execplan.plan.model import DONE, OPEN, ParsedPlan

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from execplan.plan.plan_change import ChangeBuilder

MARK = "q7"
"""Prefix of every unique word that a branch adds."""
BEGIN = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
_FIRST = "Check Write Measure Move Rename Remove Test Document Split Cache Retry Log".split()
_WHAT = "reader writer parser lock index journal board settings timeout migration queue schema report token".split()
_HOW = "before release|under load|on macOS|for archived plans|when the disk is full|without git|behind a flag".split(
    "|"
)
_PROSE = (outline.NAMES[0], *outline.NAMES[5:10])


class Branch:
    """One side of a merge: an author with unique words, and a clock."""

    def __init__(self, name: str, random: Random) -> None:
        self.name = name
        self.random = random
        self.count = 0
        self.moment = BEGIN + timedelta(minutes=random.randrange(600))
        self.verbs: list[str] = []

    def edit(self, data: bytes, most: int) -> bytes:
        """Make up to `most` random edits to a plan, and skip those that are rejected."""
        for _ in range(self.random.randint(1, most)):
            verb = self.random.choices(list(VERBS), [weight for weight, _ in VERBS.values()])[0]
            self.moment += timedelta(minutes=self.random.randint(1, 90))
            try:
                changer = VERBS[verb][1](self, reader.read(data))
                data, _ = (data, None) if changer is None else apply_change(data, changer)
            except ExecplanError:
                continue
            self.verbs += [verb] if changer is not None else []
        return data

    def words(self) -> str:
        """Return a random text that contains a unique word."""
        self.count += 1
        first, what, how = [self.random.choice(each) for each in (_FIRST, _WHAT, _HOW)]
        return f"{first} the {what} {MARK}{self.name}{self.count} {how}"

    def task(self, plan: ParsedPlan, state: str) -> str | None:
        """Return the number of a task in this state, or None; often one of the first two, as work starts at the top."""
        found = [str(task.number) for task in plan.tasks if task.state == state]
        near = found[:2] if self.random.random() < 0.6 else found
        return self.random.choice(near) if near else None


def _tick(branch: Branch, plan: ParsedPlan) -> ChangeBuilder | None:
    number = branch.task(plan, OPEN)
    return task_edits.complete_tasks([number], branch.moment) if number else None


def _reopen(branch: Branch, plan: ParsedPlan) -> ChangeBuilder | None:
    number = branch.task(plan, DONE)
    return task_edits.reopen_tasks([number]) if number else None


def _add(branch: Branch, plan: ParsedPlan) -> ChangeBuilder:
    after = str(branch.random.choice(plan.tasks).number) if plan.tasks and branch.random.random() < 0.3 else None
    return task_edits.add_task(branch.words(), branch.moment, after=after)


def _split(branch: Branch, plan: ParsedPlan) -> ChangeBuilder | None:
    number = branch.task(plan, OPEN)
    return task_rewording.split_task(number, branch.words(), branch.words(), branch.moment) if number else None


def _reword(branch: Branch, plan: ParsedPlan) -> ChangeBuilder | None:
    number = branch.task(plan, OPEN)
    if number is None:
        return None
    own = plan.tasks[int(number) - 1].text
    wider = branch.random.random() < 0.5
    return task_rewording.reword_task(number, f"{own.rstrip('.')}, and {branch.words()}" if wider else branch.words())


def _decide(branch: Branch, plan: ParsedPlan) -> ChangeBuilder:
    return log_edits.add_decision(branch.words(), branch.words(), branch.name, branch.moment)


def _set(branch: Branch, plan: ParsedPlan) -> ChangeBuilder | None:
    there = [section.title for section in plan.sections if section.name in _PROSE]
    if not there:
        return None
    title = branch.random.choice(there)
    section = next(each for each in plan.sections if each.title == title)
    own = plan.text.lines[section.body_start : section.content_end]
    blanks = [at for at, line in enumerate(own) if not line.strip()]
    at = branch.random.choice(blanks) if blanks else len(own)
    return section_edits.set_section_body(title, [*own[:at], "", branch.words(), "", *own[at:]])


VERBS: dict[str, tuple[int, Callable[[Branch, ParsedPlan], ChangeBuilder | None]]] = {
    "done": (8, _tick),
    "reopen": (1, _reopen),
    "add": (4, _add),
    "split": (1, _split),
    "reword": (1, _reword),
    "decide": (3, _decide),
    "discover": (3, lambda branch, plan: log_edits.add_discovery(branch.words(), branch.words())),
    "outcome": (1, lambda branch, plan: log_edits.add_outcome(branch.words())),
    "revise": (2, lambda branch, plan: log_edits.add_revision_note(branch.words(), branch.moment)),
    "note": (1, lambda branch, plan: section_edits.add_note([branch.words()])),
    "set": (1, _set),
}
"""Commands by name, each with its weight and the function that makes its change."""
