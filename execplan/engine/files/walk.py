"""Every file of a repository that a step may change, without a link followed or a byte read."""

from __future__ import annotations

import os
import stat

from execplan.repo import ask
from execplan.repo.execution.protected import judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from execplan.engine.files.ground import Ground
    from execplan.repo.home import Home


class Walk:
    """What was found on the way through the folders of a home."""

    def __init__(self, home: Home, ground: Ground) -> None:
        self.home = home
        self.ground = ground
        self.found: dict[str, os.stat_result] = {}
        """By path from the root; folders too."""
        self.unseen: set[str] = set()
        """What was not looked into."""
        self._protected = judge(home)

    def all(self, files: int | None, size: int | None) -> bool:
        """Find all that git does not ignore; False, with nothing found, where that is more. Raises ExecplanError."""
        ignored = set(ask.ignored(self.home)) if self.home.git else set()
        self.unseen |= ignored
        if self._below("", ignored, files, size, nested=False):
            return True
        self.found, self.unseen = {}, set()
        return False

    def declared(self, path: str) -> None:
        """Find what is at a path and below, ignored or not, and the folders above it; raises ExecplanError."""
        at = ""
        for part in path.split("/") if path and not self._protected(path) else ():
            at = f"{at}/{part}" if at else part
            status = self.ground.status(at)
            if status is None:
                return
            self.found[at] = status
        if at and stat.S_ISDIR(self.found[at].st_mode):
            self._below(at, (), None, None, nested=True)

    def _below(self, top: str, ignored: Collection[str], files: int | None, size: int | None, *, nested: bool) -> bool:
        """Go through a folder; False as soon as that is too much. `nested`: other repositories too."""
        waiting = [top]
        while waiting:
            folder = waiting.pop()
            names = self._entries(folder)
            if ".git" in names and folder and not nested:
                self.unseen.add(folder)
                continue
            for name, status in names.items():
                path = f"{folder}/{name}" if folder else name
                if path in ignored or self._protected(path) or _is_temporary(name):
                    continue
                self.found[path] = status
                if stat.S_ISDIR(status.st_mode):
                    waiting.append(path)
                elif size is not None:
                    size -= status.st_size
            if (files is not None and len(self.found) > files) or (size is not None and size < 0):
                return False
        return True

    def _entries(self, folder: str) -> dict[str, os.stat_result]:
        """What is in a folder; nothing, and that is noted, where it may not be read."""
        found: dict[str, os.stat_result] = {}
        try:
            handle = self.ground.folder(folder or ".")
        except FileNotFoundError:
            return found
        except OSError:
            self.unseen.add(folder)
            return found
        try:
            with os.scandir(handle) as entries:
                for entry in entries:
                    try:
                        found[entry.name] = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
        except OSError:
            self.unseen.add(folder)
        finally:
            os.close(handle)
        return found


def _is_temporary(name: str) -> bool:
    """Whether a file is one that we write before it takes another's name."""
    return name.startswith(".execplan-") and name.endswith(".tmp")
