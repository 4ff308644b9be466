"""Check of `lint --fix` on a real plan: safe fixes keep the content, other lines stay, a second fix changes nothing."""

from __future__ import annotations

from collections import Counter

from corpus_probe import ALL, Probe

from execplan.edits.plan_writer import apply_change
from execplan.linter.autofix import build_fix_change
from execplan.linter.runner import lint_bytes
from execplan.plan.plan_change import PlanChange


def mend_findings(probe: Probe) -> None:
    """Apply the safe fixes, then also the unsafe ones, and check the results."""
    for writer, unsafe in (("lint --fix", False), ("lint --unsafe-fixes", True)):
        made: Counter[str] = Counter()
        new, change = apply_change(probe.data, build_fix_change(probe.given, ALL, unsafe=unsafe, fix_counts=made))
        if not change.edits:
            continue
        probe.report.made[writer] += made.total()
        _others_stay(probe, writer, new, change)
        again: Counter[str] = Counter()
        if apply_change(new, build_fix_change(probe.given, ALL, unsafe=unsafe, fix_counts=again))[0] != new:
            probe.fail(0, f"{writer} mends {', '.join(again)} when it is done again")
        before = Counter(each.code for each in lint_bytes(probe.data, probe.given, ALL))
        after = Counter(each.code for each in lint_bytes(new, probe.given, ALL))
        brought = after - before
        if made["EP206"]:
            del brought["EP202"]  # a done task with an unreadable checkbox had no timestamp before, either
        if not unsafe and brought:
            probe.fail(0, f"{writer} brings {', '.join(brought)}")


def _others_stay(probe: Probe, writer: str, new: bytes, change: PlanChange) -> None:
    """Check that the lines between the edits are unchanged."""
    before, after = probe.data.splitlines(keepends=True), new.splitlines(keepends=True)
    old_at = new_at = 0
    for edit in sorted(change.edits):
        kept = edit.start - old_at
        if before[old_at : edit.start] != after[new_at : new_at + kept]:
            probe.fail(old_at, f"{writer} changed lines that are not its own")
        old_at, new_at = edit.end, new_at + kept + len(edit.lines)
    if before[old_at:] != after[new_at:]:
        probe.fail(old_at, f"{writer} changed lines that are not its own")
