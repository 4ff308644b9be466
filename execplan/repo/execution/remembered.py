"""How a plan stood when that was last looked at, believed while nothing that decides it was touched.

To look anew takes twenty times what Python takes to start; `status` and `list` ask of every open plan. Only they believe
this: what approves or runs looks itself.
"""

from __future__ import annotations

import marshal
import os
from stat import S_IFMT, S_ISLNK
from time import time_ns

from execplan import __version__
from execplan.clock import now
from execplan.errors import ExecplanError
from execplan.repo import own, state
from execplan.repo.execution import private, store
from execplan.repo.settings import SETTINGS_FILE, PYPROJECT_FILE
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.execution.standing import Now, Standing
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef

    Told = dict[str, object]
    Status = tuple[int, ...]

_FOLDER = "standing"
_LIMIT = 1 << 20
_MARGIN = 2_000_000_000
"""Nanoseconds by which a file must be older than the look: the coarsest file system counts two seconds as one time."""


def recall(home: Project, ref: PlanRef, run: str = "") -> Told | None:
    """What was told of a plan, or of it for a run, None when it has to be looked at."""
    try:
        with open(disk.open_regular(_file(home, ref)), "rb") as file:
            key, watched, (since, until), told = marshal.loads(file.read(_LIMIT))  # noqa: S302 - from our own state folder
        if key != _key(home, ref, run) or (until and not since <= f"{now():%Y-%m-%dT%H:%M:%SZ}" < until):
            return None
        found: Told = told
        return found if all([_status(path, whole=whole) == status for path, whole, status in watched]) else None
    except (OSError, EOFError, ValueError, TypeError, ExecplanError):
        return None


def remember(home: Project, ref: PlanRef, found: Standing, told: Told, run: str = "") -> None:
    """Keep what is told of a plan, where that depends on nothing but files; that it can't be kept harms nobody."""
    from execplan.repo.execution.standing import APPROVED, EXPIRED

    if found.now is None or found.state == EXPIRED or found.now.policy.pin or not home.exists:
        return
    began = time_ns()
    watched = [(path, whole, _status(path, whole=whole)) for path, whole in _watched(home, ref, found)]
    if any([max((*status[4:6], *status[10:12]), default=0) > began - _MARGIN for _, whole, status in watched if whole]):
        return
    given = found.approval if found.state == APPROVED else None
    holds = (given.approved_at, given.expires_at) if given is not None else ("", "")
    try:
        state.make_state_dir(home, _FOLDER)
        mine = f"{_file(home, ref)}.{os.getpid()}"
        with open(mine, "wb") as file:
            file.write(marshal.dumps((_key(home, ref, run), watched, holds, told)))
        os.replace(mine, _file(home, ref))
    except (OSError, ValueError, ExecplanError):
        pass


def _watched(home: Project, ref: PlanRef, found: Standing) -> list[tuple[str, bool]]:
    """Every path that decides, and whether all of its status does, or only what it is, as of a folder on the way."""
    from execplan.repo.execution import approvals, key, register

    folder = approvals.folder(home, ref)
    kept = approvals.every(home, ref)
    whole = {ref.path, store.path_of(home, ref), folder, *[each.path for each in kept], key.path(home), own.path()}
    whole |= {os.path.join(home.base, SETTINGS_FILE), os.path.join(home.base, PYPROJECT_FILE)}
    for each in kept:
        ids = (each.approval.id, *each.approval.origins) if each.approval is not None else ()
        whole |= {path for name in ids for path in register.paths(home, name)}
    assert found.now is not None
    whole |= _searched(home, found.now)
    targets = [os.path.join(home.root, path) for path in found.now.binding.states]
    above = set()
    for path in targets:
        while len(path) > len(home.root):
            path = os.path.dirname(path)  # noqa: PLW2901 - up to the root
            above.add(path)
    return [*[(path, True) for path in sorted(whole | set(targets))], *[(path, False) for path in sorted(above)]]


def _searched(home: Project, now: Now) -> set[str]:
    """The programs that are bound, and the folders that they are looked for in."""
    steps = [step.env["PATH"] for step in now.current.document.steps if "PATH" in step.env]
    bound = [path for each in (now.binding.programs or {}).values() for path in (each.path, each.real)]
    folders = [folder for path in (*steps, os.environ.get("PATH", os.defpath)) for folder in path.split(os.pathsep)]
    return {os.path.join(home.root, path) for path in [*bound, *folders] if path}


def _status(path: str, *, whole: bool) -> Status:
    """What a file's status is, of a link also that of what it leads to; nothing for what is not there."""
    try:
        seen = os.lstat(path)
    except OSError:
        return ()
    if not whole:
        return S_IFMT(seen.st_mode), seen.st_ino, seen.st_dev
    status: Status = (seen.st_mode, seen.st_ino, seen.st_dev, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
    if S_ISLNK(seen.st_mode):
        try:
            behind = os.stat(path)
        except OSError:
            return status
        status += (behind.st_mode, behind.st_ino, behind.st_dev, behind.st_size, behind.st_mtime_ns, behind.st_ctime_ns)
    return status


def _key(home: Project, ref: PlanRef, run: str) -> tuple[str, ...]:
    """What else decides: the program, the run that waits, and where programs and the user's files are."""
    path = os.environ.get("PATH", os.defpath)
    return __version__, path, ref.path, run, own.path(), private.config(home), private.state(home)


def _file(home: Project, ref: PlanRef) -> str:
    return os.path.join(home.state, _FOLDER, state.path_key(ref.path))
