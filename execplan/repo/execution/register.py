"""Which approvals were used, by which run, and which were revoked: outside the repository, so that git brings none back."""

from __future__ import annotations

import os

from execplan.errors import CHANGED, POLICY, ExecplanError
from execplan.record import NamedTuple
from execplan.repo.execution import private
from execplan.text import disk, files
from execplan.text.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home

_LIMIT = 1 << 12


class Registered(NamedTuple):
    """What has become of an approval."""

    run: str = ""
    """The run that it served, with its resumes; nothing while none did."""
    revoked: bool = False


def lock(home: Home) -> Lock:
    """The lock of the register."""
    folder = private.state(home)
    files.make_folder(folder)
    return Lock(os.path.join(folder, "register.lock"), "the register of approvals")


def state(home: Home, approval: str) -> Registered:
    """What has become of the approval with this id; raises ExecplanError when that can't be read."""
    used, revoked = paths(home, approval)
    return Registered(_run(used), os.path.lexists(revoked))


def use(home: Home, approval: str, run: str) -> None:
    """Let an approval serve a run and its resumes, and no other; raises ExecplanError when it serves another, or none.

    What the run writes comes after: an approval that was used and never ran is used nevertheless.
    """
    used, revoked = paths(home, approval)
    with lock(home):
        if os.path.lexists(revoked):
            raise _revoked(approval)
        if not files.create(used, run.encode()) and _run(used) != run:
            raise replayed(_run(used))


def revoke(home: Home, approval: str) -> bool:
    """Let an approval serve nothing from now on; False when it was revoked before. Raises ExecplanError."""
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


def paths(home: Home, approval: str) -> tuple[str, str]:
    """The files that say so, of the approval with this id: used, revoked; raises ExecplanError."""
    folder = private.state(home)
    return os.path.join(folder, f"{approval}.used"), os.path.join(folder, f"{approval}.revoked")


def _run(path: str) -> str:
    if not os.path.lexists(path):
        return ""
    return disk.read(path, _LIMIT)[0].decode("utf-8", "replace") or "unknown"
