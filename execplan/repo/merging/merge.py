"""Three versions of a plan merged, with git's own merge for the lines of its prose."""

from __future__ import annotations

import os

from execplan.errors import About
from execplan.plan.merging.whole import Marks, Merged, merge
from execplan.plan.reader import MAX_BYTES, decode, too_large
from execplan.repo.merging import mergefile
from execplan.text import disk, files

_LARGEST = 1 << 30
"""Bytes of a file that is written over; a plan has far less."""


def three(base: bytes, ours: bytes, theirs: bytes, marks: Marks) -> Merged:
    """The plan that two sides made of a base, which is empty when both added it; raises ExecplanError."""
    return merge(base or None, ours, theirs, mergefile.lines, marks)


def of_files(base: str, ours: str, theirs: str) -> tuple[Merged, bytes]:
    """The plans in three files merged, each side called by its file, and what ours holds; raises ExecplanError."""
    was = b"" if base == os.devnull else _read(base, empty=True)
    own, other = _read(ours), _read(theirs)
    return three(was, own, other, Marks(ours=_label(ours), theirs=_label(theirs))), own


def _read(path: str, *, empty: bool = False) -> bytes:
    """The bytes of a plan, which only a base may lack; raises ExecplanError."""
    with About(path):
        data, size = disk.read(path, MAX_BYTES)
        if size > MAX_BYTES:
            raise too_large(size)
        if data.strip() or not empty:
            decode(data)
    return data


def _label(path: str) -> str:
    return "".join([char if char.isprintable() else "?" for char in path])


def put(path: str, data: bytes, *, dry_run: bool) -> tuple[bool, str]:
    """Write a file, made or replaced whole; whether it changes, and in a dry run how. Raises ExecplanError."""
    from execplan.repo import homes, state
    from execplan.repo.amend import diff

    old = _held(path)
    if dry_run:
        return old != data, diff(old or b"", data, path) if old != data else ""
    home = homes.find(os.path.dirname(os.path.abspath(path)))
    if not home.exists:
        return files.again(lambda: _write(path, data), path), ""
    with state.lock(home, os.path.realpath(path), f"merge into {home.shown(path)}"):
        return files.again(lambda: _write(path, data), path), ""


def _held(path: str) -> bytes | None:
    return disk.read(path, _LARGEST)[0] if os.path.lexists(path) else None


def _write(path: str, data: bytes) -> bool:
    old = _held(path)
    if old is None and not files.create(path, data):
        raise disk.ChangedMeanwhileError(path)
    if old is not None and old != data:
        files.replace(path, old, data)
    return old != data
