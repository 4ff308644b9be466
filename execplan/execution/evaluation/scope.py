"""Which steps an approval would cover, which the policy approves by itself, and which wait; and what nobody may approve."""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError
from execplan.execution.attributes import LEVELS
from execplan.execution.binding import bound_paths
from execplan.execution.documents.touched import written
from execplan.execution.world import OUTSIDE, plain
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.execution.evaluate import Evaluation, Judged
    from execplan.execution.model import ExecutionPlan
    from execplan.execution.world import World


class Uncovered(NamedTuple):
    """A step that may not run."""

    judged: Judged
    why: str


class Scope(NamedTuple):
    """What becomes of each step."""

    covered: tuple[Judged, ...]
    by_policy: tuple[Judged, ...]
    """Those that the policy approves, whatever else is said."""
    uncovered: tuple[Uncovered, ...]
    """Those that nobody has approved then."""
    done: tuple[Judged, ...] = ()
    """Those that a run which is under way has done: no approval covers them."""

    @property
    def persons(self) -> tuple[Judged, ...]:
        """The steps that are covered and that a person has to answer for."""
        return tuple([each for each in self.covered if each.needs_person])

    @property
    def inferred(self) -> tuple[Judged, ...]:
        """Those of them that the plan does not say in so many words."""
        return tuple([each for each in self.covered if each.step.inferred])


def parts(ids: Iterable[str], name: str) -> set[str]:
    """The ids of the steps that a fence with several commands gives, by its own id."""
    return {each for each in ids if each.startswith(f"{name}.") and each[len(name) + 1 :].isdecimal()}


def scope(evaluation: Evaluation, max_risk: str | None, steps: tuple[str, ...] | None) -> Scope:
    """Sort the steps of a plan; raises ExecplanError for an id that is none."""
    known = [each.step.id for each in evaluation.steps]
    named: set[str] = set()
    for name in steps or ():
        found = {name} if name in known else parts(known, name)
        named |= found
        if not found:
            from difflib import get_close_matches

            near = get_close_matches(name, known, n=3, cutoff=0.4) or known
            what = f"there is no step {name!r}"
            raise ExecplanError("no-such-step", what, exit=INPUT, hint="name one of these", candidates=near)
    covered, uncovered = [], []
    left = [each for each in evaluation.steps if not each.done]
    for each in left:
        if steps is not None and each.step.id not in named:
            why = "not among the steps that are named"
        elif max_risk is not None and LEVELS.index(each.risk.level) > LEVELS.index(max_risk):
            why = f"{each.risk.level} is above {max_risk}"
        else:
            covered.append(each)
            continue
        if each.needs_person:
            uncovered.append(Uncovered(each, why))
    by_policy = tuple([each for each in left if not each.needs_person])
    return Scope(tuple(covered), by_policy, tuple(uncovered), tuple([each for each in evaluation.steps if each.done]))


def forbidden(document: ExecutionPlan, world: World) -> Iterator[str]:
    """What no approval may cover, whichever checks are on: paths that lead out of the repository, git's and our own."""
    for step in document.steps:
        writes = written(step.model_dump(mode="json"))
        for path in dict.fromkeys([*bound_paths(step), *writes, step.cwd]):
            inside = plain(path)
            if inside is None or world.state(inside).kind == OUTSIDE:
                yield f"{step.id}: {path} leads out of the repository"
            elif path in writes and (own := world.protected(inside)):
                yield f"{step.id}: {path} is {own}"
