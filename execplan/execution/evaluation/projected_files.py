"""Files as they will be when a step starts, and the changes of each step, for the preview and the run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Protocol

from execplan.core import features
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.text_lines import digest
from execplan.execution import rare_features
from execplan.execution.evaluation import patch
from execplan.execution.evaluation.unified_diff import file_diff, replacement_lines, split_lines
from execplan.execution.execution_plan import ExecutionPlan, Step, Type
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, State, World, normalize_path


class Files(Protocol):
    """Interface to the files as a step sees them; paths count from the root."""

    def state(self, path: str) -> State:
        """Return the state of a path."""

    def read(self, path: str) -> bytes:
        """Return the bytes of a file. Raises ExecplanError if it can't be read."""


DEFAULT_FILE_MODE = 0o644
"""Mode of a file that a step creates."""


class ProjectedChange(NamedTuple):
    """The change of one file by a step, or the removal of a directory that becomes empty."""

    path: str
    before: bytes | None
    """Bytes before the change, or None if the file does not exist."""
    after: bytes | None
    mode: int = DEFAULT_FILE_MODE
    old_mode: int = DEFAULT_FILE_MODE
    """Mode before the change; for a new file, the default mode."""
    origin: str = ""
    """Path of the file that is copied or moved here; bytes and mode stay exactly the same."""
    is_move: bool = False
    """Whether the file at `origin` is removed."""
    is_link: bool = False
    """Whether a symbolic link is written; its bytes are the path that it leads to."""
    moved_to: str = ""
    """Path that the removed file or directory gets."""


class ProjectedState(NamedTuple):
    """The state of a path when a step starts, as far as it is known."""

    state: State | None
    """State of the path; None if it depends on the execution of an earlier step."""
    changed_by: str = ""
    """ID of the last earlier step that changes the path."""


class _FileEvent(NamedTuple):
    """The effect of one step on one path."""

    step_id: str
    content: bytes | None = None
    mode: int = DEFAULT_FILE_MODE
    is_known: bool = True
    is_link: bool = False


class ProjectedFiles:
    """The projected content of files for each step."""

    def __init__(self, world: World, document: ExecutionPlan) -> None:
        self.world = world
        self._events_by_path: dict[str, list[_FileEvent]] = {}
        self._folders: dict[str, list[str]] = {}
        """IDs of the steps that create a directory by creating something in it."""
        self._uncertain: set[str] = set()
        """IDs of the steps that the run may continue without."""
        self._replaced: dict[str, set[str]] = {}
        """IDs of the steps that each alternative replaces, by the alternative's ID."""
        for step in document.steps:
            if _alternative_id(step):
                self._replaced.setdefault(_alternative_id(step), set()).add(step.id)

    def path_state(self, path: str, step: Step) -> ProjectedState:
        """Return the state of a path when a step starts."""
        event = self._last_event(path, step)
        if event is None:
            return self._created_directory(path, step) or ProjectedState(self.world.state(path))
        if not event.is_known:
            return ProjectedState(None, event.step_id)
        if event.content is None:
            return ProjectedState(State(ABSENT), event.step_id)
        if event.is_link:
            return ProjectedState(State(LINK, link=os.fsdecode(event.content)), event.step_id)
        state = State(FILE, digest(event.content), event.mode, size=len(event.content))
        return ProjectedState(state, event.step_id)

    def content(self, path: str, step: Step) -> bytes:
        """Return the bytes of a file when a step starts, if known. Raises ExecplanError if it is not on disk."""
        event = self._last_event(path, step)
        return self.world.read(path) if event is None else event.content or b""

    def record_changes(self, step: Step, changes: Iterable[ProjectedChange], unknown: Iterable[str]) -> None:
        """Record the changes of a step, and the paths whose content is unknown after it."""
        if self._is_uncertain(step):
            self._uncertain.add(step.id)
        is_known = step.id not in self._uncertain
        events = [
            (change.path, _FileEvent(step.id, change.after, change.mode, is_known, change.is_link))
            for change in changes
        ]
        events += [(path, _FileEvent(step.id, is_known=False)) for path in unknown]
        for path, event in events:
            self._events_by_path.setdefault(path, []).append(event)
            if event.content is not None or not event.is_known:
                for folder in parent_directories(path):
                    self._folders.setdefault(folder, []).append(step.id)

    def _last_event(self, path: str, step: Step) -> _FileEvent | None:
        ignored = self._ignored_steps(step)
        return next(
            (event for event in reversed(self._events_by_path.get(path, ())) if event.step_id not in ignored), None
        )

    def _created_directory(self, path: str, step: Step) -> ProjectedState | None:
        ignored = self._ignored_steps(step)
        step_ids = [step_id for step_id in self._folders.get(path, ()) if step_id not in ignored]
        return ProjectedState(State(FOLDER, mode=0o755), step_ids[-1]) if step_ids else None

    def _ignored_steps(self, step: Step) -> set[str]:
        """Return the steps without effect when this step runs, because it runs only if they failed or were skipped."""
        ignored = set(self._replaced.get(step.id, ()))
        if step.when is not None and step.when.kind in ("failed", "skipped"):
            ignored.add(step.when.of)
        return ignored

    def _is_uncertain(self, step: Step) -> bool:
        """Return whether the run may continue without the changes of a step."""
        if step.id in self._replaced or step.on_failure.strategy not in ("fail_fast", "retry", "ask", "replan"):
            return True
        if step.when is None or step.when.kind != "succeeded":
            return step.when is not None
        return step.when.of in self._uncertain


def _alternative_id(step: Step) -> str:
    """Return the ID of the step that replaces a failed step, or an empty string."""
    kind, _, alternative = step.on_failure.strategy.partition(":")
    return alternative if kind == "alternative" else ""


def parent_directories(path: str) -> Iterator[str]:
    """Yield the parent directories of a path."""
    parts = path.split("/")
    for number in range(1, len(parts)):
        yield "/".join(parts[:number])


def normalize_paths(paths: Iterable[str]) -> list[str]:
    """Return the paths that stay in the repository, in normal form and without duplicates."""
    return list(dict.fromkeys([normalized for path in paths if (normalized := normalize_path(path)) is not None]))


class ImpossibleError(Exception):
    """A change that is impossible; the message says why."""


def compute_changes(step: Step, files: Files) -> tuple[ProjectedChange, ...]:
    """Return the file changes of a step, in the order in which they are made.

    Raises ImpossibleError, ExecplanError, and any error that `files` raises.
    """
    if step.finds_files:
        found_changes: tuple[ProjectedChange, ...] = features.load(rare_features.FOUND_FILE_CHANGES)(step, files)
        return found_changes
    if step.type is Type.REFACTOR:
        return tuple(_patch_changes(files, step))
    if step.type is Type.MANUAL:
        return ()
    if step.type is Type.TOOL:
        raise ImpossibleError(f"only an agent can call {step.tool}")
    return (_target_change(files, step, require_repository_path(step.target or "..")),)


def format_change(change: ProjectedChange) -> str:
    """Return the diff of a file change; of a file that is moved or copied, only both paths, as git shows it."""
    if change.moved_to:
        return ""
    if change.origin and change.before is None:
        verb = "rename" if change.is_move else "copy"
        return (
            f"diff --git a/{change.origin} b/{change.path}\nsimilarity index 100%\n"
            f"{verb} from {change.origin}\n{verb} to {change.path}\n"
        )
    return _format_mode_change(change) + file_diff(change.before, change.after, change.path)


def _format_mode_change(change: ProjectedChange) -> str:
    """Return a mode change in Git's format: the diff of lines would not show that a file becomes executable."""
    if change.after is None or change.mode == change.old_mode:
        return ""
    old = f"old mode 100{change.old_mode:o}\nnew" if change.before is not None else "new file"
    return f"diff --git a/{change.path} b/{change.path}\n{old} mode 100{change.mode:o}\n"


def _target_change(files: Files, step: Step, path: str) -> ProjectedChange:
    """Return the change of a step's target. Raises ImpossibleError if it can't be made, and ExecplanError."""
    if step.type is Type.CREATE:
        if file_mode(files, path) is not None:
            raise ImpossibleError(f"{path} already exists")
        return ProjectedChange(path, None, (step.content or "").encode())
    if step.type is Type.DELETE and (state := files.state(path)).kind == LINK:
        return ProjectedChange(path, f"{state.link}\n".encode(), None)
    mode = file_mode(files, path)
    if mode is None:
        raise ImpossibleError(f"file not found: {path}")
    old = files.read(path)
    if step.type is Type.DELETE:
        return ProjectedChange(path, old, None)
    if step.patch is not None:
        (change,) = patch.parse_patch(step.patch, path)
        return ProjectedChange(path, old, patch.apply_patch(old, change), change.mode or mode, mode)
    return ProjectedChange(path, old, _replace_lines(old, step), mode, mode)


def _patch_changes(files: Files, step: Step) -> list[ProjectedChange]:
    """Return the changes of a diff over several files."""
    changes = []
    for file_patch in patch.parse_patch(step.patch or ""):
        source, target = [
            require_repository_path(name) if name is not None else None
            for name in (file_patch.source, file_patch.target)
        ]
        mode = file_mode(files, source) if source is not None else DEFAULT_FILE_MODE
        if mode is None:
            raise ImpossibleError(f"file not found: {source}")
        if target is not None and target != source and file_mode(files, target) is not None:
            raise ImpossibleError(f"{target} already exists")
        old = files.read(source) if source is not None else b""
        new = patch.apply_patch(old, file_patch)
        if target is None and new:
            raise ImpossibleError(f"the diff deletes {source}, but leaves some of its lines")
        if source is not None and source != target:
            changes.append(ProjectedChange(source, old, None))
        if target is not None:
            is_same_path = source == target
            changes.append(
                ProjectedChange(
                    target,
                    old if is_same_path else None,
                    new,
                    file_patch.mode or mode,
                    mode if is_same_path else DEFAULT_FILE_MODE,
                )
            )
    return changes


def require_repository_path(name: str) -> str:
    """Return a path in normal form. Raises ImpossibleError if it leads out of the repository."""
    path = normalize_path(name)
    if path is None:
        raise ImpossibleError("its target is not in the repository")
    return path


def file_mode(files: Files, path: str) -> int | None:
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
