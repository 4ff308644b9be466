"""Recovery files: what other programs saved to a plan and an edit displaced, kept until a person has looked at it."""

from __future__ import annotations

import os

from execplan.edits import edit_journal
from execplan.files import atomic_files
from execplan.project import project_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.project.project import Project

_BACKUP_DIR = "recovered"


class PlanBackup(atomic_files.BackupWriter):
    """Keeps what an edit of a plan displaces, unless the journal has it."""

    def __init__(self, project: Project, path: str) -> None:
        super().__init__()
        self.project = project
        self.path = path

    def has_copy(self, path: str, data: bytes) -> bool:
        """Whether the journal of the plan holds the bytes."""
        return edit_journal.is_known_text(self.project, path, data)

    def save_copy(self, path: str, data: bytes) -> None:
        """Keep the bytes, and warn of where; raises ExecplanError."""
        backup_path = save_backup(self.project, path, data)
        self.warnings.append(
            f"what another program saved to {self.project.display_path(self.path)} while it was edited is kept in {backup_path}: look at both"
        )


def save_backup(project: Project, path: str, data: bytes) -> str:
    """Keep bytes that a plan held, or was to hold; the path of the recovery file. Raises ExecplanError."""
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
    """The recovery files that are kept."""
    folder = os.path.join(project.state, _BACKUP_DIR)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))] if os.path.isdir(folder) else []
