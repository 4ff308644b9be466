"""Features that add to the core: where the core calls them, and the names of their modules and functions.

The core reads plans and edits them. It imports no feature, not even inside of a function, so it can be understood and
tested alone. A name is imported when its place is reached; a feature that can't be loaded stops the command.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

SETTING_TABLES: Final = {
    "lint": "execplan.linter.lint_settings:TABLE",
    "context": "execplan.context.context_settings:TABLE",
    "triage": "execplan.context.triage.triage_settings:TABLE",
    "execution": "execplan.execution.policy_settings:TABLE",
    "enhancer": "execplan.agents.enhancer.enhancer_settings:TABLE",
    "drafting": "execplan.agents.drafting.drafting_settings:TABLE",
}
"""For each table of the settings, its `SettingTable`, in the order of the reference."""
COMMAND_PATTERN_CHECK: Final = "execplan.execution.shell.call_patterns:is_command_pattern"
"""Tells whether a value is a pattern of commands, as the setting `agent_checks` has them."""
SHELL_COMPLETION: Final = "execplan.cli.shell_completion:completion_candidates"
"""Returns the candidates for an argument on the command line."""
BUG_REPORT: Final = "execplan.cli.bug_report:write_bug_report"
"""Writes a report about an error that nothing handles, without secrets."""
REQUIRED_CHECKS: Final = "execplan.engine.acceptance.required_checks:ensure_unchecked"
"""Raises ExecplanError if one of the tasks to check off has a check that the policy requires first."""
COMPLETION_WARNINGS: Final = "execplan.dependencies.completion_warnings:completion_warnings"
"""Returns warnings about tasks that were checked off although they wait for other plans."""
COMPLETION_ADVICE: Final = "execplan.advice.plan_advice:advise_after_last_task"
"""Returns the advice for a plan in which no task is open any more."""
CYCLE_CHECK: Final = "execplan.dependencies.dependency_answers:ensure_no_new_cycle"
"""Raises ExecplanError if a plan that comes to depend on others would wait for itself; returns warnings."""
CHECK_COMMAND: Final = "execplan.execution.acceptance_check:require_check_command"
"""Returns the command of a task's check on one line. Raises ExecplanError if no check could have it."""
VERIFIED_COMPLETION: Final = "execplan.cli.output.verification_output:verify_tasks"
"""Runs the checks of tasks for `done --verify`, and checks off those whose check passes."""
MOVE_RECOVERY: Final = "execplan.archive.move_execution:recover_move_or_warn"
"""Finishes an interrupted move before other work in a project."""


def load(name: str) -> Any:
    """Import what a name of this module stands for, such as `execplan.linter.lint_settings:TABLE`."""
    module_name, _, attribute = name.partition(":")
    if module_name not in sys.modules:
        __import__(module_name)
    return getattr(sys.modules[module_name], attribute)
