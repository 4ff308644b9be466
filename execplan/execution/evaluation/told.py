"""An evaluation in words, the same ones on a terminal, in JSON and on a page."""

from __future__ import annotations

from json import dumps
from shlex import join, quote

from execplan.execution.evaluation.checks.check import ERROR
from execplan.execution.evaluation.trial import DONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from execplan.execution.evaluate import Evaluation, Judged
    from execplan.execution.evaluation.checks.check import Finding
    from execplan.execution.model import ExecutionPlan, Step

_TOLD = frozenset(
    "number id type tool description target lines command argv content patch parameters depends_on cwd env shell network "
    "risk inferred phase source".split()
)
"""The fields of a step that are told by a line of their own, or by what it runs and writes."""


def verdict(evaluation: Evaluation) -> str:
    """Whether it may run, and who must say so."""
    errors = [each.level for each in evaluation.findings].count(ERROR)
    if errors:
        return f"It must not run: {errors} error{'s' * (errors > 1)}"
    left = [each for each in evaluation.steps if not each.done]
    if not left:
        return "Nothing is left to be done"
    on = "It may go on" if len(left) < len(evaluation.steps) else "It may run"
    persons = [each for each in left if each.needs_person]
    if not persons:
        return f"{on}: the policy approves every step"
    every = len(left)
    who = "a person approves every step" if len(persons) == every else f"a person approves {_numbers(persons)}"
    return f"{on} once {who}" + (" and the policy the rest" if len(persons) < every else "")


def origin(document: ExecutionPlan) -> str:
    """That the steps are not what the lines of the plan say, or nothing: whoever has read the plan has not read them."""
    if document.revision > 1:
        return (
            f"The steps are those of revision {document.revision}, as it is stored, and not what the plan's lines say"
        )
    return "" if document.source is not None else "The steps come from a stored document, and not from the plan's lines"


def _numbers(steps: list[Judged]) -> str:
    return f"step{'s' * (len(steps) > 1)} {', '.join([str(each.step.number) for each in steps])}"


def standing_of(judged: Judged) -> tuple[str, str]:
    """Who approves a step, and whether it may run."""
    if judged.done:
        return "-", DONE
    return "a person" if judged.needs_person else "the policy", "may run" if judged.ok else "must not run"


def runs(step: Step, name: Callable[[str], str] = str) -> Iterator[tuple[str, str]]:
    """What a step runs, each with what it is: its command with all that changes what it does, its test, what it calls.

    `name` makes what can be shown of a path.
    """
    given = "".join([f"{variable}={quote(value)} " for variable, value in step.env.items()])
    where = f" in {name(step.cwd)}" if step.cwd != "." else ""
    net = ", with the network" if step.network else ""
    if step.shell is not None:
        yield f"a script for {step.shell}{where}{net}", f"{given}\n{step.command}" if given else step.command or ""
    elif step.argv is not None:
        yield f"runs{where}{net}", given + join(step.argv)
    elif step.command is not None:
        yield f"would need a shell{where}{net}", given + step.command
    if step.validation.test_after is not None:
        yield "tests afterwards", join(step.validation.test_after)
    if step.parameters is not None:
        yield f"calls {step.tool}{where}{net} with", given + dumps(step.parameters, ensure_ascii=False, indent=2)


def writes(judged: Judged) -> Iterator[tuple[str, str]]:
    """What a step holds to be written that its dry run does not show: nobody approves what stands nowhere."""
    step, diff = judged.step, judged.dry_run.diff
    if judged.done:
        return
    if diff and not f"\n{diff}".count("\nBinary files "):
        return
    if step.patch is not None:
        yield "would apply", step.patch
    elif step.content is not None:
        lines = f", as lines {step.lines[0]} to {step.lines[1]}" if step.lines is not None else ""
        yield f"would write{lines}", step.content


def terms(step: Step) -> Iterator[str]:
    """What else holds for a step: each field that says something by itself, by its name."""
    for name, value in step.model_dump(mode="json", exclude_defaults=True, exclude=set(_TOLD)).items():
        if name == "validation":
            value.pop("test_after", None)
        if value != {}:
            yield f"{name}: {dumps(value, ensure_ascii=False)}"


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
        **step.model_dump(mode="json", exclude={"source"}),
        "risk": {"level": judged.risk.level, "reasons": list(judged.risk.reasons)},
        "needs_person": judged.needs_person,
        "dry_run": judged.dry_run._asdict(),
        "ok": judged.ok,
        "findings": [finding_json(each, path) for each in judged.findings],
        "line_start": step.source.line_start if step.source is not None else None,
        "line_end": step.source.line_end if step.source is not None else None,
    }
