"""Which steps of a run can be rolled back: those that it has, that ran, and that are not rolled back already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.engine import revisions
from execplan.errors import CONFLICT, INPUT, CHECK_FAILED, ExecplanError
from execplan.execution import states

if TYPE_CHECKING:
    from collections.abc import Collection

    from execplan.engine.course import RunState
    from execplan.engine.place import RunPaths
    from execplan.execution.model import Step
    from execplan.repo.shelf import PlanRef


def steps_of_all_revisions(run_paths: RunPaths, run_state: RunState) -> dict[str, Step]:
    """The steps of all revisions of a run, as the last one has them; raises ExecplanError."""
    from execplan.execution.documents.document import load
    from execplan.execution.model import ExecutionPlan
    from execplan.text import disk

    steps: dict[str, Step] = {}
    earlier_paths = [run_paths.document, *[revisions.revision_path(run_paths, replan_entry.fields["revision"]) for replan_entry in run_state.replans[:-1]]]
    for path in earlier_paths if run_state.replans else ():
        data, _ = disk.read(path, revisions.LIMIT)
        steps |= {step.id: step for step in load(data, ExecutionPlan, path).steps}
    return {**steps, **{step.id: step for step in run_state.document.steps}}


def find_step_id(ref: PlanRef, run_paths: RunPaths, run_state: RunState, steps: Collection[str], name: str | None) -> str | None:
    """The step that an id or a number names; raises ExecplanError for one that is none."""
    if name is None or name in steps:
        return name
    for step in run_state.document.steps:
        if str(step.number) == name:
            return step.id
    from difflib import get_close_matches

    suggestions = get_close_matches(name, steps, n=3, cutoff=0.4) or list(steps)
    message = f"the run {run_paths.id} has no step {name!r}"
    raise ExecplanError(
        "no-such-step", message, exit=INPUT, hint=f"see them: execplan show {ref.shell_name} --run {run_paths.id}", candidates=suggestions
    )


def ensure_can_roll_back(ref: PlanRef, run_paths: RunPaths, run_state: RunState, only_step: str | None) -> None:
    """Refuse where nothing is to be taken back, or not yet; raises ExecplanError."""
    if run_state.status == states.ROLLED_BACK or (
        only_step is not None and (only_step in run_state.rolled_back_steps or not run_state.attempts.get(only_step))
    ):
        message = f"the run {run_paths.id} is rolled back already" if run_state.status == states.ROLLED_BACK else ""
        message = message or f"{only_step} of the run {run_paths.id} " + (
            "is rolled back already" if only_step in run_state.rolled_back_steps else "never ran"
        )
        hint = f"see what it did: execplan show {ref.shell_name} --run {run_paths.id}"
        raise ExecplanError("nothing-to-roll-back", message, exit=CHECK_FAILED, hint=hint)
    other_steps = [name for name, _ in run_state.open_attempts() if only_step not in (None, name)]
    if other_steps:
        raise ExecplanError(
            "run-cut-short",
            f"{', '.join(other_steps)} of the run {run_paths.id} was cut short: what it has changed is not known yet",
            exit=CONFLICT,
            hint=f"go on with the run, or take back all of it: execplan resume {run_paths.number} -p {ref.shell_name}; "
            f"execplan rollback {run_paths.number} -p {ref.shell_name}",
        )
