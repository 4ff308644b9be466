"""The tasks of Progress that a run ticks: with the time and a link to what the step printed, through the one write path."""

from __future__ import annotations

import os
from urllib.parse import quote

from execplan.clock import now
from execplan.errors import ExecplanError
from execplan.execution import states
from execplan.plan import reader
from execplan.plan.model import DONE
from execplan.plan.ran import link_of, reopen_run, tick_run
from execplan.plan.seek import find_task, fold
from execplan.record import NamedTuple
from execplan.repo import pick, shelf
from execplan.repo.amend import Options, amend
from execplan.repo.edits import journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.engine.course import RunState
    from execplan.execution.model import ExecutionPlan, Step
    from execplan.plan.change import Changer
    from execplan.plan.model import Plan
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_PLAIN = "/-_.~@+,="
"""Of what is no letter and no digit what stands for itself in a link."""
_LEFT = Options(commit=False)
"""The run commits when it ends."""


class Marked(NamedTuple):
    """What became of a task."""

    task: str = ""
    """Its words, where it was ticked or reopened; nothing where it is left alone."""
    warning: str = ""
    """Why it could not be: no step fails for that."""


def completes(document: ExecutionPlan, course: RunState, step: Step) -> Step | None:
    """The step whose transcript shows the work of the task that a step names, None while others of the task are open.

    To be asked for each step that is completed, recovered or skipped. None for a step without a task, and for one of a task
    of which nothing was done, or which the run has ticked already.
    """
    if step.task is None:
        return None
    plan = owner(document, step.id)
    same = [each for each in document.steps if _same_task(each, step.task) and owner(document, each.id) == plan]
    found = [course.status_of.get(each.id) for each in same]
    done = [each for each, status in zip(same, found, strict=True) if status in (states.COMPLETED, states.RECOVERED)]
    if (
        not done
        or any([status not in states.SUCCESS_STATES for status in found])
        or any([each.id in course.ticked for each in same])
    ):
        return None
    return step if step in done else done[-1]


def owner(document: ExecutionPlan, step: str) -> str:
    """The id of the plan that a step comes from, where several were joined; nothing where it is that of the document."""
    parts = document.metadata.context.get("composed")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and step.startswith(f"{part.get('prefix')}."):
            return str(part.get("plan_id", ""))
    return ""


def plans(home: Home, ref: Ref, document: ExecutionPlan) -> set[str]:
    """The files, from the root, that hold the tasks of a run: what changes in them meanwhile is no work of a step."""
    found = set()
    for name in {owner(document, step.id) for step in document.steps}:
        try:
            at, plan = _plan_of(home, ref, name)
            found |= {at.shown(plan.path), at.shown(os.path.realpath(plan.path))}
        except ExecplanError:
            continue  # it is gone, and is ticked by nobody
    return found


def tick(home: Home, ref: Ref, document: ExecutionPlan, step: Step, transcript: str) -> Marked:
    """Tick the task that a step names, with a link to its transcript, a path from the root; nothing for no link.

    A task that is done already is left alone, unless this very step was it that ticked it.
    """
    query = step.task
    if query is None:
        return Marked()
    try:
        home, ref = _plan_of(home, ref, owner(document, step.id))
        href = _href(home, ref, transcript)
        before = reader.read(shelf.open_bytes(home, ref.path))
        _, task = find_task(before, query)
        if task.state == DONE:
            return Marked(task.text if link_of(before, task, href) >= 0 else "")
        _write(home, ref, lambda link: tick_run(query, now(), link), href)
        return Marked(task.text)
    except ExecplanError as error:
        return Marked(warning=f"the task {query!r} of {step.id} is not ticked: {error.message}")


def reopen(home: Home, ref: Ref, document: ExecutionPlan, step: str, task: str, transcript: str) -> Marked:
    """Take back what `tick` has written for a step: the task's words, and the transcript, are those of the journal."""
    try:
        home, ref = _plan_of(home, ref, owner(document, step))
        href = _href(home, ref, transcript)
        was = _before(home, ref, task, href)
        changed = amend(home, ref, reopen_run(task, href, was), _LEFT, verb="rollback").changed
        return Marked(task if changed else "")
    except ExecplanError as error:
        return Marked(warning=f"the task {task!r} of {step} is not reopened: {error.message}")


def _same_task(step: Step, task: str) -> bool:
    return step.task is not None and fold(step.task) == fold(task)


def _plan_of(home: Home, ref: Ref, name: str) -> tuple[Home, Ref]:
    """The plan that has the tasks; raises ExecplanError."""
    return (home, ref) if not name or name == ref.id else pick.open_plan(home.base, name)


def _href(home: Home, ref: Ref, transcript: str) -> str:
    """A path from the root as a link of a plan."""
    if not transcript:
        return ""
    path = os.path.relpath(os.path.join(home.root, transcript), os.path.dirname(ref.path))
    return "".join([char if char.isalnum() or char in _PLAIN else quote(char, safe="") for char in path])


def _write(home: Home, ref: Ref, changer: Callable[[str], Changer], href: str) -> None:
    """Tick; where the link would become something else in this plan, without it."""
    try:
        amend(home, ref, changer(href), _LEFT, verb="run")
    except ExecplanError as error:
        if error.code != "would-break" or not href:
            raise
        amend(home, ref, changer(""), _LEFT, verb="run")


def _before(home: Home, ref: Ref, words: str, href: str) -> tuple[str, str] | None:
    """The line of the task's box as the run wrote it, and as it was before, where the journal of edits still has it."""
    for edit in reversed(journal.edits(home, ref.path)):
        try:
            old, new = [reader.read(data) for data in edit.unpack()]
        except (ValueError, ExecplanError):
            continue
        at = _ticked_in(old, new, words, href)
        if at is not None:
            return new.text.lines[new.tasks[at].box], old.text.lines[old.tasks[at].box]
    return None


def _ticked_in(old: Plan, new: Plan, words: str, href: str) -> int | None:
    """Which task an edit has ticked, if it is the one with the link, or without one with the words."""
    if len(old.tasks) != len(new.tasks):
        return None
    for at, (one, two) in enumerate(zip(old.tasks, new.tasks, strict=True)):
        ours = link_of(new, two, href) >= 0 > link_of(old, one, href) if href else fold(two.text) == fold(words)
        if ours and one.state != DONE and two.state == DONE:
            return at
    return None
