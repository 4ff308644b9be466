"""Which plan a session's plan mode became: a record for each session in the state directory, which may be lost."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.project import project_state
from execplan.core.text.text_lines import digest
from execplan.core.trace import log

if TYPE_CHECKING:
    from execplan.core.project.project import Project

RECORDS_DIR = "captures"
_MAX_BYTES = 1 << 14
_MAX_AGE_SECONDS = 90 * 86400
"""Age from which a record is removed: nobody resumes such a session."""


def read(project: Project, session: str) -> str:
    """Return the path of a session's plan; empty if none is recorded."""
    if not session:
        return ""
    try:
        data, _ = file_access.read(_record_path(project, session), _MAX_BYTES)
    except ExecplanError:
        return ""
    return os.path.normpath(os.path.join(project.path_base, os.fsdecode(data)))


def write(project: Project, session: str, path: str, plan_id: str) -> None:
    """Record a session's plan. Never fails: a later version of the plan is then found by its title."""
    if not session:
        return
    relative_path = os.path.relpath(os.path.realpath(path), os.path.realpath(project.path_base))
    try:
        project_state.make_state_dir(project, RECORDS_DIR)
        _remove_old(os.path.join(project.state, RECORDS_DIR))
        atomic_files.replace(_record_path(project, session), os.fsencode(relative_path), mode=0o666)
    except (OSError, ExecplanError) as error:
        log(f"couldn't record the session of {plan_id}: {error}")


def _record_path(project: Project, session: str) -> str:
    return os.path.join(project.state, RECORDS_DIR, digest(session.encode("utf-8", "replace"))[:16])


def _remove_old(folder: str) -> None:
    oldest = time.time() - _MAX_AGE_SECONDS
    for entry in os.scandir(folder):
        if entry.stat(follow_symlinks=False).st_mtime < oldest:
            os.unlink(entry.path)
