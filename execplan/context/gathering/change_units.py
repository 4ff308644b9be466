"""Units of uncommitted changes: the diff of each file, and the names of untracked files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from execplan.context.context_pack import DIFF, Unit
from execplan.context.gathering.file_units import MAX_FILE_BYTES, FileListing
from execplan.core.git import git_query
from execplan.core.project.project import Project
from execplan.core.secrets.secret_files import is_secret_file
from execplan.core.text.invisible_characters import escape_unprintable
from execplan.core.text.pure_paths import is_inside

_FORMAT_OPTIONS = (
    *("-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "-c", "diff.relative=false"),
    *("-c", "core.quotePath=false"),
)
_DIFF_ARGS = (
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=all"),
    *("--submodule=short", "-O/dev/null", "-p", "-z"),
)
_MAX_UNTRACKED = 100
"""Maximum number of untracked files whose names are listed."""


def change_units(project: Project, listing: FileListing, excluded_paths: Sequence[str]) -> tuple[list[Unit], list[str]]:
    """Return units for changed and new files, and warnings.

    `excluded_paths` are paths from the root of files and directories to leave out. Returns nothing without git; before
    the first commit, returns the staged changes. Raises ExecplanError if git fails.
    """
    if project.git is None:
        return [], []
    units, warnings = _diff_units(project, excluded_paths)
    return [*units, *_untracked_units(project, listing, excluded_paths)], warnings


def _diff_units(project: Project, excluded_paths: Sequence[str]) -> tuple[list[Unit], list[str]]:
    if git_query.output_or_none(project, "rev-parse", "-q", "--verify", "HEAD", no_status=1) is not None:
        base = "HEAD"
    else:
        base = "--cached"
    diff_output = git_query.output(project, "--no-optional-locks", *_FORMAT_OPTIONS, *_DIFF_ARGS, base, "--")
    units, warnings = [], []
    for path, patch in _split_patches(diff_output):
        if not path or _is_excluded(path, excluded_paths):
            continue
        if is_secret_file(path):
            warnings.append(f"left out: the changes of {path}, a secret file, judging by its name")
        elif len(patch) > MAX_FILE_BYTES:
            warnings.append(f"left out: the changes of {path}, which have {len(patch):,} bytes")
        else:
            text = patch.decode("utf-8", "replace")
            units.append(Unit(f"diff:{path}", DIFF, text, path, references=(path,)))
    return units, warnings


def _untracked_units(project: Project, listing: FileListing, excluded_paths: Sequence[str]) -> list[Unit]:
    """Return one unit that lists the untracked files, without ignored ones; no unit if there are no such files."""
    new_paths = sorted(
        [
            path
            for path in listing.paths.difference(git_query.tracked_files(project))
            if not _is_excluded(path, excluded_paths)
        ]
    )
    if not new_paths:
        return []
    remainder = [f"and {len(new_paths) - _MAX_UNTRACKED} more"] if len(new_paths) > _MAX_UNTRACKED else []
    text = "\n".join([*map(escape_unprintable, new_paths[:_MAX_UNTRACKED]), *remainder])
    return [
        Unit(
            "diff:untracked",
            DIFF,
            text,
            "files that git does not track yet",
            references=tuple(new_paths[:_MAX_UNTRACKED]),
        )
    ]


def _split_patches(diff_output: bytes) -> list[tuple[str, bytes]]:
    """Split a diff into the path and patch of each file; the path is empty if it can't be read from the header."""
    patches = []
    for file_patch in (b"\n" + diff_output).split(b"\ndiff --git ")[1:]:
        header = file_patch.partition(b"\n")[0]  # the header reads a/PATH b/PATH
        path = header[2 : 2 + (len(header) - 5) // 2]
        patches.append(
            (os.fsdecode(path) if header == b"a/%b b/%b" % (path, path) else "", b"diff --git " + file_patch)
        )
    return patches


def _is_excluded(path: str, excluded_paths: Sequence[str]) -> bool:
    return any([is_inside(path, excluded_path) for excluded_path in excluded_paths])
