"""Trials of steps in memory: the files that a step would change, or why that can't be known."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import join, quote
from typing import Final

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.execution.attributes import FILE_TYPES
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.evaluation.projected_files import (
    ImpossibleError,
    ProjectedChange,
    ProjectedFiles,
    ProjectedState,
    compute_changes,
    format_change,
    normalize_paths,
    parent_directories,
)
from execplan.execution.execution_plan import Step, Type
from execplan.execution.risk.command_risk import LOW, builtin_table, rate_command
from execplan.execution.world import ABSENT, FILE, State, normalize_path


class StepCommand(NamedTuple):
    """A command, a script or a test that a step runs."""

    text: str
    """Text of the command, with the step's environment variables in front."""
    is_script: bool
    """Whether a shell runs the text."""


def step_commands(step: Step) -> Iterator[StepCommand]:
    """Yield the commands that a step runs: its command or script, and its test."""
    assignments = "".join([f"{name}={quote(value)} " for name, value in step.env.items()])
    if step.shell is not None and step.command is not None:
        prefix = f"export {assignments}\n" if assignments else ""
        yield StepCommand(prefix + step.command, is_script=True)
    elif step.argv is not None:
        yield StepCommand(assignments + join(step.argv), is_script=False)
    elif step.command is not None:
        yield StepCommand(assignments + step.command, is_script=False)
    if step.validation.test_after is not None:
        yield StepCommand(join(step.validation.test_after), is_script=False)


EXACT: Final = "exact"
UNPREDICTABLE: Final = "unpredictable"
IMPOSSIBLE: Final = "impossible"
DONE: Final = "done"


class DryRun(NamedTuple):
    """The predicted effect of a step."""

    kind: str
    """Kind of the prediction: exact, unpredictable, impossible or done.

    Exact: the diff shows the effect. Unpredictable: only a run can show it. Impossible: the step can't run in the
    current state. Done: an active run has finished the step and does not repeat it.
    """
    diff: str = ""
    why: str = ""
    """Reason if there is no diff; for an exact prediction, the condition under which it is valid."""
    is_skipped: bool = False
    """Whether the step's `when` skips it in the current state."""


class Trial(NamedTuple):
    """A step, the paths that it uses, and the result of trying it in memory."""

    step: Step
    targets: dict[str, ProjectedState]
    """Files that the step itself writes or deletes, with their states before it."""
    needs: dict[str, ProjectedState]
    """Paths that must exist: its inputs, its working directory, and programs named by their path."""
    changes: tuple[ProjectedChange, ...]
    dry_run: DryRun
    follows_command: bool
    """Whether a command runs before the step."""


class _UnknownError(Exception):
    """The effect of a step can't be known; the message says why."""


def run_trials(files: ProjectedFiles, steps: tuple[Step, ...]) -> tuple[Trial, ...]:
    """Return a trial of every step in order, each on the projected result of the steps before it."""
    trials = []
    follows_command = False
    for step in steps:
        trial = _run_trial(files, step, follows_command=follows_command)
        unknown = [*normalize_paths(step.outputs)]
        if trial.dry_run.kind != EXACT:
            unknown += trial.targets
        if step.type is Type.INSTALL and step.target is not None:
            unknown += normalize_paths([step.target])
        files.record_changes(step, trial.changes, unknown)
        trials.append(trial)
        follows_command = follows_command or any([not _only_reads(command) for command in step_commands(step)])
    return tuple(trials)


def target_paths(step: Step) -> list[str]:
    """Return the paths that a step itself writes or deletes, as written."""
    if step.type.value not in FILE_TYPES:
        return []
    fields = {"type": step.type.value, "target": step.target, "patch": step.patch, "files": step.files}
    replacement = {"paths": step.replacement.paths} if step.replacement is not None else None
    return written_paths({**fields, "from": step.from_, "replacement": replacement})


def written_texts(trial: Trial) -> list[ProjectedChange]:
    """Return the content that a step writes, as far as it is known before the run: at least the step's own text."""
    step = trial.step
    added = [line[1:] for line in (step.patch or "").split("\n") if line.startswith("+")]
    own_text = "".join([f"{line}\n" for line in added]) + (step.content or "")
    own_text += step.replacement.with_ if step.replacement is not None else ""
    return [change for change in trial.changes if not change.origin] or [
        ProjectedChange(path, None, own_text.encode()) for path in list(trial.targets)[:1] if own_text
    ]


def _run_trial(files: ProjectedFiles, step: Step, *, follows_command: bool) -> Trial:
    target_states = {path: files.path_state(path, step) for path in normalize_paths(target_paths(step))}
    needs = {
        path: files.path_state(path, step) for path in normalize_paths([*step.inputs, step.cwd, *_program_paths(step)])
    }
    changes: tuple[ProjectedChange, ...] = ()
    try:
        if any([normalize_path(path) is None for path in target_paths(step)]):
            raise ImpossibleError("its target is not in the repository")
        skip_reason = _skip_reason(files, step)
        changes = () if skip_reason else _compute_changes(files, step, target_states)
        dry_run = DryRun(EXACT, "".join([format_change(change) for change in changes]))
        if skip_reason:
            dry_run = dry_run._replace(why=skip_reason, is_skipped=True)
        elif follows_command:
            dry_run = dry_run._replace(why=f"if the commands before it don't change {', '.join(target_states)}")
    except _UnknownError as why:
        dry_run = DryRun(UNPREDICTABLE, why=str(why))
    except ImpossibleError as why:
        dry_run = DryRun(IMPOSSIBLE, why=str(why))
    except ExecplanError as error:
        dry_run = DryRun(IMPOSSIBLE, why=error.message)
    return Trial(step, target_states, needs, changes, dry_run, follows_command)


def _program_paths(step: Step) -> list[str]:
    """Return the programs named by a path relative to the working directory, except files that the step creates."""
    own_paths = normalize_paths([*target_paths(step), *step.outputs])
    program_names = [argv[0] for argv in (step.argv, step.validation.test_after) if argv is not None and "/" in argv[0]]
    paths = [f"{step.cwd}/{name}" for name in program_names if not name.startswith("/")]
    return [path for path in paths if normalize_path(path) not in own_paths]


def _skip_reason(files: ProjectedFiles, step: Step) -> str:
    """Return why a step will be skipped in the current state, or an empty string."""
    if step.when is None or step.when.kind not in ("exists", "missing"):
        return ""
    path = normalize_path(step.when.of)
    projected = files.path_state(path, step) if path is not None else None
    if projected is None or projected.state is None:
        raise _UnknownError(f"whether it runs depends on {step.when.of}")
    exists = projected.state.kind != ABSENT
    if exists == (step.when.kind == "exists"):
        return ""
    return f"it is skipped in the current state: {path} is {'there' if exists else 'missing'}"


def _compute_changes(
    files: ProjectedFiles, step: Step, target_states: dict[str, ProjectedState]
) -> tuple[ProjectedChange, ...]:
    """Return the file changes of a step. Raises ImpossibleError, _UnknownError, or ExecplanError."""
    if step.type is Type.TOOL:
        raise _UnknownError(f"the effects of {step.tool} are known only after a call")
    if step.type is Type.MANUAL:
        raise _UnknownError("a person does it and confirms")
    if step.type is Type.COMMAND and step.command is not None and all(map(_only_reads, step_commands(step))):
        return ()
    if step.type in (Type.COMMAND, Type.INSTALL):
        raise _UnknownError("the effects of a command are known only after it runs")
    _ensure_parents_are_directories(files, step, target_states)
    return compute_changes(step, _FilesAtStep(files, step))


def _only_reads(command: StepCommand) -> bool:
    """Return whether a command is known to change nothing."""
    return rate_command(command.text, builtin_table(), is_script=command.is_script).level == LOW


class _FilesAtStep:
    """The files as a step sees them."""

    def __init__(self, files: ProjectedFiles, step: Step) -> None:
        self.files = files
        self.step = step

    def state(self, path: str) -> State:
        """Return the state of a path. Raises _UnknownError if it depends on an earlier step."""
        projected = self.files.path_state(path, self.step)
        if projected.state is None:
            raise _UnknownError(f"the state of {path} at that time depends on {projected.changed_by}")
        return projected.state

    def read(self, path: str) -> bytes:
        """Return the bytes of a file. Raises ExecplanError if it can't be read."""
        return self.files.content(path, self.step)


def _ensure_parents_are_directories(
    files: ProjectedFiles, step: Step, target_states: dict[str, ProjectedState]
) -> None:
    """Raise ImpossibleError if a parent directory of a target is a file."""
    for folder in dict.fromkeys([parent for path in target_states for parent in parent_directories(path)]):
        state = files.path_state(folder, step).state
        if state is not None and state.kind == FILE:
            raise ImpossibleError(f"{folder} is a file, not a directory")
