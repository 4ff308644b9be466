"""Check of `lint --fix` on a real plan: safe fixes keep the content, other lines stay, a second fix changes nothing."""

from __future__ import annotations

from collections import Counter

from corpus_probe import ALL_LEVELS, Probe

from execplan.core.edits.plan_writer import apply_change
from execplan.core.plan.plan_change import PlanChange
from execplan.linter.checking.plan_fix import build_fix_change
from execplan.linter.runner import lint_bytes


def fix_findings(probe: Probe) -> None:
    """Apply the safe fixes, then also the unsafe ones, and check the results."""
    for writer, unsafe in (("lint --fix", False), ("lint --unsafe-fixes", True)):
        fix_counts: Counter[str] = Counter()
        new, change = apply_change(
            probe.data, build_fix_change(probe.context, ALL_LEVELS, unsafe=unsafe, fix_counts=fix_counts)
        )
        if not change.edits:
            continue
        probe.report.edits[writer] += fix_counts.total()
        _check_other_lines(probe, writer, new, change)
        repeated_counts: Counter[str] = Counter()
        if (
            apply_change(new, build_fix_change(probe.context, ALL_LEVELS, unsafe=unsafe, fix_counts=repeated_counts))[0]
            != new
        ):
            probe.fail(0, f"{writer} mends {', '.join(repeated_counts)} when it is done again")
        before = Counter(finding.code for finding in lint_bytes(probe.data, probe.context, ALL_LEVELS))
        after = Counter(finding.code for finding in lint_bytes(new, probe.context, ALL_LEVELS))
        new_findings = after - before
        if fix_counts["EP206"]:
            del new_findings["EP202"]  # a done task with an unreadable checkbox had no timestamp before, either
        if not unsafe and new_findings:
            probe.fail(0, f"{writer} brings {', '.join(new_findings)}")


def _check_other_lines(probe: Probe, writer: str, new: bytes, change: PlanChange) -> None:
    """Check that the lines between the edits are unchanged."""
    before, after = probe.data.splitlines(keepends=True), new.splitlines(keepends=True)
    old_at = new_at = 0
    for edit in sorted(change.edits):
        unchanged = edit.start - old_at
        if before[old_at : edit.start] != after[new_at : new_at + unchanged]:
            probe.fail(old_at, f"{writer} changed lines that are not its own")
        old_at, new_at = edit.end, new_at + unchanged + len(edit.lines)
    if before[old_at:] != after[new_at:]:
        probe.fail(old_at, f"{writer} changed lines that are not its own")
