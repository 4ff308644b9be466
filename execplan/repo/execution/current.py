"""The execution plan that a plan has now: what is evaluated, approved and run."""

from __future__ import annotations

import os
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from execplan.errors import INPUT, About, ExecplanError
from execplan.execution.compile import compile_plan
from execplan.execution.documents.differing import describe_differences
from execplan.execution.documents.document import load, to_bytes
from execplan.execution.model import ExecutionPlan
from execplan.plan import reader
from execplan.repo import shelf
from execplan.repo.execution import store

if TYPE_CHECKING:
    from execplan.execution.compile import Compiled
    from execplan.execution.draft import SkippedLine
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef


class Current(NamedTuple):
    """The execution plan of a plan, wherever it comes from."""

    document: ExecutionPlan
    """With the lines of the plan as they are now."""
    data: bytes
    """What is stored, or would be: where only lines have moved since, it has the old ones."""
    path: str
    """Where it is stored, or would be, from the root of the repository."""
    stored: bool
    """Whether these very bytes lie there."""
    stale: str
    """Why what is stored is not used; empty where it is, or where nothing is stored."""
    left: tuple[SkippedLine, ...]
    """What looked like a step and was not taken."""
    differences: tuple[str, ...] = ()
    """How what is stored differs, where it is not used."""
    generation_s: float | None = None
    """How long it took to compile the plan; None where it was not compiled."""


def compiled(home: Project, ref: PlanRef) -> Compiled:
    """What a plan compiles to as it is on disk; raises ExecplanError."""
    shown = home.display_path(ref.path)
    with About(shown):
        plan = reader.read(shelf.read_bytes(home, ref.path))
        try:
            return compile_plan(plan, ref.id, shown.rpartition("/")[2] if shown.startswith("/") else shown)
        except ExecplanError as error:
            error.name_plan(ref.id)
            raise


def current(home: Project, ref: PlanRef) -> Current:
    """The execution plan of a plan: what it compiles to now, or a stored one that comes from elsewhere, or is revised.

    That lines have moved is no difference: then the stored bytes are the ones. Raises ExecplanError.
    """
    where = home.display_path(store.path_of(home, ref))
    data = store.read(home, ref)
    if data is None:
        return _fresh(home, ref, where, _timed(home, ref), "")
    try:
        document = load(data, ExecutionPlan, where)
    except ExecplanError as error:
        made = _timed(home, ref)
        if made.compiled.document is None:
            raise
        why = error.message.removeprefix(f"{where}: ")
        return _fresh(home, ref, where, made, f"it can't be used: {why}")
    if document.source is None or document.revision > 1:
        _check_owner(document, ref, where)
        return Current(document, data, where, True, "", ())
    made = _timed(home, ref)
    placed = made.compiled.document and _placed(made.compiled.document, document, ref)
    found = () if placed is None else describe_differences(document, placed)
    if placed is None or found:
        return _fresh(home, ref, where, made, f"the plan compiles to something else now: {'; '.join(found[:3])}", found)
    return Current(placed, data, where, True, "", made.compiled.skipped, generation_s=made.seconds)


class _Timed(NamedTuple):
    """What a plan compiles to, and how long that took."""

    compiled: Compiled
    seconds: float


def _timed(home: Project, ref: PlanRef) -> _Timed:
    """Compile a plan; raises ExecplanError."""
    began = monotonic()
    made = compiled(home, ref)
    return _Timed(made, round(monotonic() - began, 6))


def _placed(made: ExecutionPlan, stored: ExecutionPlan, ref: PlanRef) -> ExecutionPlan:
    """What an archived plan compiles to, at the place where it lay when that was stored: filing it changes no step."""
    old, new = stored.source, made.source
    if not ref.archived or old is None or new is None or os.path.basename(old.path) != os.path.basename(new.path):
        return made
    return made.model_copy(update={"source": new.model_copy(update={"path": old.path})})


def _fresh(home: Project, ref: PlanRef, where: str, timed: _Timed, stale: str, found: tuple[str, ...] = ()) -> Current:
    made = timed.compiled
    if made.document is None:
        raise no_steps(home.display_path(ref.path), made.skipped)
    return Current(made.document, to_bytes(made.document), where, False, stale, made.skipped, found, timed.seconds)


def no_steps(path: str, left: tuple[SkippedLine, ...]) -> ExecplanError:
    """The refusal of a plan that gives no step, with what looked like one."""
    return ExecplanError(
        "no-steps",
        f"{path}: no step stands in its Concrete Steps or Validation and Acceptance",
        exit=INPUT,
        hint="how steps are written: execplan explain steps",
        candidates=[f"{path}:{each.line + 1}: {each.text}: it {each.why}" for each in left],
    )


def _check_owner(document: ExecutionPlan, ref: PlanRef, where: str) -> None:
    """Refuse a document from elsewhere that was stored for another plan, or before this one was renamed."""
    if document.plan_id != ref.id:
        raise ExecplanError(
            "other-plan",
            f"{where} is the execution plan of {document.plan_id}, not of {ref.id}",
            exit=INPUT,
            hint=f"store it for this one: execplan compile {ref.shell_name} --from {where}",
        )
