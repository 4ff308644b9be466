"""An approved plan as jobs for another engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from execplan import __version__
from execplan.core.edits.plan_preconditions import ensure_not_archived
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import require_existing
from execplan.core.text.message_parts import shorten
from execplan.execution.approvals.approved_plan import ApprovedPlan, require_approved_plan
from execplan.execution.approvals.effective_policy import repository_policy
from execplan.execution.binding import bound_paths
from execplan.execution.engine.approved_steps import require_approved_steps
from execplan.execution.engine.run_preconditions import ensure_not_agent_mode
from execplan.execution.engine.schedule import Schedule
from execplan.execution.execution_plan import Step, Type
from execplan.execution.export.export_jobs import Job, count_parallel_steps, job_digest, partition
from execplan.execution.export.job_setup import JobSetup, find_setup
from execplan.execution.policy import SSH, Policy
from execplan.execution.world import ABSENT

MAX_JOBS = 256
"""Limit of jobs in a workflow of GitHub that is generated from one definition."""


def ensure_exportable(
    project: Project, ref: PlanRef, approved_plan: ApprovedPlan, jobs: Sequence[Job], *, uses_checkout: bool
) -> None:
    """Raise ExecplanError if the plan can't be exported; the error lists every reason with its step.

    `uses_checkout` says whether each job begins with a checkout of the commit, which lacks what Git doesn't have, and
    whether a person can let a job begin; make has neither.
    """
    asking = {job.asks_before for job in jobs} if uses_checkout else set()
    stopping = {job.stops_after for job in jobs} if uses_checkout else set()
    reasons = [
        f"{step.id}: {reason}"
        for step in approved_plan.document.steps
        for reason in _step_reasons(step, can_ask=step.id in asking, can_stop=step.id in stopping)
    ]
    if uses_checkout:
        reasons += _ignored_inputs(project, approved_plan)
    elif approved_plan.policy.signatures == SSH and len(jobs) > 1:
        reasons.append(f"{ref.id}: people sign approvals, which are for one run, and make would start {len(jobs)}")
    if len(jobs) > MAX_JOBS:
        reasons.append(f"{ref.id}: it has {len(jobs)} jobs, but a workflow can have only {MAX_JOBS}")
    if reasons:
        raise ExecplanError(
            "not-exportable",
            f"{ref.id} has steps that another engine can't run",
            hint=f"change these steps, approve the plan again, and export it again; or run it here: execplan run {ref.shell_name}",
            candidates=reasons,
            data={"reasons": reasons},
        )


def _step_reasons(step: Step, *, can_ask: bool, can_stop: bool) -> Iterator[str]:
    """Yield why a step can't be exported; a person can be asked only before and after a job."""
    if step.type is Type.MANUAL and not can_ask:
        yield "it is manual work, and nobody can confirm it there"
    if step.confirm and not can_ask:
        yield "it asks for confirmation, and nobody can answer there"
    if step.checkpoint and not can_stop:
        yield "it has a checkpoint, which asks whether to continue"
    if step.service is not None:
        yield "it starts a service, and the steps after it run in other jobs"
    strategy = step.on_failure.strategy
    if strategy in ("ask", "replan"):
        yield f"on-failure={strategy} needs a person"
    if step.type is Type.TOOL:
        yield f"it uses the tool {step.tool}, which is installed only here"


def _ignored_inputs(project: Project, approved_plan: ApprovedPlan) -> Iterator[str]:
    """Yield the existing files that steps use and that Git ignores, so that a checkout lacks them."""
    from execplan.core.git.git_query import ignored_paths

    ignored = ignored_paths(project)
    states = approved_plan.binding.states
    for step in approved_plan.document.steps:
        for path in dict.fromkeys(bound_paths(step)):
            is_ignored = any([path == name or path.startswith(f"{name}/") for name in ignored])
            if is_ignored and states[path].kind != ABSENT:
                yield f"{step.id}: it uses {path}, which Git ignores, so a checkout doesn't contain it"


ENVIRONMENT = "execplan"
_MAX_TITLE = 80
_MINUTES_FOR_SETUP = 10
_MAX_PARALLEL = 4
"""Cores of GitHub's own machines."""
_MAX_MINUTES = 360
"""Limit of a job on GitHub's own machines."""


class ExportedJob(NamedTuple):
    """A job with what the engine needs to know of it."""

    job: Job
    digest: str
    """Digest that the job checks before anything else; see `job_digest`."""
    minutes: int
    """Time limit of the job: all attempts of all its steps, and some minutes for its setup."""
    setup: JobSetup = JobSetup()
    """What a workflow installs for its steps."""

    @property
    def name(self) -> str:
        """Return the name of the job."""
        return f"job-{self.job.number}"

    @property
    def title(self) -> str:
        """Return the IDs of the steps, as a title."""
        return shorten(", ".join([step.id for step in self.job.steps]), _MAX_TITLE)

    @property
    def outputs_file(self) -> str:
        """Return the file in which the job passes on its outputs and those of the earlier jobs."""
        return f"{self.name}.tar"


class ExportedPlan(NamedTuple):
    """An approved plan as jobs, each of which follows the one before."""

    id: str
    path: str
    """Path of the plan from the root of the repository."""
    jobs: tuple[ExportedJob, ...]
    environment: str = ENVIRONMENT
    """Name of the environment whose reviewers let jobs begin that need a person."""
    version: str = __version__
    """Version of execplan: another one may compile the plan differently."""

    @property
    def unknown_programs(self) -> tuple[str, ...]:
        """Return the programs that a workflow does not install, and that its machines may not have."""
        return tuple(sorted({name for job in self.jobs for name in job.setup.unknown}))

    @property
    def header(self) -> tuple[str, ...]:
        """Return the lines of the comment at the beginning of the file."""
        return (
            f"Exported by execplan {self.version} from {self.path}.",
            "Don't edit it: change the plan, and export it again.",
        )

    def run_arguments(self, job: ExportedJob) -> str:
        """Return the arguments of `execplan` that run a job, quoted for a shell."""
        return f"job {job.job.number} -p {quote(self.path)} --digest {job.digest}"

    def run_options(self, job: ExportedJob) -> str:
        """Return the options with which a job runs, each after a space."""
        count = min(count_parallel_steps(job.job), _MAX_PARALLEL)
        options = f" --jobs {count}" if count > 1 else ""
        return options + (" --confirmed" if job.job.asks_before else "")

    def earlier_job(self, job: ExportedJob) -> ExportedJob | None:
        """Return the job before a job; None for the first one."""
        index = self.jobs.index(job)
        return self.jobs[index - 1] if index else None


def export_plan(project: Project, ref: PlanRef, *, uses_checkout: bool, environment: str = ENVIRONMENT) -> ExportedPlan:
    """Return an approved plan as jobs. Raises ExecplanError if it is not approved or can't be exported.

    `uses_checkout` says whether each job begins with a checkout of the commit. The reviewers of the environment let jobs
    begin.
    """
    require_existing(project)
    ensure_not_archived(project, ref)
    approved_plan = require_approved_plan(project, ref)
    document = approved_plan.document
    ensure_not_agent_mode(document, ref)
    require_approved_steps(
        approved_plan,
        Schedule(document, None, lambda path: False),
        hint=f"an export needs all steps: approve them without --step, then export again: execplan approve {ref.shell_name}",
    )
    policy = repository_policy(project)
    jobs = partition(document, policy)
    ensure_exportable(project, ref, approved_plan, jobs, uses_checkout=uses_checkout)
    exported_jobs = [
        ExportedJob(
            job,
            job_digest(approved_plan.binding, jobs, job.number),
            _minutes(job, policy),
            find_setup(project, job.steps),
        )
        for job in jobs
    ]
    return ExportedPlan(ref.id, project.display_path(ref.path), tuple(exported_jobs), environment)


def _minutes(job: Job, policy: Policy) -> int:
    seconds = 0.0
    for step in job.steps:
        retries = step.on_failure.max_retries
        programs = 2 if step.validation.test_after is not None else 1
        seconds += (1 + retries) * programs * policy.step_seconds(step.timeout_s)
        seconds += sum([step.on_failure.backoff_ms / 1000 * 2**retry for retry in range(retries)])
    return min(int(seconds // 60) + 1 + _MINUTES_FOR_SETUP, _MAX_MINUTES)
