"""What to do next with a plan, by its state, its runs, its steps, its claims and its sections: one place for all commands."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.cli import standing
from execplan.cli.answer import Work, typed
from execplan.plan import outline
from execplan.plan.change import facts
from execplan.plan.model import ARCHIVED, COMPLETE, DRAFT
from execplan.repo.author import default_actor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.cli.ahead import Ahead
    from execplan.plan.change import Facts
    from execplan.plan.model import Plan
    from execplan.repo.home import Home
    from execplan.repo.shelf import Shelved

_SHORT = 60
"""Characters of a task in a line of advice."""


class Advice(NamedTuple):
    """What to do next."""

    commands: tuple[str, ...] = ()
    """Commands that make sense now, the most urgent first."""
    work: Work | None = None
    """What to do before them."""
    why: str = ""
    """What makes the first command urgent, for people."""


def advise(shelved: Shelved, ahead: Ahead | None, execution: dict[str, Any] | None) -> Advice:
    """What to do next with a plan that was read, its open tasks and its approval status given."""
    home, state, plan = shelved.home, shelved.state, shelved.plan
    path = home.shown(shelved.ref.path)
    name = typed(shelved.ref.id, path)
    if plan is None:
        return Advice((f"execplan lint {typed(path)}",))
    if state == ARCHIVED:
        return Advice((f"execplan restore {name}",))
    if commands := standing.goes_on(execution, name):
        return Advice(commands)
    if state == COMPLETE:
        return finished(name, facts(plan))
    if run := standing.failed_run(execution, plan):
        again = standing.start(execution, name) or (f"execplan compile {name}",)
        return Advice((f"execplan show {name} --run {run['id']}", *again), why=standing.failed_words(run))
    if commands := standing.start(execution, name):
        return Advice(commands)
    mine = ahead is not None and ahead.is_yours
    if state == DRAFT and not mine and (sections := unfilled(plan)):
        return fill(sections, name)
    if not plan.tasks:
        return Advice((f"execplan add 'First step' -p {name}",))
    if ahead is None or ahead.task is None:
        return Advice()
    return work(home, ahead.task, name)


def begin(plan: Plan, name: str) -> Advice:
    """What to do next with a new plan."""
    if sections := unfilled(plan):
        return fill(sections, name)
    return Advice((f"execplan next {name}" if plan.tasks else f"execplan add 'First step' -p {name}",))


def finished(name: str, said: Facts) -> Advice:
    """What to do when no task is open: write the outcome, then archive."""
    archive = f"execplan archive {name}"
    if said.outcomes:
        return Advice((archive,))
    there = outline.OUTCOMES in [outline.canonical(each) for each in said.sections]
    return Advice((f"execplan outcome 'What works now' -p {name}{'' if there else ' --create'}", archive))


def unfilled(plan: Plan) -> list[str]:
    """The sections that are written before the work, and in which the placeholder text of a template is left."""
    return [
        section.name or section.title
        for section in plan.sections
        if not section.living and any([section.body <= at < section.room for at in plan.guidance])
    ]


def fill(sections: Sequence[str], name: str) -> Advice:
    """Write the sections of a draft, each with a command that reads its text; those of its own in an editor."""
    commands = [f"execplan set {shlex.quote(each)} - -p {name}" for each in sections if each in outline.NAMES]
    commands.append(f"execplan edit {name}")
    count = "a section" if len(sections) == 1 else f"{len(sections)} sections"
    return Advice(tuple(commands), Work(f"fill in {count} ({', '.join(sections)})", commands[0], lead="as with"))


def work(home: Home, task: dict[str, Any], name: str) -> Advice:
    """Do a task, then check it off."""
    text = task["text"].rstrip(" .:;,")
    text = text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"
    owner = task.get("by")
    by = f" --as {shlex.quote(owner)}" if owner and owner != default_actor(home) else ""
    done = f"execplan done {task['id']} -p {name}{by}"
    return Advice((f"execplan show {name}",), Work(f"do task {task['number']} ({text})", done, task))
