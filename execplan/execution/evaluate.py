"""What an execution plan would do, and whether it must not run: judged without any side effect."""

from __future__ import annotations

from execplan.execution.attributes import LEVELS
from execplan.execution.evaluation.after import Tree
from execplan.execution.evaluation.checks.check import ERROR, Case, Finding
from execplan.execution.evaluation.checks.every import CHECKS
from execplan.execution.evaluation.trial import DONE, DryRun, try_all
from execplan.execution.risk.rate import Risk, builtin
from execplan.execution.risk.rating import rated
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.execution.model import ExecutionPlan, Step
    from execplan.execution.policy import Policy
    from execplan.execution.world import World


class Judged(NamedTuple):
    """A step and all that is known of it before it runs."""

    step: Step
    risk: Risk
    dry_run: DryRun
    needs_person: bool
    """Whether the policy does not approve it by itself."""
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against running it."""
        return not any([each.level == ERROR for each in self.findings])

    @property
    def done(self) -> bool:
        """Whether a run that is under way has done it: nothing of it is judged, approved or run any more."""
        return self.dry_run.kind == DONE


class Evaluation(NamedTuple):
    """What was found."""

    risk: Risk
    steps: tuple[Judged, ...]
    findings: tuple[Finding, ...]
    """All of them, those about the whole first, then step by step."""
    checks: dict[str, bool]
    """Every check, and whether the policy has it run."""

    @property
    def ok(self) -> bool:
        """Whether it may run once it is approved."""
        return not any([each.level == ERROR for each in self.findings])


class Underway(NamedTuple):
    """A run that goes on, for which a document is judged once more."""

    run: str
    """Its id."""
    document: str
    """SHA-256 of the bytes that it has come to."""
    done: frozenset[str]
    """The ids of the steps that it will not run again."""


def evaluate(document: ExecutionPlan, world: World, policy: Policy, underway: Underway | None = None) -> Evaluation:
    """Judge a document as things stand, but for the steps that are done; raises ExecplanError where a disk fails."""
    done = underway.done if underway is not None else frozenset()
    trials = try_all(Tree(world, document), tuple([step for step in document.steps if step.id not in done]))
    case = Case(document, trials, policy, world)
    checks = {name: name not in policy.off for name in CHECKS}
    found = [finding._replace(check=name) for name, on in checks.items() if on for finding in CHECKS[name].look(case)]
    judged = []
    dry = {trial.step.id: trial.dry for trial in trials}
    for step in document.steps:
        risk = risk_of(step, policy)
        beyond = document.constraints.allow_unplanned
        person = step.id in dry and (step.inferred or beyond or policy.needs_person(risk.level))
        own = tuple([each for each in found if each.step is step])
        judged.append(Judged(step, risk, dry.get(step.id, _done(underway)), person, own))
    whole = [each for each in found if each.step is None]
    return Evaluation(
        _overall(judged), tuple(judged), (*whole, *[each for step in judged for each in step.findings]), checks
    )


def _done(underway: Underway | None) -> DryRun:
    return DryRun(DONE, why=f"the run {underway.run} has done it" if underway is not None else "")


def risk_of(step: Step, policy: Policy) -> Risk:
    """The highest of what the policy's table says of a step, and of what the document says.

    A level that is no higher than the built-in table's is that table's, from when the plan was compiled: the user's rows may lower it.
    """
    said, told = step.risk, step.model_dump(mode="json")
    if policy.rated.version != builtin().version:
        bare = {name: value for name, value in told.items() if name != "risk"}
        told = told if LEVELS.index(said.level.value) > LEVELS.index(rated(bare).level) else bare
    found = rated(told, policy.rated)
    if found.level != said.level.value:
        return found
    return Risk(found.level, tuple(dict.fromkeys([*found.reasons, *said.reasons])))


def _overall(judged: list[Judged]) -> Risk:
    """The highest risk, and the steps that have it."""
    left = [each for each in judged if not each.done]
    level = max([each.risk.level for each in left], key=LEVELS.index, default=LEVELS[0])
    reasons = [f"{each.step.id}: {reason}" for each in left if each.risk.level == level for reason in each.risk.reasons]
    return Risk(level, tuple(reasons))
