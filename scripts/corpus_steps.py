"""Check of steps in real plans: each plan compiles or has no steps, and annotation keeps the steps the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from execplan.execution.compile import compile_plan, find_plan_steps
from execplan.execution.inference.annotation_edits import annotate_plan
from execplan.execution.step_drafts import INFERRED
from execplan.plan.reader import read_text
from execplan.text.line_edit import apply_edits

if TYPE_CHECKING:
    from corpus_probe import Probe

    from execplan.execution.step_drafts import ParsedSteps

_OWN = re.compile(
    r"`[^`]*`|\$\w+|(?<=line )\d+|(?<=: ).*|(?<=goes to )\S+(?=,)|(?<=runs in )\S+(?=, and)|(?<=^is )\S+(?=, no command)"
)


def find_steps(probe: Probe) -> None:
    """Count the steps and the skipped texts of a plan, compile it, and annotate it twice."""
    plan = probe.plan
    found = find_plan_steps(plan)
    inferred = [each for each in found.drafts if each.origin == INFERRED]
    steps = probe.report.steps
    steps["plans"] += bool(found.drafts)
    steps["steps"] += len(found.drafts)
    steps["inferred"] += len(inferred)
    steps["elsewhere"] += len([each for each in inferred if each.cwd != "."])
    probe.report.left.update([_OWN.sub("…", each.why) for each in found.skipped])
    document = compile_plan(plan, "plan", "plan.md").document
    steps["argv"] += len([each for each in document.steps if each.argv is not None]) if document is not None else 0
    then = read_text(apply_edits(plan.text, annotate_plan(plan).edits))
    seen = find_plan_steps(then)
    steps["annotated"] += len([each for each in seen.drafts if each.origin != INFERRED])
    if seen.problems or _told(seen) != _told(found):
        probe.fail(0, "annotated, it compiles to other steps")
    if annotate_plan(then).edits:
        probe.fail(0, "annotating it a second time changes it")


def _told(found: ParsedSteps) -> list[tuple[str, str, str]]:
    """Return the phase, working directory and command of each step."""
    return [(each.phase, each.cwd, each.command) for each in found.drafts]
