"""Commands that settle a plan that is not what it says."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from execplan.text.message_parts import join_first

if TYPE_CHECKING:
    from execplan.plan.model import Task
    from execplan.staleness.evidence_facts import StalenessFacts

MAX_TASKS = 12
"""Maximum number of tasks in a command that checks them off."""
_MAX_NAMES = 3
_OUTCOME_TEXT = "What was achieved."


def merge_reason(facts: StalenessFacts) -> str:
    """Return the reason for the archive of a plan whose work was merged."""
    labels = [reference.label for reference in facts.merged]
    reason = join_first(labels, _MAX_NAMES) if labels else "the files exist"
    return f"The work is done: {reason}."


def check_off_commands(facts: StalenessFacts, tasks: list[Task]) -> str:
    """Return the commands that check off the tasks and archive the plan; a long list is archived as it is."""
    name = facts.name
    if len(tasks) > MAX_TASKS:
        return f"execplan archive {name} --force --reason {quote(merge_reason(facts))}"
    numbers = " ".join([str(task.number) for task in tasks])
    return join_commands([f"execplan done {numbers} -p {name}", *outcome_command(facts), f"execplan archive {name}"])


def outcome_command(facts: StalenessFacts) -> list[str]:
    """Return the command that records an outcome, if the plan has none."""
    if facts.plan.outcomes or not facts.plan.tasks:
        return []
    create_option = "" if facts.plan.section("Outcomes & Retrospective") is not None else " --create"
    return [f"execplan outcome {quote(_OUTCOME_TEXT)} -p {facts.name}{create_option}"]


def join_commands(commands: list[str]) -> str:
    """Return commands to run one after the other, in one line."""
    return ", then: ".join(commands)
