"""Texts of an evaluation, shared by the terminal, JSON and the Markdown page."""

from __future__ import annotations

from json import dumps
from shlex import join, quote
from typing import TYPE_CHECKING

import msgspec

from execplan.core.documents.document_model import Model
from execplan.core.text.message_parts import format_count
from execplan.execution.attributes import LEVELS
from execplan.execution.evaluation.checks.check_registry import ERROR
from execplan.execution.evaluation.trial import DONE
from execplan.execution.risk.risk_table import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from execplan.execution.evaluate import EvaluatedStep, Evaluation
    from execplan.execution.evaluation.checks.check_registry import EvaluationFinding
    from execplan.execution.execution_plan import ExecutionPlan, Step
    from execplan.execution.parsed_steps import SkippedLine
    from execplan.execution.risk.command_risk import CommandRisk

_SHOWN_ELSEWHERE = frozenset(
    "number id type tool description target lines command argv content patch parameters depends_on cwd env shell network "
    "risk inferred phase source files".split()
)
"""Fields of a step that are shown in their own lines, or with what the step runs and writes."""


def format_verdict(evaluation: Evaluation) -> str:
    """Return whether the plan may run, and who must approve it."""
    if errors := [finding.level for finding in evaluation.findings].count(ERROR):
        return f"blocked by {format_count(errors, 'error')}"
    if not (remaining := [step for step in evaluation.steps if not step.is_done]):
        return "nothing is left to do"
    prefix = "may continue" if len(remaining) < len(evaluation.steps) else "may run"
    if not (manual_steps := [step for step in remaining if step.needs_person]):
        return f"{prefix}: the policy approves every step"
    total = len(remaining)
    if len(manual_steps) == total:
        approvers = "a person approves every step"
    else:
        approvers = f"a person approves {_format_step_numbers(manual_steps)}"
    return f"{prefix} once {approvers}" + (" and the policy approves the rest" if len(manual_steps) < total else "")


def describe_risk_counts(risks: Sequence[CommandRisk]) -> str:
    """Return how many steps have each level, with the categories of their reasons: `3 HIGH (2 unknown, 1 shell), 1 LOW`."""
    parts = []
    for level in reversed(LEVELS):
        categories = [set(risk.categories) for risk in risks if risk.level == level]
        counts = [(sum([name in names for names in categories]), name) for name in CATEGORIES]
        count_text = ", ".join([f"{count} {name}" for count, name in counts if count])
        if categories:
            parts.append(f"{len(categories)} {level}" + (f" ({count_text})" if count_text else ""))
    return ", ".join(parts)


def remaining_risks(evaluation: Evaluation) -> list[CommandRisk]:
    """Return the risks of the steps that a run would still start."""
    return [step.risk for step in evaluation.steps if not step.is_done]


def describe_origin(document: ExecutionPlan, *, is_in_text: bool) -> str:
    """Return a note if the steps differ from the plan's lines, because a reader of the plan has not read them.

    `is_in_text`: whether the steps of a revision are those that the plan's text compiles to. The note is empty otherwise.
    """
    if document.revision > 1 and not is_in_text:
        return f"the steps are those of stored revision {document.revision}, not those in the plan's text"
    if document.source is not None:
        return ""
    return "the steps are those of a stored document, not those in the plan's text"


def _format_step_numbers(steps: list[EvaluatedStep]) -> str:
    return f"step{'s' * (len(steps) > 1)} {', '.join([str(step.step.number) for step in steps])}"


def approval_columns(evaluated: EvaluatedStep) -> tuple[str, str]:
    """Return who approves a step, and whether it may run."""
    if evaluated.is_done:
        return "-", DONE
    return "a person" if evaluated.needs_person else "the policy", "may run" if evaluated.ok else "blocked"


def describe_commands(step: Step, format_path: Callable[[str], str] = str) -> Iterator[tuple[str, str]]:
    """Yield what a step runs, each with a label: its command with all that affects it, its test, its tool call.

    `format_path` formats a path for display.
    """
    assignments = "".join([f"{variable}={quote(value)} " for variable, value in step.env.items()])
    cwd_text = f" in {format_path(step.cwd)}" if step.cwd != "." else ""
    network_text = ", with network access" if step.network else ""
    if step.shell is not None:
        yield (
            f"a script for {step.shell}{cwd_text}{network_text}",
            f"{assignments}\n{step.command}" if assignments else step.command or "",
        )
    elif step.argv is not None:
        yield f"runs{cwd_text}{network_text}", assignments + join(step.argv)
    elif step.command is not None:
        yield f"would need a shell{cwd_text}{network_text}", assignments + step.command
    if step.validation.test_after is not None:
        yield "tests afterwards", join(step.validation.test_after)
    if step.parameters is not None:
        yield (
            f"calls {step.tool}{cwd_text}{network_text} with",
            assignments + dumps(step.parameters, ensure_ascii=False, indent=2),
        )


def describe_writes(evaluated: EvaluatedStep) -> Iterator[tuple[str, str]]:
    """Yield content that the step writes and its dry run does not show: content that is not shown can't be approved."""
    step, diff = evaluated.step, evaluated.dry_run.diff
    if evaluated.is_done:
        return
    if diff and not f"\n{diff}".count("\nBinary files "):
        return
    if step.patch is not None:
        yield "would apply", step.patch
    elif step.content is not None:
        lines = f", as lines {step.lines[0]} to {step.lines[1]}" if step.lines is not None else ""
        yield f"would write{lines}", step.content


def describe_code(evaluated: EvaluatedStep) -> Iterator[str]:
    """Yield which code the commands of a step read, and whether an approval covers it."""
    code = evaluated.code
    if code.bound:
        yield f"the approval covers the content of {', '.join(code.bound)}"
    if code.unbound or code.unlisted:
        yield f"it doesn't cover {'; '.join([*code.unbound, *code.unlisted])}"


def describe_settings(step: Step) -> Iterator[str]:
    """Yield the other settings of a step, each as its name and value, if they differ from the default."""
    for name, value in _changed_fields(step).items():
        if name == "validation":
            value.pop("test_after", None)
        if value != {} and name not in _SHOWN_ELSEWHERE:
            yield f"{name}: {dumps(value, ensure_ascii=False)}"


def _changed_fields(model: Model) -> dict[str, Any]:
    """Return the fields that differ from their defaults, also of models in the model."""
    values = {field.encode_name: (getattr(model, field.name), field.default) for field in msgspec.structs.fields(model)}
    return {
        name: _changed_fields(value) if isinstance(value, Model) else msgspec.to_builtins(value)
        for name, (value, default) in values.items()
        if value != default
    }


def step_location(step: Step, path: str) -> str:
    """Return the file and line of a step."""
    return f"{path}:{step.source.line_start}" if step.source is not None else path


def skipped_json(skipped_lines: Sequence[SkippedLine]) -> list[dict[str, Any]]:
    """Return the JSON form of skipped lines that look like steps."""
    return [
        {"line": skipped_line.line + 1, "text": skipped_line.text, "why": skipped_line.why}
        for skipped_line in skipped_lines
    ]


def finding_json(finding: EvaluationFinding, path: str) -> dict[str, Any]:
    """Return a finding as JSON data, for every output format."""
    step = finding.step
    return {
        "check": finding.check,
        "level": finding.level,
        "step": step.id if step is not None else None,
        "path": path,
        "line": step.source.line_start if step is not None and step.source is not None else None,
        "message": finding.message,
        "mend": finding.fix or None,
    }


def step_json(evaluated: EvaluatedStep, path: str) -> dict[str, Any]:
    """Return a step with its evaluation as JSON data."""
    step, dry_run = evaluated.step, evaluated.dry_run
    return {
        **{name: value for name, value in step.model_dump().items() if name != "source"},
        "risk": {
            "level": evaluated.risk.level,
            "reasons": list(evaluated.risk.reasons),
            "categories": sorted(set(evaluated.risk.categories) - {""}),
        },
        "needs_person": evaluated.needs_person,
        "dry_run": {"kind": dry_run.kind, "diff": dry_run.diff, "why": dry_run.why},
        "code": {name: list(texts) for name, texts in evaluated.code._asdict().items()},
        "ok": evaluated.ok,
        "findings": [finding_json(finding, path) for finding in evaluated.findings],
        "line_start": step.source.line_start if step.source is not None else None,
        "line_end": step.source.line_end if step.source is not None else None,
    }
