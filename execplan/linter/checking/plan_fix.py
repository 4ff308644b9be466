"""Findings mended in the file, through the one write path."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from execplan.edits.plan_writer import EditResult, amend, remove_leftovers
from execplan.errors import ENVIRONMENT
from execplan.linter.autofix import build_fix_change
from execplan.linter.checking.effective_rules import active_levels
from execplan.linter.checking.plan_check import check_plan, make_rule_context
from execplan.linter.rule import SAFE, UNSAFE

if TYPE_CHECKING:
    from execplan.edits.plan_writer import WriteOptions
    from execplan.linter.checking.plan_check import CheckOptions, CheckTarget
    from execplan.linter.rule import Finding


class FixOutcome(NamedTuple):
    """What became of the findings of one plan."""

    target: CheckTarget
    edit_result: EditResult | None
    """None for a plan that may not be written: it is archived."""
    fixed_counts: Counter[str]
    """How many findings of each rule were mended."""


def fix_plan(
    target: CheckTarget, check_options: CheckOptions, options: WriteOptions, *, include_unsafe: bool
) -> FixOutcome | None:
    """Mend what can be mended in one plan; None where there is nothing. Raises ExecplanError."""
    project, ref = target.project, target.ref
    checked_file = check_plan(target, check_options)
    if (
        checked_file.error is not None and checked_file.error.exit == ENVIRONMENT
    ):  # it may be readable again when it is judged
        raise checked_file.error
    if not any([_is_fixable(finding, include_unsafe=include_unsafe) for finding in checked_file.findings]):
        if not options.dry_run:
            remove_leftovers(project, ref, command="lint")
        return None
    fixed_counts: Counter[str] = Counter()
    if ref.archived:
        return FixOutcome(target, None, fixed_counts)
    rule_levels = active_levels(project, check_options.selection, project.display_path(ref.path))
    fix_change = build_fix_change(
        make_rule_context(project, ref, check_options), rule_levels, unsafe=include_unsafe, fix_counts=fixed_counts
    )
    return FixOutcome(target, amend(project, ref, fix_change, options, command="lint"), fixed_counts)


def _is_fixable(finding: Finding, *, include_unsafe: bool) -> bool:
    return finding.fix is not None and (finding.fix.kind == SAFE or (include_unsafe and finding.fix.kind == UNSAFE))
