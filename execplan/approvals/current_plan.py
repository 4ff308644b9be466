"""The execution plan that a plan has now: what is evaluated, approved and run."""

from __future__ import annotations

import os
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from execplan.approvals import artifact_store
from execplan.errors import INPUT, ErrorContext, ExecplanError
from execplan.execution.compile import compile_plan
from execplan.execution.documents.document_diff import describe_differences
from execplan.execution.documents.document_io import load, to_bytes
from execplan.execution.execution_plan import ExecutionPlan
from execplan.plan import reader
from execplan.plan_store import plan_store

if TYPE_CHECKING:
    from execplan.execution.compile import Compiled
    from execplan.execution.step_drafts import SkippedLine
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project


class CurrentPlan(NamedTuple):
    """The execution plan of a plan, wherever it comes from."""

    document: ExecutionPlan
    """With the lines of the plan as they are now."""
    data: bytes
    """What is stored, or would be: where only lines have moved since, it has the old ones."""
    path: str
    """Where it is stored, or would be, from the root of the repository."""
    is_stored: bool
    """Whether these very bytes lie there."""
    stale_reason: str
    """Why what is stored is not used; empty where it is, or where nothing is stored."""
    skipped_lines: tuple[SkippedLine, ...]
    """What looked like a step and was not taken."""
    differences: tuple[str, ...] = ()
    """How what is stored differs, where it is not used."""
    generation_seconds: float | None = None
    """How long it took to compile the plan; None where it was not compiled."""


def compile_plan_file(project: Project, ref: PlanRef) -> Compiled:
    """What a plan compiles to as it is on disk; raises ExecplanError."""
    display_path = project.display_path(ref.path)
    with ErrorContext(display_path):
        plan = reader.read(plan_store.read_bytes(project, ref.path))
        try:
            return compile_plan(
                plan, ref.id, display_path.rpartition("/")[2] if display_path.startswith("/") else display_path
            )
        except ExecplanError as error:
            error.add_plan_name(ref.id)
            raise


def load_current_plan(project: Project, ref: PlanRef) -> CurrentPlan:
    """The execution plan of a plan: what it compiles to now, or a stored one that comes from elsewhere, or is revised.

    That lines have moved is no difference: then the stored bytes are the ones. Raises ExecplanError.
    """
    location = project.display_path(artifact_store.path_of(project, ref))
    data = artifact_store.read(project, ref)
    if data is None:
        return _from_compilation(project, ref, location, _compile_timed(project, ref), "")
    try:
        document = load(data, ExecutionPlan, location)
    except ExecplanError as error:
        timed_compilation = _compile_timed(project, ref)
        if timed_compilation.compilation.document is None:
            raise
        reason = error.message.removeprefix(f"{location}: ")
        return _from_compilation(project, ref, location, timed_compilation, f"it can't be used: {reason}")
    if document.source is None or document.revision > 1:
        _ensure_same_plan(document, ref, location)
        return CurrentPlan(document, data, location, True, "", ())
    timed_compilation = _compile_timed(project, ref)
    compiled_plan = timed_compilation.compilation.document and _with_stored_path(
        timed_compilation.compilation.document, document, ref
    )
    difference_lines = () if compiled_plan is None else describe_differences(document, compiled_plan)
    if compiled_plan is None or difference_lines:
        return _from_compilation(
            project,
            ref,
            location,
            timed_compilation,
            f"the plan compiles to something else now: {'; '.join(difference_lines[:3])}",
            difference_lines,
        )
    return CurrentPlan(
        compiled_plan,
        data,
        location,
        True,
        "",
        timed_compilation.compilation.skipped,
        generation_seconds=timed_compilation.seconds,
    )


class _TimedCompilation(NamedTuple):
    """What a plan compiles to, and how long that took."""

    compilation: Compiled
    seconds: float


def _compile_timed(project: Project, ref: PlanRef) -> _TimedCompilation:
    """Compile a plan; raises ExecplanError."""
    started = monotonic()
    compilation = compile_plan_file(project, ref)
    return _TimedCompilation(compilation, round(monotonic() - started, 6))


def _with_stored_path(compiled_plan: ExecutionPlan, stored_plan: ExecutionPlan, ref: PlanRef) -> ExecutionPlan:
    """What an archived plan compiles to, at the place where it lay when that was stored: filing it changes no step."""
    old_source, new_source = stored_plan.source, compiled_plan.source
    if (
        not ref.archived
        or old_source is None
        or new_source is None
        or os.path.basename(old_source.path) != os.path.basename(new_source.path)
    ):
        return compiled_plan
    return compiled_plan.model_copy(update={"source": new_source.model_copy(update={"path": old_source.path})})


def _from_compilation(
    project: Project,
    ref: PlanRef,
    location: str,
    timed_compilation: _TimedCompilation,
    stale_reason: str,
    difference_lines: tuple[str, ...] = (),
) -> CurrentPlan:
    compilation = timed_compilation.compilation
    if compilation.document is None:
        raise no_steps_error(project.display_path(ref.path), compilation.skipped)
    return CurrentPlan(
        compilation.document,
        to_bytes(compilation.document),
        location,
        False,
        stale_reason,
        compilation.skipped,
        difference_lines,
        timed_compilation.seconds,
    )


def no_steps_error(path: str, skipped_lines: tuple[SkippedLine, ...]) -> ExecplanError:
    """The refusal of a plan that gives no step, with what looked like one."""
    return ExecplanError(
        "no-steps",
        f"{path}: no step stands in its Concrete Steps or Validation and Acceptance",
        exit=INPUT,
        hint="how steps are written: execplan explain steps",
        candidates=[f"{path}:{skipped.line + 1}: {skipped.text}: it {skipped.why}" for skipped in skipped_lines],
    )


def _ensure_same_plan(document: ExecutionPlan, ref: PlanRef, location: str) -> None:
    """Refuse a document from elsewhere that was stored for another plan, or before this one was renamed."""
    if document.plan_id != ref.id:
        raise ExecplanError(
            "other-plan",
            f"{location} is the execution plan of {document.plan_id}, not of {ref.id}",
            exit=INPUT,
            hint=f"store it for this one: execplan compile {ref.shell_name} --from {location}",
        )
