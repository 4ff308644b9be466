"""Changes of several files that one step can make: copies, moves, and a text that is replaced everywhere."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from execplan.core.text.pure_paths import is_inside
from execplan.execution.tried_changes.change_blocks import PLAIN_PATH
from execplan.execution.tried_changes.change_reader import TriedChange, TriedFile
from execplan.execution.tried_changes.tried_tree import TriedTree

_MIN_SIMILARITY = 0.6
"""Part of the lines that a moved file must have kept."""
_MAX_COMPARISONS = 10_000
"""Limit on pairs of files that are compared, which takes a fraction of a millisecond each."""
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")


class Transfer(NamedTuple):
    """A file or a directory that gets another path, or is also at another path."""

    origin: str
    target: str
    paths: tuple[str, ...]
    """The changed files that belong to it: of a move the old and the new paths."""


class SharedReplacement(NamedTuple):
    """A text that is replaced wherever it occurs in some files."""

    old: str
    new: str
    places: int
    """How often the text occurs in the files together."""
    paths: tuple[str, ...]


def find_copies(tried: TriedChange) -> Iterator[Transfer]:
    """Yield the new files that have the bytes of a file from before the change, and are not moved."""
    moved_paths = _pair_files(tried).values()
    for file in tried.files:
        if file.before is None and file.path in tried.copies and file.path not in moved_paths:
            yield Transfer(tried.copies[file.path], file.path, (file.path,))


def find_moves(tried: TriedChange) -> Iterator[Transfer]:
    """Yield the directories that are moved as a whole, and then the files that are moved alone."""
    pairs = _pair_files(tried)
    while pairs:
        old, new = next(iter(pairs.items()))
        transfer = _find_moved_directory(old, new, pairs, tried.base_paths) or Transfer(old, new, (old, new))
        for path in transfer.paths:
            pairs.pop(path, None)
        yield transfer


def _pair_files(tried: TriedChange) -> dict[str, str]:
    """Return the new path of each file that is moved: the removed file with the same bytes, or the most similar one."""
    removed = [file for file in tried.files if file.after is None and file.before]
    added = [file for file in tried.files if file.before is None and file.after]
    pairs: dict[str, str] = {}
    if len(removed) * len(added) > _MAX_COMPARISONS:
        return pairs
    rated = sorted(
        [(-_similarity(old, new), old.path, new.path) for old in removed for new in added],
    )
    for negative, old_path, new_path in rated:
        if -negative >= _MIN_SIMILARITY and old_path not in pairs and new_path not in pairs.values():
            pairs[old_path] = new_path
    return dict(sorted(pairs.items()))


def _similarity(old: TriedFile, new: TriedFile) -> float:
    """Return which part of the lines of two files is the same; above 1 for equal files, most for an equal name."""
    has_same_name = old.path.rpartition("/")[2] == new.path.rpartition("/")[2]
    if old.before == new.after:
        return 2 + has_same_name
    old_lines, new_lines = Counter((old.before or b"").split(b"\n")), Counter((new.after or b"").split(b"\n"))
    common, total = sum((old_lines & new_lines).values()), old_lines.total() + new_lines.total()
    return 2 * common / total


def _find_moved_directory(old: str, new: str, pairs: dict[str, str], base_paths: Sequence[str]) -> Transfer | None:
    """Return the outermost directory whose files are all moved like this one, at least two of them."""
    while old.rpartition("/")[2] == new.rpartition("/")[2] and "/" in old and "/" in new:
        old, new = old.rpartition("/")[0], new.rpartition("/")[0]
        if old == new:
            return None
        inner = [path for path in base_paths if is_inside(path, old)]
        is_whole = all([pairs.get(path) == new + path[len(old) :] for path in inner])
        is_new = not any([is_inside(path, new) for path in base_paths])
        if is_whole and is_new and len(inner) > 1 and not is_inside(new, old):
            outer = _find_moved_directory(old, new, pairs, base_paths)
            return outer or Transfer(old, new, tuple([name for path in inner for name in (path, pairs[path])]))
    return None


def find_replacements(tree: TriedTree, files: Sequence[TriedFile]) -> Iterator[SharedReplacement]:
    """Yield the texts whose replacement makes the whole change of several files."""
    paths_of: dict[tuple[str, str], list[str]] = defaultdict(list)
    counts: dict[str, int] = {}
    for file in files:
        before = tree.data(file.path)
        pair = _replaced_text(before, file.after) if before is not None and file.after is not None else None
        if pair is not None and before is not None and PLAIN_PATH.fullmatch(file.path):
            paths_of[pair].append(file.path)
            counts[file.path] = before.count(pair[0].encode())
    for (old, new), paths in sorted(paths_of.items()):
        if len(paths) > 1:
            yield SharedReplacement(old, new, sum([counts[path] for path in paths]), tuple(paths))


def _replaced_text(before: bytes, after: bytes) -> tuple[str, str] | None:
    """Return the word that is replaced by another one everywhere in a file, if nothing else is changed."""
    try:
        old_lines, new_lines = before.decode().split("\n"), after.decode().split("\n")
    except UnicodeDecodeError:
        return None
    if len(old_lines) != len(new_lines):
        return None
    pairs = set()
    for old_line, new_line in zip(old_lines, new_lines, strict=True):
        if old_line != new_line:
            old_tokens, new_tokens = _TOKEN.findall(old_line), _TOKEN.findall(new_line)
            if len(old_tokens) != len(new_tokens):
                return None
            pairs |= {pair for pair in zip(old_tokens, new_tokens, strict=True) if pair[0] != pair[1]}
        if len(pairs) > 1:
            return None
    (pair,) = pairs or {("", "")}
    is_complete = pair[0] and before.replace(pair[0].encode(), pair[1].encode()) == after
    return pair if is_complete and not pair[0].isspace() else None
