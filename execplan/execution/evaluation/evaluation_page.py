"""Markdown page of an evaluation for a reviewer; content of the plan stays inside code spans and code blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.secrets.certain_secrets import mask_secrets
from execplan.core.text.invisible_characters import escape_unprintable_lines
from execplan.execution.evaluation.checks.check_registry import ERROR
from execplan.execution.evaluation.evaluation_text import (
    approval_columns,
    describe_code,
    describe_commands,
    describe_origin,
    describe_risk_counts,
    describe_settings,
    describe_writes,
    format_verdict,
    remaining_risks,
    step_location,
)
from execplan.execution.evaluation.trial import EXACT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.evaluate import EvaluatedStep, Evaluation
    from execplan.execution.evaluation.checks.check_registry import EvaluationFinding
    from execplan.execution.execution_plan import ExecutionPlan


def render_page(
    document: ExecutionPlan,
    evaluation: Evaluation,
    path: str,
    digest: str,
    approve_command: str = "",
    *,
    is_in_text: bool = False,
) -> str:
    """Return the page; `path` is the file with the steps, `approve_command` the command that approves the digest.

    Without a command, the page does not say how to approve. `is_in_text` is as in `EvaluatedPlan`.
    """
    origin = describe_origin(document, is_in_text=is_in_text)
    blocks = [
        f"# Execution plan {code_span(document.plan_id)}",
        f"{code_span(document.description)}, from {code_span(path)}",
        *([f"**Note: {origin}.**"] if origin else []),
        *_format_summary(evaluation, digest, approve_command),
        "| step | id | type | risk | dry run | approval | verdict |\n|---|---|---|---|---|---|---|\n"
        + "\n".join([_table_row(step) for step in evaluation.steps]),
    ]
    if evaluation.findings:
        blocks += ["## Findings", "\n".join([_format_finding(finding, path) for finding in evaluation.findings])]
    blocks.append("## Steps")
    for step in evaluation.steps:
        blocks += _format_step(step, path)
    blocks += ["## Checks", _format_checks(evaluation)]
    return "\n\n".join(blocks) + "\n"


def _format_summary(evaluation: Evaluation, digest: str, approve_command: str) -> Iterator[str]:
    """Yield the verdict, the risk and the digest, with the command that approves it."""
    yield f"**Verdict: {format_verdict(evaluation)}.**"
    counts = describe_risk_counts(remaining_risks(evaluation))
    yield f"Risk **{evaluation.risk.level}**: {counts or 'no steps'}. The digest of everything that an approval covers:"
    yield code_block(digest, "text")
    if evaluation.ok and approve_command:
        yield "After you read this page, approve exactly this with:"
        yield code_block(f"{approve_command} --digest {digest}", "sh")


def _table_row(evaluated: EvaluatedStep) -> str:
    step = evaluated.step
    cells = [str(step.number), step.id, step.type.value, evaluated.risk.level, evaluated.dry_run.kind]
    cells += approval_columns(evaluated)
    return f"| {' | '.join([cell.replace('_', chr(92) + '_') for cell in cells])} |"


def _format_finding(finding: EvaluationFinding, path: str) -> str:
    if finding.step is not None:
        location = f"step {finding.step.number}, {code_span(step_location(finding.step, path))}: "
    else:
        location = ""
    fix = f" Fix: {code_span(finding.fix)}" if finding.fix else ""
    level = f"**{finding.level}**" if finding.level == ERROR else finding.level
    return f"- {level} ({finding.check}): {location}{code_span(finding.message)}{fix}"


def _format_step(evaluated: EvaluatedStep, path: str) -> Iterator[str]:
    step = evaluated.step
    yield f"### {step.number}. {code_span(step.id)}"
    facts = [f"{code_span(step.description)} ({code_span(step_location(step, path))})"]
    facts += [f"Risk {evaluated.risk.level}: {code_span(reason)}" for reason in evaluated.risk.reasons]
    if step.inferred:
        facts.append("Inferred from prose: it is not written as a step.")
    if step.depends_on:
        facts.append(f"After {', '.join([code_span(name) for name in step.depends_on])}")
    facts += [code_span(term) for term in describe_settings(step)]
    yield "\n".join([f"- {fact}" for fact in facts])
    for label, command in describe_commands(step, code_span):
        yield label[:1].upper() + label[1:] + ":"
        yield code_block(command, "sh" if step.parameters is None else "json")
    code_texts = [code_span(text) for text in describe_code(evaluated)]
    if code_texts:
        yield "\n".join([f"- {text}" for text in code_texts])
    dry_run = evaluated.dry_run
    why = f": {code_span(dry_run.why)}" if dry_run.why else ""
    yield f"Dry run, {dry_run.kind}{why}" + (":" if dry_run.diff else "")
    if dry_run.diff:
        yield code_block(dry_run.diff, "diff")
    elif dry_run.kind == EXACT and not dry_run.why:
        yield "It changes nothing."
    for label, text in describe_writes(evaluated):
        yield label[:1].upper() + label[1:] + ":"
        yield code_block(text, "diff" if step.patch is not None else "text")


def _format_checks(evaluation: Evaluation) -> str:
    failed_checks = {finding.check for finding in evaluation.findings}
    lines = [
        f"- {name}: {'off' if not is_enabled else 'see above' if name in failed_checks else 'nothing found'}"
        for name, is_enabled in evaluation.checks.items()
    ]
    return "\n".join(lines)


def code_span(text: str) -> str:
    """Return a text as a one-line code span, with secrets masked and invisible characters escaped."""
    text = " ".join(_visible_text(text).split()) or " "
    backticks = "`" * (_longest_backtick_run(text) + 1)
    padding = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{backticks}{padding}{text}{padding}{backticks}"


def code_block(text: str, language: str) -> str:
    """Return a text as a code block that its content can't close, with secrets masked and invisible text escaped."""
    backticks = "`" * max(3, _longest_backtick_run(text) + 1)
    return f"{backticks}{language}\n{_visible_text(text).removesuffix(chr(10))}\n{backticks}"


def _visible_text(text: str) -> str:
    """Return a text with secrets masked and invisible characters escaped, because a page is sent to others."""
    return escape_unprintable_lines(mask_secrets(text))


def _longest_backtick_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest
