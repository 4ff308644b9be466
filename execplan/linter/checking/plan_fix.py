"""Automatic fixes for findings, written through the normal write path."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.edits.plan_writer import EditResult, amend, remove_leftovers
from execplan.core.errors import ENVIRONMENT
from execplan.linter.autofix import build_fix_change
from execplan.linter.checking.effective_rules import active_levels
from execplan.linter.checking.plan_check import check_plan, make_rule_context
from execplan.linter.rule import SAFE, UNSAFE

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.linter.checking.plan_check import CheckOptions, CheckTarget
    from execplan.linter.rule import Finding


class FixOutcome(NamedTuple):
    """The result of fixing one plan's findings."""

    target: CheckTarget
    edit_result: EditResult
    fixed_counts: Counter[str]
    """Number of fixed findings by rule."""


def fix_plan(
    target: CheckTarget, check_options: CheckOptions, options: WriteOptions, *, include_unsafe: bool
) -> FixOutcome | None:
    """Fix the fixable findings of one plan; return None if there are none.

    Raises ExecplanError if the plan can't be written.
    """
    project, ref = target.project, target.ref
    checked_file = check_plan(target, check_options)
    if (
        checked_file.error is not None and checked_file.error.exit == ENVIRONMENT
    ):  # it may be readable again in the later check
        raise checked_file.error
    if not any([_is_fixable(finding, include_unsafe=include_unsafe) for finding in checked_file.findings]):
        if not options.dry_run:
            remove_leftovers(project, ref, command="lint")
        return None
    fixed_counts: Counter[str] = Counter()
    rule_levels = active_levels(project, check_options.selection, project.display_path(ref.path))
    fix_change = build_fix_change(
        make_rule_context(project, ref, check_options), rule_levels, unsafe=include_unsafe, fix_counts=fixed_counts
    )
    return FixOutcome(target, amend(project, ref, fix_change, options, command="lint"), fixed_counts)


def _is_fixable(finding: Finding, *, include_unsafe: bool) -> bool:
    return finding.fix is not None and (finding.fix.kind == SAFE or (include_unsafe and finding.fix.kind == UNSAFE))
