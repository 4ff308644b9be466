"""Recovery files: what other programs saved to a plan and an edit displaced, kept until a person has looked at it."""

from __future__ import annotations

import os

from execplan.repo import state
from execplan.repo.edits import journal
from execplan.text import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home

_FOLDER = "recovered"


class Recovery(files.Spare):
    """Keeps what an edit of a plan displaces, unless the journal has it."""

    def __init__(self, home: Home, path: str) -> None:
        super().__init__()
        self.home = home
        self.path = path

    def knows(self, path: str, data: bytes) -> bool:
        """Whether the journal of the plan holds the bytes."""
        return journal.knows(self.home, path, data)

    def keep(self, path: str, data: bytes) -> None:
        """Keep the bytes, and warn of where; raises ExecplanError."""
        kept = keep(self.home, path, data)
        self.warnings.append(
            f"what another program saved to {self.home.shown(self.path)} while it was edited is kept in {kept}: look at both"
        )


def keep(home: Home, path: str, data: bytes) -> str:
    """Keep bytes that a plan held, or was to hold; the path of the recovery file. Raises ExecplanError."""
    state.folder(home, _FOLDER)
    name = os.path.basename(path)
    number = 1
    with state.lock(home, _FOLDER, f"recovery of {name}"):
        while os.path.lexists(kept := os.path.join(home.state, _FOLDER, f"{number}-{name}")) or not files.create(
            kept, data
        ):
            number += 1
    return kept


def every(home: Home) -> list[str]:
    """The recovery files that are kept."""
    folder = os.path.join(home.state, _FOLDER)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))] if os.path.isdir(folder) else []
