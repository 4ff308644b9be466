"""An evaluation in words, the same ones on a terminal, in JSON and on a page."""

from __future__ import annotations

from shlex import join, quote

from execplan.execution.evaluation.checks.check import ERROR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from execplan.execution.evaluate import Evaluation, Judged
    from execplan.execution.evaluation.checks.check import Finding
    from execplan.execution.model import Step


def verdict(evaluation: Evaluation) -> str:
    """Whether it may run, and who must say so."""
    errors = [each.level for each in evaluation.findings].count(ERROR)
    if errors:
        return f"It must not run: {errors} error{'s' * (errors > 1)}"
    persons = [each for each in evaluation.steps if each.needs_person]
    if not persons:
        return "It may run: the policy approves every step"
    every = len(evaluation.steps)
    who = "a person approves every step" if len(persons) == every else f"a person approves {_numbers(persons)}"
    return f"It may run once {who}" + (" and the policy the rest" if len(persons) < every else "")


def _numbers(steps: list[Judged]) -> str:
    return f"step{'s' * (len(steps) > 1)} {', '.join([str(each.step.number) for each in steps])}"


def runs(step: Step) -> Iterator[tuple[str, str]]:
    """What a step runs, each with what it is: its command with all that changes what it does, and its test."""
    given = "".join([f"{name}={quote(value)} " for name, value in step.env.items()])
    where = f" in {step.cwd}" if step.cwd != "." else ""
    net = ", with the network" if step.network else ""
    if step.shell is not None:
        yield f"a script for {step.shell}{where}{net}", f"{given}\n{step.command}" if given else step.command or ""
    elif step.argv is not None:
        yield f"runs{where}{net}", given + join(step.argv)
    elif step.command is not None:
        yield f"would need a shell{where}{net}", given + step.command
    if step.validation.test_after is not None:
        yield "tests afterwards", join(step.validation.test_after)


def lines_of(step: Step, path: str) -> str:
    """Where a step stands."""
    return f"{path}:{step.source.line_start}" if step.source is not None else path


def finding_json(finding: Finding, path: str) -> dict[str, Any]:
    """A finding as every document shows it."""
    step = finding.step
    return {
        "check": finding.check,
        "level": finding.level,
        "step": step.id if step is not None else None,
        "path": path,
        "line": step.source.line_start if step is not None and step.source is not None else None,
        "message": finding.message,
        "mend": finding.mend or None,
    }


def step_json(judged: Judged, path: str) -> dict[str, Any]:
    """A step with its judgement."""
    step = judged.step
    return {
        "id": step.id,
        "number": step.number,
        "type": step.type.value,
        "tool": step.tool,
        "description": step.description,
        "target": step.target,
        "argv": list(step.argv) if step.argv is not None else None,
        "command": step.command,
        "shell": step.shell,
        "cwd": step.cwd,
        "depends_on": list(step.depends_on),
        "phase": step.phase,
        "inferred": step.inferred,
        "risk": {"level": judged.risk.level, "reasons": list(judged.risk.reasons)},
        "needs_person": judged.needs_person,
        "dry_run": judged.dry_run._asdict(),
        "ok": judged.ok,
        "findings": [finding_json(each, path) for each in judged.findings],
        "line_start": step.source.line_start if step.source is not None else None,
        "line_end": step.source.line_end if step.source is not None else None,
    }
