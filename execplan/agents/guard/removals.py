"""Commands that do no more than to delete or move the files that they name."""

from __future__ import annotations

from execplan.agents.guard.call import DELETE, WRITE, Edit
from execplan.agents.guard.content import Made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.guard.shell import Typed

_DELETES = (("rm",), ("git", "rm"), ("unlink",))
_MOVES = (("mv",), ("git", "mv"))
_FORCE, _QUIETLY = "-f", "-q"
_PATHSPEC = frozenset("*?[\\:")
"""What git takes for more than a name."""


def deleted(typed: Typed) -> tuple[Edit, ...]:
    """The files that a plain command deletes, if it does nothing else."""
    names = _named(typed, _DELETES)
    return tuple([Edit(name, DELETE) for name in names])


def moved(typed: Typed) -> tuple[str, str] | None:
    """The file that a plain command moves, and where to, if it does nothing else."""
    names = _named(typed, _MOVES)
    return (names[0], names[1]) if len(names) == 2 else None


def as_made(source: Made, target: Made) -> tuple[Made, Made]:
    """What a move makes of both ends."""
    return source._replace(kind=DELETE, after=None), target._replace(kind=WRITE, after=source.now)


def _named(typed: Typed, programs: Sequence[tuple[str, ...]]) -> Sequence[str]:
    """The files behind one of these programs; none where anything else stands there."""
    argv = typed.argv
    for words in programs:
        if argv[: len(words)] != words or typed.assigned:
            continue
        rest = argv[len(words) :]
        rest = rest[1:] if words == ("rm",) and rest[:1] == (_FORCE,) else rest
        rest = rest[1:] if words == ("git", "rm") and rest[:1] == (_QUIETLY,) else rest
        rest = rest[1:] if rest[:1] == ("--",) else rest
        git = words[0] == "git"
        if any([name.startswith("-") or (git and not _PATHSPEC.isdisjoint(name)) for name in rest]):
            return ()
        return rest
    return ()
