"""The approvals of a plan: files among its artifacts, so that archiving it takes them along."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.execution.approval import Approval
from execplan.execution.documents.document import load, to_bytes
from execplan.record import NamedTuple
from execplan.repo import shelf
from execplan.repo.execution.store import put
from execplan.repo.home import ensure_inside
from execplan.text import disk, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef

_LIMIT = 5 << 20


class Kept(NamedTuple):
    """An approval as it lies there, or why it can't be read."""

    path: str
    approval: Approval | None
    why: str = ""
    untouched: bool = True
    """Whether its bytes are those that were written, under the name that they were given."""

    @property
    def digest(self) -> str:
        """What it is called: the digest that was approved."""
        return os.path.basename(self.path).removesuffix(".json")


def folder(home: Project, ref: PlanRef) -> str:
    """Where they lie."""
    return os.path.join(home.plan_artifacts_dir(ref.path, archived=ref.archived), "approvals")


def path(home: Project, ref: PlanRef, digest: str) -> str:
    """The file of the approval of a digest; a later one of the same digest takes its place."""
    return os.path.join(folder(home, ref), f"{digest}.json")


def every(home: Project, ref: PlanRef) -> list[Kept]:
    """All of a plan, the newest first, what can't be read last; raises ExecplanError."""
    names = [name for name in shelf.list_entries(folder(home, ref)) if name.endswith(".json")]
    kept = [_read(home, os.path.join(folder(home, ref), name)) for name in names]
    return sorted(kept, key=_age, reverse=True)


def _age(kept: Kept) -> tuple[str, int]:
    """When it was given, and of those of one second when it was written."""
    try:
        written = os.lstat(kept.path).st_mtime_ns
    except OSError:
        written = 0
    return kept.approval.approved_at if kept.approval else "", written


def _read(home: Project, file: str) -> Kept:
    try:
        ensure_inside(home, file)
        data, size = disk.read(file, _LIMIT)
        if size > _LIMIT:
            return Kept(file, None, f"it has {size:,} bytes: no approval is as long as that")
        approval = load(data, Approval, home.display_path(file))
    except ExecplanError as error:
        return Kept(file, None, error.message)
    untouched = data == to_bytes(approval) and os.path.basename(file) == f"{approval.digest}.json"
    return Kept(file, approval, untouched=untouched)


def save(home: Project, ref: PlanRef, approval: Approval) -> bytes | None:
    """Write an approval to its file; what was there before. The caller holds the plan's lock. Raises ExecplanError."""
    file, new = path(home, ref, approval.digest), to_bytes(approval)
    return files.again(lambda: put(home, file, new), home.display_path(file))


def named(kept: list[Kept], prefix: str) -> list[Kept]:
    """Those that a prefix of the digest names: one of them, or all for `all`, or the only one for none.

    An approval that covers revisions is the only one beside theirs, which end with it.
    Raises ExecplanError when it names none, or could mean several.
    """
    found = kept if prefix in ("", "all") else [each for each in kept if each.digest.startswith(prefix.lower())]
    if not prefix:
        ids = {each.approval.id for each in kept if each.approval is not None}
        found = [each for each in kept if each.approval is None or ids.isdisjoint(each.approval.origins)]
    if not found and prefix == "all":
        return []
    shown = [each.digest for each in found or kept]
    see = "see them: execplan approve --list"
    if not found:
        what = f"no approval begins with {prefix!r}" if kept else "nothing is approved"
        raise ExecplanError("no-such-approval", what, exit=INPUT, hint=see, candidates=shown)
    if len(found) > 1 and prefix != "all":
        what = f"{len(found)} approvals could be meant"
        hint = "give more digits of the digest, or say all"
        raise ExecplanError("ambiguous-approval", what, exit=INPUT, hint=hint, candidates=shown)
    return found
