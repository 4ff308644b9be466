"""What a step needs is there when it begins."""

from __future__ import annotations

from execplan.execution.evaluation.after import inside
from execplan.execution.evaluation.checks.check import ERROR, WARNING, Case, Finding, check
from execplan.execution.evaluation.trial import IMPOSSIBLE, targets
from execplan.execution.world import ABSENT, FILE, FOLDER, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.evaluation.after import Seen
    from execplan.execution.evaluation.trial import Trial

_MAKE = "make it before, and name it in the outputs of what makes it"


@check("existence")
def existence(case: Case) -> Iterator[Finding]:
    """What a step needs is there or made by an earlier step, what it makes is not, and every diff fits."""
    for trial in case.trials:
        outside = any([plain(path) is None for path in targets(trial.step)]) and "paths" not in case.policy.off
        if trial.dry.kind == IMPOSSIBLE and not outside:
            yield Finding(ERROR, trial.dry.why, _mend(trial), trial.step)
        cwd = plain(trial.step.cwd)
        for path, seen in trial.needs.items():
            if path == cwd:
                yield from _folder(trial, path, seen)
            elif path in inside(trial.step.inputs):
                yield from _input(trial, path, seen)
            else:
                yield from _program(trial, path, seen)


def _folder(trial: Trial, path: str, seen: Seen) -> Iterator[Finding]:
    """Whether a command can run there."""
    if seen.state is None or seen.state.kind == FOLDER:
        return
    if seen.state.kind == ABSENT:
        # A command before it may make it and not say so; as for a program.
        level = WARNING if trial.behind else ERROR
        yield Finding(
            level, f"there is no folder {path} to run in", "make it before, or name it in outputs", trial.step
        )
    else:
        yield Finding(ERROR, f"{path}, to run in, is no folder", "name a folder as cwd", trial.step)


def _input(trial: Trial, path: str, seen: Seen) -> Iterator[Finding]:
    """Whether an input is there."""
    if seen.state is None or seen.state.kind == FOLDER:
        return
    if seen.state.kind == ABSENT:
        yield Finding(ERROR, f"its input {path} is missing", _MAKE, trial.step)
    elif seen.state.kind == FILE and not seen.state.sha256:
        yield Finding(ERROR, f"{path} can't be read, or is too large to be bound", "take it out of inputs", trial.step)


def _program(trial: Trial, path: str, seen: Seen) -> Iterator[Finding]:
    """Whether a program of the repository is there, and is one."""
    if seen.state is None:
        return
    level = WARNING if trial.behind else ERROR
    if seen.state.kind == ABSENT:
        yield Finding(level, f"there is no program {path}", _MAKE, trial.step)
    elif seen.state.kind == FOLDER:
        yield Finding(ERROR, f"{path} is a folder, and no program", "name the program", trial.step)
    elif seen.state.kind == FILE and not seen.state.mode & 0o111:
        yield Finding(level, f"{path} may not be run: its mode is {seen.state.mode:o}", f"chmod +x {path}", trial.step)


def _mend(trial: Trial) -> str:
    """What to do about a step that can't be done."""
    if "is there already" in trial.dry.why:
        return "change it with modify_file"
    if "there is no file" in trial.dry.why:
        return _MAKE
    return "mend the step"
