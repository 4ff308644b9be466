"""Commands that settle a plan that is not what it says."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.archive.plan_archive import unfinished_reasons
from execplan.core.clock import now
from execplan.core.errors import ExecplanError
from execplan.core.plan.log_edits import add_outcome
from execplan.core.plan.outline import OUTCOMES
from execplan.core.plan.plan_recognition import lacks_outcome
from execplan.core.plan.reader import read_text
from execplan.core.plan.task_edits import complete_tasks
from execplan.core.text.line_edit import apply_edits
from execplan.core.text.message_parts import join_first

if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.core.plan.model import ParsedPlan, Task
    from execplan.core.plan.plan_change import ChangeBuilder
    from execplan.team.staleness.evidence_facts import StalenessFacts

MAX_TASKS = 12
"""Maximum number of tasks in a command that checks them off."""
_MAX_NAMES = 3
_OUTCOME_TEXT = "What was achieved."


def _archive_reason(facts: StalenessFacts) -> str:
    """Return the reason for the archive of a plan that is done, although its tasks don't show it."""
    labels = [reference.label for reference in facts.merged]
    if labels or facts.plan.tasks or facts.status is None:
        return f"The work is done: {join_first(labels, _MAX_NAMES) if labels else 'the files exist'}."
    return f"The work is done: the status says {facts.status.text}."


class ArchiveSteps(NamedTuple):
    """What settles a plan whose work is done."""

    commands: str
    """Commands that check off the open tasks, record an outcome, correct the plan if necessary, and archive it."""
    errors: tuple[str, ...] = ()
    """Errors that must be corrected before `archive` accepts the plan."""


def archive_steps(facts: StalenessFacts, tasks: list[Task]) -> ArchiveSteps:
    """Return how to archive a plan with these open tasks; one without tasks or with many is archived as it is."""
    name, plan = facts.name, facts.plan
    if not plan.tasks or len(tasks) > MAX_TASKS:
        return ArchiveSteps(f"execplan archive {name} --force --reason {quote(_archive_reason(facts))}")
    commands, changes = [], []
    if tasks:
        numbers = [str(task.number) for task in tasks]
        commands.append(f"execplan done {' '.join(numbers)} -p {name}")
        changes.append(complete_tasks(numbers, now()))
    if lacks_outcome(plan):
        lacks_section = plan.section(OUTCOMES) is None
        create_option = " --create" if lacks_section else ""
        commands.append(f"execplan outcome {quote(_OUTCOME_TEXT)} -p {name}{create_option}")
        changes.append(add_outcome(_OUTCOME_TEXT, create=lacks_section))
    archive = f"execplan archive {name}"
    errors = _remaining_errors(plan, changes)
    if not errors:
        return ArchiveSteps(join_commands([*commands, archive]))
    corrected = join_commands([*commands, f"execplan edit {name}", archive])
    return ArchiveSteps(f"{corrected}; to archive it with its errors: {archive} --force --reason 'WHY'", errors)


def _remaining_errors(plan: ParsedPlan, changes: Iterable[ChangeBuilder]) -> tuple[str, ...]:
    """Return why a plan can't be archived after changes, or why it can't be changed."""
    try:
        for change in changes:
            plan = read_text(apply_edits(plan.text, change(plan).edits))
    except ExecplanError as error:
        return (error.message,)
    return tuple(unfinished_reasons(plan))


def join_commands(commands: list[str]) -> str:
    """Return commands to run one after the other, in one line."""
    return ", then: ".join(commands)
