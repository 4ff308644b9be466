"""The file changes of steps that find their files: replacements of a text, copies and moves."""

from __future__ import annotations

import os
from collections.abc import Iterator

from execplan.core.text.pure_paths import is_inside
from execplan.execution.documents.written_paths import new_path
from execplan.execution.evaluation import text_replacement
from execplan.execution.evaluation.projected_files import (
    DEFAULT_FILE_MODE,
    Files,
    ImpossibleError,
    ProjectedChange,
    file_mode,
    parent_directories,
    require_repository_path,
)
from execplan.execution.evaluation.text_replacement import FileText
from execplan.execution.execution_plan import Replacement, Step, Type
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK


def compute_found_changes(step: Step, files: Files) -> tuple[ProjectedChange, ...]:
    """Return the changes of a step to the files that it has found.

    Raises ImpossibleError, ExecplanError, and any error that `files` raises.
    """
    if step.replacement is not None:
        return tuple(_replacement_changes(files, step, step.replacement))
    return tuple(_transfer_changes(files, step, step.from_ or ".."))


def _replacement_changes(files: Files, step: Step, replacement: Replacement) -> Iterator[ProjectedChange]:
    """Yield the changes of a text in several files, each of which has it.

    Raises ImpossibleError if it does not occur as often as expected, and ExecplanError.
    """
    before: dict[str, tuple[bytes, FileText, int]] = {}
    for path in step.files:
        state = files.state(path)
        data = files.read(path) if state.kind == FILE else b"\0"
        file_text = text_replacement.decode(data)
        if file_text is not None:
            before[path] = (data, file_text, state.mode)
    match_lists = text_replacement.search(replacement, [file_text.text for _, file_text, _ in before.values()])
    matches_of = dict(zip(before, match_lists, strict=True))
    problem = text_replacement.count_problem(replacement, {path: len(matches) for path, matches in matches_of.items()})
    if problem:
        raise ImpossibleError(problem)
    for path, matches in matches_of.items():
        data, file_text, mode = before[path]
        if matches and not file_text.is_utf8:
            raise ImpossibleError(
                f"{path} is not text in UTF-8, so nothing can be replaced in it: leave it out of paths"
            )
        after = file_text.encode(text_replacement.replace_matches(file_text.text, matches))
        if after != data:
            yield ProjectedChange(path, data, after, mode, mode)


def _transfer_changes(files: Files, step: Step, written_origin: str) -> Iterator[ProjectedChange]:
    """Yield the changes of a step that copies or moves: first all new files, then all removals.

    Raises ImpossibleError if something is at the target already, and ExecplanError.
    """
    origin, target = require_repository_path(written_origin), require_repository_path(step.target or "..")
    if is_inside(target, origin):
        raise ImpossibleError(f"{target} is {origin} itself or inside it")
    if files.state(target).kind == FOLDER:
        raise ImpossibleError(f"{target} is a directory that exists: name the new path itself")
    present = {path: state for path in step.files if (state := files.state(path)).kind not in (ABSENT, FOLDER)}
    if not present:
        is_folder = files.state(origin).kind == FOLDER
        raise ImpossibleError(f"{origin} has no file that Git keeps" if is_folder else f"file not found: {origin}")
    is_move = step.type is Type.MOVE
    removals: list[ProjectedChange] = []
    for path, state in present.items():
        new = new_path(path, origin, target)
        if state.kind not in (FILE, LINK):
            raise ImpossibleError(f"{path} is neither a file nor a link")
        data = os.fsencode(state.link) if state.kind == LINK else files.read(path)
        mode = state.mode if state.kind == FILE else DEFAULT_FILE_MODE
        old_mode = _overwritten_mode(files, step, path, new)
        old = files.read(new) if old_mode is not None else None
        yield ProjectedChange(new, old, data, mode, old_mode or DEFAULT_FILE_MODE, path, is_move, state.kind == LINK)
        if is_move:
            removals.append(ProjectedChange(path, data, None, moved_to=new))
    yield from removals
    folders = {
        folder for removal in removals for folder in parent_directories(removal.path) if is_inside(folder, origin)
    }
    for folder in sorted(folders, reverse=True):
        if files.state(folder).kind == FOLDER:
            yield ProjectedChange(folder, b"", None, moved_to=new_path(folder, origin, target))


def _overwritten_mode(files: Files, step: Step, path: str, new: str) -> int | None:
    """Return the mode of the file that is overwritten at a new path, or None if nothing is there."""
    mode = file_mode(files, new)
    if mode is None or step.overwrite:
        return mode
    if path.casefold() == new.casefold():
        why = "on this disk, letter case makes no other name: move it to a third name first"
    else:
        why = "set overwrite to replace it"
    raise ImpossibleError(f"{new} already exists; {why}")
