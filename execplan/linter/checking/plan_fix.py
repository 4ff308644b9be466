"""Automatic fixes for findings, written through the normal write path."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from execplan.core.edits.plan_writer import EditResult, WriteOptions, amend, remove_leftovers
from execplan.core.errors import ENVIRONMENT
from execplan.core.plan.model import ParsedPlan, Task
from execplan.core.plan.plan_change import ChangeBuilder, PlanChange, plan_content
from execplan.core.plan.reader import read_text
from execplan.core.plan.text_rebase import rebase_text
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import Edit, apply_edits
from execplan.linter.checking.effective_rules import active_levels
from execplan.linter.checking.plan_check import CheckOptions, CheckTarget, check_plan, make_rule_context
from execplan.linter.rule import SAFE, UNSAFE, Finding, RuleContext
from execplan.linter.runner import lint_plan

_NO_LIMIT = 1 << 30
"""Limit on findings per rule that includes all of them, not only those that are shown."""
_MAX_ROUNDS = 20
"""Maximum fix rounds, more than any plan needs; stops rules whose fix causes their own finding again."""


def build_fix_change(
    context: RuleContext, levels: dict[str, str], *, unsafe: bool, fix_counts: Counter[str]
) -> ChangeBuilder:
    """Return a change with every safe fix, and unsafe ones if requested; `fix_counts` counts the fixes by code."""

    def change(plan: ParsedPlan) -> PlanChange:
        fix_counts.clear()
        current_plan = plan
        kinds = (SAFE, UNSAFE) if unsafe else (SAFE,)
        unfixable: set[tuple[str, str]] = set()
        for _ in range(_MAX_ROUNDS):
            fixable = [
                finding
                for finding in lint_plan(current_plan, context, levels, _NO_LIMIT)
                if finding.fix is not None and finding.fix.kind in kinds
            ]
            chosen = _select_disjoint(
                current_plan,
                [
                    finding
                    for finding in fixable
                    if (finding.code, current_plan.text.lines[finding.line - 1]) not in unfixable
                ],
            )
            if not chosen:
                break
            current_plan = _apply_fixes(current_plan, chosen, fix_counts, unfixable)
        data = current_plan.text.to_bytes()
        if not fix_counts:
            return PlanChange((), plan_content(plan), "", ("nothing to fix",))
        count = sum(fix_counts.values())
        summary = f"fixed {format_count(count, 'finding')}: {', '.join(sorted(fix_counts))}"
        return rebase_text(plan, plan.text.to_bytes(), data, f"lint, {summary}", summary, "")

    return change


def fix_finding(plan: ParsedPlan, finding: Finding) -> ParsedPlan | None:
    """Return the plan with the fix of one finding; None if there is none, or if it would change what the plan means."""
    if not _select_disjoint(plan, [finding] if finding.fix is not None else []):
        return None
    fixed_plan = _apply_fixes(plan, [finding], Counter(), set())
    return None if fixed_plan is plan else fixed_plan


def _select_disjoint(plan: ParsedPlan, findings: list[Finding]) -> list[Finding]:
    """Return findings whose edits share no lines, leaving out those after a code block that is never closed."""
    last_line = next((block.start for block in plan.blocks if not block.is_closed), len(plan.text.lines) + 1)
    taken_lines: set[int] = set()
    chosen = []
    for finding in findings:
        lines = {at for edit in _finding_edits(finding) for at in range(edit.start, max(edit.end, edit.start + 1))}
        if not lines & taken_lines and max(lines, default=0) <= last_line:
            taken_lines |= lines
            chosen.append(finding)
    return chosen


def _apply_fixes(
    plan: ParsedPlan, findings: list[Finding], fix_counts: Counter[str], unfixable: set[tuple[str, str]]
) -> ParsedPlan:
    """Apply the fixes that keep the plan's meaning, and return the plan.

    Findings whose fix would change the meaning are added to `unfixable`.
    """
    edits = [edit for finding in findings for edit in _finding_edits(finding)]
    after = read_text(apply_edits(plan.text, edits))
    if _preserves_meaning(plan, after, findings):
        fix_counts.update([finding.code for finding in findings])
        return after
    if len(findings) == 1:
        unfixable.add((findings[0].code, plan.text.lines[findings[0].line - 1]))
        return plan
    half = len(findings) // 2
    later_fixed = _apply_fixes(
        plan, findings[half:], fix_counts, unfixable
    )  # later lines first, so that the line numbers of the others stay valid
    return _apply_fixes(later_fixed, findings[:half], fix_counts, unfixable)


def _finding_edits(finding: Finding) -> tuple[Edit, ...]:
    return finding.fix.edits if finding.fix is not None else ()


def _preserves_meaning(before: ParsedPlan, after: ParsedPlan, findings: list[Finding]) -> bool:
    """Return whether fixes keep a plan's meaning.

    Safe fixes may reveal more tasks but change none; unsafe ones may change tasks.
    """
    old, new = plan_content(before), plan_content(after)
    compared_fields = ("title", "checklists", "decisions", "discoveries", "outcomes", "revisions")
    if [getattr(old, name) for name in compared_fields] != [getattr(new, name) for name in compared_fields]:
        return False
    if [section.name or section.title for section in before.sections] != [
        section.name or section.title for section in after.sections
    ]:
        return False
    if any([finding.fix is not None and finding.fix.kind == UNSAFE for finding in findings]):
        return True
    tasks = iter([_meaning_of(task) for task in after.tasks])
    return all([_meaning_of(task) in tasks for task in before.tasks])


def _meaning_of(task: Task) -> tuple[str, str]:
    """Return what a fix must keep of a task: without lines that lack only a space to be tasks themselves."""
    return task.state, task.text.partition(" -[")[0]


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
