"""The directory of a static site: not in a git directory or among plans, and with only files that `site` wrote.

A manifest lists these files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from contextlib import AbstractContextManager, ExitStack
from typing import Final

from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.files.file_access import resolve_path
from execplan.core.files.file_lock import FileLock
from execplan.core.project import project_state
from execplan.core.project.project import IN_GIT_DIR, Project, is_in_git_dir
from execplan.core.project.project_discovery import ensure_no_link_out, with_nested_projects
from execplan.core.text import fast_json
from execplan.core.text.pure_paths import is_inside
from execplan.core.text.text_lines import digest

FileStatus = tuple[int, int, int, int]

"""Size, times of the last change of content and status in nanoseconds, and inode of a file."""

DEFAULT_DIRECTORY: Final = ".agent/site"
"""Directory of the site below the project's directory; its own ignore file keeps it out of commits."""
MANIFEST: Final = ".site-manifest.json"
_SCHEMA: Final = "execplan/site/1"
_MAX_MANIFEST_BYTES: Final = 64 << 20
_MAX_FILE_BYTES: Final = 1 << 28


def ensure_separate(project: Project, path: str) -> None:
    """Raise ExecplanError if a site must not be written to a path.

    It must not be in a git directory, among the plans and artifacts of a project, or reached through a link out of the repository.
    """
    ensure_no_link_out(path)
    directory = resolve_path(path)
    if is_in_git_dir(project, directory):
        message = f"{directory} {IN_GIT_DIR}"
        raise ExecplanError("not-a-site", message, hint="choose another directory: execplan site --out DIR")
    if project.is_read_only and is_inside(directory, project.root):
        message = f"{directory} is inside {project.root}, which is another project, and is only read"
        raise ExecplanError("not-a-site", message, hint="choose another directory: execplan site --out DIR")
    for member in with_nested_projects(project):
        for folder in (
            member.plans,
            *member.archives,
            member.artifacts_dir(""),
            member.artifacts_dir("", archived=True),
        ):
            if is_inside(directory, os.path.realpath(folder)):
                message = f"{directory} is inside {member.display_path(folder)}, where plans and their artifacts are"
                raise ExecplanError("not-a-site", message, hint="choose another directory: execplan site --out DIR")


class SiteDirectory:
    """The directory of a site, in which this program writes and removes only its own files."""

    def __init__(self, path: str, *, dry_run: bool = False) -> None:
        """Check a directory, which may not exist yet; raises ExecplanError if it has files that are not a site's."""
        self.path = file_access.resolve_path(path)
        self.is_dry_run = dry_run
        self.digests: dict[str, str] = {}
        """Digest of each file of the site by its path in it; empty for one that is being written."""
        self.warnings: list[str] = []
        self.reload()

    def lock(self, project: Project) -> AbstractContextManager[object]:
        """Return the lock of the directory, which all worktrees of the repository share; raises ExecplanError.

        It is not in the directory, because that may be published. If the state directory can't be written, as in a
        repository that is read-only, a site elsewhere is built without the lock, with a warning.
        """
        locks = os.path.join(project.caches if project.is_read_only else project.shared_state, "locks")
        stack = ExitStack()
        try:
            if project.is_read_only:
                project_state.make_cache_dir(project, "locks")
            elif project.shared_state == project.state:
                project_state.make_state_dir(project, "locks")
            else:
                atomic_files.make_directory(locks)
            stack.enter_context(FileLock(os.path.join(locks, f"site-{project_state.path_key(self.path)}.lock"), "site"))
        except ExecplanError as error:
            if error.exit != ENVIRONMENT:
                raise
            if not self._can_be_written():
                message = f"the site can't be written to {self.path}: the directory is read-only"
                hint = "choose a directory that you can write: execplan site --out DIR"
                raise ExecplanError("io-error", message, hint=hint) from None
            self.warnings.append(f"the site is not locked, so don't build it twice at the same time: {error.message}")
        return stack

    def _can_be_written(self) -> bool:
        """Return whether this process may create files in the directory, which may not exist yet."""
        directory = self.path
        while not os.path.lexists(directory):
            directory = os.path.dirname(directory)
        return os.access(directory, os.W_OK | os.X_OK)

    def reload(self) -> None:
        """Read the manifest, which another process may have written before this one got the lock.

        Raises ExecplanError if the directory has files that are not a site's, or the manifest is damaged.
        """
        manifest_path = self._join(MANIFEST)
        if os.path.lexists(manifest_path):
            self.digests = _parse_manifest(file_access.read(manifest_path, _MAX_MANIFEST_BYTES)[0], manifest_path)
        elif os.path.lexists(self.path):
            try:
                names = set(os.listdir(self.path)) - {atomic_files.temp_file_name(MANIFEST)}
            except OSError as error:
                raise file_access.file_error(error, self.path, "read") from None
            if names:
                raise _foreign_directory_error(self.path, names)

    def claim(self, files: Collection[str]) -> None:
        """Record the files that are about to be written, so that an interrupted run leaves nothing unknown.

        Raises ExecplanError if one of them exists and is not the site's, or if a directory of the site is a symbolic
        link out of it. The caller holds the lock.
        """
        for name in sorted({os.path.dirname(file) for file in files}):
            if not is_inside(os.path.realpath(self._join(name)), self.path):
                raise _linked_directory_error(self._join(name))
        new_files = [file for file in files if file not in self.digests]
        for file in new_files:
            if os.path.lexists(self._join(file)):
                raise _foreign_file_error(self._join(file))
        if new_files and not self.is_dry_run:
            self.digests.update(dict.fromkeys(new_files, ""))
            self._save()

    def write(self, file: str, data: bytes) -> bool:
        """Write a file of the site if its content differs, and return whether it did. Raises ExecplanError."""
        path = self._join(file)
        if _read_file(path, len(data) + 1) == data:
            return False
        if not self.is_dry_run:
            atomic_files.replace(path, data, within=self.path, durable=False)
        return True

    def status(self, file: str) -> FileStatus | None:
        """Return the status of a file of the site, which differs once the file was changed; None if it is missing."""
        try:
            status = os.lstat(self._join(file))
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino

    def finish(self, digests: dict[str, str]) -> list[str]:
        """Remove the files that are no longer part of the site, and record the others with their digests.

        Return the removed files; those that were changed since they were written stay, with a warning.
        """
        vanished = sorted(self.digests.keys() - digests.keys())
        removed = [file for file in vanished if self._remove(file)]
        if not self.is_dry_run and digests != self.digests:
            self.digests = digests
            self._save()
        return removed

    def _join(self, file: str) -> str:
        return os.path.join(self.path, file)

    def _save(self) -> None:
        content = {"schema": _SCHEMA, "files": dict(sorted(self.digests.items()))}
        text = json.dumps(content, indent=0) + "\n"
        atomic_files.replace(self._join(MANIFEST), text.encode("utf-8"), within=self.path)

    def _remove(self, file: str) -> bool:
        """Remove a file if it still has the content that was written, and return whether it did."""
        path = self._join(file)
        data = _read_file(path, _MAX_FILE_BYTES)
        if data is None or not is_inside(os.path.realpath(path), self.path):
            return False
        if digest(data) != self.digests[file]:
            self.warnings.append(f"{path} is no longer part of the site and was changed: remove it if it is not needed")
            return False
        if self.is_dry_run:
            return True
        atomic_files.remove(path, data)
        directory = os.path.dirname(path)
        while directory != self.path and not os.listdir(directory):
            atomic_files.remove_empty_directory(directory)
            directory = os.path.dirname(directory)
        return True


def _read_file(path: str, limit: int) -> bytes | None:
    """Return at most `limit` bytes of a regular file; None if there is none."""
    try:
        return file_access.read_start(path, limit)
    except OSError:
        return None


def _parse_manifest(data: bytes, path: str) -> dict[str, str]:
    """Return the digests in a manifest, which may come from somebody else. Raises ExecplanError if it is damaged."""
    try:
        content = fast_json.read(data.decode("utf-8"), allow_surrogates=True)
        files = content["files"]
        is_valid = content["schema"] == _SCHEMA and all(map(_is_entry, files.items()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        is_valid = False
    if not is_valid:
        message = f"{path} is damaged, so the files that belong to the site are unknown"
        raise ExecplanError(
            "broken-manifest", message, hint="remove the directory, then run it again; or use another one"
        )
    return dict(files)


def _is_entry(entry: tuple[object, object]) -> bool:
    """Return whether an entry of a manifest is a path inside the site with a digest or nothing."""
    file, file_digest = entry
    return (
        isinstance(file, str)
        and isinstance(file_digest, str)
        and bool(file)
        and not file.startswith("/")
        and os.path.normpath(file) == file
        and file.split("/")[0] not in ("..", MANIFEST)
    )


def _foreign_directory_error(path: str, names: Iterable[str]) -> ExecplanError:
    message = f"{path} contains {min(names)!r} and is not a site of execplan, so nothing was written"
    return ExecplanError("not-a-site", message, hint="choose an empty or new directory: execplan site --out DIR")


def _linked_directory_error(path: str) -> ExecplanError:
    message = f"{path} is a symbolic link to {os.path.realpath(path)}, outside of the site, so nothing was written"
    return ExecplanError(
        "not-a-site", message, hint="remove the link, or choose another directory: execplan site --out DIR"
    )


def _foreign_file_error(path: str) -> ExecplanError:
    message = f"{path} was not written by execplan, so nothing was written"
    return ExecplanError(
        "not-a-site", message, hint="move the file away, or choose another directory: execplan site --out DIR"
    )
