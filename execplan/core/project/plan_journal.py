"""The file of a plan's journal, and the former paths that it records."""

from __future__ import annotations

import os

from execplan.core.files import file_access
from execplan.core.files.append_log import read_lines
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.core.text import text_codec

JOURNAL_DIR = "journal"
"""Directory of the journals in the state directory."""


def journal_path(project: Project, path: str) -> str:
    """Return the path of a plan's journal file. Raises ExecplanError if directories on the plan's path keep changing."""
    return os.path.join(project.state, JOURNAL_DIR, project_state.path_key(file_access.resolve_path(path)))


def former_paths(project: Project, path: str) -> list[str]:
    """Return the former paths of the plan at the path and of its artifacts."""
    lines = [line.split(" ") for line in read_lines(journal_path(project, path)) if line.startswith("left ")]
    return [text_codec.unquote(fields[2]) for fields in lines if len(fields) == 3]
