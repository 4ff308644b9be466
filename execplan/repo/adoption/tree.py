"""A walk over a repository that passes by what is not its own."""

from __future__ import annotations

import os
import re

from execplan import trace
from execplan.errors import ExecplanError
from execplan.plan import outline, reader
from execplan.repo import settings as config
from execplan.text import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PASSED = frozenset(
    "node_modules bower_components vendor third_party site-packages __pycache__ venv env dist build target out "
    "fixtures testdata templates pods .git .hg .svn .venv .tox .nox .cache .mypy_cache .pytest_cache .ruff_cache .next "
    ".gradle .terraform .idea .vscode .state".split()
)
"""Folders, in lower case, of what others wrote, of what is made, and of examples."""
_DEEPEST = 12
_MOST = 100_000
"""Folders, for a walk that begins in a home directory or at the root of the disk."""
_PROGRESS, _LIVING = [
    re.compile(rb"^[#*_` \t]*(?:%b)" % words, re.IGNORECASE | re.MULTILINE)
    for words in (b"progress", b"decision|sur?prises|outcomes")
]
"""What a plan's headings begin with: most files need not be read as plans to know that they are none."""
_FEWEST = 3
"""Of the twelve sections, what makes a plan: what the least of the census has."""


def walk(root: str, deepest: int = _DEEPEST) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder from the root, with its folders and files by name.

    Left out are links, other repositories, folders of what others wrote, of what is made, and of examples, and names
    that no settings can hold.
    """
    for count, (folder, folders, files) in enumerate(os.walk(root)):
        if count == _MOST:
            trace.tell(f"looked into {_MOST:,} folders below {root}, and no further")
            return
        if folder != root and ".git" in [*folders, *files]:
            folders.clear()
            continue
        depth = folder[len(root) :].count(os.sep)
        folders[:] = sorted([name for name in folders if depth < deepest and not _is_passed(name)])
        yield folder, folders, sorted(files)


def _is_passed(name: str) -> bool:
    """Whether a folder is passed by; so are those of project templates, such as `{{ name }}`."""
    return name.lower() in _PASSED or "{" in name or name != name.encode("utf-8", "replace").decode()


def homes(root: str, deepest: int = _DEEPEST) -> list[str]:
    """The folders below that hold a home."""
    return [folder for folder, _, files in walk(root, deepest) if folder != root and _is_home(folder, files)]


def homes_near(root: str, deepest: int, most: int) -> list[str]:
    """The folders below that hold a home, the nearest first; no more than so many directories are listed.

    What an unreadable settings file of another project says is not this command's concern.
    """
    found: list[str] = []
    level, listed = [root], 0
    for depth in range(deepest + 1):
        below = []
        for folder in level:
            if listed == most:
                trace.tell(f"searched {most:,} directories below {root} for projects, and no more")
                return found
            listed += 1
            folders, files = _listed(folder)
            if folder != root and ".git" in [*folders, *files]:
                continue
            try:
                if folder != root and _is_home(folder, files):
                    found.append(folder)
            except ExecplanError:
                found.append(folder)
            below += [os.path.join(folder, name) for name in folders if depth < deepest and not _is_passed(name)]
        level = below
    return found


def _listed(folder: str) -> tuple[list[str], list[str]]:
    """The names of the folders in a folder, without links, and of its files; none where it can't be read."""
    folders: list[str] = []
    files: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
    except OSError:
        return [], []
    return sorted(folders), files


def _is_home(folder: str, files: list[str]) -> bool:
    """Whether a folder holds a home; raises ExecplanError for settings that can't be read."""
    if os.path.isfile(os.path.join(folder, config.SETTINGS_FILE)):
        return True
    has_settings = config.PYPROJECT_FILE in files and config.load(folder) is not None
    return has_settings or os.path.isdir(os.path.join(folder, config.Settings().plans))


def plans(root: str) -> list[str]:
    """The files below that read as plans, from the root."""
    found = []
    for folder, _, files in walk(root):
        for name in files:
            if name.endswith(".md") and name.lower() not in config.NON_PLAN_FILES and _is_plan(os.path.join(folder, name)):
                found.append(os.path.relpath(os.path.join(folder, name), root))
    return found


def _is_plan(path: str) -> bool:
    """Whether a file reads as a plan; one that can't be read does not."""
    try:
        return not os.path.islink(path) and reads_as_plan(disk.read(path, reader.MAX_BYTES)[0])
    except ExecplanError:
        return False


def reads_as_plan(data: bytes) -> bool:
    """Whether a file has Progress, another living section, and one more of the twelve."""
    try:
        if not (_PROGRESS.search(data) and _LIVING.search(data)):
            return False
        names = {section.name for section in reader.read(data).sections}
    except ExecplanError:
        return False
    living = names.intersection(outline.LIVING)
    return outline.PROGRESS in living and len(living) > 1 and len(names - {None}) >= _FEWEST
