"""`install guard`: a hook of Claude Code and of Codex that hands every call of a tool to `execplan guard` before it is made."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

from execplan.agents import hook_entry as entries
from execplan.agents.change import Change, Planned, missing_folders, read
from execplan.agents.jsons import UnreadableError
from execplan.errors import INPUT, NO, ExecplanError
from execplan.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.agents.hook_entry import Entry
    from execplan.repo.home import Home

WHAT = "guard"
TIMEOUT = 30
"""Seconds that the programs wait; the guard itself gives up, and denies, after eight."""
_LINE = (
    "sh -c 'execplan guard --program {program} || "
    f"{{{{ echo execplan guard did not allow this call >&2; exit 2; }}}} {entries.MARK}'"
)
"""Any status but 0 and 2 lets a call through: so what is not found, crashes or is killed ends in 2 as well."""
BOUND = (
    "from now on an agent that is started in the root of the repository may read in it, and do what an approved plan says, "
    "and no more; what that means, and where it ends: execplan explain guard"
)
ABSENT = "execplan is not on PATH; where the program does not find it either, every call is denied"
TRUST = (
    "Codex runs a hook of a repository only when you trust both: the folder, when it asks, and the hook, with /hooks"
)


class Program(NamedTuple):
    """An agent program."""

    name: str
    file: str
    """Its hooks, from the root of the repository."""
    more: dict[str, Any]
    """What its entry says besides."""


PROGRAMS = {
    "claude": Program("Claude Code", ".claude/settings.json", {"onFailure": "block"}),
    "codex": Program("Codex", ".codex/hooks.json", {}),
}
"""The programs by what `--for` and `--program` call them."""


class File(NamedTuple):
    """The file of a program, and our entries in it."""

    path: str
    shown: str
    data: bytes | None
    text: str
    entries: tuple[Entry, ...]

    @property
    def edited(self) -> bool:
        """Whether somebody has edited an entry, or put in one more."""
        return len(self.entries) > 1 or any([entry.edited for entry in self.entries])


def command(program: str) -> dict[str, Any]:
    """The entry of a program."""
    line = _LINE.format(program=program)
    return {"type": "command", "command": line, "timeout": TIMEOUT, **PROGRAMS[program].more}


def install(home: Home, *, force: bool, programs: Sequence[str] = ()) -> Planned:
    """Add the hook for the programs, or renew it; without any for those that are at home here. Raises ExecplanError."""
    chosen = programs or [name for name in PROGRAMS if name == "claude" or _at_home(home, name)]
    planned = [_install(open_file(home, name), name, force=force) for name in chosen]
    changes = tuple([change for each in planned for change in each.changes])
    warnings = [warning for each in planned for warning in each.warnings]
    if any([change.action != "kept" for change in changes]):
        warnings += [BOUND, *([TRUST] if "codex" in chosen else [])]
    if shutil.which("execplan") is None:
        warnings.append(ABSENT)
    return Planned(changes, tuple(warnings))


def uninstall(home: Home, *, force: bool, programs: Sequence[str] = ()) -> Planned:
    """Take the hook out for the programs, without any for all; raises ExecplanError."""
    chosen = list(programs or PROGRAMS)
    there = [name for name in chosen if entries.MARK.encode() in (read(home, _path(home, name)) or b"")]
    if not there:
        return Planned((Change(WHAT, _path(home, chosen[0]), None, None, "not installed"),))
    return Planned(tuple([_uninstall(open_file(home, name), force=force) for name in there]))


def open_file(home: Home, program: str) -> File:
    """The file of a program as it is; raises ExecplanError."""
    shown, path = PROGRAMS[program].file, _path(home, program)
    data = read(home, path)
    try:
        text = (data or b"").decode("utf-8")
        return File(path, shown, data, text, tuple(entries.find(text)))
    except UnicodeDecodeError as error:
        raise _bad(f"{shown}: byte {error.start} is no UTF-8") from None
    except UnreadableError as error:
        raise _bad(f"{shown}{error}") from None


def _path(home: Home, program: str) -> str:
    return os.path.join(home.root, PROGRAMS[program].file)


def _at_home(home: Home, program: str) -> bool:
    return os.path.isdir(os.path.dirname(_path(home, program)))


def _install(file: File, program: str, *, force: bool) -> Planned:
    bare = command(program)
    if file.edited and not force:
        warning = (
            f"{file.shown}: the entry of execplan was edited by hand and stays as it is; "
            f"for the one of today: execplan install {WHAT} --force"
        )
        return Planned((_kept(file, "edited by hand"),), (warning,))
    if not file.entries and entries.by_hand(file.text):
        return Planned((_kept(file, "has the hook already, put there by hand"),))
    if not file.edited and [entry.bare for entry in file.entries] == [bare]:
        return Planned((_kept(file, "there already"),))
    try:
        return Planned((_change(file, _with(file, bare)),))
    except UnreadableError as error:
        raise _bad(f"{file.shown}{error}") from None


def _with(file: File, bare: dict[str, Any]) -> str:
    """The text of a file with the entry of today."""
    if file.data is None:
        return entries.add("", bare, missing_folders(os.path.realpath(file.path)))
    if file.entries and not file.edited:
        return entries.renew(file.text, file.entries[0], bare)
    rest, folders = _without(file)
    return entries.add(rest, bare, folders if not rest else None)


def _uninstall(file: File, *, force: bool) -> Change:
    if not file.entries:
        return _kept(file, "not installed: the mark stands in no hook")
    if file.edited and not force:
        raise ExecplanError(
            "edited-block",
            f"{file.shown}: the entry of execplan was edited by hand; nothing was written",
            exit=NO,
            hint=f"put elsewhere what is to stay, then: execplan uninstall {WHAT} --force",
        )
    rest, folders = _without(file)
    return _change(file, rest) if rest or folders is None else _change(file, None, folders)


def _without(file: File) -> tuple[str, int | None]:
    """The text of a file without the entries of ours, and how many folders were made with it, if it was made for them."""
    text, made = file.text, [entry.folders for entry in file.entries if entry.folders is not None]
    while found := entries.find(text):
        text = entries.take(text, found[0])
    return text, max(made, default=None)


def _change(file: File, text: str | None, folders: int = 0) -> Change:
    new = text.encode("utf-8") if text is not None else None
    return Change(WHAT, file.path, file.data, new, folders=folders)


def _kept(file: File, why: str) -> Change:
    return Change(WHAT, file.path, file.data, file.data, why)


def _bad(message: str) -> ExecplanError:
    hint = "mend the file, and try again; until then the program may read none of it, and run no hook that it names"
    return ExecplanError("bad-json", message, exit=INPUT, hint=hint)
