"""Detection of personal data in texts that leave this machine: its paths, and names of its users."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache

from execplan.core.project.project import Project

_GENERIC_NAMES = frozenset(
    "root user users admin runner ubuntu debian node build builder nobody git vscode test dev docker localhost".split()
)
"""Generic names that identify no person."""
_SYSTEM_DIRECTORIES = frozenset("bin boot dev etc lib lib32 lib64 opt proc run sbin sys tmp usr var".split())
"""Top-level directories that every machine has."""
_PATH = re.compile(r"(?<![\w./:@~+-])/([\w.@+-]+)(?:/[\w.@+-]*)*")
_USER_DIRECTORY = re.compile(r"(?<![\w.])/(?:home|Users)/[\w.@+-]+")
_MAIL = re.compile(r"(?<![\w.+-])(?!git@)[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_VARIABLES = ("USER", "LOGNAME", "EXECPLAN_AUTHOR", "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME")
_DIRECTORY_VARIABLES = (
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "VIRTUAL_ENV",
    "TMPDIR",
)
_MIN_NAME_LENGTH = 3


class PersonalData:
    """Known paths of a machine and names of its users."""

    def __init__(self, paths: Iterable[str], names: Iterable[str]) -> None:
        self._paths = sorted({path.rstrip("/") for path in paths if path.count("/") > 1}, key=len, reverse=True)
        known_names = sorted(
            {name for name in names if len(name) >= _MIN_NAME_LENGTH and name.lower() not in _GENERIC_NAMES}, key=len
        )
        self._names = (
            re.compile(rf"(?i)(?<![\w-])(?:{'|'.join(map(re.escape, reversed(known_names)))})(?![\w-])")
            if known_names
            else None
        )

    def find_paths(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of this machine's paths; below a known directory, only that directory. Spans may overlap."""
        known_spans = [*self._find_known_paths(text), *[match.span() for match in _USER_DIRECTORY.finditer(text)]]
        yield from known_spans
        starts = {start for start, _ in known_spans}
        for match in _PATH.finditer(text):
            if match.start() not in starts and match[1] not in _SYSTEM_DIRECTORIES and _is_there(f"/{match[1]}"):
                yield match.span()

    def _find_known_paths(self, text: str) -> Iterator[tuple[int, int]]:
        for path in self._paths:
            start = text.find(path)
            while start >= 0:
                end = start + len(path)
                if not text[end : end + 1].isalnum():
                    yield start, end
                start = text.find(path, end)

    def find_names(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of user names and email addresses."""
        for pattern in (self._names, _MAIL):
            if pattern is not None:
                yield from [match.span() for match in pattern.finditer(text)]


@cache
def _is_there(path: str) -> bool:
    return os.path.lexists(path)


def collect_personal_data(project: Project) -> PersonalData:
    """Collect paths and names from the machine, its user and the settings."""
    import platform
    import tempfile

    from execplan.core.git.git_query import user_name
    from execplan.core.plan_store import author

    folders = [project.root, project.base, project.state, os.path.expanduser("~"), tempfile.gettempdir()]
    folders += [os.environ[name] for name in _DIRECTORY_VARIABLES if name in os.environ]
    paths = [path for folder in folders if os.path.isabs(folder) for path in (folder, os.path.realpath(folder))]
    git_name, host_name = user_name(project.root) or "", platform.node().partition(".")[0]
    names = [author.system_login(), author.author(project), project.settings.author, _full_name(), git_name, host_name]
    return PersonalData(paths, [*names, *[os.environ.get(name, "") for name in _VARIABLES]])


def _full_name() -> str:
    """Return the user's name in the user database; empty if it has none."""
    if sys.platform == "win32":
        return ""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0]
    except KeyError:
        return ""
