"""What differs from the last commit, as units: staged or not, a unit for each file."""

from __future__ import annotations

import os

from execplan.context.unit import DIFF, Unit
from execplan.repo import ask
from execplan.repo.gathering.files import MAX_FILE_BYTES
from execplan.text.hidden import escape_unprintable
from execplan.text.secret_files import is_secret_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.repo.gathering.listing import FileListing
    from execplan.repo.home import Project

_FORMAT_OPTIONS = (
    *("-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "-c", "diff.relative=false"),
    *("-c", "core.quotePath=false"),
)
_DIFF_ARGS = (
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=all"),
    *("--submodule=short", "-O/dev/null", "-p", "-z"),
)
_MAX_UNTRACKED = 100
"""Files that git does not track, of which the names are told."""


def change_units(project: Project, listing: FileListing, excluded_paths: Sequence[str]) -> tuple[list[Unit], list[str]]:
    """What differs and what is new, and warnings; `excluded_paths` are paths from the root of files and folders that are left out.

    Nothing without git, and before the first commit what is staged. Raises ExecplanError.
    """
    if project.git is None:
        return [], []
    units, warnings = _diff_units(project, excluded_paths)
    return [*units, *_untracked_units(project, listing, excluded_paths)], warnings


def _diff_units(project: Project, excluded_paths: Sequence[str]) -> tuple[list[Unit], list[str]]:
    base = "HEAD" if ask.output_or_none(project, "rev-parse", "-q", "--verify", "HEAD", no_status=1) is not None else "--cached"
    diff_output = ask.output(project, "--no-optional-locks", *_FORMAT_OPTIONS, *_DIFF_ARGS, base, "--")
    units, warnings = [], []
    for path, patch in _split_patches(diff_output):
        if not path or _is_within(path, excluded_paths):
            continue
        if is_secret_file(path):
            warnings.append(f"left out: the changes of {path}, a file for secrets by its name")
        elif len(patch) > MAX_FILE_BYTES:
            warnings.append(f"left out: the changes of {path}, of {len(patch):,} bytes")
        else:
            text = patch.decode("utf-8", "replace")
            units.append(Unit(f"diff:{path}", DIFF, text, path, references=(path,)))
    return units, warnings


def _untracked_units(project: Project, listing: FileListing, excluded_paths: Sequence[str]) -> list[Unit]:
    """One unit with the names of the files that git does not track yet, of those that it knows or would add."""
    new_paths = sorted([path for path in listing.paths.difference(ask.tracked_files(project)) if not _is_within(path, excluded_paths)])
    if not new_paths:
        return []
    remainder = [f"and {len(new_paths) - _MAX_UNTRACKED} more"] if len(new_paths) > _MAX_UNTRACKED else []
    text = "\n".join([*map(escape_unprintable, new_paths[:_MAX_UNTRACKED]), *remainder])
    return [Unit("diff:untracked", DIFF, text, "files that git does not track yet", references=tuple(new_paths[:_MAX_UNTRACKED]))]


def _split_patches(diff_output: bytes) -> list[tuple[str, bytes]]:
    """The path of each file that differs, with its patch; without a path where its name goes over several lines."""
    patches = []
    for file_patch in (b"\n" + diff_output).split(b"\ndiff --git ")[1:]:
        header = file_patch.partition(b"\n")[0]  # a/PATH b/PATH
        path = header[2 : 2 + (len(header) - 5) // 2]
        patches.append((os.fsdecode(path) if header == b"a/%b b/%b" % (path, path) else "", b"diff --git " + file_patch))
    return patches


def _is_within(path: str, directories: Sequence[str]) -> bool:
    return any([path == directory or path.startswith(f"{directory}/") for directory in directories])
