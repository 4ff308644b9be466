"""What has changed in a plan since it had a digest that somebody saw."""

from __future__ import annotations

import os

from execplan.errors import CHANGED, ExecplanError
from execplan.repo import shelf
from execplan.repo.edits import journal
from execplan.repo.edits.entries import Journaled, read_all
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

_MOST = 20
"""Lines of the difference that a refusal shows."""


def check_match(home: Home, ref: Ref, seen: str | None, data: bytes | None = None) -> None:
    """Refuse when the plan is not the one that the caller has seen, and say what changed; raises ExecplanError."""
    if seen is None:
        return
    data = shelf.open_bytes(home, ref.path) if data is None else data
    if digest(data) == seen.lower():
        return
    lines = _lines(home, ref, data, seen.lower())
    raise ExecplanError(
        "digest-differs",
        f"{home.shown(ref.path)} has changed: its digest is {digest(data)}, not {seen}",
        exit=CHANGED,
        hint=f"read it again: execplan show {ref.typed} --json",
        candidates=lines,
    )


def _lines(home: Home, ref: Ref, data: bytes, seen: str) -> list[str]:
    """The edits and the lines that came since; where nobody knows that version, only the last edit."""
    every = journal.edits(home, ref.path)
    edits = [edit for edit in every if edit.made]
    told = [f"{edit.moment.replace('T', ' ')}: {edit.summary}" for edit in edits]
    found = next(_before(edits, read_all(every), seen), None)
    since = told[-1:] if found is None else told[found[0] :]
    old = found[1] if found is not None else _committed(home, ref, seen)
    if old is None:
        return [*since, "what that digest is of is neither in the journal nor the commit that is checked out"]
    from difflib import unified_diff

    before, now = [each.decode("utf-8", "backslashreplace").splitlines() for each in (old, data)]
    diff = [line.rstrip("\n") for line in unified_diff(before, now, n=0)][2:]
    return since + diff[:_MOST] + ([f"and {len(diff) - _MOST} more lines"] if len(diff) > _MOST else [])


def _before(edits: list[Journaled], both: dict[int, tuple[bytes, bytes]], seen: str) -> Iterator[tuple[int, bytes]]:
    """The version with the digest that the journal has, the newest first, with how many edits came before it."""
    for number in range(len(edits), 0, -1):
        for back, text in enumerate(reversed(both.get(edits[number - 1].number, ()))):
            if digest(text) == seen:
                yield number - back, text


def _committed(home: Home, ref: Ref, seen: str) -> bytes | None:
    """The version with the digest, if it is the one of the commit that is checked out."""
    from execplan.repo import ask

    name = os.path.relpath(ref.real, home.root)
    try:
        data = ask.output(home, "cat-file", "blob", f"HEAD:{name}")
    except ExecplanError:
        return None
    return data if digest(data) == seen else None
