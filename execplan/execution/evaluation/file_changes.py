"""Computes the file changes of a step, with the same code for the preview before approval and for the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.evaluation import patch
from execplan.execution.evaluation.projected_files import DEFAULT_FILE_MODE, FileChange
from execplan.execution.evaluation.unified_diff import file_diff, replacement_lines, split_lines
from execplan.execution.execution_plan import Type
from execplan.execution.world import ABSENT, FILE, LINK, normalize_path

if TYPE_CHECKING:
    from typing import Protocol

    from execplan.execution.execution_plan import Step
    from execplan.execution.world import State

    class Files(Protocol):
        """Interface to the files as a step sees them; paths count from the root."""

        def state(self, path: str) -> State:
            """Return the state of a path."""

        def read(self, path: str) -> bytes:
            """Return the bytes of a file. Raises ExecplanError if it can't be read."""


class ImpossibleError(Exception):
    """A change that is impossible; the message says why."""


def compute_changes(step: Step, files: Files) -> tuple[FileChange, ...]:
    """Return the file changes of a step, in the order in which they are made.

    Raises ImpossibleError, ExecplanError, and any error that `files` raises.
    """
    if step.type is Type.REFACTOR:
        return tuple(_patch_changes(files, step))
    if step.type is Type.TOOL:
        raise ImpossibleError(f"only an agent can call {step.tool}")
    return (_target_change(files, step, _require_repository_path(step.target or "..")),)


def format_change(change: FileChange) -> str:
    """Return the diff of a file change."""
    return _format_mode_change(change) + file_diff(change.before, change.after, change.path)


def _format_mode_change(change: FileChange) -> str:
    """Return a mode change in Git's format: the diff of lines would not show that a file becomes executable."""
    if change.after is None or change.mode == change.old_mode:
        return ""
    old = f"old mode 100{change.old_mode:o}\nnew" if change.before is not None else "new file"
    return f"diff --git a/{change.path} b/{change.path}\n{old} mode 100{change.mode:o}\n"


def _target_change(files: Files, step: Step, path: str) -> FileChange:
    """Return the change of a step's target. Raises ImpossibleError if it can't be made, and ExecplanError."""
    if step.type is Type.CREATE:
        if _file_mode(files, path) is not None:
            raise ImpossibleError(f"{path} already exists")
        return FileChange(path, None, (step.content or "").encode())
    if step.type is Type.DELETE and (state := files.state(path)).kind == LINK:
        return FileChange(path, f"{state.link}\n".encode(), None)
    mode = _file_mode(files, path)
    if mode is None:
        raise ImpossibleError(f"file not found: {path}")
    old = files.read(path)
    if step.type is Type.DELETE:
        return FileChange(path, old, None)
    if step.patch is not None:
        (change,) = patch.parse_patch(step.patch, path)
        return FileChange(path, old, patch.apply_patch(old, change), change.mode or mode, mode)
    return FileChange(path, old, _replace_lines(old, step), mode, mode)


def _patch_changes(files: Files, step: Step) -> list[FileChange]:
    """Return the changes of a diff over several files."""
    changes = []
    for file_patch in patch.parse_patch(step.patch or ""):
        source, target = [
            _require_repository_path(name) if name is not None else None
            for name in (file_patch.source, file_patch.target)
        ]
        mode = _file_mode(files, source) if source is not None else DEFAULT_FILE_MODE
        if mode is None:
            raise ImpossibleError(f"file not found: {source}")
        if target is not None and target != source and _file_mode(files, target) is not None:
            raise ImpossibleError(f"{target} already exists")
        old = files.read(source) if source is not None else b""
        new = patch.apply_patch(old, file_patch)
        if target is None and new:
            raise ImpossibleError(f"the diff deletes {source}, but leaves some of its lines")
        if source is not None and source != target:
            changes.append(FileChange(source, old, None))
        if target is not None:
            is_same_path = source == target
            changes.append(
                FileChange(
                    target,
                    old if is_same_path else None,
                    new,
                    file_patch.mode or mode,
                    mode if is_same_path else DEFAULT_FILE_MODE,
                )
            )
    return changes


def _require_repository_path(name: str) -> str:
    """Return a path in normal form. Raises ImpossibleError if it leads out of the repository."""
    path = normalize_path(name)
    if path is None:
        raise ImpossibleError("its target is not in the repository")
    return path


def _file_mode(files: Files, path: str) -> int | None:
    """Return the mode of a file, or None if the path is absent. Raises ImpossibleError if it is not a regular file."""
    state = files.state(path)
    if state.kind == ABSENT:
        return None
    if state.kind != FILE:
        raise ImpossibleError(f"{path} is not a regular file")
    return state.mode


def _replace_lines(old: bytes, step: Step) -> bytes:
    """Return a file with a range of its lines replaced. Raises ImpossibleError if the file has too few lines."""
    assert step.lines is not None  # a step that modifies has a patch or lines
    first, last = step.lines
    lines = split_lines(old)
    if last > len(lines):
        raise ImpossibleError(f"{step.target} has {len(lines)} lines, not {last}")
    new = replacement_lines(lines, first, last, step.content or "")
    return "".join([*lines[: first - 1], new, *lines[last:]]).encode("utf-8", "surrogateescape")
