"""The current execution plan of a plan: the one that is evaluated, approved and run."""

from __future__ import annotations

import os
from time import monotonic
from typing import NamedTuple

from execplan.core.documents.document_io import document_bytes, load_document
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution.approvals import artifact_store
from execplan.execution.compile import Compiled, compile_plan
from execplan.execution.documents.document_diff import describe_differences
from execplan.execution.execution_plan import ExecutionPlan
from execplan.execution.parsed_steps import SkippedLine


class CurrentPlan(NamedTuple):
    """The current execution plan of a plan, compiled or stored."""

    document: ExecutionPlan
    """Execution plan with the current line numbers of the plan."""
    data: bytes
    """Bytes that are or would be stored; they keep the old line numbers if only those have changed."""
    path: str
    """Path where the document is or would be stored, from the repository root."""
    is_stored: bool
    """Whether exactly these bytes are stored."""
    stale_reason: str
    """Why the stored document is not used; empty if it is used or nothing is stored."""
    skipped_lines: tuple[SkippedLine, ...]
    """Lines that looked like steps but were skipped."""
    differences: tuple[str, ...] = ()
    """Differences from the stored document, if that is not used."""
    generation_seconds: float | None = None
    """Compilation time in seconds; None if the plan was not compiled."""


def compile_plan_file(project: Project, ref: PlanRef) -> Compiled:
    """Compile a plan from its file on disk. Raises ExecplanError."""
    display_path = project.display_path(ref.path)
    with ErrorContext(display_path):
        text = plan_store.read_bytes(project, ref.path)
    return _compile_text(project, text, ref, display_path)


def _compile_text(project: Project, text: bytes, ref: PlanRef, display_path: str) -> Compiled:
    with ErrorContext(display_path):
        plan = plan_store.parse(project, text)
        try:
            return compile_plan(
                plan, ref.id, display_path.rpartition("/")[2] if display_path.startswith("/") else display_path
            )
        except ExecplanError as error:
            error.add_plan_name(ref.id)
            raise


def load_current_plan(project: Project, ref: PlanRef) -> CurrentPlan:
    """Return the current execution plan: freshly compiled, or stored if it comes from elsewhere or is revised.

    If only line numbers differ, the stored bytes are kept. Raises ExecplanError.
    """
    location = project.display_path(artifact_store.path_of(project, ref))
    data = artifact_store.read(project, ref)
    if data is None:
        return _from_compilation(project, ref, location, _compile_timed(project, ref), "")
    try:
        document = load_document(data, ExecutionPlan, location)
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
            f"the plan now compiles to something else: {'; '.join(difference_lines[:3])}",
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
    """A compilation of a plan and its duration."""

    compilation: Compiled
    seconds: float


_last_compilation: tuple[tuple[bytes, str, str], _TimedCompilation] | None = None
"""Last compilation in this process, with all that it depends on: the text of the plan, its ID and its path."""


def _compile_timed(project: Project, ref: PlanRef) -> _TimedCompilation:
    """Compile a plan and measure the time, unless the same plan was compiled last. Raises ExecplanError."""
    global _last_compilation  # noqa: PLW0603 - compiling is a pure function, and a check compiles the same text twice
    started = monotonic()
    display_path = project.display_path(ref.path)
    with ErrorContext(display_path):
        text = plan_store.read_bytes(project, ref.path)
    key = text, ref.id, display_path
    if _last_compilation is None or _last_compilation[0] != key:
        compilation = _compile_text(project, text, ref, display_path)
        _last_compilation = key, _TimedCompilation(compilation, round(monotonic() - started, 6))
    return _last_compilation[1]


def _with_stored_path(compiled_plan: ExecutionPlan, stored_plan: ExecutionPlan, ref: PlanRef) -> ExecutionPlan:
    """Return an archived plan's compilation with the source path of the stored one: archiving changes no step."""
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
        raise no_steps_error(project, ref, compilation.skipped)
    return CurrentPlan(
        compilation.document,
        document_bytes(compilation.document),
        location,
        False,
        stale_reason,
        compilation.skipped,
        difference_lines,
        timed_compilation.seconds,
    )


def no_steps_error(project: Project, ref: PlanRef, skipped_lines: tuple[SkippedLine, ...]) -> ExecplanError:
    """Return the error for a plan without steps, with the lines that looked like steps."""
    from execplan.execution.inference.work_requests import ASKS_FOR_WORK

    path = project.display_path(ref.path)
    hint = "see how to write steps: execplan explain steps"
    if any([skipped.why == ASKS_FOR_WORK for skipped in skipped_lines]):
        hint = f"write such work as manual steps: execplan compile {ref.shell_name} --annotate"
    return ExecplanError(
        "no-steps",
        f"{path}: no steps in Concrete Steps or Validation and Acceptance",
        hint=hint,
        candidates=[f"{path}:{skipped.line + 1}: it {skipped.why}: {skipped.text}" for skipped in skipped_lines],
    )


def lacks_steps(project: Project, ref: PlanRef) -> bool:
    """Return whether a plan has no steps at all, not even with errors."""
    try:
        load_current_plan(project, ref)
    except ExecplanError as error:
        return error.code == "no-steps"
    return False


def _ensure_same_plan(document: ExecutionPlan, ref: PlanRef, location: str) -> None:
    """Raise ExecplanError if a stored document belongs to another plan, or to this one before it was renamed."""
    if document.plan_id != ref.id:
        raise ExecplanError(
            "other-plan",
            f"{location} is the execution plan of {document.plan_id}, not of {ref.id}",
            hint=f"store it for this plan: execplan compile {ref.shell_name} --from {location}",
        )
