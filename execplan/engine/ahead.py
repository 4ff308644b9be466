"""What a resume would go on with, with nothing done: what was cut short, what is asked, and the steps that are still to be done."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.engine import begin, journal, questions, revisions
from execplan.engine.alone import alone, at_work
from execplan.engine.course import RunState
from execplan.engine.files.ground import WorkspaceFiles
from execplan.engine.left import Left, stop_drifted
from execplan.engine.opened import never_begun
from execplan.engine.resume import steps_ahead, stop_needless, stop_unfit
from execplan.engine.schedule import Schedule
from execplan.repo.amend import stop_archived
from execplan.repo.execution import standing
from execplan.repo.homes import existing

if TYPE_CHECKING:
    from execplan.engine.course import Question
    from execplan.engine.place import RunPaths
    from execplan.execution.model import Step
    from execplan.repo.execution.standing import Standing
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Ahead(NamedTuple):
    """What a resume would go on with."""

    run: str
    question: Question | None
    """What the run waits for."""
    answer: str | None
    """What would be answered to that; None where nothing is, and it would be asked again."""
    cut: tuple[str, ...]
    """The steps that were cut short, which are looked at first: what one has done is taken back, unless it may run only once."""
    steps: tuple[Step, ...]
    """Those that are still to be done, in their order."""


def ahead(home: Home, ref: Ref, place: RunPaths, answer: str | None) -> Ahead:
    """Look at what `resume` would do, and write nothing; raises ExecplanError where it would be refused."""
    existing(home)
    stop_archived(home, ref)
    if at_work(home):
        with alone(home, "resume"):  # refuses, naming who is
            pass
    if not os.path.lexists(place.journal) or not (entries := journal.read(place.journal)):
        raise never_begun(ref, place)
    course = RunState(revisions.document_of(place, entries), entries)
    stop_unfit(ref, place, course)
    begin.stop_underway(home, ref, place)
    if course.question is None and not course.is_agents:
        stop_needless(course, answer)
    found = standing.require(home, ref, run=place.id)
    assert found.now is not None  # what may run compiles to something
    assert found.approval is not None
    begin.stop_other(ref, place, course, found)
    ground = WorkspaceFiles(home)
    course.document = found.now.current.document
    ids = None if course.replans else course.begun["chosen"]
    schedule = Schedule(course.document, ids, lambda path: ground.state(path).kind != "absent")
    steps = steps_ahead(course, schedule)
    if course.is_agents:
        return _agents(place, course, schedule, steps, found, answer)
    begin.stop_unapproved(begin.permit_of(found, schedule), found.approval, steps)
    if found.approval.id == course.approval["approval_id"]:
        begin.stop_other_programs(home, ref, place, course, steps, found.now.policy)
    cut = [name for name, _ in course.open_attempt()] + [step.id for step, _ in Left.unknown_ends(course)]
    stop_drifted(course, ground, _touched(course, cut))
    said = questions.answer_to(course.question, answer) if course.question is not None else answer
    return Ahead(place.id, course.question, said, tuple(cut), tuple(steps))


def _agents(
    place: RunPaths, course: RunState, schedule: Schedule, steps: list[Step], found: Standing, answer: str | None
) -> Ahead:
    """Of an agent's run: what is in hand is the agent's, and nothing of it is looked at."""
    from execplan.engine.agent.answer import next_question

    assert found.now is not None  # as above
    question = course.question or (next_question(course, schedule, found.now.policy.checkpoint_interval) if answer else None)
    if question is None:
        stop_needless(course, answer)
    said = questions.answer_to(question, answer) if question is not None else None
    return Ahead(place.id, question, said, (), tuple(steps))


def _touched(course: RunState, cut: list[str]) -> set[str]:
    """The paths that steps which were cut short may have changed, as far as anybody knows before it is looked at."""
    last = [course.attempts[name][-1] for name in cut]
    changed = [change.path for each in last if each.performed is not None for change in each.performed.changes]
    return {*changed, *[path for each in last for path in each.before]}
