"""Summary of a change for triage: its files, their kinds, and the parts of the repository that they are in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from execplan.context.triage.triage_table import FileKind, TriageTable
from execplan.core.named_tuple import NamedTuple

ROOT_PART = "."
"""Part that contains the files outside of any directory."""
_NAME_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class ChangedFile(NamedTuple):
    """A file that is added, changed or removed."""

    path: str
    """Path from the repository root."""
    added: int = 0
    """Number of added lines; 0 for a file that is not text."""
    removed: int = 0


class ChangeSummary(NamedTuple):
    """Totals and file kinds of a change."""

    files: int
    """Number of all files."""
    added: int
    removed: int
    lines: int
    """Number of added and removed lines, without generated files."""
    source_files: tuple[str, ...]
    """Source files, without tests, prose and generated files."""
    parts: tuple[str, ...]
    """Repository parts that contain the source files."""
    kinds: tuple[tuple[FileKind, tuple[str, ...]], ...]
    """File kinds that occur in the change, each with its files."""
    untested_lines: int
    """Number of changed source lines; 0 if a test is changed."""


def summarize_changes(changed: Iterable[ChangedFile], table: TriageTable) -> ChangeSummary:
    """Summarize a set of changed files."""
    files = sorted(set(changed))
    kinds_by_path = {file.path: classify_file(file.path, table) for file in files}
    kinds = [
        (kind, tuple([path for path, file_kind in kinds_by_path.items() if file_kind == kind])) for kind in table.kinds
    ]
    counted_files = [file for file in files if _is_counted(kinds_by_path[file.path])]
    source_files = [file for file in counted_files if not _is_test_or_prose(kinds_by_path[file.path])]
    has_tests = any([kind is not None and kind.is_test for kind in kinds_by_path.values()])
    source_parts = {find_part(file.path, table) for file in source_files}
    return ChangeSummary(
        len(files),
        sum([file.added for file in files]),
        sum([file.removed for file in files]),
        _count_lines(counted_files),
        tuple([file.path for file in source_files]),
        tuple(sorted(source_parts)),
        tuple([(kind, paths) for kind, paths in kinds if paths]),
        0 if has_tests else _count_lines(source_files),
    )


def _count_lines(files: Sequence[ChangedFile]) -> int:
    return sum([file.added + file.removed for file in files])


def _is_counted(kind: FileKind | None) -> bool:
    return kind is None or kind.counted


def _is_test_or_prose(kind: FileKind | None) -> bool:
    """Return whether a kind of file accompanies the sources without being one."""
    return kind is not None and (kind.is_test or kind.is_prose)


def classify_file(path: str, table: TriageTable) -> FileKind | None:
    """Return the first kind that matches a file, or None."""
    *folders, name = path.split("/")
    lower_folders = [folder.lower() for folder in folders]
    name_words = {word.lower() for component in (*folders, name) for word in _NAME_WORDS.findall(component)}
    for kind in table.kinds:
        if any([pattern in lower_folders for pattern in kind.folders]) or any(
            [fnmatchcase(name, pattern) for pattern in kind.files]
        ):
            return kind
        if not name_words.isdisjoint(kind.names):
            return kind
    return None


def find_part(path: str, table: TriageTable) -> str:
    """Return the repository part of a file: the path up to its first directory that is not a mere container."""
    folders = path.split("/")[:-1]
    for index, folder in enumerate(folders):
        if folder.lower() not in table.container_folders:
            return "/".join(folders[: index + 1])
    return "/".join(folders) or ROOT_PART


def find_parts_by_name(paths: Iterable[str], table: TriageTable) -> dict[str, str]:
    """Return the repository parts by the word that names each; ordinary words are no names."""
    parts_by_name: dict[str, str] = {}
    for path in sorted(paths):
        part = find_part(path, table)
        name = part.rpartition("/")[2].lower()
        if (
            len(name) > 2
            and name.isalpha()
            and name not in table.ordinary_names
            and name not in table.container_folders
        ):
            parts_by_name.setdefault(name, part)
    return parts_by_name
