"""What of the tree git runs by itself, or takes its settings from: a command that writes there acts when git is next called."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.record import NamedTuple
from execplan.repo import ask
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project

_PROGRAMS = frozenset(
    "askpass clean command driver editor fsmonitor process program smudge sshcommand textconv".split()
)
"""The last words of settings that name a program."""
_MANAGERS = (".husky", ".lefthook", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml")
"""Where programs that stand behind hooks look up what to run."""

Looks = dict[str, tuple[int, ...]]
"""By path, what tells that it was written to."""


class Triggers(NamedTuple):
    """Absolute paths inside the repository, which need not be there."""

    own: tuple[str, ...] = ()
    """Folders of hooks, files of settings, programs that settings name, and what leads to the git folder of a submodule."""
    behind: tuple[str, ...] = ()
    """What hooks go by, and commands may well write."""


def triggers(home: Project) -> Triggers:
    """Those of a repository; none without git, or where it does not answer."""
    if home.git is None:
        return Triggers()
    try:
        parts = ask.output(home, "config", "--list", "--null", "--show-origin").decode("utf-8", "surrogateescape")
    except ExecplanError:
        return Triggers()
    found = _submodules(home)
    entries = parts.split("\0")
    for origin, entry in zip(entries[::2], entries[1::2], strict=False):
        name, _, value = entry.partition("\n")
        file = origin.removeprefix("file:") if origin.startswith("file:") else ""
        found.append(file)
        if name == "core.hookspath":
            found.append(value)
        elif name.startswith(("include.", "includeif.")):
            found.append(os.path.join(os.path.dirname(file), os.path.expanduser(value)))
        elif name.rpartition(".")[2] in _PROGRAMS:
            found += [word.strip("\"'") for word in value.split()]
    root = os.path.realpath(home.root)
    paths = {os.path.normpath(os.path.join(root, os.path.expanduser(each))) for each in found if each}
    inside = [each for each in paths if each.startswith(f"{root}/") and not each.startswith(f"{root}/.git/")]
    return Triggers(tuple(sorted(inside)), tuple([os.path.join(root, name) for name in _MANAGERS]))


def _submodules(home: Project) -> list[str]:
    """The `.git` of each submodule, from the root."""
    try:
        with open(
            disk.open_regular(os.path.join(home.root, ".gitmodules")), encoding="utf-8", errors="surrogateescape"
        ) as file:
            parts = [line.partition("=") for line in file]
    except OSError:
        return []
    return [os.path.join(path.strip().strip('"'), ".git") for name, _, path in parts if name.strip() == "path"]


def look(home: Project) -> Looks:
    """How all of it is now."""
    looks: Looks = {}
    for path in [each for part in triggers(home) for each in part]:
        looks |= _look(path)
        for folder, folders, files in os.walk(path):
            for name in [*folders, *files]:
                looks |= _look(os.path.join(folder, name))
    return looks


def changed(home: Project, before: Looks) -> list[str]:
    """What differs from an earlier look, as paths from the root."""
    now = look(home)
    return [home.display_path(each) for each in sorted({*before, *now}) if before.get(each) != now.get(each)]


def _look(path: str) -> Looks:
    try:
        status = os.lstat(path)
    except OSError:
        return {}
    return {path: (status.st_ino, status.st_mode, status.st_size, status.st_ctime_ns)}
