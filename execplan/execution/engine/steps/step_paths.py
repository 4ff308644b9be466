"""Properties of a step: the paths that it declares, its files in the run's state, and whether it runs a program."""

from __future__ import annotations

import os

from execplan.execution.binding import bound_paths
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.evaluation.projected_files import normalize_paths, parent_directories
from execplan.execution.evaluation.trial import target_paths
from execplan.execution.execution_plan import PROGRAM_TYPES, Step, Type


def is_command(step: Step) -> bool:
    """Return whether a step runs a command; otherwise it writes files."""
    return step.type in PROGRAM_TYPES


def runs_program(step: Step) -> bool:
    """Return whether a step runs any program, including its test: then its changes are not known in advance."""
    return is_command(step) or step.validation.test_after is not None


def list_declared_paths(step: Step) -> list[str]:
    """Return the normalized paths that a step declares to write.

    The repository root is left out, because the whole tree is scanned anyway.
    """
    environment = [step.target] if step.type is Type.INSTALL and step.target is not None else []
    return [path for path in normalize_paths([*target_paths(step), *environment, *step.outputs]) if path != "."]


def list_replaced_paths(step: Step) -> list[str]:
    """Return the paths that a step declares to write, and the directories that it makes or empties by a copy or a move."""
    folders: list[str | None] = []
    if step.from_ is not None:
        folders = [step.target, step.from_ if step.type is Type.MOVE else None]
    return [*list_declared_paths(step), *normalize_paths([folder for folder in folders if folder is not None])]


def checked_paths(step: Step) -> dict[str, str]:
    """Map each path whose earlier state matters, normalized, to the path as written."""
    return {
        path: path_as_written for path_as_written in bound_paths(step) for path in normalize_paths([path_as_written])
    }


def parent_folders(paths: list[str]) -> list[str]:
    """Return the parent directories of paths, outermost first."""
    return list(dict.fromkeys([folder for path in paths for folder in parent_directories(path)]))


def program_marks_path(run_paths: RunPaths, step: Step, attempt: int, *, test: bool = False) -> str:
    """Return the path where the supervisor of a program writes its marks."""
    return os.path.join(run_paths.state, f"{step.number:02}-{step.id}-{attempt}{'-test' if test else ''}")


def snapshot_name(step: Step) -> str:
    """Return the name under which the tree before the last attempt is kept."""
    return f"{step.number:02}-{step.id}.tree"
