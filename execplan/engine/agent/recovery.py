"""What an agent is told after a step has failed: what follows by the plan, and the command for it."""

from __future__ import annotations

from execplan.engine.order import alternative
from execplan.engine.questions import ANSWERS_TO
from execplan.engine.recover import ALTERNATIVE, ASK, REPLAN, RETRY, SKIP, recover
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.entries import Performed
    from execplan.engine.place import Place
    from execplan.execution.model import Step
    from execplan.repo.shelf import Ref


class Recovery(NamedTuple):
    """The way on from a failure."""

    kind: str
    """retry, skip, alternative, replan, ask or fail."""
    words: str
    step: str = ""
    """The step that is up then, or nothing."""
    commands: tuple[str, ...] = ()


def recovery(ref: Ref, place: Place, step: Step, performed: Performed, tries: int) -> Recovery:
    """What follows, of the last of so many attempts since a person last had the step done."""
    found = recover(step, performed, tries)
    number, name = f"{place.number} -p {ref.typed}", step.id
    replan = f"execplan replan {number} --reason 'What was found out'"
    resume, back = f"execplan resume {number}", f"execplan rollback {number}"
    if found.kind == RETRY:
        left = 1 + step.on_failure.max_retries - tries
        times = "once more" if left == 1 else f"{left} times more"
        pause = f", after a pause of {found.seconds:g} s" if found.seconds else ""
        return Recovery(RETRY, f"{name} may be tried {times}{pause}", name)
    if found.kind == SKIP:
        return Recovery(SKIP, f"{name} is skipped, and the run goes on")
    if found.kind == ALTERNATIVE:
        other = alternative(step)
        return Recovery(ALTERNATIVE, f"{other} stands in for {name}, and is up now", other)
    if found.kind == REPLAN:
        words = (
            f"{name} is to be planned anew; a person approves the revision, unless all its steps were approved before"
        )
        return Recovery(REPLAN, words, commands=(replan,))
    if found.kind == ASK:
        commands = tuple([f"{resume} --answer {answer}" for answer in ANSWERS_TO[ASK]])
        return Recovery(ASK, "a person says what becomes of it", commands=commands)
    words = "the run has failed; a person takes it up or takes it back, or it is planned anew"
    return Recovery("fail", words, commands=(resume, back, replan))
