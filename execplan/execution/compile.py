"""Compiler from a plan to its execution plan; the result depends only on the plan's text, its ID and its path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import ensure_no_conflicts
from execplan.execution.annotations.annotated_fences import find_annotated_fences
from execplan.execution.annotations.annotated_steps import assign_step_ids, find_annotated_steps
from execplan.execution.annotations.plan_settings import apply_plan_settings, read_plan_settings
from execplan.execution.annotations.step_fields import build_all_step_fields
from execplan.execution.annotations.step_problems import MAX_STEPS, find_step_problems
from execplan.execution.attributes import LEVELS, MANUAL, STEP_TYPES, TOOL, TRANSFERS
from execplan.execution.documents.derived_fields import (
    MAX_DESCRIPTION_LENGTH,
    describe_step,
    fill_risk,
    parse_command_fields,
)
from execplan.execution.execution_plan import ExecutionPlan
from execplan.execution.parsed_steps import INFERRED, ParsedSteps, SkippedLine, StepDraft

_DEFAULT_MAX_STEPS = 100
"""Maximum number of steps if the document sets no limit; the policy sets one as well."""
_MAX_REASON_LENGTH = 2000
"""Maximum length of the reason for a deletion, in characters; the reason is recorded only in the description."""


class Compiled(NamedTuple):
    """Result of compiling a plan."""

    document: ExecutionPlan | None
    """The execution plan, or None if the plan has no steps."""
    skipped: tuple[SkippedLine, ...]


def find_plan_steps(plan: ParsedPlan) -> ParsedSteps:
    """Return all steps of a plan by line, both annotated and inferred."""
    from execplan.execution.inference.step_inference import drop_mentions, infer_steps

    annotated_steps = find_annotated_steps(plan)
    inferred_steps = infer_steps(plan, find_annotated_fences(plan).fence_lines)
    skipped = [*annotated_steps.skipped, *inferred_steps.skipped]
    if inferred_steps.drafts:
        from execplan.execution.inference.step_ids import assign_inferred_ids
        from execplan.execution.inference.task_binding import bind_tasks

        names = [name for draft in annotated_steps.drafts for name in (draft.id, draft.attributes.get("id", ""))]
        drafts = assign_step_ids([*annotated_steps.drafts, *assign_inferred_ids(inferred_steps.drafts, names)])
        drafts = tuple(bind_tasks(plan, drafts, skipped))
    else:
        drafts = assign_step_ids([*annotated_steps.drafts])
    problems = (*annotated_steps.problems, *inferred_steps.problems)
    return ParsedSteps(tuple(drafts), tuple(sorted(drop_mentions(skipped, drafts))), problems)


def compile_plan(plan: ParsedPlan, plan_id: str, path: str) -> Compiled:
    """Compile a plan to its execution plan; `path` is the plan's path from the repository root.

    Raises ExecplanError with all problems at once: with the steps (`bad-steps`), or with the resulting document
    (`bad-document`). Raises it also if a command contains an invisible character.
    """
    from execplan.core.documents.document_model import document_error, validate_document
    from execplan.execution.documents.hidden_characters import ensure_nothing_hidden
    from execplan.execution.execution_plan import ExecutionPlan

    ensure_no_conflicts(plan)
    parsed = find_plan_steps(plan)
    ensure_nothing_hidden(path, dict.fromkeys(_reviewed_texts(parsed.drafts)))
    _ensure_no_problems(plan, parsed, path)
    skipped = _all_skipped_lines(plan, parsed)
    if not parsed.drafts:
        return Compiled(None, skipped)
    _ensure_not_too_many(parsed, path)
    steps = build_all_step_fields(parsed.drafts)
    _order_after_gates(steps)
    settings = read_plan_settings(plan)
    for number, (draft, step) in enumerate(zip(parsed.drafts, steps, strict=True), 1):
        apply_plan_settings(settings, step, has_timeout="timeout" in draft.attributes)
        _fill_derived_fields(number, draft, step)
    title = (plan.title or plan_id)[:MAX_DESCRIPTION_LENGTH]
    level = max([step["risk"]["level"] for step in steps], key=LEVELS.index)
    document, violations = validate_document(
        {
            "schema": "execplan-execution-plan",
            "version": 1,
            "plan_id": plan_id,
            "source": {"path": path, "sha256": _source_digest(plan, parsed.drafts, settings.lines)},
            "description": title,
            "intent": {"summary": title, "category": _category(steps), "risk_level": level},
            "steps": steps,
            **settings.document,
            "constraints": {"max_steps": max(_DEFAULT_MAX_STEPS, len(steps)), **settings.constraints},
        },
        ExecutionPlan,
    )
    if document is None:
        raise document_error(path, ExecutionPlan, violations)
    return Compiled(document, skipped)


def _all_skipped_lines(plan: ParsedPlan, parsed: ParsedSteps) -> tuple[SkippedLine, ...]:
    """Return the lines that look like steps and are none, and the sentences that ask for work that no step does."""
    from execplan.execution.inference.work_requests import find_work_requests, skipped_requests

    return tuple(sorted([*parsed.skipped, *skipped_requests(find_work_requests(plan, parsed.drafts))]))


def _ensure_no_problems(plan: ParsedPlan, parsed: ParsedSteps, path: str) -> None:
    if not (step_problems := find_step_problems(plan, parsed)):
        return
    lines = [
        f"{path}:{problem.line + 1}:{problem.column + 1}: {problem.kind} {problem.message}" for problem in step_problems
    ]
    prefix = f"{len(step_problems)} problems in its steps; the first: " if len(step_problems) > 1 else ""
    raise ExecplanError(
        "bad-steps",
        f"{path}:{step_problems[0].line + 1}: {prefix}{step_problems[0].kind} {step_problems[0].message}",
        hint="see how to write steps: execplan explain steps",
        candidates=lines if len(step_problems) > 1 else (),
        data={"problems": [problem._asdict() for problem in step_problems]},
    )


def _ensure_not_too_many(parsed: ParsedSteps, path: str) -> None:
    if len(parsed.drafts) > MAX_STEPS:
        raise ExecplanError(
            "bad-document",
            f"{path} has {len(parsed.drafts):,} steps; {MAX_STEPS:,} is the maximum",
            hint="write several plans, or move commands into a script",
        )


def _reviewed_texts(drafts: Sequence[StepDraft]) -> Iterator[tuple[str, str]]:
    """Yield what steps run and touch, as written, each with its position."""
    for draft in drafts:
        line = f"line {draft.start + 1}"
        yield f"{line}, command", draft.command
        yield f"{line}, cwd", draft.cwd
        if draft.attributes.get("type") == TOOL:
            yield f"{line}, parameters", "\n".join(draft.body)
        for name, text in draft.attributes.items():
            yield f"{line}, {name}", text


def _fill_derived_fields(number: int, draft: StepDraft, step: dict[str, Any]) -> None:
    """Fill in the derived fields of a step."""
    step["number"] = number
    step["tool"] = STEP_TYPES[step["type"]].tool or step["tool"]
    step["phase"] = draft.phase
    step["inferred"] = draft.origin == INFERRED
    step["source"] = {"line_start": draft.start + 1, "line_end": draft.end}
    fill_risk(step)
    parse_command_fields(step)
    step["description"] = _description(draft, step)


def _order_after_gates(steps: Sequence[dict[str, Any]]) -> None:
    """Make each step depend on the last manual step and the last service above it.

    Nobody can know which of them needs that work, or that service.
    """
    gates: dict[bool, str] = {}
    for step in steps:
        step["depends_on"] = list(dict.fromkeys([*step["depends_on"], *gates.values()]))
        if step["type"] == MANUAL or step.get("service"):
            gates[step["type"] == MANUAL] = step["id"]


def _description(draft: StepDraft, step: dict[str, Any]) -> str:
    """Return a one-line description of a step; for a deletion, with its reason, for a manual step, what to do."""
    text = " ".join(" ".join(draft.body).split())
    if step["type"] == MANUAL:
        return f"{STEP_TYPES[MANUAL].verb}: {text}"[:_MAX_REASON_LENGTH]
    reason = text if step["type"] in ("delete_file", *TRANSFERS) else ""
    return f"{describe_step(step)}{': ' if reason else ''}{reason}"[:_MAX_REASON_LENGTH]


def _category(steps: Sequence[dict[str, Any]]) -> str:
    """Return the subject of the steps: commands, files, packages, tools or manual, or mixed."""
    categories = {STEP_TYPES[step["type"]].category for step in steps}
    return categories.pop() if len(categories) == 1 else "mixed"


def _source_digest(plan: ParsedPlan, drafts: Sequence[StepDraft], settings: Iterable[int]) -> str:
    """Return the SHA-256 of the lines with steps and settings, in order, each once and followed by LF."""
    from execplan.core.text.text_lines import digest

    spans = {(draft.start, draft.end) for draft in drafts}  # all commands of a code block have the same one
    lines = sorted({*settings, *[line for start, end in spans for line in range(start, end)]})
    return digest("".join([f"{plan.text.lines[line]}\n" for line in lines]).encode())
