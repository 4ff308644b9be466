"""What keeps a plan from being archived as completed, and what to do first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from execplan.core import features
from execplan.core.errors import ErrorContext
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.placeholder_text import unfilled_sections
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.plan_recognition import lacks_outcome
from execplan.core.plan.stated_status import find_statuses
from execplan.core.plan_store import claims, plan_store
from execplan.core.plan_store.author import actor
from execplan.core.plan_store.claims_file import Claim
from execplan.core.plan_store.hint_reader import fill_command, outcome_command
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text.message_parts import shorten


class ArchiveBlockers(NamedTuple):
    """What keeps a plan from being archived as completed."""

    reasons: tuple[str, ...]
    """Each reason; empty if the plan can be archived."""
    advice: str
    """What to do first, for people."""
    command: str
    """The command that does it."""
    otherwise: str = ""
    """What else ends the plan, for people, without a command."""

    @property
    def hint(self) -> str:
        """The hint of an error."""
        return f"{self.advice}: {self.command}" + (f"; or {self.otherwise}" if self.otherwise else "")


def load_blockers(project: Project, ref: PlanRef) -> ArchiveBlockers:
    """Return what keeps a plan from being archived as completed; raises ExecplanError if it can't be read."""
    with ErrorContext(project.display_path(ref.path)):
        return find_blockers(project, ref, plan_store.parse(project, plan_store.read_bytes(project, ref.path)))


def find_blockers(project: Project, ref: PlanRef, plan: ParsedPlan) -> ArchiveBlockers:
    """Return what keeps a plan from being archived, and what to do first.

    Abandoning it is mentioned only before all tasks are done, and while nobody else works on one. It is never the command,
    because an agent runs what it reads.
    """
    otherwise = ""
    name, sections = plan_store.name_in_commands(project, ref), unfilled_sections(plan)
    filling = ""
    if sections:
        filling = f"fill in {sections[0] if len(sections) == 1 else f'{len(sections)} sections'}"
    other_claims = claims.claims_of_others(project, ref, plan) if plan.unfinished_tasks else {}
    if other_claims:
        holder = next(iter(other_claims.values())).name
        advice = f"wait for {holder}, or have the task handed over"
        command = claims.handover_command(ref, holder, actor(project))
    elif plan.unfinished_tasks or not plan.tasks:
        advice, command = _advise_next(project, ref, name)
        otherwise = "abandon it with --as abandoned --reason 'Why'"
    elif lacks_outcome(plan):
        advice = f"add an outcome and {filling}" if filling else "add an outcome"
        command = outcome_command(plan, name)
    elif sections:
        advice, command = f"{filling}, for example", fill_command(sections[0], name)
    else:
        advice, command = "fix the errors", f"execplan lint {name}"
    return ArchiveBlockers(tuple(unfinished_reasons(plan, other_claims)), advice, command, otherwise)


def _advise_next(project: Project, ref: PlanRef, name: str) -> tuple[str, str]:
    """Return the next work on a plan, as `status` has it, and its command."""
    next_advice = features.load(features.PLAN_ADVICE)(plan_store.load(project, ref))
    work = next_advice.work
    if work is not None:
        description = f"do task {work.task['number']}" if work.task is not None else work.description
        return f"{description}, {work.lead}", work.command
    return "see what is next", (*next_advice.commands, f"execplan prime {name}")[0]


def unfinished_reasons(plan: ParsedPlan, other_claims: Mapping[str, Claim] | None = None) -> list[str]:
    """Return each reason why a plan is not finished, also those that lint warns about only until the tasks are done.

    `other_claims` are the claims of others, by task ID.
    """
    reasons = []
    for task_id, task in zip(task_ids(plan.tasks), plan.tasks, strict=True):
        if task.is_unfinished:
            claim = other_claims.get(task_id) if other_claims else None
            state = f"claimed by {claim.name} until {claim.format_end()}" if claim is not None else task.state_label
            reasons.append(f"task {task.number} is {state}: {shorten(task.text)}")
    status = next(find_statuses(plan), None) if not plan.tasks and not plan.is_stated_done else None
    if status is not None:
        reasons.append(f"the status is `{status.text}`")
    if lacks_outcome(plan):
        reasons.append(f"{outline.OUTCOMES} is empty")
    findings_by_code: dict[str, list[Any]] = {}
    for finding in features.load(features.ARCHIVE_ERRORS)(plan):
        findings_by_code.setdefault(finding.code, []).append(finding)
    for code, (finding, *more_findings) in findings_by_code.items():
        more = f", and {len(more_findings)} more" if more_findings else ""
        reasons.append(f"{code} on line {finding.line}: {finding.message}{more}")
    return reasons
