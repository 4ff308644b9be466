"""Imports in code of any language, read by their looks, and the files of a repository that they mean."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from execplan.core.text.pure_paths import resolve_relative

IMPORT_PATTERN: Final = (
    r"^\s*(?:(?:import|export|from|use|pub|mod|using|require\w*|include|const|let|var)\b|#\s*include|\}|\w*\s*\")"
)
"""Pattern for the start of a line that may import something, for git and for Python."""
_IMPORT = re.compile(IMPORT_PATTERN)
_QUOTED = re.compile(r"""(?:from|import|require\w*|include|use)?\s*\(?\s*['"<]([\w@./~-]+)['">]""")
_FROM = re.compile(r"\s*from\s+([\w.]+)\s+import\s+(.*)")
_PLAIN = re.compile(r"\s*(?:pub(?:\([a-z]+\))?\s+)?(?:import|use|using|mod)\s+(?:static\s+|type\s+)?([\w.:\\]+)")
_SEPARATOR = re.compile(r"[./\\:]+")
_PACKAGE_FILES = frozenset(("__init__", "index", "mod", "lib"))
_TEST_AFFIX = re.compile(r"(?:^tests?[_-])|(?:[._-](?:tests?|spec|contract|unit|e2e))+$|(?<=[a-z])(?:Tests?|Spec)$")


class ImportIndex:
    """The files of a repository by the ends of their paths, to which imports are compared."""

    def __init__(self, paths: Collection[str]) -> None:
        self._by_key: dict[str, list[str]] = {}
        self._by_subject: dict[str, list[str]] = {}
        for path in sorted(paths):
            segments, stem = path.split("/")[:-1], file_stem(path)
            keys = {"/".join([*segments, stem][-2:])}
            if stem in _PACKAGE_FILES or path.endswith(".go"):
                keys.add("/".join(segments[-2:]))
            for key in keys:
                self._by_key.setdefault(key, []).append(path)
            self._by_subject.setdefault(_subject(stem), []).append(path)

    def imported_files(self, path: str, line: str) -> Iterator[str]:
        """Yield the files that a line in a file imports, as far as they are in the repository."""
        for segments in _read_import(path, line):
            for end in range(len(segments), max(len(segments) - 3, 0), -1):
                if files := self._by_key.get("/".join(segments[:end][-2:])):
                    yield from [file for file in files if file != path]
                    break

    def tests_of(self, path: str) -> list[str]:
        """Return the tests of a file, or the files that a test is about, by their names."""
        stem = file_stem(path)
        return [
            other
            for other in self._by_subject.get(_subject(stem), ())
            if (file_stem(other) == stem) == is_test(path) and other != path
        ]


def file_stem(path: str) -> str:
    """Return the name of a file without its extension."""
    return (
        path.rpartition("/")[2].partition(".")[0]
        if path.rpartition("/")[2].count(".") < 2
        else path.rpartition("/")[2].rpartition(".")[0]
    )


def is_test(path: str) -> bool:
    """Return whether a file is a test, by its name."""
    return _subject(file_stem(path)) != file_stem(path)


def _subject(stem: str) -> str:
    return _TEST_AFFIX.sub("", stem) or stem


def _read_import(path: str, line: str) -> Iterator[list[str]]:
    """Yield what a line imports as the segments of a path; relative imports start at the directory of the file."""
    if not _IMPORT.match(line):
        return
    directory = path.rpartition("/")[0]
    if match := _FROM.match(line):
        names = [name.split(" as ")[0].strip(" ()\\") for name in match[2].split(",")]
        level = len(match[1]) - len(match[1].lstrip("."))
        parents = directory.split("/")[: len(directory.split("/")) - level + 1] if level else []
        module = [*parents, *[segment for segment in match[1].split(".") if segment]]
        yield from [[*module, name] for name in names if name] or [module]
    elif match := _QUOTED.search(line):
        target = match[1]
        resolved = resolve_relative(directory, target) if target.startswith(".") or "/" not in target else target
        segments = [segment for segment in (resolved or target).split("/") if segment not in ("", ".", "..", "@", "~")]
        yield [*segments[:-1], segments[-1].split(".")[0]] if segments else []
    elif match := _PLAIN.match(line):
        segments = [
            segment for segment in _SEPARATOR.split(match[1]) if segment and segment not in ("crate", "self", "super")
        ]
        yield segments if len(segments) > 1 else [directory.rpartition("/")[2], *segments]
        if len(segments) == 1:
            yield [file_stem(path), *segments]
