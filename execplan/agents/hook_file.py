"""The files in which agent programs look for hooks, and entries of ours in them: planned to be put in and taken out."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from execplan.agents import hook_entry as entries
from execplan.agents.change import Change, Planned, missing_folders, read
from execplan.agents.jsons import UnreadableError
from execplan.errors import INPUT, NO, ExecplanError
from execplan.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from execplan.agents.hook_entry import Entry, Hook
    from execplan.repo.home import Home

    Wanted = tuple[Hook, dict[str, Any]]
    """A hook with what its entry says today."""
    Ahead = Mapping[str, bytes | None]
    """What files will hold, by their paths, when what was planned before is done: two integrations may share a file."""


class Program(NamedTuple):
    """An agent program."""

    name: str
    file: str
    """Its hooks, from the root of the repository."""


PROGRAMS = {
    "claude": Program("Claude Code", ".claude/settings.json"),
    "codex": Program("Codex", ".codex/hooks.json"),
}
"""The programs by what `--for` and `--program` call them."""
NOTHING: Ahead = MappingProxyType({})
TRUST = (
    "Codex runs a hook of a repository only when you trust both: the folder, when it asks, and the hook, with /hooks"
)


class File(NamedTuple):
    """The file of a program, and our entries in it."""

    what: str
    """The integration."""
    path: str
    shown: str
    data: bytes | None
    text: str
    wanted: tuple[Wanted, ...]
    """In the order in which they are put in; without those that somebody has put there by hand."""
    entries: tuple[Entry, ...]

    @property
    def edited(self) -> bool:
        """Whether somebody has edited an entry, or put in one more."""
        hooks = [entry.hook for entry in self.entries]
        return len(hooks) > len(set(hooks)) or any([entry.edited for entry in self.entries])

    @property
    def current(self) -> bool:
        """Whether the entries are as they would be put in today."""
        return not self.edited and [(entry.hook, entry.bare) for entry in self.entries] == list(self.wanted)


def chosen(home: Home, programs: Sequence[str]) -> Sequence[str]:
    """The programs that are named, else Claude Code and those that are at home here."""
    return programs or [name for name in PROGRAMS if name == "claude" or _at_home(home, name)]


def open_file(home: Home, what: str, program: str, wanted: Sequence[Wanted], ahead: Ahead) -> File:
    """The file of a program as it is, or will be; raises ExecplanError."""
    shown, path = PROGRAMS[program].file, path_of(home, program)
    data = _read(home, path, ahead)
    try:
        text = (data or b"").decode("utf-8")
        found = [entry for hook, _ in wanted for entry in entries.find(text, hook)]
        there = [entry.hook for entry in found]
        left = [each for each in wanted if each[0] in there or not entries.by_hand(text, each[0])]
        return File(what, path, shown, data, text, tuple(left), tuple(found))
    except UnicodeDecodeError as error:
        raise _bad(f"{shown}: byte {error.start} is no UTF-8") from None
    except UnreadableError as error:
        raise _bad(f"{shown}{error}") from None


def path_of(home: Home, program: str) -> str:
    """The file of a program, whether it is there or not."""
    return os.path.join(home.root, PROGRAMS[program].file)


def install(files: Sequence[File], *, force: bool) -> Planned:
    """Put the entries into the files, or renew them; raises ExecplanError."""
    planned = [_install(file, force=force) for file in files]
    return Planned(
        tuple([change for each in planned for change in each.changes]),
        tuple([warning for each in planned for warning in each.warnings]),
    )


def uninstall(
    home: Home,
    what: str,
    programs: Iterable[str],
    hooks: Sequence[Hook],
    opened: Callable[[str], File],
    ahead: Ahead,
    *,
    force: bool,
) -> Planned:
    """Take the entries out of the files of programs; one without a mark is not read as JSON. Raises ExecplanError."""
    programs = list(programs)
    there = [name for name in programs if is_marked(home, name, hooks, ahead)]
    if not there:
        return Planned((Change(what, path_of(home, programs[0]), None, None, "not installed"),))
    return Planned(tuple([_uninstall(opened(name), force=force) for name in there]))


def is_marked(home: Home, program: str, hooks: Sequence[Hook], ahead: Ahead) -> bool:
    """Whether the mark of a hook stands in the file of a program; raises ExecplanError."""
    data = _read(home, path_of(home, program), ahead) or b""
    return any([hook.mark.encode() in data for hook in hooks])


def _read(home: Home, path: str, ahead: Ahead) -> bytes | None:
    return ahead[path] if path in ahead else read(home, path)


def _at_home(home: Home, program: str) -> bool:
    return os.path.isdir(os.path.dirname(path_of(home, program)))


def _install(file: File, *, force: bool) -> Planned:
    if file.edited and not force:
        warning = (
            f"{file.shown}: the entry of execplan was edited by hand and stays as it is; "
            f"for the one of today: execplan install {file.what} --force"
        )
        return Planned((_kept(file, "edited by hand"),), (warning,))
    if not file.wanted:
        return Planned((_kept(file, "has the hook already, put there by hand"),))
    if file.current:
        return Planned((_kept(file, "there already"),))
    try:
        return Planned((_change(file, _with(file)),))
    except UnreadableError as error:
        raise _bad(f"{file.shown}{error}") from None


def _with(file: File) -> str:
    """The text of a file with the entries of today."""
    text, folders = file.text, None
    if file.data is None:
        folders = missing_folders(os.path.realpath(file.path))
    elif not file.edited and [entry.hook for entry in file.entries] == [hook for hook, _ in file.wanted]:
        for hook, bare in file.wanted:
            text = entries.renew(text, entries.find(text, hook)[0], bare)
        return text
    else:
        text, folders = _without(file)
    folders = folders if not text else None
    for hook, bare in file.wanted:
        text, folders = entries.add(text, hook, bare, folders), None
    return text


def _uninstall(file: File, *, force: bool) -> Change:
    if not file.entries:
        return _kept(file, "not installed: the mark stands in no hook")
    if file.edited and not force:
        raise ExecplanError(
            "edited-block",
            f"{file.shown}: the entry of execplan was edited by hand; nothing was written",
            exit=NO,
            hint=f"put elsewhere what is to stay, then: execplan uninstall {file.what} --force",
        )
    rest, folders = _without(file)
    return _change(file, rest) if rest or folders is None else _change(file, None, folders)


def _without(file: File) -> tuple[str, int | None]:
    """The text of a file without the entries, the last put in first; and how many folders were made with it, if it was made."""
    text, made = file.text, [entry.folders for entry in file.entries if entry.folders is not None]
    for hook in dict.fromkeys([entry.hook for entry in reversed(file.entries)]):
        while found := entries.find(text, hook):
            text = entries.take(text, found[0])
    return entries.inherit(text, [entry.note for entry in file.entries]), max(made, default=None)


def _change(file: File, text: str | None, folders: int = 0) -> Change:
    new = text.encode("utf-8") if text is not None else None
    return Change(file.what, file.path, file.data, new, folders=folders)


def _kept(file: File, why: str) -> Change:
    return Change(file.what, file.path, file.data, file.data, why)


def _bad(message: str) -> ExecplanError:
    hint = "mend the file, and try again; until then the program may read none of it, and run no hook that it names"
    return ExecplanError("bad-json", message, exit=INPUT, hint=hint)
