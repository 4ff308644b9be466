"""Backup copies of content that another program saved to a plan and an edit overwrote, kept for review by a person."""

from __future__ import annotations

import os

from execplan.core.edits import edit_journal
from execplan.core.files import atomic_files
from execplan.core.project import project_state
from execplan.core.project.project import Project

_BACKUP_DIR = "recovered"


class PlanBackup(atomic_files.BackupWriter):
    """A backup writer that keeps content overwritten by an edit of a plan, unless the journal already has it."""

    def __init__(self, project: Project, path: str) -> None:
        super().__init__()
        self.project = project
        self.path = path

    def has_copy(self, path: str, data: bytes) -> bool:
        """Return whether the plan's journal already contains these bytes."""
        return edit_journal.is_known_text(self.project, path, data)

    def save_copy(self, path: str, data: bytes) -> None:
        """Save the bytes as a backup copy and add a warning with its path.

        Raises ExecplanError if they can't be saved.
        """
        backup_path = save_backup(self.project, path, data)
        self.warnings.append(
            f"another program saved {self.project.display_path(self.path)} during the edit; its version is saved in {backup_path}: review both"
        )


def save_backup(project: Project, path: str, data: bytes) -> str:
    """Save bytes that were, or should have been, a plan's content, and return the backup path.

    Raises ExecplanError if the backup can't be written.
    """
    project_state.make_state_dir(project, _BACKUP_DIR)
    name = os.path.basename(path)
    number = 1
    with project_state.lock(project, _BACKUP_DIR, f"recovery of {name}"):
        while os.path.lexists(
            backup_path := os.path.join(project.state, _BACKUP_DIR, f"{number}-{name}")
        ) or not atomic_files.create(backup_path, data):
            number += 1
    return backup_path


def list_backups(project: Project) -> list[str]:
    """Return the paths of all backup copies in a project."""
    folder = os.path.join(project.state, _BACKUP_DIR)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))] if os.path.isdir(folder) else []
