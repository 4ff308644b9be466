"""What a step says of itself: the paths that it is about, and whether it runs a program."""

from __future__ import annotations

import os

from execplan.execution.binding import bound_paths
from execplan.execution.evaluation.projected_files import normalize_paths, parent_directories
from execplan.execution.evaluation.trial import target_paths
from execplan.execution.execution_plan import PROGRAM_TYPES, Type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.run_records.run_directories import RunPaths
    from execplan.execution.execution_plan import Step


def is_command(step: Step) -> bool:
    """Whether its work is that of a program; else it writes files."""
    return step.type in PROGRAM_TYPES


def runs_program(step: Step) -> bool:
    """Whether a program runs in it, be it its test: then nobody knows beforehand what it changes."""
    return is_command(step) or step.validation.test_after is not None


def list_declared_paths(step: Step) -> list[str]:
    """The paths that it says it writes, in their plain form; not the whole repository, which is looked at anyway."""
    environment = [step.target] if step.type is Type.INSTALL and step.target is not None else []
    return [path for path in normalize_paths([*target_paths(step), *environment, *step.outputs]) if path != "."]


def checked_paths(step: Step) -> dict[str, str]:
    """The paths whose state before it counts, in their plain form, each with how it is written."""
    return {
        path: path_as_written for path_as_written in bound_paths(step) for path in normalize_paths([path_as_written])
    }


def parent_folders(paths: list[str]) -> list[str]:
    """The folders that paths lie in, outer ones first."""
    return list(dict.fromkeys([folder for path in paths for folder in parent_directories(path)]))


def program_marks_path(run_paths: RunPaths, step: Step, attempt: int, *, test: bool = False) -> str:
    """Where the supervisor of a program leaves its marks."""
    return os.path.join(run_paths.state, f"{step.number:02}-{step.id}-{attempt}{'-test' if test else ''}")


def snapshot_path(run_paths: RunPaths, step: Step) -> str:
    """The file that says how the tree was before the last attempt."""
    return os.path.join(run_paths.state, f"{step.number:02}-{step.id}.tree")
