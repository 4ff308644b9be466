"""`install guard`: a hook of Claude Code and of Codex that hands every call of a tool to `execplan guard` before it is made."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from execplan.agents import hook_entry as entries
from execplan.agents import hook_file
from execplan.agents.hook_file import NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.change import Planned
    from execplan.agents.hook_file import Ahead, File
    from execplan.repo.home import Home

WHAT = "guard"
TIMEOUT = 30
"""Seconds that the programs wait; the guard itself gives up, and denies, after twenty."""
_LINE = (
    "sh -c 'execplan guard --program {program} || "
    f"{{{{ echo execplan guard did not allow this call >&2; exit 2; }}}} {entries.GUARD.mark}'"
)
"""Any status but 0 and 2 lets a call through: so what is not found, crashes or is killed ends in 2 as well."""
BOUND = (
    "from now on an agent that is started in the root of the repository may read in it, and do what an approved plan says, "
    "and no more; what that means, and where it ends: execplan explain guard"
)
ABSENT = "execplan is not on PATH; where the program does not find it either, every call is denied"
_MORE: dict[str, dict[str, Any]] = {"claude": {"onFailure": "block"}, "codex": {}}
"""What the entry of a program says besides."""


def command(program: str) -> dict[str, Any]:
    """The entry of a program."""
    line = _LINE.format(program=program)
    return {"type": "command", "command": line, "timeout": TIMEOUT, **_MORE[program]}


def install(home: Home, *, force: bool, programs: Sequence[str] = (), ahead: Ahead = NOTHING) -> Planned:
    """Add the hook for the programs, or renew it; without any for those that are at home here. Raises ExecplanError."""
    chosen = hook_file.chosen(home, programs)
    planned = hook_file.install([open_file(home, name, ahead) for name in chosen], force=force)
    warnings = list(planned.warnings)
    if any([change.action != "kept" for change in planned.changes]):
        warnings += [BOUND, *([hook_file.TRUST] if "codex" in chosen else [])]
    if shutil.which("execplan") is None:
        warnings.append(ABSENT)
    return planned._replace(warnings=tuple(warnings))


def uninstall(home: Home, *, force: bool, programs: Sequence[str] = (), ahead: Ahead = NOTHING) -> Planned:
    """Take the hook out for the programs, without any for all; raises ExecplanError."""
    chosen = programs or hook_file.PROGRAMS
    return hook_file.uninstall(
        home, WHAT, chosen, [entries.GUARD], lambda name: open_file(home, name, ahead), ahead, force=force
    )


def open_file(home: Home, program: str, ahead: Ahead = NOTHING) -> File:
    """The file of a program as it is, or will be; raises ExecplanError."""
    return hook_file.open_file(home, WHAT, program, [(entries.GUARD, command(program))], ahead)
