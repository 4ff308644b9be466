"""What is wrong with the annotated steps of a plan, all at once; each kind is the code of the rule of lint that tells it."""

from __future__ import annotations

from execplan.execution.attributes import ALTERNATIVE, ATTRIBUTES_BY_NAME, STEP_OUTCOMES
from execplan.execution.documents.rules_order import check_conditions, check_dependencies, check_recoveries
from execplan.execution.documents.rules_parts import check_shared_paths
from execplan.execution.draft import ANNOTATED, StepDraft, ParsedSteps, StepProblem
from execplan.execution.written.annotated import last_step_ids, fence_problem
from execplan.execution.written.fences import AnnotatedFence, find_annotated_fences
from execplan.execution.written.fields import build_all_step_fields
from execplan.execution.written.fitting import find_fence_problems
from execplan.execution.written.plan_settings import read_plan_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from execplan.plan.model import Plan

_FIELD_CODES = {"depends_on": "EP606", "when": "EP606", "on_failure": "EP606", "parallel": "EP612"}
"""The kind of what the rules between steps tell, by its field."""
_MAX_STEPS = 1000
"""Steps among which such rules are looked for; more are no execution plan."""
_MAX_SUGGESTIONS = 100
"""How often the word that is meant is looked for, and among how many ids: it takes time."""


def find_step_problems(plan: Plan, parsed: ParsedSteps) -> tuple[StepProblem, ...]:
    """Everything that stops the annotated steps from being compiled, by line; without a fence with attributes nothing."""
    drafts_by_line: dict[int, list[StepDraft]] = {}
    for draft in parsed.drafts:
        if draft.origin == ANNOTATED:
            drafts_by_line.setdefault(draft.start, []).append(draft)
    step_problems = [*parsed.problems, *read_plan_settings(plan).problems]
    if not drafts_by_line:
        return tuple(step_problems)
    fences_by_line = {fence.line: fence for fence in find_annotated_fences(plan).steps}
    for line, drafts in drafts_by_line.items():
        step_problems += find_fence_problems(fences_by_line[line], drafts, suggest=len(step_problems) < _MAX_SUGGESTIONS)
    drafts = [draft for draft in parsed.drafts if draft.origin == ANNOTATED]
    step_problems += _id_problems(fences_by_line, drafts)
    step_problems += _cross_step_problems(fences_by_line, drafts)
    return tuple(sorted(dict.fromkeys(step_problems), key=lambda problem: (problem.line, problem.column, problem.kind)))


def attribute_problem(fence: AnnotatedFence, kind: str, message: str, name: str) -> StepProblem:
    """A problem with an attribute of a fence; with the whole of its attributes where it has not got that one."""
    attribute = fence.info.id if name == "id" else fence.info.get(name)
    return fence_problem(fence, kind, message, *((attribute.start, attribute.end) if attribute is not None else ()))


def _id_problems(fences_by_line: dict[int, AnnotatedFence], drafts: list[StepDraft]) -> Iterator[StepProblem]:
    """Ids that stand twice, and references to none."""
    id_lines: dict[str, int] = {}
    for draft in drafts:
        if "id" in draft.attributes and id_lines.setdefault(draft.id, draft.start) != draft.start:
            message = f"{draft.id} is the id of the fence in line {id_lines[draft.id] + 1} too"
            yield attribute_problem(fences_by_line[draft.start], "EP604", message, "id")
    last_steps = last_step_ids(drafts)
    known_ids = list(dict.fromkeys([*id_lines, *last_steps]))
    problem_count = 0
    for number, (draft, step) in enumerate(zip(drafts, build_all_step_fields(drafts), strict=True)):
        is_first = not number or drafts[number - 1].start != draft.start
        for attribute, name in _find_references(draft, step, is_first=is_first):
            fence = fences_by_line[draft.start]
            if name not in id_lines and name not in last_steps:
                problem_count += 1
                hint = _suggest_id(name, known_ids if max(problem_count, len(known_ids)) <= _MAX_SUGGESTIONS else [])
                yield attribute_problem(fence, "EP605", f"there is no step {name}{hint}", attribute)
            elif attribute == "on-failure" and name + ".2" in id_lines:
                yield attribute_problem(fence, "EP603", f"{name} is several steps, and an alternative is one", attribute)


def _find_references(draft: StepDraft, step: dict[str, Any], *, is_first: bool) -> Iterator[tuple[str, str]]:
    """The ids that a fence names, each with the attribute that does."""
    if not is_first:
        return
    for name in step["depends_on"]:
        yield "needs", name
    if step.get("when", {}).get("kind") in STEP_OUTCOMES:
        yield "when", step["when"]["of"]
    if "strategy" in step.get("on_failure", {}) and draft.attributes["on-failure"].startswith(ALTERNATIVE):
        yield "on-failure", draft.attributes["on-failure"].removeprefix(ALTERNATIVE)


def _suggest_id(name: str, known_ids: list[str]) -> str:
    from difflib import get_close_matches

    matches = get_close_matches(name, known_ids, n=1, cutoff=0.6)
    return f"; did you mean {matches[0]}?" if matches else "; a step that others name has its id written, #NAME"


def _cross_step_problems(fences_by_line: dict[int, AnnotatedFence], drafts: list[StepDraft]) -> Iterator[StepProblem]:
    """What the rules between steps say, with references to no step left out: these are told already."""
    if len(drafts) > _MAX_STEPS:
        return
    steps = build_all_step_fields(drafts)
    known_ids = {draft.id for draft in drafts}
    for step in steps:
        step["depends_on"] = [name for name in step["depends_on"] if name in known_ids]
        if step.get("when", {}).get("kind") in STEP_OUTCOMES and step["when"]["of"] not in known_ids:
            del step["when"]
        recovery = step.get("on_failure", {})
        strategy = recovery.get("strategy", "")
        if strategy.startswith(ALTERNATIVE) and strategy.removeprefix(ALTERNATIVE) not in known_ids:
            del recovery["strategy"]
    attribute_names = {attribute.field.partition(".")[0]: attribute.name for attribute in ATTRIBUTES_BY_NAME.values()} | {"on_failure": "on-failure"}
    for rule in (check_dependencies, check_conditions, check_recoveries, check_shared_paths):
        for violation in rule(steps):
            _, _, number, field, *inner = violation.pointer.split("/")
            kind = "EP603" if inner[:1] == ["max_retries"] else _FIELD_CODES[field]
            yield attribute_problem(fences_by_line[drafts[int(number)].start], kind, violation.message, attribute_names[field])
