"""Homes found: from any folder inside one, without asking git, and those below that belong to it."""

from __future__ import annotations

import os

from execplan.errors import ENVIRONMENT, INPUT, ExecplanError
from execplan.repo import settings as config
from execplan.repo.home import Home, check_inside
from execplan.repo.settings import Settings
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NEAR = 4
"""How many levels down an error searches for projects that it can name."""
_FEW = 500
"""How many directories that search lists at most, so that it ends at once in `/` and in a home directory."""


_finishers: list[Callable[[Home], object]] = []


def finish_moves(finisher: Callable[[Home], object]) -> None:
    """Let every home that is found from now on, and has a move that was cut short or is under way, be handed over."""
    _finishers[:] = [finisher]


def find(start: str) -> Home:
    """The home that a folder lies in: the nearest with settings or plans, up to the root of the repository.

    Raises ExecplanError for bad settings, and for a home of which a folder is a link out of the repository.
    """
    home = _find(start)
    if _finishers and os.path.lexists(home.move):
        _finishers[0](home)
    return home


def _find(start: str) -> Home:
    real, path = os.path.realpath(start), os.path.abspath(start)
    while path not in (real, "/"):
        if os.path.islink(path):
            _find(os.path.dirname(path))
        path = os.path.dirname(path)
    git_root, git = repository(real)
    folder = real
    while True:
        found = config.load(folder)
        settings = found.settings if found is not None else Settings()
        if found is not None or os.path.isdir(os.path.join(folder, settings.plans)):
            return inside(Home(git_root or folder, folder, git, settings, exists=True))
        parent = os.path.dirname(folder)
        if folder in (git_root, parent):
            break
        folder = parent
    base = git_root or real
    return inside(Home(base, base, git, Settings(), exists=False))


def at(folder: str) -> Home:
    """The home of this very folder, whether it is one yet or not; raises ExecplanError."""
    home = find(folder)
    base = os.path.realpath(folder)
    if home.base == base:
        return home
    return inside(Home(home.root if home.git else base, base, home.git, Settings(), exists=False))


def below(home: Home, name: str) -> Home:
    """The home of a folder below another, with paths that are shown from the same root; raises ExecplanError."""
    other = at(os.path.join(home.base, name))
    return other if other.git else other._replace(root=home.root)


def require(start: str) -> Home:
    """The home that a folder lies in; raises ExecplanError when there is none."""
    return existing(find(start))


def existing(home: Home) -> Home:
    """The home, if it is one: a plan that is named by its path may lie in none; raises ExecplanError."""
    if home.exists:
        return home
    from shlex import quote

    from execplan.repo.adoption import tree

    near = [os.path.relpath(each) for each in tree.homes_near(home.base, _NEAR, _FEW)]
    message = f"no plans folder in {home.base} or above" + (", but in folders below" if near else "")
    hint = f"name the one that is meant: execplan -C {quote(near[0])} status" if near else "make one: execplan init"
    raise ExecplanError("no-home", message, exit=ENVIRONMENT, hint=hint, candidates=near)


def together(home: Home) -> list[Home]:
    """A home, and those below it that its settings name; raises ExecplanError for a name that is none."""
    homes = [home]
    for name in home.settings.homes:
        other = below(home, name)
        if not other.exists:
            raise ExecplanError(
                "no-such-home",
                f"the settings of {home.base} name {name} under homes, but there is none",
                exit=INPUT,
                hint=f"make it, or take it out of homes: execplan init {name}",
            )
        homes.append(other)
    return homes


def belongings(home: Home) -> tuple[str, ...]:
    """How the paths begin, from the root, of what belongs to a home and those below: plans, archives, artifacts."""
    found = []
    for each in together(home):
        artifacts = [each.artifacts("", archived=archived).rstrip("/") for archived in (False, True)]
        found += [f"{each.shown(folder)}/" for folder in (each.plans, *each.archives, *artifacts)]
    return tuple(found)


def inside(home: Home) -> Home:
    """The home, none of whose folders is a link out of the repository; raises ExecplanError."""
    settings = home.settings
    seen = set()
    for folder in (
        settings.plans,
        settings.archive,
        settings.superseded,
        settings.artifacts,
        settings.archive_artifacts,
    ):
        path = home.base
        for part in folder.split("/"):
            path = os.path.join(path, part)
            if path not in seen and os.path.islink(path):
                check_inside(home, path)
            seen.add(path)
    return home


def repository(start: str) -> tuple[str | None, str | None]:
    """The root of the working tree that a folder lies in, and its git folder; raises ExecplanError in a bare one."""
    folder = start
    while True:
        marker = os.path.join(folder, ".git")
        if os.path.isdir(marker):
            return folder, marker
        if os.path.isfile(marker):
            with open(disk.open_file(marker)[0], encoding="utf-8", errors="surrogateescape") as file:
                line = file.readline(5000)
            if line.startswith("gitdir:"):
                return folder, os.path.normpath(os.path.join(folder, line[len("gitdir:") :].strip()))
        if all([os.path.exists(os.path.join(folder, each)) for each in ("HEAD", "objects", "refs")]):
            raise ExecplanError(
                "bare-repository",
                f"{folder} is a git folder or a bare repository: it has no working tree",
                exit=ENVIRONMENT,
                hint="go to a checkout: git worktree add ../checkout",
            )
        parent = os.path.dirname(folder)
        if parent == folder:
            return None, None
        folder = parent
