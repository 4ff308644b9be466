"""Steps of real plans: every plan compiles or gives none, and annotating it tells the same steps once more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from execplan.execution.annotate import annotate
from execplan.execution.compile import compile_plan, find
from execplan.execution.draft import INFERRED
from execplan.plan.reader import read_text
from execplan.text.edit import apply

if TYPE_CHECKING:
    from corpus_probe import Probe

    from execplan.plan.model import Plan

_OWN = re.compile(r"`[^`]*`|\$\w+|(?<=line )\d+|(?<=: ).*|(?<=goes to )\S+(?=,)|(?<=runs in )\S+(?=, and)|(?<=^is )\S+(?=, no command)")


def find_steps(probe: Probe) -> None:
    """Count the steps of a plan and what is left; compile it; annotate it, twice."""
    plan = probe.plan
    found = find(plan)
    inferred = [each for each in found.drafts if each.origin == INFERRED]
    steps = probe.report.steps
    steps["plans"] += bool(found.drafts)
    steps["steps"] += len(found.drafts)
    steps["inferred"] += len(inferred)
    steps["elsewhere"] += len([each for each in inferred if each.cwd != "."])
    probe.report.left.update([_OWN.sub("…", each.why) for each in found.left])
    told = _compiled(plan)
    steps["argv"] += len([each for each in told if each[2] is not None])
    then = read_text(apply(plan.text, annotate(plan).edits))
    steps["annotated"] += len([each for each in find(then).drafts if each.origin != INFERRED])
    if _compiled(then) != told:
        probe.fail(0, "annotated, it compiles to other steps")
    if annotate(then).edits:
        probe.fail(0, "annotating it a second time changes it")


def _compiled(plan: Plan) -> list[tuple[object, ...]]:
    """What its steps run, and where."""
    document = compile_plan(plan, "plan", "plan.md").document
    return [(each.command, each.cwd, each.argv, each.env) for each in document.steps] if document is not None else []
