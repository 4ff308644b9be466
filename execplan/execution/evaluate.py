"""Evaluation of an execution plan: what it would do and whether it is blocked, found without side effects."""

from __future__ import annotations

from execplan.core import features
from execplan.core.named_tuple import NamedTuple
from execplan.execution import rare_features
from execplan.execution.attributes import LEVELS
from execplan.execution.code_files import CodeFiles, describe_code_files
from execplan.execution.evaluation.checks.all_checks import CHECKS
from execplan.execution.evaluation.checks.check_registry import ERROR, CheckContext, EvaluationFinding
from execplan.execution.evaluation.projected_files import ProjectedFiles
from execplan.execution.evaluation.trial import DONE, DryRun, run_trials
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.execution.policy import Policy
from execplan.execution.program_lookup import working_directory
from execplan.execution.risk.command_risk import CommandRisk
from execplan.execution.risk.step_risk import effective_risk
from execplan.execution.states import ActiveRun
from execplan.execution.world import World


class EvaluatedStep(NamedTuple):
    """A step and everything known about it before it runs."""

    step: Step
    risk: CommandRisk
    dry_run: DryRun
    needs_person: bool
    """Whether the step needs a person's approval because the policy does not approve it automatically."""
    findings: tuple[EvaluationFinding, ...]
    code: CodeFiles = CodeFiles()
    """Code that the commands of the step read, and whether an approval covers it."""

    @property
    def ok(self) -> bool:
        """Whether no finding blocks the step."""
        return not any([finding.level == ERROR for finding in self.findings])

    @property
    def is_done(self) -> bool:
        """Whether an active run has finished the step: it is not evaluated, approved or run again."""
        return self.dry_run.kind == DONE


class Evaluation(NamedTuple):
    """Result of evaluating an execution plan."""

    risk: CommandRisk
    steps: tuple[EvaluatedStep, ...]
    findings: tuple[EvaluationFinding, ...]
    """All findings: those about the whole plan first, then step by step."""
    checks: dict[str, bool]
    """Every check, and whether the policy enables it."""

    @property
    def ok(self) -> bool:
        """Whether the plan may run once it is approved."""
        return not any([finding.level == ERROR for finding in self.findings])


def evaluate(document: ExecutionPlan, world: World, policy: Policy, active_run: ActiveRun | None = None) -> Evaluation:
    """Evaluate a document in the current state, except finished steps. Raises ExecplanError if a disk error occurs."""
    document = features.load(rare_features.FOUND_FILES)(document, world) if document.finds_files else document
    finished = active_run.finished_steps if active_run is not None else frozenset()
    trials = run_trials(
        ProjectedFiles(world, document), tuple([step for step in document.steps if step.id not in finished])
    )
    context = CheckContext(document, trials, policy, world)
    checks = {name: name not in policy.off for name in CHECKS}
    findings = [
        finding._replace(check=name)
        for name, is_enabled in checks.items()
        if is_enabled
        for finding in CHECKS[name].run(context)
    ]
    evaluated = []
    dry_runs = {trial.step.id: trial.dry_run for trial in trials}
    for step in document.steps:
        risk = effective_risk(step, policy)
        allows_unplanned = document.constraints.allow_unplanned
        needs_person = step.id in dry_runs and (step.inferred or allows_unplanned or policy.needs_person(risk.level))
        step_findings = tuple([finding for finding in findings if finding.step is step])
        dry_run = dry_runs.get(step.id, _finished_dry_run(active_run))
        code = describe_code_files(step, working_directory(step, world.state), world, is_bound=document.mode != "agent")
        evaluated.append(EvaluatedStep(step, risk, dry_run, needs_person, step_findings, code))
    plan_findings = [finding for finding in findings if finding.step is None]
    return Evaluation(
        _overall_risk(evaluated),
        tuple(evaluated),
        (*plan_findings, *[finding for step in evaluated for finding in step.findings]),
        checks,
    )


def _finished_dry_run(active_run: ActiveRun | None) -> DryRun:
    return DryRun(DONE, why=f"done by run {active_run.run}" if active_run is not None else "")


def _overall_risk(steps: list[EvaluatedStep]) -> CommandRisk:
    """Return the highest risk, with the steps that have it as reasons."""
    remaining = [step for step in steps if not step.is_done]
    level = max([step.risk.level for step in remaining], key=LEVELS.index, default=LEVELS[0])
    reasons = [
        f"{step.step.id}: {reason}" for step in remaining if step.risk.level == level for reason in step.risk.reasons
    ]
    return CommandRisk(level, tuple(reasons))
