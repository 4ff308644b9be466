"""Files outside the plans that name a plan which moves: they are found, reported, and rewritten if that is wanted."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.plan.retarget import respelled
from execplan.record import NamedTuple
from execplan.repo.homes import belongings
from execplan.repo.moving.references import spellings
from execplan.text import disk, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Final

    from execplan.plan.retarget import Spelling
    from execplan.repo.home import Home

    Moves = Sequence[tuple[str, str]]
    Agrees = Callable[[Sequence["Mention"]], bool]

DOCUMENTS: Final = (".md", ".markdown", ".mdx", ".rst", ".adoc", ".txt")
"""The endings of files that may be rewritten; others, such as source code, are only reported."""
_MOST = 1 << 20
"""Bytes of the largest file that is looked into."""
_NAMED = 5
"""Files that a warning names."""


class Mention(NamedTuple):
    """A file that names what moves."""

    path: str
    """From the root of the repository."""
    lines: tuple[int, ...]
    """Counted from 1."""
    is_document: bool
    old: bytes
    new: bytes
    """What it would hold."""


def mentions(home: Home, moves: Moves) -> list[Mention]:
    """The files outside the plans that name a path which moves, tracked or not; raises ExecplanError."""
    names = list(dict.fromkeys([os.path.basename(old) for old, _ in moves]))
    own = (*belongings(home), home.shown(os.path.join(home.base, ".agent/.state")) + "/")
    found = []
    for path in _naming(home, names):
        if not path.startswith(own):
            mention = _mention(home, path, moves)
            if mention is not None:
                found.append(mention)
    return found


class Rewritten(NamedTuple):
    """The documents that were rewritten."""

    paths: tuple[str, ...]
    """From the root of the repository."""
    before: dict[str, bytes]
    """What those held that belong to the commit, by absolute path."""
    warnings: tuple[str, ...]


def rewrite(home: Home, found: Sequence[Mention], *, commits: bool) -> Rewritten:
    """Rewrite the documents; one with changes of the user's own is left out of a commit. Raises ExecplanError."""
    documents = [each for each in found if each.is_document]
    dirty: set[str] = set()
    if commits and documents:
        from execplan.repo import git

        dirty = set(git.pending(home, [os.path.join(home.root, each.path) for each in documents]))
    done, before, warnings = [], {}, []
    for each in documents:
        path = os.path.join(home.root, each.path)
        try:
            files.replace(path, each.old, each.new, within=home.root)
        except ExecplanError as error:
            warnings.append(f"{each.path} still names the old path: {error.message}")
            continue
        done.append(each.path)
        if each.path in dirty:
            warnings.append(f"{each.path} has changes of yours: it was rewritten, and is not in the commit")
        else:
            before[path] = each.old
    return Rewritten(tuple(done), before, tuple(warnings))


def warning(found: Sequence[Mention], command: str) -> tuple[str, ...]:
    """A warning about files that name an old path, with the command that rewrites the documents among them."""
    documents, others = [[each for each in found if each.is_document is kind] for kind in (True, False)]
    told = []
    if documents:
        way = f"; to rewrite {'it' if len(documents) == 1 else 'them'}: {command}" if command else ""
        told.append(f"{_places(documents)}{way}")
    if others:
        told.append(f"{_places(others)}; change {'it' if len(others) == 1 else 'them'} by hand")
    return tuple(told)


def _places(found: Sequence[Mention]) -> str:
    shown = [f"{each.path}:{each.lines[0]}" for each in found[:_NAMED]]
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    verb = "names" if len(found) == 1 else "name"
    return f"{', '.join(shown)}{more} {verb} the old path"


def _naming(home: Home, names: Sequence[str]) -> Iterator[str]:
    """The files that hold one of some names, from the root of the repository."""
    from execplan.repo import ask

    words = [part for name in names for part in ("-e", name)]
    try:
        found = ask.answer(home, "grep", "-lzIF", "--untracked", *words, "--", ":/", no=1) or b""
    except ExecplanError:  # no repository, or no git
        from execplan.repo.adoption import tree

        for folder, _, entries in tree.walk(home.base):
            paths = [os.path.join(folder, name) for name in entries if name.endswith(DOCUMENTS)]
            yield from [home.shown(path) for path in paths]
        return
    yield from [os.fsdecode(each) for each in found.split(b"\0") if each]


def _mention(home: Home, path: str, moves: Moves) -> Mention | None:
    """How a file names what moves, None if it does not; so it is for one that can't be read."""
    absolute = os.path.join(home.root, path)
    try:
        if os.path.islink(absolute):
            return None
        data, size = disk.read(absolute, _MOST)
    except ExecplanError:
        return None
    if size > _MOST:
        return None
    folder = os.path.dirname(absolute)
    ways = sorted(spellings(home, moves, folder, folder), key=lambda each: -len(each.old))
    new, lines = _rewritten(data, ways)
    if new == data:
        return None
    return Mention(path, tuple(lines), path.lower().endswith(DOCUMENTS), data, new)


def _rewritten(data: bytes, ways: list[Spelling]) -> tuple[bytes, list[int]]:
    """The bytes with the new paths, and the lines that differ."""
    parts, changed = [], []
    for number, line in enumerate(data.split(b"\n"), 1):
        text = line.decode("utf-8", "surrogateescape")
        told = respelled(text, ways)
        parts.append(told.encode("utf-8", "surrogateescape"))
        if told != text:
            changed.append(number)
    return b"\n".join(parts), changed
