"""From a plan to its execution plan: a function of the plan's text and its name, and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.errors import INPUT, ExecplanError
from execplan.execution.attributes import LEVELS, TOOL
from execplan.execution.documents.filling import LONGEST, describe, rate, read_command
from execplan.execution.documents.rules_parts import TYPES
from execplan.execution.draft import INFERRED, Found
from execplan.execution.written.annotated import find_annotated, numbered
from execplan.execution.written.fences import fences
from execplan.execution.written.fields import all_fields
from execplan.execution.written.plan_settings import apply_to_step, plan_settings
from execplan.execution.written.problems import problems
from execplan.plan.change import stop_conflicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from execplan.execution.draft import Draft, Left
    from execplan.execution.model import ExecutionPlan
    from execplan.plan.model import Plan

_STEPS = 100
"""Steps that a document may have which does not limit them; the policy limits them as well."""
_LONGEST_REASON = 2000
"""Characters of the reason for a deletion, which stands nowhere else."""


class Compiled(NamedTuple):
    """What a plan compiles to."""

    document: ExecutionPlan | None
    """None when it gives no step."""
    left: tuple[Left, ...]


def find(plan: Plan) -> Found:
    """All steps of a plan in the order of their lines, those of fences with attributes and those in other forms."""
    from execplan.execution.wild.inferred import find_inferred
    from execplan.execution.wild.names import named
    from execplan.execution.wild.tasks import bind_tasks

    annotated = find_annotated(plan)
    inferred = find_inferred(plan, fences(plan).taken)
    names = [name for each in annotated.drafts for name in (each.id, each.attributes.get("id", ""))]
    drafts = numbered([*annotated.drafts, *named(inferred.drafts, names)])
    return Found(
        tuple(bind_tasks(plan, drafts, [*annotated.left, *inferred.left])),
        tuple(sorted([*annotated.left, *inferred.left])),
        (*annotated.problems, *inferred.problems),
    )


def compile_plan(plan: Plan, plan_id: str, path: str) -> Compiled:
    """The execution plan of a plan, which lies at a path from the repository's root.

    Raises ExecplanError with everything that is wrong at once: with the steps (`bad-steps`), or with the document that
    they make (`bad-document`); and for a character in a command that nobody can see.
    """
    from execplan.execution.documents.document import check, refusal
    from execplan.execution.documents.unseen import refuse_unseen
    from execplan.execution.model import ExecutionPlan

    stop_conflicts(plan)
    found = find(plan)
    refuse_unseen(path, dict.fromkeys(_texts(found.drafts)))
    _stop_problems(plan, found, path)
    if not found.drafts:
        return Compiled(None, found.left)
    steps = all_fields(found.drafts)
    settings = plan_settings(plan)
    for number, (draft, step) in enumerate(zip(found.drafts, steps, strict=True), 1):
        apply_to_step(settings, step, has_timeout="timeout" in draft.attributes)
        _complete(number, draft, step)
    title = (plan.title or plan_id)[:LONGEST]
    level = max([step["risk"]["level"] for step in steps], key=LEVELS.index)
    document, violations = check(
        {
            "schema": "execplan-execution-plan",
            "version": 1,
            "plan_id": plan_id,
            "source": {"path": path, "sha256": _digest(plan, found.drafts, settings.lines)},
            "description": title,
            "intent": {"summary": title, "category": _category(steps), "risk_level": level},
            "steps": steps,
            **settings.document,
            "constraints": {"max_steps": max(_STEPS, len(steps)), **settings.constraints},
        },
        ExecutionPlan,
    )
    if document is None:
        raise refusal(path, ExecutionPlan, violations)
    return Compiled(document, found.left)


def _stop_problems(plan: Plan, found: Found, path: str) -> None:
    wrong = problems(plan, found)
    if not wrong:
        return
    lines = [f"{path}:{each.line + 1}:{each.column + 1}: {each.kind} {each.message}" for each in wrong]
    count = f"{len(wrong)} things are wrong with its steps; the first: " if len(wrong) > 1 else ""
    raise ExecplanError(
        "bad-steps",
        f"{path}:{wrong[0].line + 1}: {count}{wrong[0].kind} {wrong[0].message}",
        exit=INPUT,
        hint="how steps are written: execplan explain steps",
        candidates=lines if len(wrong) > 1 else (),
        data={"problems": [each._asdict() for each in wrong]},
    )


def _texts(drafts: Sequence[Draft]) -> Iterator[tuple[str, str]]:
    """What steps run and touch, as it is written, each with its place."""
    for draft in drafts:
        line = f"line {draft.start + 1}"
        yield f"{line}, command", draft.command
        yield f"{line}, cwd", draft.cwd
        if draft.attributes.get("type") == TOOL:
            yield f"{line}, parameters", "\n".join(draft.body)
        for name, text in draft.attributes.items():
            yield f"{line}, {name}", text


def _complete(number: int, draft: Draft, step: dict[str, Any]) -> None:
    """Fill in what is derived."""
    step["number"] = number
    step["tool"] = TYPES[step["type"]].tool or step["tool"]
    step["phase"] = draft.phase
    step["inferred"] = draft.origin == INFERRED
    step["source"] = {"line_start": draft.start + 1, "line_end": draft.end}
    rate(step)
    read_command(step)
    step["description"] = _description(draft, step)


def _description(draft: Draft, step: dict[str, Any]) -> str:
    """What a step does, in a line; of a deletion with its reason."""
    reason = " ".join(" ".join(draft.body).split()) if step["type"] == "delete_file" else ""
    return f"{describe(step)}{': ' if reason else ''}{reason}"[:_LONGEST_REASON]


def _category(steps: Sequence[dict[str, Any]]) -> str:
    """What the steps are about: commands, files or packages, or mixed."""
    names = {"shell": "commands", "file": "files", "code": "files", "package": "packages"}
    found = {names.get(step["tool"].partition(".")[0], "tools") for step in steps}
    return found.pop() if len(found) == 1 else "mixed"


def _digest(plan: Plan, drafts: Sequence[Draft], settings: Iterable[int]) -> str:
    """SHA-256 of the lines that steps and settings came from, in order, each once and with LF after it."""
    from execplan.text.lines import digest

    lines = sorted({*settings, *[line for draft in drafts for line in range(draft.start, draft.end)]})
    return digest("".join([f"{plan.text.lines[line]}\n" for line in lines]).encode())
