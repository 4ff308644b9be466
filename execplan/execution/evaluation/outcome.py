"""What a step that writes files makes of them: shown before it is approved, and done when it runs, by one and the same code."""

from __future__ import annotations

from execplan.execution.evaluation import patch
from execplan.execution.evaluation.after import NEW, Changed
from execplan.execution.evaluation.unified import cut, diff, spliced
from execplan.execution.model import Type
from execplan.execution.world import ABSENT, FILE, LINK, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from execplan.execution.model import Step
    from execplan.execution.world import State

    class Files(Protocol):
        """The files as a step finds them; paths count from the root."""

        def state(self, path: str) -> State:
            """What is there."""

        def read(self, path: str) -> bytes:
            """The bytes of a file; raises ExecplanError."""


class ImpossibleError(Exception):
    """It can't be done; the words say why."""


def outcome(step: Step, files: Files) -> tuple[Changed, ...]:
    """What a step makes of its files, in the order in which it is done.

    Raises ImpossibleError, ExecplanError, and whatever `files` raises.
    """
    if step.type is Type.REFACTOR:
        return tuple(_refactored(files, step))
    if step.type is Type.TOOL:
        raise ImpossibleError(f"an agent calls {step.tool}")
    return (_changed(files, step, _inside(step.target or "..")),)


def shown(change: Changed) -> str:
    """How a file changes, as a diff."""
    return _modes(change) + diff(change.before, change.after, change.path)


def _modes(change: Changed) -> str:
    """How the mode of a file changes, as git tells it: a diff of its lines would not show what becomes a program."""
    if change.after is None or change.mode == change.was:
        return ""
    old = f"old mode 100{change.was:o}\nnew" if change.before is not None else "new file"
    return f"diff --git a/{change.path} b/{change.path}\n{old} mode 100{change.mode:o}\n"


def _changed(files: Files, step: Step, path: str) -> Changed:
    """What a step makes of its target; raises ImpossibleError, ExecplanError."""
    if step.type is Type.CREATE:
        if _mode(files, path) is not None:
            raise ImpossibleError(f"{path} is there already")
        return Changed(path, None, (step.content or "").encode())
    if step.type is Type.DELETE and (state := files.state(path)).kind == LINK:
        return Changed(path, f"{state.link}\n".encode(), None)
    mode = _mode(files, path)
    if mode is None:
        raise ImpossibleError(f"there is no file {path}")
    old = files.read(path)
    if step.type is Type.DELETE:
        return Changed(path, old, None)
    if step.patch is not None:
        (change,) = patch.read(step.patch, path)
        return Changed(path, old, patch.apply(old, change), change.mode or mode, mode)
    return Changed(path, old, _spliced(old, step), mode, mode)


def _refactored(files: Files, step: Step) -> list[Changed]:
    """What a diff over several files makes of them."""
    changed = []
    for change in patch.read(step.patch or ""):
        source, target = [_inside(name) if name is not None else None for name in (change.source, change.target)]
        mode = _mode(files, source) if source is not None else NEW
        if mode is None:
            raise ImpossibleError(f"there is no file {source}")
        if target is not None and target != source and _mode(files, target) is not None:
            raise ImpossibleError(f"{target} is there already")
        old = files.read(source) if source is not None else b""
        new = patch.apply(old, change)
        if target is None and new:
            raise ImpossibleError(f"the diff deletes {source}, and leaves some of its lines")
        if source is not None and source != target:
            changed.append(Changed(source, old, None))
        if target is not None:
            there = source == target
            changed.append(Changed(target, old if there else None, new, change.mode or mode, mode if there else NEW))
    return changed


def _inside(name: str) -> str:
    """A path in its plain form; raises ImpossibleError for one that leads out."""
    path = plain(name)
    if path is None:
        raise ImpossibleError("its target is not in the repository")
    return path


def _mode(files: Files, path: str) -> int | None:
    """The mode of a file, None where there is nothing; raises ImpossibleError."""
    state = files.state(path)
    if state.kind == ABSENT:
        return None
    if state.kind != FILE:
        raise ImpossibleError(f"{path} is no regular file")
    return state.mode


def _spliced(old: bytes, step: Step) -> bytes:
    """A file with lines of it given anew; raises ImpossibleError."""
    assert step.lines is not None  # a step that modifies has a patch or lines
    first, last = step.lines
    lines = cut(old)
    if last > len(lines):
        raise ImpossibleError(f"{step.target} has {len(lines)} lines, not {last}")
    new = spliced(lines, first, last, step.content or "")
    return "".join([*lines[: first - 1], new, *lines[last:]]).encode("utf-8", "surrogateescape")
