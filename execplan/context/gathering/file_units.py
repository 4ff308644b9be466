"""Units of files that a plan names and of requested files, with reasons, and the lookup of files in a repository."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from execplan.context.context_pack import ARTIFACT, FILE, Unit
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.files.tree_walk import walk_tree
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project, ensure_inside
from execplan.core.secrets.secret_files import find_hard_link, is_secret_file
from execplan.core.text.pure_paths import resolve_relative

_PATH = re.compile(r"[\w.@+~-]+(?:/[\w.@+~\[\]$-]+)*")
_CODE = re.compile(r"`([^`\n]{1,300})`")
_LINK = re.compile(r"\]\(<?([^)\s>]{1,300})")
_SKIPPED_DIRECTORIES = frozenset(("node_modules", "__pycache__", "venv", "target", "dist", "build"))
_MAX_FILES = 50_000
"""Maximum number of files listed without git."""
MAX_FILE_BYTES: Final = 1 << 20
"""Maximum size in bytes of a file that is read."""
_EVIDENCE_NAMES = frozenset(("execution-plan.json", "approvals", "ledger.jsonl", "runs", "checkpoint.md"))
"""Names in a plan's artifacts directory that execplan maintains for its own use."""
_MAX_ARTIFACTS: Final = 200
_MAX_MESSAGES: Final = 5


class FileListing:
    """The repository's files that git does not ignore, by their paths from the root."""

    def __init__(self, paths: Collection[str], *, root: str = "", base_directories: Sequence[str] = ()) -> None:
        """Index the paths; besides the root, paths in a text may start from `base_directories`."""
        self.paths = frozenset(paths)
        self._root = root.rstrip("/") + "/"
        self._base_directories = [directory.strip("/") for directory in base_directories if directory.strip("/")]
        self._matches: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def resolve(self, path: str) -> str:
        """Return the file that a path names, or an empty string.

        The path may start at the root or a base directory. Otherwise it must be the ending of exactly one file's path.
        """
        path = path.removeprefix(self._root)
        if path not in self._matches:
            is_known_name = path.rpartition("/")[2] in self._by_name
            self._matches[path] = self._resolve(path) if is_known_name else ""
        return self._matches[path]

    def _resolve(self, path: str) -> str:
        for directory in ("", *self._base_directories):
            full_path = resolve_relative(directory, path)
            if full_path and full_path in self.paths:
                return full_path
        suffix = f"/{resolve_relative('', path) or path}"
        candidates = [candidate for candidate in self._by_name[path.rpartition("/")[2]] if candidate.endswith(suffix)]
        return candidates[0] if len(candidates) == 1 else ""

    def files_below(self, directory: str) -> list[str]:
        """Return the files in a directory and below it, sorted; all files for an empty path."""
        return sorted([path for path in self.paths if not directory or path.startswith(f"{directory}/")])

    def referenced_files(self, text: str) -> tuple[str, ...]:
        """Return the files that a text names, without duplicates, in order of appearance."""
        paths = [self.resolve(mention) for mention in dict.fromkeys(_iter_mentions(text))]
        return tuple(dict.fromkeys([path for path in paths if path]))


def mentioned_paths(text: str) -> list[str]:
    """Return the parts of a text that may be paths with a directory, without duplicates."""
    return list(dict.fromkeys([mention for mention in _iter_mentions(text) if "/" in mention]))


def _iter_mentions(text: str) -> Iterator[str]:
    """Yield the parts of a text that may be paths: code spans, link targets, and words with a slash or a dot."""
    from execplan.linter.plan_links import relative_path
    from execplan.linter.plan_paths import extract_path

    if "`" in text:
        for code in _CODE.findall(text):
            yield extract_path(code.strip())
    if "](" in text:
        for target in _LINK.findall(text):
            yield relative_path(target)
    for candidate in _PATH.findall(text):
        stripped = candidate.strip(".") if candidate.endswith(".") else candidate
        if "/" in stripped or "." in stripped[1:-1]:
            yield stripped


def list_files(project: Project, *base_directories: str) -> FileListing:
    """List the files that git tracks or would add; without git, walk the directory tree.

    Raises ExecplanError if git fails.
    """
    if project.git is None:
        return walk_files(project, *base_directories)
    from execplan.core.git import git_query

    return FileListing(git_query.unignored_files(project), root=project.root, base_directories=base_directories)


def walk_files(project: Project, *base_directories: str) -> FileListing:
    """List files by walking the directory tree, without hidden, dependency and build directories."""
    paths: list[str] = []
    for directory, subdirectories, names in walk_tree(project.root):
        subdirectories[:] = sorted(
            [name for name in subdirectories if not name.startswith(".") and name not in _SKIPPED_DIRECTORIES]
        )
        relative_directory = directory[len(project.root) :].lstrip("/")
        paths += [os.path.join(relative_directory, name) for name in names]
        if len(paths) > _MAX_FILES:
            break
    return FileListing(paths[:_MAX_FILES], root=project.root, base_directories=base_directories)


class FileUnits(NamedTuple):
    """Units of the files that were read, and errors for those that were not."""

    units: tuple[Unit, ...]
    errors: tuple[ExecplanError, ...]


def read_files(project: Project, paths: Iterable[str], kind: str = FILE, reason: str = "") -> FileUnits:
    """Read files by their paths from the root; older files get a lower order.

    Unreadable files are returned as errors.
    """
    dated_units: list[tuple[int, Unit]] = []
    errors = []
    for path in dict.fromkeys(paths):
        try:
            dated_units.append(_read_file(project, path, kind, reason))
        except ExecplanError as error:
            errors.append(error)
    ages = {age: order for order, age in enumerate(sorted({age for age, _ in dated_units}), start=1)}
    return FileUnits(tuple([unit._replace(order=ages[age]) for age, unit in dated_units]), tuple(errors))


def _read_file(project: Project, path: str, kind: str, reason: str) -> tuple[int, Unit]:
    """Read a file and return its modification time in nanoseconds with its unit.

    Raises ExecplanError if it can't be used.
    """
    full_path = os.path.join(project.root, path)
    target = ensure_inside(project, full_path)
    if secret_name := find_hard_link(target, (project.root, os.path.expanduser("~"))):
        message = f"{path} is another name of {secret_name}, a secret file"
        hint = "secret files are never included: describe what is needed in the plan"
        raise ExecplanError("secret-file", message, hint=hint)
    if is_secret_file(path) or is_secret_file(project.display_path(target)):
        message = f"{path} is a secret file, judging by its name"
        hint = "secret files are never included: describe what is needed in the plan"
        raise ExecplanError("secret-file", message, hint=hint)
    if ".git" in (*path.split(os.sep), *os.path.relpath(target, project.root).split(os.sep)):
        message = f"{path} is git's own file; such files contain passwords"
        raise ExecplanError("secret-file", message, hint="such files are never included: describe what is needed")
    data, size = file_access.read(full_path, MAX_FILE_BYTES)
    if size > MAX_FILE_BYTES:
        hint = "put the relevant part into a separate file"
        raise ExecplanError("too-large", f"{path} has {size:,} bytes, more than {MAX_FILE_BYTES:,}", hint=hint)
    if b"\0" in data:
        raise ExecplanError("no-text", f"{path} is not text: it contains NUL bytes", hint="specify a text file")
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = text.count("\n") + (not text.endswith("\n")) if text else 0
    unit = Unit(f"{kind}:{path}", kind, text, path, path, 1 if lines else 0, lines, 0, reason)
    return os.stat(full_path).st_mtime_ns, unit


def requested_files(project: Project, files: Sequence[str], listing: FileListing) -> tuple[FileUnits, list[str]]:
    """Read the files requested by name, and list the paths in requested directories.

    Raises ExecplanError on failure.
    """
    directory_paths = []
    file_paths = []
    for name in files:
        if not name:
            message, hint = "a requested file has an empty name", "specify a name; a dot means the whole directory"
            raise ExecplanError("no-such-file", message, hint=hint)
        full_path = os.path.abspath(name)
        path = project.display_path(
            os.path.join(file_access.resolve_path(os.path.dirname(full_path)), os.path.basename(full_path))
        )
        if os.path.isabs(path) and file_access.resolve_path(full_path) != project.root:
            message = f"{name} is outside the repository"
            raise ExecplanError("path-outside", message, hint=f"specify a file below {project.root}")
        if os.path.isdir(full_path):
            directory_paths += listing.files_below("" if os.path.isabs(path) else path)
        else:
            file_paths.append(path)
    file_units = read_files(project, file_paths, reason="requested by name")
    for error in file_units.errors:
        raise error
    return file_units, [path for path in directory_paths if path not in file_paths]


def find_unlisted(project: Project, text: str, listing: FileListing) -> list[str]:
    """Return existing files that a text names but that are not in the listing, for example because git ignores them."""
    unlisted_paths = []
    for path in mentioned_paths(text):
        if not path.startswith(("/", "..", "~")) and not listing.resolve(path):
            if os.path.isfile(os.path.join(project.root, path)) and ".git" not in path.split("/"):
                unlisted_paths.append(path)
    return unlisted_paths


def artifact_units(project: Project, root_directory: str, excluded_path: str) -> FileUnits:
    """Read the artifacts in a directory, except one file and the files that execplan maintains there."""
    paths: list[str] = []
    for directory, subdirectories, names in walk_tree(root_directory):
        is_top = directory == root_directory
        subdirectories[:] = sorted(
            [name for name in subdirectories if not (is_top and name in _EVIDENCE_NAMES) and not name.startswith(".")]
        )
        kept_names = [
            name for name in sorted(names) if not (is_top and name in _EVIDENCE_NAMES) and not name.startswith(".")
        ]
        paths += [os.path.join(directory, name) for name in kept_names]
        if len(paths) > _MAX_ARTIFACTS:
            break
    display_paths = [project.display_path(path) for path in paths[:_MAX_ARTIFACTS] if path != excluded_path]
    return read_files(project, display_paths, ARTIFACT)


def format_omissions(messages: Sequence[str]) -> list[str]:
    """Format one line per omission for the first few; a last line counts the others."""
    lines = [f"skipped: {message}" for message in messages[:_MAX_MESSAGES]]
    if len(messages) > _MAX_MESSAGES:
        lines.append(f"skipped: {len(messages) - _MAX_MESSAGES} more files for similar reasons")
    return lines
