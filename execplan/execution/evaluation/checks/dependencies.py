"""What a step runs is installed, and what it waits for can happen."""

from __future__ import annotations

from execplan.execution.evaluation.checks.check import ERROR, WARNING, Case, Finding, check
from execplan.execution.model import Type
from execplan.execution.programs import directory, first_on_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.model import Step

_GO_ON = ("skip", "alternative")
"""What a step that failed must say for a step that is for its failure to run."""


@check("dependencies")
def dependencies(case: Case) -> Iterator[Finding]:
    """Every program and tool is installed, parameters fit their types, and every condition can come true."""
    steps = {step.id: step for step in case.document.steps}
    if case.document.mode == "engine":
        yield from _tools(case)
    installs = False
    for trial in case.trials:
        step = trial.step
        yield from _programs(case, step, installs=installs)
        yield from _conditions(step, steps)
        installs = installs or step.type is Type.INSTALL


def _programs(case: Case, step: Step, *, installs: bool) -> Iterator[Finding]:
    """Programs that are missing; what is named by its path from the repository is looked for by `existence`."""
    named = {"": step.argv, "its test ": step.validation.test_after}
    words = {what + argv[0]: argv[0] for what, argv in named.items() if argv is not None}
    if step.shell is not None:
        words[step.shell] = step.shell
    for what, word in words.items():
        if ("/" not in word or word.startswith("/")) and not _is_there(case, step, word):
            level = WARNING if installs else ERROR
            yield Finding(level, f"{what}: there is no such program on PATH", "install it, or mend the name", step)


def _tools(case: Case) -> Iterator[Finding]:
    """Tools that are missing, and parameters that they don't take."""
    steps = [trial.step for trial in case.trials if trial.step.type is Type.TOOL]
    for step, wrong in zip(
        steps, case.world.calls([(each.tool, each.parameters or {}) for each in steps]), strict=True
    ):
        for each in wrong:
            yield Finding(ERROR, each, "see what is installed: execplan explain tools", step)


def _is_there(case: Case, step: Step, word: str) -> bool:
    place, first = directory(step, case.world.state), first_on_path(step, case.world.state)
    return bool(case.world.program(word, place, step.env.get("PATH", ""), first).path)


def _conditions(step: Step, steps: dict[str, Step]) -> Iterator[Finding]:
    """Conditions that never come true, and steps that wait for one that nobody names."""
    for name in step.depends_on:
        if name not in steps or steps[name].number >= step.number:
            yield Finding(ERROR, f"it needs {name}, which is no earlier step", "name an earlier step", step)
    when = step.when
    if when is None or when.kind in ("exists", "missing"):
        return
    other = steps.get(when.of)
    if other is None or other.number >= step.number:
        yield Finding(ERROR, f"its condition is about {when.of}, which is no earlier step", "name one", step)
    elif when.kind == "failed" and other.on_failure.strategy.partition(":")[0] not in _GO_ON:
        mend = f"let {when.of} say on-failure=alternative:{step.id}, or skip"
        yield Finding(WARNING, f"it never runs: when {when.of} has failed, the run ends", mend, step)
    elif when.kind == "skipped" and other.when is None and other.on_failure.strategy != "skip":
        yield Finding(WARNING, f"it never runs: nothing skips {when.of}", f"give {when.of} a condition", step)
