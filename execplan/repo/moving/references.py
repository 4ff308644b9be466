"""How plans name another plan and its artifacts: from the root, from the home, or from where they lie themselves."""

from __future__ import annotations

import os

from execplan.errors import ENVIRONMENT
from execplan.plan.retarget import Spelling, retarget, rewritten
from execplan.repo import shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from execplan.plan.change import Changer
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def follow(home: Home, moves: Sequence[tuple[str, str]], ids: tuple[str, str], before: str, after: str) -> Changer:
    """The change that lets a plan name the new places; it lies in folder `before`, and in `after` from now on.

    Moves are absolute paths, old and new; `ids` are the id before and the id after.
    """
    found = spellings(home, moves, before, after)
    if ids[0] != ids[1] and _is_distinct(ids[0]):
        found.append(Spelling(ids[0], ids[1], False))
    return retarget(found)


def spellings(home: Home, moves: Sequence[tuple[str, str]], before: str, after: str) -> list[Spelling]:
    """Every way in which a file in a folder may write the old paths, each with the new one."""
    found: dict[str, Spelling] = {}
    for old, new in moves:
        is_path = not old.endswith(".md")
        for start, end in ((home.root, home.root), (home.base, home.base), (before, after)):
            told = os.path.relpath(new, end)
            for said in _ways(old, start, home.root):
                lead = "/" if said.startswith("/") else "./" if said.startswith("./") and told[:3] != "../" else ""
                for one, two in ((said, lead + told), (_quoted(said), _quoted(lead + told))):
                    if one != two:
                        found.setdefault(one, Spelling(one, two, is_path))
    return list(found.values())


def _ways(path: str, start: str, root: str) -> list[str]:
    """How a path may be written that counts from a folder, also by way of the folders above it."""
    said = os.path.relpath(path, start)
    ways = [said, *([f"/{said}"] if start == root else []), *([f"./{said}"] if said[:3] != "../" else [])]
    up = ""
    while start.startswith(root + "/"):
        start, up = os.path.dirname(start), up + "../"
        ways.append(up + os.path.relpath(path, start))
    return ways


def carry(moves: Sequence[tuple[str, str]], before: str, after: str) -> Changer:
    """The change that lets the links of a plan lead where they led, when it moves from one folder to another itself."""

    def relinked(link: re.Match[str]) -> str:
        path, mark, rest = re.split(r"([?#]|$)", link[2], maxsplit=1)
        target = os.path.normpath(os.path.join(before, unquote(path)))
        if not path or path.startswith("/") or ":" in path or not os.path.lexists(target):
            return link[0]
        for old, new in moves:
            if target == old or target.startswith(old + "/"):
                target = new + target[len(old) :]
                break
        told = os.path.relpath(target, after)
        if os.path.normpath(path) != told:
            path = _quoted(told) if path == _quoted(unquote(path)) else told
        return link[1] + path + mark + rest

    import re
    from urllib.parse import unquote

    link = re.compile(r"(\]\(<?)([^()\s<>]+)")
    return rewritten(lambda text: link.sub(relinked, text) if "](" in text else text)


def naming(home: Home, ref: Ref, moves: Sequence[tuple[str, str]]) -> list[Ref]:
    """The other plans that may name what moved, those of the archive too; a plan that can't be read names nothing."""
    names = {os.fsencode(os.path.basename(old).removesuffix(".md")) for old, _ in moves}
    names |= {_quoted(os.fsdecode(name)).encode() for name in names}
    found = []
    for other in shelf.every(home):
        if other.real != ref.real:
            shelved = shelf.load(home, other)
            refused = shelved.error is not None and shelved.error.exit == ENVIRONMENT  # who rewrites it will tell
            if refused or any([name in shelved.data for name in names]):
                found.append(other)
    return found


def _is_distinct(name: str) -> bool:
    """Whether an id is more than a word that plans may use for something else."""
    return any([char.isdigit() for char in name]) and any([char in "-_" for char in name])


def _quoted(path: str) -> str:
    """A path as a link holds it."""
    from urllib.parse import quote

    return quote(path, safe="/-_.~", errors="surrogateescape")
