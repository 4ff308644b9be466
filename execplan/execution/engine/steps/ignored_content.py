"""Content of files that git ignores, which no transcript may hold: transcripts are committed with the plan."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.git.ignored_paths import find_ignored_paths
from execplan.core.text.pure_paths import is_inside
from execplan.execution.evaluation.projected_files import normalize_paths
from execplan.execution.world import FILE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from execplan.core.secrets.redaction import Redactor
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step

_MAX_BYTES, _MAX_LINES = 1 << 18, 500
"""Limits for the content that is searched for: of a step's ignored inputs together."""


def find_ignored(context: RunContext, paths: Iterable[str]) -> frozenset[str]:
    """Return those of the paths from the root that git ignores. Raises ExecplanError if git fails."""
    root = context.run_paths.project.root
    path_by_name = {os.path.relpath(os.path.realpath(os.path.join(root, path)), root): path for path in paths}
    entries = find_ignored_paths(context.run_paths.project, [os.path.join(root, path) for path in path_by_name])
    return frozenset([path_by_name[entry.path] for entry in entries if entry.path in path_by_name])


def make_step_redaction(context: RunContext, step: Step) -> Redactor:
    """Return the redactor for the output of a step: it also redacts lines of ignored files that the step declares to read.

    Raises ExecplanError if git fails.
    """
    inputs = normalize_paths(step.inputs)
    ignored_paths = find_ignored(context, inputs) if inputs else ()
    return context.redaction.with_values(_read_lines(context, ignored_paths)) if ignored_paths else context.redaction


def _read_lines(context: RunContext, paths: Collection[str]) -> Iterator[str]:
    """Yield the lines of files and of the files in directories, up to the limits."""
    from execplan.execution.engine.workspace.workspace_walk import WorkspaceWalker

    walker = WorkspaceWalker(context.run_paths.project, context.workspace)
    for path in paths:
        walker.collect_path(path)
    lines: list[str] = []
    size_left = _MAX_BYTES
    for path in sorted(walker.statuses):
        file_state = context.workspace.state(path)
        is_in_inputs = any([is_inside(path, ignored_path) for ignored_path in paths])
        if is_in_inputs and file_state.kind == FILE and file_state.size <= size_left and file_state.sha256:
            size_left -= file_state.size
            lines += context.workspace.read(path).decode("utf-8", "replace").splitlines()
    return iter(lines[:_MAX_LINES])
