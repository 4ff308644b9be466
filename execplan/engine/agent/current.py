"""The run of an agent that is under way: the last one of its plan, begun by an agent and not at its end."""

from __future__ import annotations

from execplan.engine import revisions
from execplan.engine.course import Course
from execplan.engine.entries import REVISED
from execplan.engine.runs import last_begun
from execplan.errors import CHANGED, PAUSED, ExecplanError
from execplan.execution import states
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.engine.course import Question
    from execplan.engine.journal import Entry
    from execplan.engine.place import Place
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Current(NamedTuple):
    """A run of an agent, read."""

    place: Place
    entries: Sequence[Entry]
    course: Course

    @property
    def goes_on(self) -> bool:
        """Whether it is not at its end."""
        return self.course.status in (states.IN_PROGRESS, states.REPLANNING)


def last(home: Home, ref: Ref) -> Current | None:
    """The last run of a plan, if an agent's; raises ExecplanError."""
    place, entries = last_begun(home, ref)
    if place is None or entries[0].said.get("mode") != "agent":
        return None
    return Current(place, entries, Course(revisions.document_of(place, entries), entries))


def stop_waiting(ref: Ref, found: Current) -> None:
    """Refuse where a person is to do something first; raises ExecplanError."""
    course, number = found.course, f"{found.place.number} -p {ref.typed}"
    if course.rolling is not None:
        what = f"a rollback of the run {found.place.id} was cut short"
        hint = f"a person finishes it: execplan rollback {number}"
        raise ExecplanError("run-cut-short", what, exit=CHANGED, hint=hint)
    if course.question is not None and course.question.why not in REVISED:
        raise waits(ref, found.place, course.question)


def waits(ref: Ref, place: Place, question: Question) -> ExecplanError:
    """The refusal of a run that waits for a person's answer."""
    from execplan.engine.questions import ANSWERS_TO

    answers = ANSWERS_TO[question.why]
    hint = f"a person answers: execplan resume {place.number} -p {ref.typed} --answer {'|'.join(answers)}"
    what = f"the run {place.id} of {ref.id} waits: {question.words}"
    return ExecplanError("paused", what, exit=PAUSED, hint=hint, candidates=answers)
