"""A walk over a repository that passes by what is not its own."""

from __future__ import annotations

import os

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
_LIVING = (b"decision", b"surprises", b"suprises", b"outcomes")
_FEWEST = 3
"""Of the twelve sections, what makes a plan: what the least of the census has."""


def walk(root: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder from the root, with its folders and files by name.

    Left out are links, other repositories, and folders of what others wrote, of what is made, and of examples.
    """
    for count, (folder, folders, files) in enumerate(os.walk(root)):
        if count == _MOST:
            trace.tell(f"looked into {_MOST:,} folders below {root}, and no further")
            return
        if folder != root and ".git" in [*folders, *files]:
            folders.clear()
            continue
        depth = folder[len(root) :].count(os.sep)
        folders[:] = sorted([name for name in folders if depth < _DEEPEST and name.lower() not in _PASSED])
        yield folder, folders, sorted(files)


def homes(root: str) -> list[str]:
    """The folders below that hold a home."""
    found = []
    for folder, _, files in walk(root):
        has_settings = os.path.isfile(os.path.join(folder, config.FILE)) or (
            config.PYPROJECT in files and config.load(folder) is not None
        )
        if folder != root and (has_settings or os.path.isdir(os.path.join(folder, config.Settings().plans))):
            found.append(folder)
    return found


def plans(root: str) -> list[str]:
    """The files below that read as plans, from the root."""
    found = []
    for folder, _, files in walk(root):
        for name in files:
            if name.endswith(".md") and name.lower() not in config.NOT_PLANS and _is_plan(os.path.join(folder, name)):
                found.append(os.path.relpath(os.path.join(folder, name), root))
    return found


def _is_plan(path: str) -> bool:
    """Whether a file has Progress, another living section, and one more of the twelve."""
    try:
        if os.path.islink(path):
            return False
        data, _ = disk.read(path, reader.MAX_BYTES)
        folded = data.lower()
        if b"progress" not in folded or not any([word in folded for word in _LIVING]):
            return False
        names = {section.name for section in reader.read(data).sections}
    except ExecplanError:
        return False
    living = names.intersection(outline.LIVING)
    return outline.PROGRESS in living and len(living) > 1 and len(names - {None}) >= _FEWEST
