"""What tells whose machine it is: its paths, the names of its users, addresses of mail."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.repo.home import Home

_NOBODY = frozenset(
    "root user users admin runner ubuntu debian node build builder nobody git vscode test dev docker localhost".split()
)
"""Names that say of nobody who it is."""
_SYSTEM = frozenset("bin boot dev etc lib lib32 lib64 opt proc run sbin sys tmp usr var".split())
"""Folders that every machine has."""
_PATH = re.compile(r"(?<![\w./:@~+-])/([\w.@+-]+)(?:/[\w.@+-]*)*")
_OWN = re.compile(r"(?<![\w.])/(?:home|Users)/[\w.@+-]+")
_MAIL = re.compile(r"(?<![\w.+-])(?!git@)[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_VARIABLES = ("USER", "LOGNAME", "EXECPLAN_AUTHOR", "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME")
_FOLDERS = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "VIRTUAL_ENV", "TMPDIR")
_SHORTEST = 3


class Personal:
    """What is known of a machine and its users."""

    def __init__(self, paths: Iterable[str], names: Iterable[str]) -> None:
        self._paths = sorted({each.rstrip("/") for each in paths if each.count("/") > 1}, key=len, reverse=True)
        told = sorted({each for each in names if len(each) >= _SHORTEST and each.lower() not in _NOBODY}, key=len)
        self._names = (
            re.compile(rf"(?i)(?<![\w-])(?:{'|'.join(map(re.escape, reversed(told)))})(?![\w-])") if told else None
        )

    def paths(self, text: str) -> Iterator[tuple[int, int]]:
        """Where paths of this machine stand, of those that are known the beginning; they may overlap."""
        known = [*self._known_paths(text), *[found.span() for found in _OWN.finditer(text)]]
        yield from known
        begins = {start for start, _ in known}
        for found in _PATH.finditer(text):
            if found.start() not in begins and found[1] not in _SYSTEM and _is_there(f"/{found[1]}"):
                yield found.span()

    def _known_paths(self, text: str) -> Iterator[tuple[int, int]]:
        for path in self._paths:
            at = text.find(path)
            while at >= 0:
                end = at + len(path)
                if not text[end : end + 1].isalnum():
                    yield at, end
                at = text.find(path, end)

    def names(self, text: str) -> Iterator[tuple[int, int]]:
        """Where names of users and addresses of mail stand."""
        for pattern in (self._names, _MAIL):
            if pattern is not None:
                yield from [found.span() for found in pattern.finditer(text)]


@cache
def _is_there(path: str) -> bool:
    return os.path.lexists(path)


def known(home: Home) -> Personal:
    """What this machine, its user and its settings tell."""
    import platform
    import pwd
    import tempfile

    from execplan.repo import author
    from execplan.repo.ask import user_name

    folders = [home.root, home.base, home.state, os.path.expanduser("~"), tempfile.gettempdir()]
    folders += [os.environ[name] for name in _FOLDERS if name in os.environ]
    paths = [path for each in folders if os.path.isabs(each) for path in (each, os.path.realpath(each))]
    try:
        full = pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0]
    except KeyError:
        full = ""
    git_name, machine = user_name(home.root) or "", platform.node().partition(".")[0]
    names = [author.login(), author.author(home), home.settings.author, full, git_name, machine]
    return Personal(paths, [*names, *[os.environ.get(name, "") for name in _VARIABLES]])
