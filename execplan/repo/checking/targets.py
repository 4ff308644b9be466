"""Which plans are meant: all of a home, those that are named, every file below a folder."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.record import NamedTuple
from execplan.repo import homes, shelf
from execplan.repo.checking.one import Target
from execplan.repo.shelf import PlanRef

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from execplan.repo.home import Project


class Lot(NamedTuple):
    """Plans of one folder, in the order in which they are checked."""

    home: Project
    folder: str
    named: str
    """What stands before a file's name where a terminal shows it."""
    archived: bool
    names: list[str]
    whole: bool = False
    """Whether these are all plans of the folder."""
    by_name: bool = False
    """Whether somebody named these files, or plans."""

    def target(self, name: str) -> Target:
        """The plan in one of the files."""
        path = os.path.join(self.folder, name)
        return Target(self.home, PlanRef(self.home.split_plan_path(path)[1], path, self.archived), self.named + name, self.by_name)


def lots(names: Sequence[str], *, hook: bool = False) -> list[Lot]:
    """The plans that are named, with their homes; with no name every plan, archived ones too. Raises ExecplanError.

    A hook gets the names from git, so they are not by somebody who takes these files for plans.
    """
    if not names:
        among = homes.with_nested_projects(homes.require(os.getcwd()))
        return [
            Lot(home, folder, _from_here(folder), archived, files, whole=True)
            for home in among
            for archived in (False, True)
            for folder, files in shelf.plan_files(home, archive=archived)
        ]
    found: dict[str, Project] = {}
    chosen: list[Lot] = []
    for name in names:
        if os.path.isdir(name):
            for folder, folders, files in os.walk(name):
                folders.sort()
                _add(
                    chosen,
                    os.path.join(folder, ""),
                    [each for each in sorted(files) if _is_markdown(each)],
                    found,
                    by_name=False,
                )
        elif os.path.lexists(name):
            folder, file = os.path.split(name)
            _add(chosen, name.removesuffix(file), [file], found, by_name=not hook)
        else:
            chosen.append(_plan(name))
    seen: set[str] = set()
    for at, lot in enumerate(chosen):
        own = [name for name in lot.names if os.path.join(lot.folder, name) not in seen]
        seen |= {os.path.join(lot.folder, name) for name in own}
        chosen[at] = lot._replace(names=own)
    return chosen


def targets(chosen: Iterable[Lot]) -> Iterator[Target]:
    """Each plan of the lots."""
    for lot in chosen:
        yield from [lot.target(name) for name in lot.names]


def among(here: Project, paths: Sequence[str]) -> list[tuple[Project, PlanRef]]:
    """Those of some files, named from the root of the repository, that are plans of a home; raises ExecplanError."""
    import re

    from execplan.repo.pattern import plan_paths_regex

    found: dict[str, tuple[Project, re.Pattern[str]]] = {}
    plans = []
    for path in paths:
        full = os.path.join(here.root, path)
        folder = os.path.dirname(full)
        if folder not in found:
            home = homes.find(folder)
            found[folder] = home, re.compile(plan_paths_regex(home))
        home, pattern = found[folder]
        if pattern.search(path):
            plans.append((home, shelf.ref_for_path(home, full)))
    return plans


def changed_since(start: str, revision: str) -> tuple[list[Lot], str]:
    """The plans that are not as they were where the branch left a revision, new ones too, and that commit; raises ExecplanError."""
    from execplan.repo import past

    here = homes.find(start)
    base = past.branch_point(here, revision)
    paths = sorted({*past.changed_files(here, base), *past.untracked_files(here)})
    plans = among(here, [path for path in paths if path.endswith(".md")])
    return [_lot(home, ref) for home, ref in plans if os.path.lexists(ref.path)], base


def _plan(name: str) -> Lot:
    """The plan of this name, which is no file."""
    from execplan.repo import pick

    if pick.is_path_query(name) and not homes.find(os.getcwd()).exists:
        raise ExecplanError("no-such-file", f"there is no file {name}", exit=INPUT, hint="check the path")
    return _lot(*pick.select_plan(os.getcwd(), name))._replace(by_name=True)


def _lot(home: Project, ref: PlanRef) -> Lot:
    """One plan."""
    folder, file = os.path.split(ref.path)
    return Lot(home, folder, _from_here(folder), ref.archived, [file])


def _add(chosen: list[Lot], named: str, names: list[str], found: dict[str, Project], *, by_name: bool) -> None:
    """Add files of a folder; `found` are the homes of the folders so far."""
    folder = os.path.abspath(named or ".")
    for name in names:
        last = chosen[-1] if chosen and chosen[-1].by_name == by_name else None
        if last is not None and last.named == named and last.home.is_flat:
            last.names.append(name)  # in a flat home one file of a folder is as archived as another
            continue
        if folder not in found:
            found[folder] = homes.find(folder)
        home = found[folder]
        archived = shelf.ref_for_path(home, os.path.join(folder, name)).archived
        if last is not None and last.named == named and last.archived == archived:
            last.names.append(name)
        else:
            chosen.append(Lot(home, folder, named, archived, [name], by_name=by_name))


def _from_here(folder: str) -> str:
    """A folder as a terminal shows it before a file's name."""
    shown = os.path.relpath(folder)
    return "" if shown == "." else os.path.join(shown, "")


def _is_markdown(name: str) -> bool:
    return name.endswith(".md") and not name.startswith(".")
