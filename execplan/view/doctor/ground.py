"""What the checks look at: the homes of a folder, also where they are not in order, and their plans, each read once."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from execplan.errors import ExecplanError
from execplan.repo import homes, settings, shelf

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.repo.home import Home
    from execplan.repo.shelf import Shelved

_NONE = ("no-home", "bare-repository")
"""Refusals where there is nothing to look at."""


class Trouble(NamedTuple):
    """Why a home, or a folder of it, can't be looked at."""

    path: str
    error: ExecplanError


class Ground:
    """A home and those that its settings name."""

    def __init__(self, start: str, script: Callable[[str], str]) -> None:
        self.start = start
        self.script = script
        """The completion script of a shell."""
        self.homes: list[Home] = []
        """Those whose settings can be read, the nearest first."""
        self.closed: list[Trouble] = []
        """The folders of plans that can't be read, once `plans` was asked for."""
        self.troubles: list[Trouble] = []
        try:
            home = homes.require(start)
        except ExecplanError as error:
            if error.code in _NONE:
                raise
            self.troubles.append(Trouble(_from_root(_file_of(error, os.path.realpath(start))), error))
            return
        self.homes.append(home)
        for name in home.settings.homes:
            alone = home._replace(settings=home.settings._replace(homes=(name,)))
            try:
                self.homes.append(homes.together(alone)[1])
            except ExecplanError as error:
                path = _file_of(error, os.path.join(home.base, name))
                self.troubles.append(Trouble(_from_root(path), error))

    @property
    def home(self) -> Home:
        """The nearest home."""
        return self.homes[0]

    @cached_property
    def plans(self) -> list[Shelved]:
        """The plans of all homes; a folder of them that can't be read goes to `closed`."""
        return [shelved for home in self.homes for archived in (False, True) for shelved in self._read(home, archived)]

    def _read(self, home: Home, archived: bool) -> list[Shelved]:
        try:
            return shelf.load_all(home, shelf.refs(home, archive=archived))
        except ExecplanError as error:
            self.closed.append(Trouble(home.shown(home.archives[0] if archived else home.plans), error))
            return []

    @cached_property
    def states(self) -> list[Home]:
        """A home for each folder of what is not committed."""
        return list({home.state: home for home in reversed(self.homes)}.values())


def _file_of(error: ExecplanError, folder: str) -> str:
    """The file of settings that a refusal speaks of, in a folder or above it; or nothing."""
    while True:
        for name in (settings.FILE, settings.PYPROJECT):
            path = os.path.join(folder, name)
            if name in error.message and os.path.exists(path):
                return path
        if folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)


def _from_root(path: str) -> str:
    """A path from the root of its repository; as it is where there is none."""
    root = os.path.dirname(path)
    while root != os.path.dirname(root):
        if os.path.lexists(os.path.join(root, ".git")):
            return os.path.relpath(path, root)
        root = os.path.dirname(root)
    return path
