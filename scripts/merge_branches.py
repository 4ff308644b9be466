"""Simulated edits of a plan on a branch: random by a seed, each made by the change function of a command."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from execplan.core.edits.plan_writer import apply_change
from execplan.core.errors import ExecplanError
from execplan.core.plan import log_edits, outline, reader, section_edits, task_edits, task_rewording
from execplan.core.plan.model import DONE, OPEN, ParsedPlan

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from execplan.core.plan.plan_change import ChangeBuilder

MARK = "q7"
"""Prefix of every unique word that a branch adds."""
BEGIN = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
_ACTIONS = "Check Write Measure Move Rename Remove Test Document Split Cache Retry Log".split()
_SUBJECTS = "reader writer parser lock index journal board settings timeout migration queue schema report token".split()
_CONDITIONS = (
    "before release|under load|on macOS|for archived plans|when the disk is full|without git|behind a flag".split("|")
)
_PROSE = (outline.NAMES[0], *outline.NAMES[5:10])


class Branch:
    """One side of a merge: an author with unique words, and a clock."""

    def __init__(self, name: str, random: Random) -> None:
        self.name = name
        self.random = random
        self.count = 0
        self.moment = BEGIN + timedelta(minutes=random.randrange(600))
        self.commands: list[str] = []

    def edit(self, data: bytes, max_edits: int) -> bytes:
        """Make up to `max_edits` random edits to a plan, and skip those that are rejected."""
        for _ in range(self.random.randint(1, max_edits)):
            command = self.random.choices(list(COMMANDS), [weight for weight, _ in COMMANDS.values()])[0]
            self.moment += timedelta(minutes=self.random.randint(1, 90))
            try:
                changer = COMMANDS[command][1](self, reader.read(data))
                data, _ = (data, None) if changer is None else apply_change(data, changer)
            except ExecplanError:
                continue
            self.commands += [command] if changer is not None else []
        return data

    def new_text(self) -> str:
        """Return a random text that contains a unique word."""
        self.count += 1
        action, subject, condition = [self.random.choice(choices) for choices in (_ACTIONS, _SUBJECTS, _CONDITIONS)]
        return f"{action} the {subject} {MARK}{self.name}{self.count} {condition}"

    def pick_task(self, plan: ParsedPlan, state: str) -> str | None:
        """Return the number of a task in this state, or None; often one of the first two, as work starts at the top."""
        numbers = [str(task.number) for task in plan.tasks if task.state == state]
        candidates = numbers[:2] if self.random.random() < 0.6 else numbers
        return self.random.choice(candidates) if candidates else None


def _tick(branch: Branch, plan: ParsedPlan) -> ChangeBuilder | None:
    number = branch.pick_task(plan, OPEN)
    return task_edits.complete_tasks([number], branch.moment) if number else None


def _reopen(branch: Branch, plan: ParsedPlan) -> ChangeBuilder | None:
    number = branch.pick_task(plan, DONE)
    return task_edits.reopen_tasks([number]) if number else None


def _add(branch: Branch, plan: ParsedPlan) -> ChangeBuilder:
    after = str(branch.random.choice(plan.tasks).number) if plan.tasks and branch.random.random() < 0.3 else None
    return task_edits.add_task(branch.new_text(), branch.moment, after=after)


def _split(branch: Branch, plan: ParsedPlan) -> ChangeBuilder | None:
    number = branch.pick_task(plan, OPEN)
    return task_rewording.split_task(number, branch.new_text(), branch.new_text(), branch.moment) if number else None


def _reword(branch: Branch, plan: ParsedPlan) -> ChangeBuilder | None:
    number = branch.pick_task(plan, OPEN)
    if number is None:
        return None
    old_text = plan.tasks[int(number) - 1].text
    wider = branch.random.random() < 0.5
    return task_rewording.reword_task(
        number, f"{old_text.rstrip('.')}, and {branch.new_text()}" if wider else branch.new_text()
    )


def _decide(branch: Branch, plan: ParsedPlan) -> ChangeBuilder:
    return log_edits.add_decision(branch.new_text(), branch.new_text(), branch.name, branch.moment)


def _set(branch: Branch, plan: ParsedPlan) -> ChangeBuilder | None:
    titles = [section.title for section in plan.sections if section.name in _PROSE]
    if not titles:
        return None
    title = branch.random.choice(titles)
    section = next(candidate for candidate in plan.sections if candidate.title == title)
    body = plan.text.lines[section.body_start : section.content_end]
    blanks = [at for at, line in enumerate(body) if not line.strip()]
    at = branch.random.choice(blanks) if blanks else len(body)
    return section_edits.set_section_body(title, [*body[:at], "", branch.new_text(), "", *body[at:]])


COMMANDS: dict[str, tuple[int, Callable[[Branch, ParsedPlan], ChangeBuilder | None]]] = {
    "done": (8, _tick),
    "reopen": (1, _reopen),
    "add": (4, _add),
    "split": (1, _split),
    "reword": (1, _reword),
    "decide": (3, _decide),
    "discover": (3, lambda branch, plan: log_edits.add_discovery(branch.new_text(), branch.new_text())),
    "outcome": (1, lambda branch, plan: log_edits.add_outcome(branch.new_text())),
    "revise": (2, lambda branch, plan: log_edits.add_revision_note(branch.new_text(), branch.moment)),
    "note": (1, lambda branch, plan: section_edits.add_note([branch.new_text()])),
    "set": (1, _set),
}
"""Commands by name, each with its weight and the function that makes its change."""
