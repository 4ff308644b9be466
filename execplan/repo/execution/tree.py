"""What HEAD holds outside the plans' folders, which an approval binds under the policy `pin = "tree"`."""

from __future__ import annotations

import os

from execplan.repo import ask, git, homes
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project

_SHOWN = 20


def tree(home: Project) -> str | None:
    """The digest of what HEAD holds there; None without git or before the first commit. Raises ExecplanError."""
    head = git.head_commit(home)
    return None if head is None else digest(b"\0".join(_entries(home, head)))


def changed(home: Project, since: str | None) -> tuple[str, ...]:
    """The files there in which HEAD differs from an earlier commit, as far as git still knows it."""
    head = git.head_commit(home)
    if head is None or since is None or ask.output_or_none(home, "cat-file", "-e", since, no_status=1) is None:
        return ()
    before, after = [set(_entries(home, commit)) for commit in (since, head)]
    paths = sorted({os.fsdecode(entry.partition(b"\t")[2]) for entry in before ^ after})
    more = [f"{len(paths) - _SHOWN} more"] if len(paths) > _SHOWN else []
    return (*[f"{path}: changed by a commit" for path in paths[:_SHOWN]], *more)


def _entries(home: Project, commit: str) -> list[bytes]:
    """Mode, kind, id and path of everything that a commit holds outside the plans' folders."""
    ours = _folders(home)
    entries = ask.output(home, "ls-tree", "-rz", "--full-tree", commit).split(b"\0")
    return [each for each in entries if each and not each.partition(b"\t")[2].startswith(ours)]


def _folders(home: Project) -> tuple[bytes, ...]:
    """The folders of plans, archives and artifacts, of this home and those that belong to it."""
    found = []
    for each in homes.with_nested_projects(home):
        kept = [each.artifacts_dir("", archived=archived) for archived in (False, True)]
        for folder in (each.plans, *each.archives, *kept):
            found.append(os.fsencode(os.path.relpath(folder.partition("/{")[0], home.root)) + b"/")
    return tuple(dict.fromkeys(found))
