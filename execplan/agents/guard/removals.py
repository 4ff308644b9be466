"""Commands that do no more than to delete or move the files that they name."""

from __future__ import annotations

from execplan.agents.guard.call import DELETE, WRITE, FileEdit
from execplan.agents.guard.content import FileChange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.guard.shell import TypedCommand

_DELETES = (("rm",), ("git", "rm"), ("unlink",))
_MOVES = (("mv",), ("git", "mv"))
_FORCE_FLAG, _QUIET_FLAG = "-f", "-q"
_PATHSPEC_CHARS = frozenset("*?[\\:")
"""What git takes for more than a name."""


def parse_deletions(typed_command: TypedCommand) -> tuple[FileEdit, ...]:
    """The files that a plain command deletes, if it does nothing else."""
    names = _path_operands(typed_command, _DELETES)
    return tuple([FileEdit(name, DELETE) for name in names])


def parse_move(typed_command: TypedCommand) -> tuple[str, str] | None:
    """The file that a plain command moves, and where to, if it does nothing else."""
    names = _path_operands(typed_command, _MOVES)
    return (names[0], names[1]) if len(names) == 2 else None


def move_changes(source: FileChange, target: FileChange) -> tuple[FileChange, FileChange]:
    """What a move makes of both ends."""
    return source._replace(kind=DELETE, new_data=None), target._replace(kind=WRITE, new_data=source.current_data)


def _path_operands(typed_command: TypedCommand, programs: Sequence[tuple[str, ...]]) -> Sequence[str]:
    """The files behind one of these programs; none where anything else stands there."""
    argv = typed_command.argv
    for program in programs:
        if argv[: len(program)] != program or typed_command.assigned:
            continue
        operands = argv[len(program) :]
        operands = operands[1:] if program == ("rm",) and operands[:1] == (_FORCE_FLAG,) else operands
        operands = operands[1:] if program == ("git", "rm") and operands[:1] == (_QUIET_FLAG,) else operands
        operands = operands[1:] if operands[:1] == ("--",) else operands
        is_git = program[0] == "git"
        if any([name.startswith("-") or (is_git and not _PATHSPEC_CHARS.isdisjoint(name)) for name in operands]):
            return ()
        return operands
    return ()
