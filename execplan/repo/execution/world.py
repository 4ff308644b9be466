"""The repository and the machine as they are, looked at and never touched: no lock, no cache, no file of its own."""

from __future__ import annotations

import errno
import os
import stat

from execplan.errors import CHANGED, INPUT, ExecplanError
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, OTHER, OUTSIDE, State, normalize_path
from execplan.record import NamedTuple
from execplan.repo.execution.protected import protected
from execplan.text.disk import open_regular, trouble
from execplan.text.lines import digest, hasher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from execplan.execution.world import Program
    from execplan.repo.home import Project

SHOWN = 8 << 20
"""Bytes of the largest file that is read to show how it changes."""
BOUND = 1 << 30
"""Bytes of the largest file whose digest is taken."""
_WALK = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW


class _Place(NamedTuple):
    """Where a walk came to."""

    handle: int
    """The last folder that is there, held open; -1 where a link or a file stands in the way."""
    name: str
    """What is looked for in it; empty: the folder itself."""
    missing: bool = False
    """Whether folders on the way are missing."""
    blocked: State = State(OUTSIDE)
    """What the path comes to where nothing is held open."""


class Disk:
    """The world of a home; each path is walked from the root through no link, each time anew."""

    def __init__(self, home: Project) -> None:
        self.root = home.root
        self.home = home

    def state(self, path: str) -> State:
        """What is there; raises ExecplanError where a disk fails."""
        place = self._walk(path)
        if place.handle < 0:
            return place.blocked
        try:
            return State(ABSENT) if place.missing else _state(place.handle, place.name)
        except OSError as error:
            raise trouble(error, path, "look at") from None
        finally:
            os.close(place.handle)

    def read(self, path: str) -> bytes:
        """The bytes of a file; raises ExecplanError."""
        place = self._walk(path)
        if place.handle < 0 or place.missing or not place.name:
            if place.handle >= 0:
                os.close(place.handle)
            raise ExecplanError("no-such-file", f"there is no file {path}", exit=INPUT, hint="check the path")
        try:
            handle = open_regular(place.name, _READ, dir_fd=place.handle)
        except OSError as error:
            raise trouble(error, path, "read") from None
        finally:
            os.close(place.handle)
        try:
            status = os.fstat(handle)
            with open(handle, "rb", buffering=0, closefd=False) as file:
                data = file.read(SHOWN + 1) if status.st_size <= SHOWN else b""
        except OSError as error:
            raise trouble(error, path, "read") from None
        finally:
            os.close(handle)
        if max(len(data), status.st_size) > SHOWN:
            what = f"{path} has more than {SHOWN >> 20} MB"
            raise ExecplanError("too-large", what, exit=INPUT, hint="change it with a command")
        return data

    def writable(self, path: str) -> bool:
        """Whether a file may be written, made or removed there: its folder, or the last one that is there, may be."""
        place = self._walk(path)
        if place.handle < 0:
            return False
        try:
            if not os.access(".", os.W_OK | os.X_OK, dir_fd=place.handle):
                return False
            if place.missing or not place.name:
                return True
            status = os.stat(place.name, dir_fd=place.handle, follow_symlinks=False)
            return stat.S_ISLNK(status.st_mode) or bool(stat.S_IMODE(status.st_mode) & 0o222)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        finally:
            os.close(place.handle)

    def protected(self, path: str) -> str:
        """What of git's or the tool's own a path is, whatever its case."""
        return protected(self.home, path)

    def program(self, name: str, cwd: str, path: str = "", first: str = "") -> Program:
        """Where a command finds its program: on PATH, or from the folder that it runs in; see located.py."""
        from execplan.repo.execution.located import locate

        return locate(self.root, name, cwd, path, first)

    def interpreter(self, real: str) -> str:
        """The name of the program that runs a script; see located.py."""
        from execplan.repo.execution.located import interpreter

        return interpreter(os.path.join(self.root, real))

    def tool(self, name: str) -> Program:
        """The module of an installed tool; see tools.py."""
        from execplan.repo.execution.tools import located

        return located(self.root, name)

    def calls(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[str]]:
        """What is wrong with each call of a tool; see tools.py."""
        from execplan.repo.execution.tools import problems

        return problems(self.root, calls)

    def free_bytes(self) -> int:
        """What the disk of the repository has left for this user."""
        try:
            status = os.statvfs(self.root)
        except OSError:
            return -1
        return status.f_bavail * status.f_frsize

    def memory_bytes(self) -> int:
        """What memory can be had: what Linux calls available, elsewhere all that is there."""
        try:
            with open("/proc/meminfo", encoding="ascii") as file:
                for line in file:
                    if line.startswith("MemAvailable:"):
                        return int(line.split()[1]) << 10
        except (OSError, ValueError):
            pass
        try:
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError):
            return -1

    def syntax(self, language: str, content: bytes) -> str | None:
        """What an installed program of the language says is wrong with a text; see checkers.py."""
        from execplan.repo.execution.checkers import judge

        return judge(language, content, self.root)

    def _walk(self, path: str) -> _Place:
        """Go to the folder that a path lies in."""
        inside = normalize_path(path)
        if inside is None:
            return _Place(-1, "")
        parts = [] if inside == "." else inside.split("/")
        handle = os.open(self.root, _WALK & ~os.O_NOFOLLOW)
        for number, part in enumerate(parts[:-1], 1):
            try:
                inner = os.open(part, _WALK, dir_fd=handle)
            except FileNotFoundError:
                return _Place(handle, part, missing=True)
            except OSError as error:
                blocked = _blocked(error, handle, part, "/".join(parts[:number]))
                os.close(handle)
                return _Place(-1, "", blocked=blocked)
            os.close(handle)
            handle = inner
        return _Place(handle, parts[-1] if parts else "")


class Glance(Disk):
    """The world at one glance: what is shown of a path, what is judged and what is bound are of one and the same state."""

    def __init__(self, home: Project) -> None:
        super().__init__(home)
        self._states: dict[str, State] = {}

    def state(self, path: str) -> State:
        """What was there when it was first looked at; raises ExecplanError where a disk fails."""
        if path not in self._states:
            self._states[path] = super().state(path)
        return self._states[path]

    def read(self, path: str) -> bytes:
        """The bytes of a file, if they are those of its state; raises ExecplanError."""
        data = super().read(path)
        if digest(data) != self.state(path).sha256:
            raise ExecplanError(
                "changed-underneath", f"{path} changed while it was looked at", exit=CHANGED, hint="look again"
            )
        return data


def _blocked(error: OSError, handle: int, part: str, at: str) -> State:
    """What a path comes to behind something that is no folder, or may not be entered."""
    if error.errno not in (errno.ELOOP, errno.ENOTDIR):
        return State(OUTSIDE, link="")
    status = os.stat(part, dir_fd=handle, follow_symlinks=False)
    return State(OUTSIDE, link=at) if stat.S_ISLNK(status.st_mode) else State(ABSENT)


def _state(handle: int, name: str) -> State:
    """What has the name in a folder; raises OSError."""
    try:
        status = os.stat(name, dir_fd=handle, follow_symlinks=False) if name else os.stat(handle)
    except (FileNotFoundError, NotADirectoryError):
        return State(ABSENT)
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return State(LINK, link=os.readlink(name, dir_fd=handle))
    if stat.S_ISDIR(status.st_mode):
        return State(FOLDER, mode=mode)
    if not stat.S_ISREG(status.st_mode):
        return State(OTHER, mode=mode)
    try:
        found = _digest(handle, name) if status.st_size <= BOUND else ""
    except PermissionError:
        found = ""
    return State(FILE, found, mode, size=status.st_size)


def _digest(handle: int, name: str) -> str:
    inner = open_regular(name, _READ, dir_fd=handle)
    try:
        found = hasher()()
        left = BOUND + 1
        while left > 0 and (part := os.read(inner, 1 << 20)):
            found.update(part)
            left -= len(part)
        return str(found.hexdigest()) if left > 0 else ""
    finally:
        os.close(inner)
