"""A change, as far as triage looks at it: its files, of which kind they are, and in which parts of the repository they lie."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.context.triage.table import Kind, Table

ROOT = "."
"""The part in which files lie that are in no folder."""
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Changed(NamedTuple):
    """A file that is added, changed or removed."""

    path: str
    """From the root of the repository."""
    added: int = 0
    """Lines; none of a file that is no text."""
    removed: int = 0


class Changes(NamedTuple):
    """What a change comes to."""

    files: int
    """All of them."""
    added: int
    removed: int
    lines: int
    """Added and removed, without generated files."""
    sources: tuple[str, ...]
    """The files that are neither tests nor prose nor generated."""
    parts: tuple[str, ...]
    """Where the sources lie."""
    kinds: tuple[tuple[Kind, tuple[str, ...]], ...]
    """Each kind of file that says something, with the files."""
    untested: int
    """Lines of source, where no test is changed."""


def summed(changed: Iterable[Changed], table: Table) -> Changes:
    """What some files come to."""
    files = sorted(set(changed))
    of = {each.path: kind_of(each.path, table) for each in files}
    kinds = [(kind, tuple([path for path, own in of.items() if own == kind])) for kind in table.kinds]
    counted = [each for each in files if _counts(of[each.path])]
    sources = [each for each in counted if not _is_aside(of[each.path])]
    tested = any([kind is not None and kind.is_test for kind in of.values()])
    parts = {part_of(each.path, table) for each in sources}
    return Changes(
        len(files),
        sum([each.added for each in files]),
        sum([each.removed for each in files]),
        _lines(counted),
        tuple([each.path for each in sources]),
        tuple(sorted(parts)),
        tuple([(kind, paths) for kind, paths in kinds if paths]),
        0 if tested else _lines(sources),
    )


def _lines(files: Sequence[Changed]) -> int:
    return sum([each.added + each.removed for each in files])


def _counts(kind: Kind | None) -> bool:
    return kind is None or kind.counted


def _is_aside(kind: Kind | None) -> bool:
    """Whether files of a kind go with the sources, and are none."""
    return kind is not None and (kind.is_test or kind.is_prose)


def kind_of(path: str, table: Table) -> Kind | None:
    """The first kind that a file is of."""
    *folders, name = path.split("/")
    lower = [each.lower() for each in folders]
    words = {word.lower() for each in (*folders, name) for word in _WORDS.findall(each)}
    for kind in table.kinds:
        if any([each in lower for each in kind.folders]) or any([fnmatchcase(name, each) for each in kind.files]):
            return kind
        if not words.isdisjoint(kind.names):
            return kind
    return None


def part_of(path: str, table: Table) -> str:
    """The part of the repository in which a file lies: its first folder that is none that only holds others."""
    folders = path.split("/")[:-1]
    for at, folder in enumerate(folders):
        if folder.lower() not in table.containers:
            return "/".join(folders[: at + 1])
    return "/".join(folders) or ROOT


def parts_of(paths: Iterable[str], table: Table) -> dict[str, str]:
    """The parts of a repository, by the word that each is called by; ordinary words are no names."""
    found: dict[str, str] = {}
    for path in sorted(paths):
        part = part_of(path, table)
        name = part.rpartition("/")[2].lower()
        if len(name) > 2 and name.isalpha() and name not in table.ordinary and name not in table.containers:
            found.setdefault(name, part)
    return found
