"""Which plans are meant: all of a home, those that are named, every file below a folder."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.repo import homes, shelf
from execplan.repo.checking.one import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.repo.home import Home


def targets(names: Sequence[str]) -> Iterator[Target]:
    """Each plan that is named, with its home; with no name every plan, archived ones too. Raises ExecplanError."""
    found: dict[str, Home] = {}
    if not names:
        for home in homes.together(homes.require(os.getcwd())):
            yield from [Target(home, ref, os.path.relpath(ref.path)) for ref in shelf.every(home)]
    for name in names:
        if os.path.isdir(name):
            for folder, folders, files in os.walk(name):
                folders.sort()
                yield from [_file(os.path.join(folder, each), found) for each in sorted(files) if _is_markdown(each)]
        elif os.path.lexists(name):
            yield _file(name, found)
        else:
            yield _plan(name)


def _plan(name: str) -> Target:
    """The plan of this name, which is no file."""
    from execplan.repo import pick

    if pick.is_path(name) and not homes.find(os.getcwd()).exists:
        raise ExecplanError("no-such-file", f"there is no file {name}", exit=INPUT, hint="check the path")
    home, ref = pick.open_plan(os.getcwd(), name)
    return Target(home, ref, os.path.relpath(ref.path))


def _file(path: str, found: dict[str, Home]) -> Target:
    """The plan in a file; `found` are the homes of the folders so far."""
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in found:
        found[folder] = homes.find(folder)
    return Target(found[folder], shelf.by_file(found[folder], path), path)


def _is_markdown(name: str) -> bool:
    return name.endswith(".md") and not name.startswith(".")
