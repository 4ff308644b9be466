"""What differs from the last commit, as units: staged or not, a unit for each file."""

from __future__ import annotations

import os

from execplan.context.unit import DIFF, Unit
from execplan.repo import ask
from execplan.repo.gathering.files import LIMIT
from execplan.text.hidden import visible
from execplan.text.secret_files import is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.repo.gathering.listing import Listing
    from execplan.repo.home import Project

_PLAINLY = (
    *("-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "-c", "diff.relative=false"),
    *("-c", "core.quotePath=false"),
)
_DIFF = (
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=all"),
    *("--submodule=short", "-O/dev/null", "-p", "-z"),
)
_UNTRACKED = 100
"""Files that git does not track, of which the names are told."""


def changes(home: Project, known: Listing, but: Sequence[str]) -> tuple[list[Unit], list[str]]:
    """What differs and what is new, and warnings; `but` are paths from the root of files and folders that are left out.

    Nothing without git, and before the first commit what is staged. Raises ExecplanError.
    """
    if home.git is None:
        return [], []
    units, warnings = _diff(home, but)
    return [*units, *_untracked(home, known, but)], warnings


def _diff(home: Project, but: Sequence[str]) -> tuple[list[Unit], list[str]]:
    against = "HEAD" if ask.output_or_none(home, "rev-parse", "-q", "--verify", "HEAD", no_status=1) is not None else "--cached"
    out = ask.output(home, "--no-optional-locks", *_PLAINLY, *_DIFF, against, "--")
    units, warnings = [], []
    for path, patch in _patches(out):
        if not path or _within(path, but):
            continue
        if is_secret(path):
            warnings.append(f"left out: the changes of {path}, a file for secrets by its name")
        elif len(patch) > LIMIT:
            warnings.append(f"left out: the changes of {path}, of {len(patch):,} bytes")
        else:
            text = patch.decode("utf-8", "replace")
            units.append(Unit(f"diff:{path}", DIFF, text, path, references=(path,)))
    return units, warnings


def _untracked(home: Project, known: Listing, but: Sequence[str]) -> list[Unit]:
    """One unit with the names of the files that git does not track yet, of those that it knows or would add."""
    new = sorted([path for path in known.paths.difference(ask.tracked_files(home)) if not _within(path, but)])
    if not new:
        return []
    more = [f"and {len(new) - _UNTRACKED} more"] if len(new) > _UNTRACKED else []
    text = "\n".join([*map(visible, new[:_UNTRACKED]), *more])
    return [Unit("diff:untracked", DIFF, text, "files that git does not track yet", references=tuple(new[:_UNTRACKED]))]


def _patches(out: bytes) -> list[tuple[str, bytes]]:
    """The path of each file that differs, with its patch; without a path where its name goes over several lines."""
    found = []
    for piece in (b"\n" + out).split(b"\ndiff --git ")[1:]:
        names = piece.partition(b"\n")[0]  # a/PATH b/PATH
        path = names[2 : 2 + (len(names) - 5) // 2]
        found.append((os.fsdecode(path) if names == b"a/%b b/%b" % (path, path) else "", b"diff --git " + piece))
    return found


def _within(path: str, folders: Sequence[str]) -> bool:
    return any([path == each or path.startswith(f"{each}/") for each in folders])
