"""Which approvals were used, by which run, and which were revoked: outside the repository, so that git brings none back."""

from __future__ import annotations

import os

from execplan.errors import CHANGED, POLICY, ExecplanError
from execplan.record import NamedTuple
from execplan.repo.execution import private
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project
    from execplan.text.lock import Lock

_LIMIT = 1 << 12
_TAKEN = " is about to begin"


class Registered(NamedTuple):
    """What has become of an approval."""

    run: str = ""
    """The run that it served, with its resumes; nothing while none did, or one that took it and was killed before it began."""
    revoked: bool = False


def lock(home: Project) -> Lock:
    """The lock of the register."""
    from execplan.text import files
    from execplan.text.lock import Lock

    folder = private.state(home)
    files.make_folder(folder)
    return Lock(os.path.join(folder, "register.lock"), "the register of approvals")


def state(home: Project, approval: str) -> Registered:
    """What has become of the approval with this id; raises ExecplanError when that can't be read."""
    used, revoked = paths(home, approval)
    return Registered(_run(used), os.path.lexists(revoked))


def take(home: Project, approval: str, run: str) -> None:
    """Set an approval apart for a run that is about to begin; raises ExecplanError when it has served one, or serves none.

    A run that took it and is never to begin makes way: the caller holds the lock of runs, so that none is about to.
    """
    _note(home, approval, f"{run}{_TAKEN}")


def use(home: Project, approval: str, run: str) -> None:
    """Let an approval serve a run and its resumes, and no other; raises ExecplanError when it serves another, or none.

    Of a run that begins this is said when its first entry is on disk, and before anything is done.
    """
    _note(home, approval, run)


def _note(home: Project, approval: str, new: str) -> None:
    """Note for which run an approval is; only one that is about to begin makes way, for another such or for itself."""
    from execplan.text import files

    used, revoked = paths(home, approval)
    run, begins = new.removesuffix(_TAKEN), not new.endswith(_TAKEN)
    with lock(home):
        if os.path.lexists(revoked):
            raise _revoked(approval)
        if files.create(used, new.encode()):
            return
        old = disk.read(used, _LIMIT)[0]
        was = old.decode("utf-8", "replace")
        if was == run:
            return
        if not was.endswith(_TAKEN) or (begins and was.removesuffix(_TAKEN) != run):
            raise replayed(was.removesuffix(_TAKEN) or "unknown")
        if was != new:
            files.replace(used, old, new.encode())


def revoke(home: Project, approval: str) -> bool:
    """Let an approval serve nothing from now on; False when it was revoked before. Raises ExecplanError."""
    from execplan.text import files

    with lock(home):
        return files.create(paths(home, approval)[1], b"")


def replayed(run: str) -> ExecplanError:
    """The refusal of a second run."""
    return ExecplanError(
        "approval-used",
        f"the approval was used by the run {run}; it serves one run and its resumes",
        exit=CHANGED,
        hint="approve it once more: execplan approve",
    )


def _revoked(approval: str) -> ExecplanError:
    what = f"the approval {approval[:12]} was revoked"
    return ExecplanError("not-approved", what, exit=POLICY, hint="approve it anew: execplan approve")


def paths(home: Project, approval: str) -> tuple[str, str]:
    """The files that say so, of the approval with this id: used, revoked; raises ExecplanError."""
    folder = private.state(home)
    return os.path.join(folder, f"{approval}.used"), os.path.join(folder, f"{approval}.revoked")


def _run(path: str) -> str:
    if not os.path.lexists(path):
        return ""
    found = disk.read(path, _LIMIT)[0].decode("utf-8", "replace") or "unknown"
    return "" if found.endswith(_TAKEN) else found
