"""Features that add to the core, by the names of their modules and functions: nothing in the core imports them.

A name is loaded where it is needed; if that fails, the command stops. Some are in the core itself, for few commands.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

SETTING_TABLES: Final = {
    "lint": "execplan.linter.lint_settings:TABLE",
    "context": "execplan.context.context_settings:TABLE",
    "triage": "execplan.context.triage.triage_evaluation:TABLE",
    "execution": "execplan.execution.policy_settings:TABLE",
    "approval": "execplan.execution.approver_settings:TABLE",
    "enhancer": "execplan.agents.enhancer.enhancement_request:TABLE",
    "drafting": "execplan.agents.drafting.drafting_settings:TABLE",
}
"""For each table of the settings, its `SettingTable`, in the order of the reference."""
COMMAND_PATTERN_CHECK: Final = "execplan.execution.shell.call_patterns:is_command_pattern"
"""Tells whether a value is a pattern of commands, as the setting `agent_checks` has them."""
POLICY_TABLES: Final = "execplan.execution.policy_settings:combine_tables"
"""Returns the policy of a user's table of settings, tightened by a repository's."""
SIGNING_RULES: Final = "execplan.execution.approvals.approval_signers:load_signing_rules"
"""Returns which signatures of approvals count in a project, and who must sign."""
APPROVAL_CHANGES: Final = "execplan.cli.output.approval_changes_output:describe_changes"
"""Returns what has changed since a plan was approved, as text and as JSON data."""
SHELL_COMPLETION: Final = "execplan.cli.shell_completion:completion_candidates"
"""Returns the candidates for an argument on the command line."""
PAGER: Final = "execplan.cli.output.pager:show_in_pager"
"""Shows a text in the pager if it is longer than the screen, and returns whether it did."""
BUG_REPORT: Final = "execplan.cli.bug_report:write_bug_report"
"""Writes a report about an error that nothing handles, without secrets."""
EXTRA_HINT: Final = "execplan.core.installation:extra_hint"
"""Returns the hint that names the command which installs an extra."""
REQUIRED_CHECKS: Final = "execplan.execution.engine.ticks:ensure_unchecked"
"""Raises ExecplanError if one of the tasks to check off has a check that the policy requires first."""
COMPLETION_WARNINGS: Final = "execplan.team.dependencies.plan_blockers:completion_warnings"
"""Returns warnings about tasks that were checked off although they wait for other plans."""
COMPLETION_ADVICE: Final = "execplan.team.advice.plan_advice:advise_after_tasks"
"""Returns the advice for a plan after tasks were checked off; empty if another task can be done."""
PLAN_ADVICE: Final = "execplan.team.advice.plan_advice:advise_plan"
"""Returns the advice for a plan by its state and its last run, for `handoff` and for a plan that can't be archived."""
NEW_PLAN_ADVICE: Final = "execplan.team.advice.section_advice:advise_new_plan"
"""Returns the advice for a plan that `new` has just created."""
APPROVED_COMMANDS: Final = "execplan.team.advice.execution_status:approved_commands"
"""Returns the commands that continue with steps that were just approved."""
OTHER_COPY: Final = "execplan.team.worktrees.other_copy:describe_other_copies"
"""Returns where the work on plans goes on if that is not in the main worktree, and the commands that lead there."""
OWN_COPY_CHECK: Final = "execplan.team.worktrees.other_copy:ensure_own_copy"
"""Raises ExecplanError if a plan of the main worktree has its own worktree."""
TASKS_DONE_ELSEWHERE: Final = "execplan.team.worktrees.done_elsewhere:find_tasks_done_elsewhere"
"""Returns the directory of the worktree in which a task is done, by task ID, in a repository with several worktrees."""
FINISH_ADVICE: Final = "execplan.team.advice.finish_advice:advise_finish"
"""Returns the advice for a finished plan in its own worktree: commit the other changed files, then merge."""
CYCLE_CHECK: Final = "execplan.team.dependencies.dependency_problems:ensure_no_new_cycle"
"""Raises ExecplanError if a plan that comes to depend on others would wait for itself; returns warnings."""
CHECK_COMMAND: Final = "execplan.execution.acceptance_check:require_check_command"
"""Returns the command of a task's check on one line. Raises ExecplanError if no check could have it."""
VERIFIED_COMPLETION: Final = "execplan.cli.output.verification_output:verify_tasks"
"""Runs the checks of tasks for `done --verify`, and checks off those whose check passes."""
KEPT_REFERENCE: Final = "execplan.exchange.task_reference:keep_reference"
"""Returns the new text of a task with the ID and the link in another program that the old text ends with."""
FORM_EXPORT: Final = "execplan.cli.output.form_output:form_answer"
"""Exports a plan in the form of another program for `export`, and returns the answer."""
STEP_FINDINGS: Final = "execplan.execution.annotations.step_findings:find_step_findings"
"""Returns what prevents the steps of a plan from compiling, and advice on them, for the rules about steps."""
STEP_PLACES: Final = "execplan.execution.annotations.step_findings:list_step_places"
"""Returns the ID and the first line of each step of a plan, for the rule about review comments."""
CHECK_PROBLEM: Final = "execplan.execution.acceptance_check:check_problem"
"""Returns why a task's check can't be run, for the rule about checks; empty if it can."""
DEPENDENCY_ANSWERS: Final = "execplan.team.dependencies.dependency_problems:DependencyAnswers"
"""Answers what plans need from other plans, for the rules about dependencies."""
OPEN_COMMENTS: Final = "execplan.team.review.plan_comments:list_open_comments"
"""Returns the open review comments of a plan, for the rule about them."""
COPIED_TEMPLATE: Final = "execplan.core.plan_store.template_copy:mark_copied_text"
"""Marks the text of a plan that is only a copy of the repository's own template."""
EVIDENCE_DIGEST: Final = "execplan.core.archive.archive_evidence:recorded_digest"
"""Returns the digest of an archived plan that its evidence file has, for the rule that compares them."""
SHIPPED_WORK: Final = "execplan.team.staleness.stale_plans:find_shipped_work"
"""Returns the evidence from git that the work of open plans is done, for the rule about it."""
TRIAGE_REASONS: Final = "execplan.context.gathering.triage_changes:plan_reasons"
"""Returns the reasons why the staged changes need a plan, for the rule about commits without one."""
OUTDATED_INDEX: Final = "execplan.team.plan_index.index_check:find_outdated"
"""Returns the plan index that is not up to date, for the rule about it."""
INDEX_WRITER: Final = "execplan.team.plan_index.plan_index_file:write_index"
"""Writes the plan index, for `lint --fix`."""
STAGED_INDEX_WRITER: Final = "execplan.team.plan_index.plan_index_file:update_staged_index"
"""Writes the plan index into the git index, for `lint --fix --staged`."""
PYTHON_DANGERS: Final = "execplan.execution.evaluation.python_dangers:find_python_dangers"
"""Returns what a Python text does that is dangerous, for steps that write one."""
SEARCH_OF_SECRETS: Final = "execplan.core.secrets.certain_secrets:find_secrets"
"""Returns the secrets in a text, for the rule about them."""
MASKING: Final = "execplan.core.secrets.certain_secrets:mask_secrets"
"""Returns a text with the secrets in it masked, for messages and fixes."""
ARCHIVE_ERRORS: Final = "execplan.linter.finding_summary:merged_archive_errors"
"""Returns the lint errors that stop the archive of a plan, besides open tasks and a missing outcome."""
DRAFT_ERRORS: Final = "execplan.linter.runner:draft_errors"
"""Returns the lint errors that keep a plan from being added."""
LINT_ERRORS: Final = "execplan.linter.checking.plan_check:find_errors"
"""Returns the lint errors of a plan, without some rules, for the overview of a plan."""
LAST_RUN: Final = "execplan.execution.engine.run_records.record_builder:read_last_run"
"""Returns the last run of a plan with its steps, for the evidence of an archived plan; None if there is none."""
LOST_EVIDENCE: Final = "execplan.execution.engine.run_records.lost_evidence:restore_lost_evidence"
"""Restores the files of a plan's last run that a power failure has taken."""
ATTESTATION: Final = "execplan.execution.engine.audit_log.run_attestation:build_attestation"
"""Returns the Statement about the last run of an archived plan."""
INSTALL_DIFFERENCE: Final = "execplan.agents.integrations.install_diff:differs_only_by_install"
"""Tells whether a file differs from the committed one only by what `install` writes."""
DENIED_COMMANDS: Final = "execplan.agents.integrations.installed_guard:denied_commands"
"""Returns the commands and options that the guard denies to agents in a project, so that hints ask a person for them."""
MOVE_RECOVERY: Final = "execplan.core.archive.move_execution:recover_move_or_warn"
"""Finishes an interrupted move before other work in a project."""
MERGE_HINT: Final = "execplan.core.plan_store.pending_merge:finishing_hint"
"""Returns how to finish a merge that keeps a plan from being committed."""
TRIED_CHANGE: Final = "execplan.cli.output.tried_change_output:tried_change_answer"
"""Writes the steps of a change that somebody has tried into a plan, for `compile --from-diff`."""
NO_STEPS: Final = "execplan.execution.engine.replanning.removed_steps:has_no_steps"
"""Returns whether the text of a plan has no steps."""
MERGE_STEPS: Final = "execplan.core.plan_store.pending_merge:find_steps"
"""Returns what finishes a merge for the files at some paths."""
MERGE_COMMANDS: Final = "execplan.core.plan_store.pending_merge:next_commands"
"""Returns the commands that finish a merge in which plans were changed; none without one."""
MERGE_CONFLICTS: Final = "execplan.core.plan_store.pending_merge:describe_conflicts"
"""Returns a sentence about each file of plans of a repository that git lists as unmerged."""
MARKER_CHECK: Final = "execplan.core.plan_store.pending_merge:ensure_no_markers"
"""Raises ExecplanError if a plan that is committed has conflict markers and no operation of git explains them."""
MERGE_CHECK: Final = "execplan.core.plan_store.pending_merge:ensure_merged"
"""Raises ExecplanError if the files of a plan that is moved have conflicts."""
STATE_ADOPTION: Final = "execplan.core.project.project_state:adopt_state"
"""Moves the state from before `git init` into the git directory."""


def load(name: str) -> Any:
    """Import what a name of this module stands for, such as `execplan.linter.lint_settings:TABLE`."""
    module_name, _, attribute = name.partition(":")
    if module_name not in sys.modules:
        __import__(module_name)  # as importlib.import_module does, without loading importlib for `lint FILE`
    return getattr(sys.modules[module_name], attribute)
