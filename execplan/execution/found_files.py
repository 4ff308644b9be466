"""Files that steps find by a pattern or in a directory; an approval binds them, and a run works on no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from execplan.core.text.path_globs import escape_glob, matches_path_glob
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.evaluation.text_replacement import find_texts
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.execution.world import ABSENT, FOLDER, State, World, normalize_path


def search_patterns(step: Step) -> tuple[str, ...]:
    """Return the patterns of the paths that a step may work on."""
    if step.replacement is not None:
        return step.replacement.paths
    path = normalize_path(step.from_) if step.from_ is not None else None
    return (escape_glob(path), f"{escape_glob(path)}/**") if path is not None else ()


def searched_files(document: ExecutionPlan, world: World) -> list[str]:
    """Return the files in which the steps of a document search. Raises ExecplanError."""
    return world.find_files([pattern for step in document.steps for pattern in search_patterns(step)])


def may_work_on(step: Step, path: str) -> bool:
    """Return whether a path matches the patterns of a step, or is in the directory that it copies or moves."""
    return any([matches_path_glob(path, pattern) for pattern in search_patterns(step)])


def find_files(step: Step, world: World) -> list[str]:
    """Return the files that a step would work on now: those with its text, or those in its directory, in order.

    Raises ExecplanError if the disk fails.
    """
    if step.replacement is not None:
        return find_texts(step.replacement, world)
    path = normalize_path(step.from_ or "..")
    if path is None:
        return []
    kind = world.state(path).kind
    if kind == FOLDER:
        return world.find_files(search_patterns(step))
    if kind != ABSENT:
        return [path]
    return []


def with_found_files(document: ExecutionPlan, world: World) -> ExecutionPlan:
    """Return a document whose steps have the files that they would work on now. Raises ExecplanError."""
    found_paths = dict.fromkeys(
        [path for step in document.steps if step.finds_files for path in find_files(step, world)]
    )
    return with_known_files(document, found_paths)


def with_bound_files(document: ExecutionPlan, states: dict[str, State]) -> ExecutionPlan:
    """Return a document whose steps have the files that an approval with these states binds."""
    return with_known_files(document, [path for path, state in states.items() if state.kind not in (ABSENT, FOLDER)])


def with_known_files(document: ExecutionPlan, paths: Iterable[str]) -> ExecutionPlan:
    """Return a document whose steps have those of some files that they work on, and those that earlier steps write."""
    known_paths = {normalized for path in paths if (normalized := normalize_path(path)) is not None}
    steps = []
    for step in document.steps:
        step_files = (
            tuple(sorted([path for path in known_paths if may_work_on(step, path)])) if step.finds_files else ()
        )
        steps.append(step.model_copy(update={"files": step_files}) if step.finds_files else step)
        written_files = map(normalize_path, written_paths(steps[-1].model_dump()))
        known_paths |= {path for path in written_files if path is not None}
    return document.model_copy(update={"steps": tuple(steps)})


def with_files_of(step: Step, states: Mapping[str, State]) -> Step:
    """Return a step that works on those of some paths that it may work on and that are no directories."""
    files = [path for path, state in states.items() if state.kind != FOLDER and may_work_on(step, path)]
    return step.model_copy(update={"files": tuple(sorted(files))})
