"""Where the ledger of a plan lies, what it is called, and whether it has what its anchor knows."""

from __future__ import annotations

import os

from execplan.engine.journal import merged
from execplan.engine.ledger import anchor, chain
from execplan.engine.ledger.file import LIMIT, File
from execplan.repo import belongings, shelf
from execplan.repo.home import check_inside
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.engine.ledger.anchor import Anchor
    from execplan.engine.ledger.chain import Record
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

NAME: Final = "ledger.jsonl"


def path_of(home: Home, ref: Ref) -> str:
    """The file of a plan's ledger, whether it is there or not."""
    return os.path.join(home.artifacts_of(ref.path, archived=ref.archived), NAME)


def opened(home: Home, ref: Ref) -> File:
    """The file of a plan's ledger, to be held open under its lock; raises ExecplanError."""
    return File(home, path_of(home, ref), f"the ledger of {ref.id}", copy_of(home, ref))


def copy_of(home: Home, ref: Ref) -> str:
    """The copy of a ledger in the state, whether it is there or not."""
    return os.path.join(belongings.folder(home, ref.path), NAME)


def may_come_back(home: Home, ref: Ref) -> bool:
    """Whether a ledger that is broken may be brought back from its copy; raises ExecplanError."""
    path = copy_of(home, ref)
    return os.path.lexists(path) and is_spoiled(read(home, ref), disk.read(path, LIMIT)[0])


def is_spoiled(data: bytes, copy: bytes) -> bool:
    """Whether this is what a step has made of a ledger: it was cut off, removed, edited or added to.

    A record that the copy does not have was made elsewhere, and then somebody has chosen between two branches, or is to.
    """
    known = {each.hash for each in chain.walk(copy).records}
    foreign = any([each.hash not in known for each in chain.walk(data).records])
    return data != copy and not foreign and not any(map(merged, data.split(b"\n")))


def read(home: Home, ref: Ref) -> bytes:
    """All that the file holds, a torn last line too; nothing where there is none. Raises ExecplanError."""
    path = path_of(home, ref)
    if not os.path.lexists(path):
        return b""
    check_inside(home, path)
    data, size = disk.read(path, LIMIT)
    if size > LIMIT:
        raise anchor.broken(home.shown(path), ref.typed, f"it has {size:,} bytes: no ledger is as long as that")
    return data


def records(home: Home, ref: Ref) -> list[Record]:
    """The records of a plan's ledger that can be read; raises ExecplanError."""
    data = read(home, ref)
    return chain.walk(data[: data.rfind(b"\n") + 1]).records


def first(home: Home, ref: Ref) -> str:
    """What the ledger of a plan is called that has none yet: as the plan, below its home where that is not the root."""
    return os.path.normpath(os.path.join(os.path.relpath(home.base, home.root), ref.id))


def free(home: Home, ref: Ref) -> str:
    """As `first`, or with a number behind it where another plan, which was renamed since, has that ledger."""
    name, number = first(home, ref), 1
    while (found := anchor.get(home, name)) is not None and _has_owner(home, ref, name, found):
        number += 1
        name = f"{first(home, ref)}-{number}"
    return name


def walk(data: bytes, known: Anchor | None) -> chain.Walked:
    """The whole lines of a ledger, read from the first to the last, with what its anchor knows."""
    return chain.walk(data, anchored=max(chain.behind(data, known.hash), 0) if known is not None else None)


def lost(data: bytes, known: Anchor) -> str:
    """Why a ledger does not have the record that its anchor knows; nothing where it has."""
    if not known.seq:
        return "its anchor can't be read"
    if chain.behind(data, known.hash) >= 0:
        return ""
    if not data:
        return f"it is gone, and its anchor knows {known.seq} records"
    why = "its end was cut off, it was replaced, or it is that of another branch"
    return f"record {known.seq}, which its anchor knows, is not there: {why}"


def _has_owner(home: Home, ref: Ref, name: str, known: Anchor) -> bool:
    others = [read(home, each) for each in shelf.every(home) if each.path != ref.path]
    return any([chain.name_of(data) == name and not lost(data, known) for data in others if data])
