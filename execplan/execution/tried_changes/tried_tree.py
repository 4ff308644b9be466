"""The files of a tried change in memory: what a code block would do to them, and the files after it."""

from __future__ import annotations

from typing import NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.reader import read_text
from execplan.core.text.text_lines import Text, digest
from execplan.execution.compile import compile_plan
from execplan.execution.evaluation.projected_files import (
    DEFAULT_FILE_MODE,
    ImpossibleError,
    ProjectedChange,
    compute_changes,
)
from execplan.execution.found_files import with_known_files
from execplan.execution.tried_changes.change_blocks import Block
from execplan.execution.world import ABSENT, FILE, State


class TreeFile(NamedTuple):
    """A file with its content."""

    data: bytes
    mode: int = DEFAULT_FILE_MODE


class TriedTree:
    """Files by path, changed by one step after the other."""

    def __init__(self, files: dict[str, TreeFile]) -> None:
        self.files = dict(files)

    def state(self, path: str) -> State:
        """Return the state of a path."""
        file = self.files.get(path)
        return State(ABSENT) if file is None else State(FILE, digest(file.data), file.mode, size=len(file.data))

    def read(self, path: str) -> bytes:
        """Return the bytes of a file."""
        return self.files[path].data

    def data(self, path: str) -> bytes | None:
        """Return the bytes of a file, or None if there is no such file."""
        file = self.files.get(path)
        return file.data if file is not None else None

    def result_of(self, block: Block) -> TriedTree | str:
        """Return the files after a step, or why it can't be written like that."""
        text = "\n".join(["# Plan", "", f"## {outline.STEPS}", "", *block.lines, ""])
        try:
            document = compile_plan(read_text(Text.from_str(text)), "plan", "plan.md").document
            if document is None:
                return "can't be written as a step"
            (step,) = with_known_files(document, self.files).steps
            changes = compute_changes(step, self)
        except (ExecplanError, ImpossibleError, UnicodeError, ValueError) as error:
            return f"can't be written as a step: {getattr(error, 'message', error)}"
        return self._with_changes(changes)

    def _with_changes(self, changes: tuple[ProjectedChange, ...]) -> TriedTree:
        tree = TriedTree(self.files)
        for change in changes:
            if change.after is None:
                tree.files.pop(change.path, None)
            else:
                tree.files[change.path] = TreeFile(change.after, change.mode)
        return tree
