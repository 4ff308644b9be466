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
    from execplan.repo.shelf import Ref


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


def among(here: Home, paths: Sequence[str]) -> list[tuple[Home, Ref]]:
    """Those of some files, named from the root of the repository, that are plans of a home; raises ExecplanError."""
    import re

    from execplan.repo.pattern import plan_paths

    found: dict[str, tuple[Home, re.Pattern[str]]] = {}
    plans = []
    for path in paths:
        full = os.path.join(here.root, path)
        folder = os.path.dirname(full)
        if folder not in found:
            home = homes.find(folder)
            found[folder] = home, re.compile(plan_paths(home))
        home, pattern = found[folder]
        if pattern.search(path):
            plans.append((home, shelf.by_file(home, full)))
    return plans


def changed_since(start: str, revision: str) -> tuple[list[Target], str]:
    """The plans that are not as they were where the branch left a revision, new ones too, and that commit; raises ExecplanError."""
    from execplan.repo import past

    here = homes.find(start)
    head, other = past.commit_of(here, "HEAD"), past.commit_of(here, revision)
    base = past.merge_base(here, head, other) if head is not None and other is not None else None
    if base is None:
        why = "has no commit in common with HEAD" if other is not None else "names no commit"
        hint = "see which there are: git branch -a, git log --oneline"
        raise ExecplanError("no-such-revision", f"{revision!r} {why}", exit=INPUT, hint=hint)
    paths = sorted({*past.differing(here, base), *past.untracked(here)})
    plans = among(here, [path for path in paths if path.endswith(".md")])
    there = [(home, ref) for home, ref in plans if os.path.lexists(ref.path)]
    return [Target(home, ref, os.path.relpath(ref.path)) for home, ref in there], base


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
