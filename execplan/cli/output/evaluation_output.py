"""Output of an evaluation, as text for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_layout import LEVEL_STYLES, RISK_STYLES, fit_line, paint
from execplan.cli.output.text_table import format_table
from execplan.core.text.message_parts import shorten
from execplan.execution.approvals.plan_evaluation import EvaluatedPlan
from execplan.execution.evaluate import EvaluatedStep
from execplan.execution.evaluation.evaluation_text import (
    approval_columns,
    describe_code,
    describe_commands,
    describe_origin,
    describe_risk_counts,
    describe_settings,
    describe_writes,
    finding_json,
    format_verdict,
    remaining_risks,
    skipped_json,
    step_json,
    step_location,
)
from execplan.execution.evaluation.trial import EXACT
from execplan.execution.inference.work_requests import ASKS_FOR_WORK

_MAX_REQUEST_LENGTH = 80
"""Maximum length of the text of work that no step does, in characters."""


def evaluation_json(evaluated: EvaluatedPlan) -> dict[str, Any]:
    """Return the JSON form of an evaluation."""
    current, evaluation, path = evaluated.current_plan, evaluated.evaluation, evaluated.path
    return {
        "plan": current.document.plan_id,
        "revision": current.document.revision,
        "path": path,
        "digest": evaluated.binding.digest,
        "run": evaluated.active_run.run if evaluated.active_run is not None else None,
        "document": evaluated.binding.document,
        "policy": evaluated.policy.version,
        "stored": current.path if current.is_stored else None,
        "stale": current.stale_reason or None,
        "origin": describe_origin(current.document, is_in_text=evaluated.is_in_text) or None,
        "ok": evaluation.ok,
        "verdict": format_verdict(evaluation),
        "risk": {"level": evaluation.risk.level, "reasons": list(evaluation.risk.reasons)},
        "steps": [step_json(evaluated_step, path) for evaluated_step in evaluation.steps],
        "findings": [finding_json(finding, path) for finding in evaluation.findings],
        "checks": [
            {"name": name, "on": on, "ok": not any([finding.check == name for finding in evaluation.findings])}
            for name, on in evaluation.checks.items()
        ],
        "left": skipped_json(current.skipped_lines),
    }


def evaluation_text(evaluated: EvaluatedPlan) -> str:
    """Return a table of the steps, the details of each, the findings and the verdict."""
    evaluation = evaluated.evaluation
    head = ("step", "id", "type", "risk", "dry run", "approval", "verdict", "what")
    sections = [
        format_table(
            head,
            [_step_row(evaluated_step) for evaluated_step in evaluation.steps],
            spare=("type", "dry run", "approval", "verdict"),
            wraps=True,
        )
    ]
    sections += ["\n".join(step_details(evaluated_step, evaluated.path)) for evaluated_step in evaluation.steps]
    findings = []
    for finding in evaluation.findings:
        if finding.step is not None:
            location = f"{step_location(finding.step, evaluated.path)}: {finding.step.id}"
        else:
            location = evaluated.path
        findings += _labeled_lines(
            f"{printable_line(location)}: ",
            finding.level,
            f"{printable_line(finding.message)} ({finding.check})",
            LEVEL_STYLES,
        )
        findings += fit_line(f"  fix: {printable_line(finding.fix)}") if finding.fix else []
    sections += ["\n".join(findings)] if findings else []
    disabled_checks = [name for name, on in evaluation.checks.items() if not on]
    level = evaluation.risk.level
    foreign = describe_origin(evaluated.current_plan.document, is_in_text=evaluated.is_in_text)
    summary_lines = fit_line(f"note: {foreign}") if foreign else []
    requests = [line for line in evaluated.current_plan.skipped_lines if line.why == ASKS_FOR_WORK]
    if requests:
        count = "one passage asks" if len(requests) == 1 else f"{len(requests)} passages ask"
        first = f"line {requests[0].line + 1}: {printable_line(shorten(requests[0].text, _MAX_REQUEST_LENGTH))}"
        summary_lines += fit_line(f"note: {count} for work that no step does, {first}")
    summary_lines += fit_line(f"disabled checks: {', '.join(disabled_checks)}") if disabled_checks else []
    counts = describe_risk_counts(remaining_risks(evaluation))
    summary_lines += fit_line(f"steps by risk: {counts}") if counts else []
    summary_lines.append(f"risk {paint(level, RISK_STYLES.get(level, ''))}, digest {evaluated.binding.digest}")
    needs_person = any([step.needs_person and not step.is_done for step in evaluation.steps])
    if not evaluation.ok:
        style = "bold red"
    elif needs_person:
        style = "yellow"
    else:
        style = "green"
    summary_lines += [paint(line, style) for line in fit_line(f"verdict: {format_verdict(evaluation)}")]
    sections.append("\n".join(summary_lines))
    return "\n\n".join(sections)


def _step_row(evaluated_step: EvaluatedStep) -> tuple[str, ...]:
    step = evaluated_step.step
    approval_text, verdict_text = approval_columns(evaluated_step)
    description = step.description + (" (inferred)" if step.inferred else "")
    return (
        str(step.number),
        step.id,
        step.type.value,
        evaluated_step.risk.level,
        evaluated_step.dry_run.kind,
        approval_text,
        verdict_text,
        description,
    )


def step_details(evaluated_step: EvaluatedStep, path: str) -> list[str]:
    """Return lines about a step's commands, its risk and its dry run.

    Commands, scripts, settings and diffs are never wrapped: a line end that is shown is one that they contain.
    """
    step, dry_run = evaluated_step.step, evaluated_step.dry_run
    lines = [f"{paint(f'{step.number}. {step.id}', 'bold')} ({printable_line(step_location(step, path))})"]
    for label, command in describe_commands(step, printable_line):
        if "\n" in command:
            lines += [f"   {label}:", *indented_lines(command)]
        else:
            lines.append(f"   {label}: {printable_line(command)}")
    lines += fit_line(f"   after {', '.join(step.depends_on)}") if step.depends_on else []
    lines += [f"   {printable_line(term)}" for term in describe_settings(step)]
    lines += [line for text in describe_code(evaluated_step) for line in fit_line(f"   {printable_line(text)}")]
    for reason, category in evaluated_step.risk.categorized_reasons:
        label = f"{evaluated_step.risk.level} {category}".rstrip()
        lines += _labeled_lines("   ", label, printable_line(reason), RISK_STYLES)
    unchanged_text = "no changes" if dry_run.kind == EXACT and not dry_run.diff else ""
    why = dry_run.why or unchanged_text
    lines += fit_line(f"   {dry_run.kind}: {printable_line(why)}" if why else f"   {dry_run.kind}:")
    lines += indented_lines(dry_run.diff)
    for label, text in describe_writes(evaluated_step):
        lines += [f"   {label}:", *indented_lines(text)]
    return lines


def _labeled_lines(lead: str, label: str, text: str, styles: Mapping[str, str]) -> list[str]:
    """Return a text after its label, wrapped on a terminal, with the label in its style."""
    first_line, *more_lines = fit_line(f"{lead}{label}: {text}")
    painted_label = paint(label, styles.get(label.partition(" ")[0], ""))
    if first_line.startswith(f"{lead}{label}"):
        first_line = f"{lead}{painted_label}{first_line[len(lead + label) :]}"
    return [first_line, *more_lines]


def indented_lines(text: str) -> list[str]:
    """Return the printable lines of a text, indented below the line that names it."""
    lines = text.removesuffix("\n").split("\n") if text else []
    return [f"     {printable_line(line)}".rstrip() for line in lines]
