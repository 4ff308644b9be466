"""An evaluation as a terminal and a JSON document show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.door import shown
from execplan.cli.table import table
from execplan.execution.evaluation.told import (
    finding_json,
    step_location,
    describe_origin,
    describe_commands,
    approval_columns,
    step_json,
    describe_settings,
    format_verdict,
    describe_writes,
)
from execplan.execution.evaluation.trial import EXACT

if TYPE_CHECKING:
    from execplan.execution.evaluate import EvaluatedStep
    from execplan.repo.execution.evaluated import Evaluated


def evaluation_json(evaluated: Evaluated) -> dict[str, Any]:
    """All of it."""
    current, evaluation, path = evaluated.current, evaluated.evaluation, evaluated.path
    return {
        "plan": current.document.plan_id,
        "revision": current.document.revision,
        "path": path,
        "digest": evaluated.binding.digest,
        "run": evaluated.underway.run if evaluated.underway is not None else None,
        "document": evaluated.binding.document,
        "policy": evaluated.policy.version,
        "stored": current.path if current.stored else None,
        "stale": current.stale or None,
        "origin": describe_origin(current.document) or None,
        "ok": evaluation.ok,
        "verdict": format_verdict(evaluation),
        "risk": {"level": evaluation.risk.level, "reasons": list(evaluation.risk.reasons)},
        "steps": [step_json(each, path) for each in evaluation.steps],
        "findings": [finding_json(each, path) for each in evaluation.findings],
        "checks": [
            {"name": name, "on": on, "ok": not any([each.check == name for each in evaluation.findings])}
            for name, on in evaluation.checks.items()
        ],
        "left": [{"line": each.line + 1, "text": each.text, "why": each.why} for each in current.left],
    }


def evaluation_text(evaluated: Evaluated) -> str:
    """A table of the steps, what each would do, what was found, and the verdict."""
    evaluation = evaluated.evaluation
    head = ("step", "id", "type", "risk", "dry run", "approval", "verdict", "what")
    parts = [table(head, [_row(each) for each in evaluation.steps], spare=("type", "dry run", "approval", "verdict"))]
    parts += ["\n".join(details(each, evaluated.path)) for each in evaluation.steps]
    findings = []
    for each in evaluation.findings:
        place = f"{step_location(each.step, evaluated.path)}: {each.step.id}" if each.step is not None else evaluated.path
        findings.append(f"{shown(place)}: {each.level}: {shown(each.message)} ({each.check})")
        findings += [f"  mend: {shown(each.fix)}"] if each.fix else []
    parts += ["\n".join(findings)] if findings else []
    off = [name for name, on in evaluation.checks.items() if not on]
    last = [f"risk {evaluation.risk.level}, digest {evaluated.binding.digest}", format_verdict(evaluation)]
    last = [f"switched off: {', '.join(off)}", *last] if off else last
    foreign = describe_origin(evaluated.current.document)
    parts.append("\n".join([foreign, *last] if foreign else last))
    return "\n\n".join(parts)


def _row(judged: EvaluatedStep) -> tuple[str, ...]:
    step = judged.step
    who, may = approval_columns(judged)
    what = step.description + (" (inferred)" if step.inferred else "")
    return str(step.number), step.id, step.type.value, judged.risk.level, judged.dry_run.kind, who, may, what


def details(judged: EvaluatedStep, path: str) -> list[str]:
    """What a step would do, and why it is rated so."""
    step, dry = judged.step, judged.dry_run
    lines = [f"{step.number}. {step.id} ({shown(step_location(step, path))})"]
    for what, command in describe_commands(step, shown):
        lines += [f"   {what}: {shown(command)}"] if "\n" not in command else [f"   {what}:", *_indented(command)]
    lines += [f"   after {', '.join(step.depends_on)}"] if step.depends_on else []
    lines += [f"   {shown(each)}" for each in describe_settings(step)]
    lines += [f"   {judged.risk.level}: {shown(reason)}" for reason in judged.risk.reasons]
    nothing = "it changes nothing" if dry.kind == EXACT and not dry.diff else ""
    why = dry.why or nothing
    lines.append(f"   {dry.kind}: {shown(why)}" if why else f"   {dry.kind}:")
    lines += _indented(dry.diff)
    for what, text in describe_writes(judged):
        lines += [f"   {what}:", *_indented(text)]
    return lines


def _indented(text: str) -> list[str]:
    return (
        [f"     {shown(line)}".rstrip() for line in text.split("\n")[: -1 if text.endswith("\n") else None]]
        if text
        else []
    )
