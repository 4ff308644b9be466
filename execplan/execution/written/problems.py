"""What is wrong with the annotated steps of a plan, all at once; each kind is the code of the rule of lint that tells it."""

from __future__ import annotations

from execplan.execution.attributes import ALTERNATIVE, ATTRIBUTES_BY_NAME, STEP_OUTCOMES
from execplan.execution.documents.rules_order import check_conditions, check_dependencies, check_recoveries
from execplan.execution.documents.rules_parts import check_shared_paths
from execplan.execution.draft import ANNOTATED, StepDraft, ParsedSteps, StepProblem
from execplan.execution.written.annotated import last_ids, place
from execplan.execution.written.fences import Fence, fences
from execplan.execution.written.fields import all_fields
from execplan.execution.written.fitting import unfitting
from execplan.execution.written.plan_settings import plan_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from execplan.plan.model import Plan

_KINDS = {"depends_on": "EP606", "when": "EP606", "on_failure": "EP606", "parallel": "EP612"}
"""The kind of what the rules between steps tell, by its field."""
_MOST = 1000
"""Steps among which such rules are looked for; more are no execution plan."""
_NAMED = 100
"""How often the word that is meant is looked for, and among how many ids: it takes time."""


def problems(plan: Plan, found: ParsedSteps) -> tuple[StepProblem, ...]:
    """Everything that stops the annotated steps from being compiled, by line; without a fence with attributes nothing."""
    by_line: dict[int, list[StepDraft]] = {}
    for draft in found.drafts:
        if draft.origin == ANNOTATED:
            by_line.setdefault(draft.start, []).append(draft)
    wrong = [*found.problems, *plan_settings(plan).problems]
    if not by_line:
        return tuple(wrong)
    all_of = {fence.line: fence for fence in fences(plan).steps}
    for line, drafts in by_line.items():
        wrong += unfitting(all_of[line], drafts, near=len(wrong) < _NAMED)
    drafts = [draft for draft in found.drafts if draft.origin == ANNOTATED]
    wrong += _names(all_of, drafts)
    wrong += _between(all_of, drafts)
    return tuple(sorted(dict.fromkeys(wrong), key=lambda each: (each.line, each.column, each.kind)))


def at(fence: Fence, kind: str, message: str, name: str) -> StepProblem:
    """A problem with an attribute of a fence; with the whole of its attributes where it has not got that one."""
    given = fence.info.id if name == "id" else fence.info.get(name)
    return place(fence, kind, message, *((given.start, given.end) if given is not None else ()))


def _names(all_of: dict[int, Fence], drafts: list[StepDraft]) -> Iterator[StepProblem]:
    """Ids that stand twice, and references to none."""
    seen: dict[str, int] = {}
    for draft in drafts:
        if "id" in draft.attributes and seen.setdefault(draft.id, draft.start) != draft.start:
            message = f"{draft.id} is the id of the fence in line {seen[draft.id] + 1} too"
            yield at(all_of[draft.start], "EP604", message, "id")
    ends = last_ids(drafts)
    known = list(dict.fromkeys([*seen, *ends]))
    told = 0
    for number, (draft, step) in enumerate(zip(drafts, all_fields(drafts), strict=True)):
        first = not number or drafts[number - 1].start != draft.start
        for attribute, name in _references(draft, step, first=first):
            fence = all_of[draft.start]
            if name not in seen and name not in ends:
                told += 1
                hint = _like(name, known if max(told, len(known)) <= _NAMED else [])
                yield at(fence, "EP605", f"there is no step {name}{hint}", attribute)
            elif attribute == "on-failure" and name + ".2" in seen:
                yield at(fence, "EP603", f"{name} is several steps, and an alternative is one", attribute)


def _references(draft: StepDraft, step: dict[str, Any], *, first: bool) -> Iterator[tuple[str, str]]:
    """The ids that a fence names, each with the attribute that does."""
    if not first:
        return
    for name in step["depends_on"]:
        yield "needs", name
    if step.get("when", {}).get("kind") in STEP_OUTCOMES:
        yield "when", step["when"]["of"]
    if "strategy" in step.get("on_failure", {}) and draft.attributes["on-failure"].startswith(ALTERNATIVE):
        yield "on-failure", draft.attributes["on-failure"].removeprefix(ALTERNATIVE)


def _like(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else "; a step that others name has its id written, #NAME"


def _between(all_of: dict[int, Fence], drafts: list[StepDraft]) -> Iterator[StepProblem]:
    """What the rules between steps say, with references to no step left out: these are told already."""
    if len(drafts) > _MOST:
        return
    steps = all_fields(drafts)
    known = {draft.id for draft in drafts}
    for step in steps:
        step["depends_on"] = [name for name in step["depends_on"] if name in known]
        if step.get("when", {}).get("kind") in STEP_OUTCOMES and step["when"]["of"] not in known:
            del step["when"]
        recovery = step.get("on_failure", {})
        strategy = recovery.get("strategy", "")
        if strategy.startswith(ALTERNATIVE) and strategy.removeprefix(ALTERNATIVE) not in known:
            del recovery["strategy"]
    names = {each.field.partition(".")[0]: each.name for each in ATTRIBUTES_BY_NAME.values()} | {"on_failure": "on-failure"}
    for rule in (check_dependencies, check_conditions, check_recoveries, check_shared_paths):
        for broken in rule(steps):
            _, _, number, field, *inner = broken.pointer.split("/")
            kind = "EP603" if inner[:1] == ["max_retries"] else _KINDS[field]
            yield at(all_of[drafts[int(number)].start], kind, broken.message, names[field])
