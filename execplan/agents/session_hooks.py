"""`install session-hooks`: Claude Code and Codex tell every session where the plan stands, by `execplan prime`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from execplan.agents import hook_file
from execplan.agents.hook_entry import COMPACTION, SESSION
from execplan.agents.hook_file import NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.change import Planned
    from execplan.agents.hook_entry import Hook
    from execplan.agents.hook_file import Ahead, File
    from execplan.repo.home import Home

WHAT = "session-hooks"
TIMEOUT = 20
"""Seconds that the programs wait; it takes a tenth of one."""
HOOKS = {"claude": (SESSION, COMPACTION), "codex": (SESSION,)}
"""When the programs ask. What is printed before a compaction goes to whoever sums up in Claude Code, and nowhere in Codex; in
both a session begins anew behind it."""
EVERY = (SESSION, COMPACTION)
_LINE = "sh -c 'execplan prime --hook {program} || : {mark}'"
"""It always ends with 0: without execplan a session begins without a word, and any other status would stop a compaction."""
ABSENT = "execplan is not on PATH; where the program does not find it either, a session is told nothing"


def command(program: str, hook: Hook) -> dict[str, Any]:
    """An entry of a program."""
    return {"type": "command", "command": _LINE.format(program=program, mark=hook.mark), "timeout": TIMEOUT}


def install(home: Home, *, force: bool, programs: Sequence[str] = (), ahead: Ahead = NOTHING) -> Planned:
    """Add the hooks for the programs, or renew them; without any for those that are at home here. Raises ExecplanError."""
    chosen = hook_file.chosen(home, programs)
    planned = hook_file.install([open_file(home, name, ahead) for name in chosen], force=force)
    warnings = list(planned.warnings)
    if "codex" in chosen and any([change.action != "kept" for change in planned.changes]):
        warnings.append(hook_file.TRUST)
    if shutil.which("execplan") is None:
        warnings.append(ABSENT)
    return planned._replace(warnings=tuple(warnings))


def uninstall(home: Home, *, force: bool, programs: Sequence[str] = (), ahead: Ahead = NOTHING) -> Planned:
    """Take the hooks out for the programs, without any for all; raises ExecplanError."""
    chosen = programs or hook_file.PROGRAMS
    return hook_file.uninstall(home, WHAT, chosen, EVERY, lambda name: open_file(home, name, ahead), ahead, force=force)


def open_file(home: Home, program: str, ahead: Ahead = NOTHING) -> File:
    """The file of a program as it is, or will be; raises ExecplanError."""
    return hook_file.open_file(home, WHAT, program, [(hook, command(program, hook)) for hook in HOOKS[program]], ahead)
