"""Check of steps in real plans: each plan compiles or has no steps, and annotation keeps the steps the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from execplan.core.plan.reader import read_text
from execplan.core.text.text_lines import apply_edits
from execplan.execution.attributes import MANUAL
from execplan.execution.compile import compile_plan, find_plan_steps
from execplan.execution.inference.annotation_edits import annotate_plan, normalize_command
from execplan.execution.parsed_steps import INFERRED
from execplan.execution.risk.command_risk import HIGH
from execplan.execution.risk.step_risk import rate_step

if TYPE_CHECKING:
    from corpus_probe import Probe

    from execplan.execution.parsed_steps import ParsedSteps

_VARIABLE_TEXT = re.compile(
    r"`[^`]*`|\$\w+|(?<=line )\d+|(?<=: ).*|(?<=goes to )\S+(?=,)|(?<=runs in )\S+(?=, and)|(?<=^is )\S+(?=, no command)"
)


def find_steps(probe: Probe) -> None:
    """Count the steps and the skipped texts of a plan, compile it, and annotate it twice."""
    plan = probe.plan
    parsed = find_plan_steps(plan)
    inferred = [draft for draft in parsed.drafts if draft.origin == INFERRED]
    steps = probe.report.steps
    steps["plans"] += bool(parsed.drafts)
    steps["steps"] += len(parsed.drafts)
    steps["inferred"] += len(inferred)
    steps["elsewhere"] += len([draft for draft in inferred if draft.cwd != "."])
    probe.report.skipped.update([_VARIABLE_TEXT.sub("…", skipped.why) for skipped in parsed.skipped])
    document = compile_plan(plan, "plan", "plan.md").document
    if document is not None:
        steps["argv"] += len([step for step in document.steps if step.argv is not None])
        for step in document.steps:
            risk = rate_step(step.model_dump())
            categories = {*risk.categories} - {""} or {"uncategorized"}
            steps.update([risk.level, *(categories if risk.level == HIGH else ())])
    annotated_plan = read_text(apply_edits(plan.text, annotate_plan(plan).edits))
    annotated = find_plan_steps(annotated_plan)
    steps["annotated"] += len([draft for draft in annotated.drafts if draft.origin != INFERRED])
    if annotated.problems:
        problem = annotated.problems[0]
        probe.fail(0, f"annotated, it doesn't compile: {problem}")
    elif _commands(annotated) != _commands(parsed):
        probe.fail(0, "annotated, it compiles to other steps")
    if annotate_plan(annotated_plan).edits:
        probe.fail(0, "annotating it a second time changes it")


def _commands(parsed: ParsedSteps) -> list[tuple[str, str, str]]:
    """Return the phase, working directory and command of each step that a person doesn't do by hand."""
    return [
        (draft.phase, draft.cwd, normalize_command(draft))
        for draft in parsed.drafts
        if draft.attributes.get("type") != MANUAL
    ]
