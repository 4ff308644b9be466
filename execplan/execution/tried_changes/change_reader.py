"""The files of a change that somebody has tried: in the working tree, in the index, or between two commits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from execplan.core.errors import ExecplanError, usage_error
from execplan.core.files import file_access
from execplan.core.git import git_history, git_query
from execplan.core.git.git_query import GitFile
from execplan.core.project.own_paths import make_own_path_check
from execplan.core.project.project import Project

_REGULAR_MODES = {"100644": 0o644, "100755": 0o755}
_ABSENT = "000000"
_NO_OBJECT = "0" * 40
_MAX_BYTES = 256 * 1024
"""Maximum size of a file that a step writes; a larger one would hide everything else in the plan."""


_MIN_COPIED_BYTES = 64
"""Minimum size of a copy: shorter files, such as empty ones, are equal by chance."""


class TriedFile(NamedTuple):
    """A file before and after the change."""

    path: str
    before: bytes | None
    """Bytes before the change; None if there was no file."""
    after: bytes | None
    old_mode: int
    mode: int


class LeftFile(NamedTuple):
    """A changed file that no step is written for."""

    path: str
    why: str
    """Reason, phrased to follow `it`."""


class TriedChange(NamedTuple):
    """The files of a change, and those that no step can be written for."""

    files: tuple[TriedFile, ...]
    left: tuple[LeftFile, ...]
    base_paths: tuple[str, ...] = ()
    """Paths of all files before the change."""
    copies: Mapping[str, str] = MappingProxyType({})
    """For each new file that has the bytes of a file from before the change, the path of that file."""


def read_change(project: Project, revisions: str, *, staged: bool) -> TriedChange:
    """Return the files that a change touches, without plans and execplan's own files.

    Without `revisions`, it is the change of the working tree since the last commit, with untracked files; `staged` is
    whether only what is staged counts. Raises ExecplanError.
    """
    git_query.require_repository(project)
    if git_history.resolve_commit(project, "HEAD") is None:
        raise ExecplanError(
            "no-commits",
            "this repository has no commit, so there is no state before the change",
            hint="commit what was there before the change, then try again",
        )
    if revisions.startswith("-"):
        raise usage_error(f"{revisions} is not a range of commits, such as main..HEAD")
    for name in filter(None, revisions.replace("...", "..").split("..")):
        if git_history.resolve_commit(project, name) is None:
            hint = "list branches and commits: git branch -a, git log --oneline"
            raise ExecplanError("no-such-revision", f"{name!r} does not name a commit", hint=hint)
    base = revisions or "HEAD"
    arguments = ["diff", "--raw", "-z", "--no-renames", "--abbrev=40", *(["--cached"] if staged else []), base, "--"]
    files: list[TriedFile] = []
    left: list[LeftFile] = []
    is_own = make_own_path_check(project)
    for entry in _split_entries(git_query.output(project, *arguments)):
        if not is_own(entry.path):
            _sort_file(_read_file(project, entry), files, left)
    if not staged and ".." not in revisions:
        for path in git_history.untracked_files(project):
            if not is_own(path):
                mode = "100755" if os.access(os.path.join(project.root, path), os.X_OK) else "100644"
                entry = _RawEntry(path, _ABSENT, _mode_on_disk(project, path) or mode, _NO_OBJECT, _NO_OBJECT)
                _sort_file(_read_file(project, entry), files, left)
    commit = _base_commit(project, revisions)
    base_files = [file for file in git_history.committed_files(project, commit, ()) if not is_own(file.path)]
    copies = {
        file.path: origin
        for file in files
        if file.before is None and (origin := _find_origin(project, commit, file, base_files))
    }
    return TriedChange(tuple(sorted(files)), tuple(sorted(left)), tuple([file.path for file in base_files]), copies)


def _base_commit(project: Project, revisions: str) -> str:
    """Return the commit from before the change. Raises ExecplanError."""
    first, dots, last = revisions.partition("..")
    if dots and last.startswith("."):
        return git_history.merge_base(project, first or "HEAD", last[1:] or "HEAD") or "HEAD"
    return first or "HEAD"


def _find_origin(project: Project, commit: str, file: TriedFile, base_files: Sequence[GitFile]) -> str:
    """Return the path of a file from before the change with the bytes and the mode of a new file, or an empty string."""
    if file.after is None or len(file.after) < _MIN_COPIED_BYTES:
        return ""
    blob_ids = git_history.possible_blob_ids(file.after)
    name = file.path.rpartition("/")[2]
    origins = sorted(
        [base_file for base_file in base_files if base_file.blob in blob_ids],
        key=lambda base_file: (base_file.path.rpartition("/")[2] != name, base_file.path),
    )
    return next((origin.path for origin in origins if _is_equal(project, commit, origin, file)), "")


def _is_equal(project: Project, commit: str, origin: GitFile, file: TriedFile) -> bool:
    entry = git_query.output(project, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", origin.path)
    is_executable = entry.startswith(b"100755")
    return is_executable == bool(file.mode & 0o100) and _read_object(project, origin.blob) == file.after


class _RawEntry(NamedTuple):
    path: str
    old_mode: str
    new_mode: str
    old_object: str
    new_object: str


def _split_entries(output: bytes) -> list[_RawEntry]:
    """Return the entries of `git diff --raw -z`."""
    fields = [os.fsdecode(field) for field in output.split(b"\0")]
    entries = []
    for header, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, old_object, new_object, _ = header.removeprefix(":").split(" ")
        entries.append(_RawEntry(path, old_mode, new_mode, old_object, new_object))
    return entries


def _mode_on_disk(project: Project, path: str) -> str:
    """Return git's mode of a path that is no regular file, or an empty string."""
    full_path = os.path.join(project.root, path)
    if os.path.islink(full_path):
        return "120000"
    return "" if os.path.isfile(full_path) else "160000"


def _read_file(project: Project, entry: _RawEntry) -> TriedFile | LeftFile:
    """Return a changed file with its bytes, or why no step can be written for it."""
    for git_mode in (entry.old_mode, entry.new_mode):
        if git_mode not in (*_REGULAR_MODES, _ABSENT):
            kind = "a symbolic link" if git_mode == "120000" else "a submodule or a repository"
            return LeftFile(entry.path, f"is {kind}")
    before = None if entry.old_mode == _ABSENT else _read_object(project, entry.old_object)
    after = None
    if entry.new_mode != _ABSENT:
        is_in_tree = entry.new_object == _NO_OBJECT
        after = _read_from_tree(project, entry.path) if is_in_tree else _read_object(project, entry.new_object)
    if any([data is not None and len(data) > _MAX_BYTES for data in (before, after)]):
        return LeftFile(entry.path, f"is larger than {_MAX_BYTES >> 10} KB")
    old_mode, mode = _REGULAR_MODES.get(entry.old_mode, 0o644), _REGULAR_MODES.get(entry.new_mode, 0o644)
    if before == after:
        return LeftFile(entry.path, "changes only its mode: write a step that runs chmod")
    return TriedFile(entry.path, before, after, old_mode, mode)


def _read_object(project: Project, object_id: str) -> bytes:
    return git_query.output(project, "cat-file", "blob", object_id)


def _read_from_tree(project: Project, path: str) -> bytes:
    data, size = file_access.read(os.path.join(project.root, path), _MAX_BYTES)
    return data if size <= _MAX_BYTES else bytes(_MAX_BYTES + 1)  # its length says that it is too large


def _sort_file(file: TriedFile | LeftFile, files: list[TriedFile], left: list[LeftFile]) -> None:
    if isinstance(file, LeftFile):
        left.append(file)
    else:
        files.append(file)
