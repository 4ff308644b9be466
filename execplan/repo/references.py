"""How plans name another plan and its artifacts: from the root, from the home, or from where they lie themselves."""

from __future__ import annotations

import os

from execplan.plan.retarget import Spelling, retarget
from execplan.repo import shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.change import Changer
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def follow(home: Home, moves: Sequence[tuple[str, str]], ids: tuple[str, str], before: str, after: str) -> Changer:
    """The change that lets a plan name the new places; it lies in folder `before`, and in `after` from now on.

    Moves are absolute paths, old and new; `ids` are the id before and the id after.
    """
    spellings: dict[str, Spelling] = {}
    for old, new in moves:
        is_path = not old.endswith(".md")
        for start, end in ((home.root, home.root), (home.base, home.base), (before, after)):
            said, told = os.path.relpath(old, start), os.path.relpath(new, end)
            for lead in ("", "./") if not said.startswith(".") or start == before else ("",):
                for one, two in ((said, told), (_quoted(said), _quoted(told))):
                    if one != two:
                        spellings.setdefault(lead + one, Spelling(lead + one, lead + two, is_path))
    if ids[0] != ids[1] and _is_distinct(ids[0]):
        spellings.setdefault(ids[0], Spelling(ids[0], ids[1], False))
    return retarget(list(spellings.values()))


def naming(home: Home, ref: Ref, moves: Sequence[tuple[str, str]]) -> list[Ref]:
    """The other plans that may name what moved, those of the archive too; a plan that can't be read names nothing."""
    names = {os.fsencode(os.path.basename(old).removesuffix(".md")) for old, _ in moves}
    names |= {_quoted(os.fsdecode(name)).encode() for name in names}
    found = []
    for other in shelf.every(home):
        if os.path.realpath(other.path) != os.path.realpath(ref.path):
            data = shelf.load(home, other).data
            if any([name in data for name in names]):
                found.append(other)
    return found


def _is_distinct(name: str) -> bool:
    """Whether an id is more than a word that plans may use for something else."""
    return any([char.isdigit() for char in name]) and any([char in "-_" for char in name])


def _quoted(path: str) -> str:
    """A path as a link holds it."""
    from urllib.parse import quote

    return quote(path, safe="/-_.~", errors="surrogateescape")
