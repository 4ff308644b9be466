"""How long the journal of a plan remembers: no edit is forgotten before it was seen in a commit, or undone."""

from __future__ import annotations

import os

from execplan.repo import past, shelf
from execplan.repo.edits import journal, texts
from execplan.repo.edits.entries import FOLLOW, number_of, parse, read_all
from execplan.repo.edits.log import read_lines
from execplan.repo.edits.losses import look
from execplan.repo.edits.moved import left_by
from execplan.repo.edits.stack import stack_of
from execplan.trace import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.repo.edits.entries import Journaled
    from execplan.repo.home import Home

_STEP = 8
"""The journal is looked at again after it has grown by this part of its limit."""


def shorten(home: Home, path: str, size: int) -> None:
    """Drop the oldest entries of a journal above its limit that need not be kept; it had this size before the last one.

    The plan's lock is held. Raises ExecplanError and OSError, with the journal as it was.
    """
    file = journal.path_of(home, path)
    step = max(journal.MAX_BYTES // _STEP, 1)
    if os.path.getsize(file) // step == size // step and size > journal.MAX_BYTES:
        return
    lines = read_lines(file)
    entries = parse(lines)
    both = read_all(entries)
    free = _forgettable(home, path, entries, both)
    excess = os.path.getsize(file) - journal.MAX_BYTES * 3 // 4
    sizes: dict[int, int] = {}
    for line in lines:
        sizes[number_of(line)] = sizes.get(number_of(line), 0) + len(line) + 1
    dropped: set[int] = set()
    for entry in entries[:free]:
        if excess <= 0:
            break
        dropped.add(entry.number)
        excess -= sizes[entry.number]
    if dropped:
        _rewrite(file, lines, dropped, next((each for each in entries if each.number not in dropped), None), both)
        tell(f"shortened {file} by {len(dropped)} entries")


def _forgettable(home: Home, path: str, entries: Sequence[Journaled], both: dict[int, tuple[bytes, bytes]]) -> int:
    """How many of the oldest entries were seen in a commit, or are undone; the last one is kept."""
    stack = stack_of(entries)
    counts = {step.latest.number for step in stack.done} | {step.operation.number for step in stack.done}
    counts |= {each.number for each in entries if each.made and each.kind == FOLLOW}
    seen = _seen(home, path, entries, both)
    lost = _first_lost(home, path) if seen else None
    for at, entry in enumerate(entries[:-1]):
        if entry.number == lost or (at >= seen and entry.number in counts):
            return at
    return max(len(entries) - 1, 0)


def _seen(home: Home, path: str, entries: Sequence[Journaled], both: dict[int, tuple[bytes, bytes]]) -> int:
    """How many of the oldest entries came before a text that a commit holds; raises ExecplanError."""
    if home.git is None:
        return 0
    root = os.path.realpath(home.root)
    places = [os.path.relpath(os.path.realpath(each), root) for each in (path, *left_by(home, path))]
    blobs = past.blobs(home, [each for each in places if not each.startswith("../")])
    if not blobs:
        return 0
    for at in range(len(entries) - 1, -1, -1):
        old, new = both.get(entries[at].number, (None, None))
        for count, text in ((at + 1, new if entries[at].made else None), (at, old)):
            if text is not None and not blobs.isdisjoint(past.blob_ids(text)):
                return count
    return 0


def _first_lost(home: Home, path: str) -> int | None:
    """The number of the oldest edit that another program has overwritten; raises ExecplanError."""
    found = look(home, shelf.by_file(home, path)).lost
    return found[0].number if found else None


def _rewrite(
    file: str, lines: list[str], dropped: set[int], first: Journaled | None, both: dict[int, tuple[bytes, bytes]]
) -> None:
    """Write the journal again without some entries; the texts of the first that stays are stored whole."""
    kept = [line for line in lines if line.startswith("left ") or number_of(line) not in dropped]
    if first is not None and first.number in both:
        at = next((at for at, line in enumerate(kept) if line.startswith(f"op {first.number} ")), None)
        if at is not None:
            words = kept[at].split(" ")
            words[11:13] = ["0", texts.whole(*both[first.number])]
            kept[at] = " ".join(words)
    temporary = f"{file}.new"
    with open(temporary, "w", encoding="utf-8") as written:
        written.write("".join([f"{line}\n" for line in kept]))
    os.replace(temporary, file)
