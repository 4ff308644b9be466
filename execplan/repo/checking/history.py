"""What git knows of the plans of a run: all of them are asked for at once, a question a process."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.lint.facts import GitHistory
from execplan.plan import reader
from execplan.plan.model import COMPLETE
from execplan.record import NamedTuple
from execplan.repo import ask, past, shelf
from execplan.repo.checking.selected import wanted
from execplan.repo.checking.targets import targets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from execplan.plan.model import Plan
    from execplan.repo.ask import GitFile
    from execplan.repo.checking.one import Way
    from execplan.repo.checking.targets import Lot
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef

_MOST = 200
"""Folders that are named to git; for more it lists the whole commit."""


class Asked(NamedTuple):
    """A plan of which something is asked, as it is judged."""

    home: Project
    ref: PlanRef
    data: bytes


class Before(NamedTuple):
    """A plan as a commit holds it."""

    data: bytes
    path: str
    """Its path then, from the root of the repository."""
    archived: bool


def informed(lots: Sequence[Lot], way: Way, base: str | None = None) -> Way:
    """The way with what git knows of plans as they are on disk; raises ExecplanError.

    It is asked where a commit is named to judge them against, and where rules that ask git are wanted.
    """
    homes = {lot.home.base: lot.home for lot in lots}
    asking = {at for at, home in homes.items() if base is not None or wanted(home, way.selection).needs_history}
    if not asking:
        return way
    plans = []
    for each in targets([lot for lot in lots if lot.home.base in asking]):
        try:
            plans.append(Asked(each.home, each.ref, shelf.read_bytes(each.home, each.ref.path)))
        except ExecplanError:
            continue  # a finding of its own
    return way._replace(histories=histories(plans, base))


def histories(plans: Iterable[Asked], base: str | None = None) -> dict[str, GitHistory]:
    """What git knows of plans, by their absolute paths: against a commit, or against the one that is checked out.

    Where there is no repository, or no commit yet, nothing is known. Raises ExecplanError when git refuses.
    """
    roots: dict[str, list[Asked]] = {}
    for each in plans:
        if each.home.git is not None:
            roots.setdefault(each.home.root, []).append(each)
    known: dict[str, GitHistory] = {}
    for among in roots.values():
        commit = base or past.resolve_commit(among[0].home, "HEAD")
        if commit is not None:
            known |= _known(among, commit, drift=base is None)
    return known


def _known(plans: list[Asked], commit: str, *, drift: bool) -> dict[str, GitHistory]:
    """What a commit of one repository holds of the plans, and what has changed around them since they were touched."""
    then = committed_plans(plans, commit)
    still = [each for each in plans if each.ref.path in then and then[each.ref.path].data == each.data]
    changed = _drift(still, commit) if drift else {}
    absent = _absent(plans)
    known = {}
    for each in plans:
        path = each.ref.path
        if path in then:
            data, was, archived = then[path]
            known[path] = GitHistory(_read(data), was, archived, changed.get(path, ()), absent)
        else:
            known[path] = GitHistory(missing_symbols=absent)
    return known


def committed_plans(plans: list[Asked], commit: str) -> dict[str, Before]:
    """The plans of one repository as a commit holds them, by their absolute paths of today; raises ExecplanError."""
    home = plans[0].home
    then = _then(plans, past.committed_files(home, commit, _folders(plans)))
    held = {file: data for file, (data, _) in zip(then.values(), ask.read_blobs(home, list(then.values())), strict=True)}
    known = {}
    for each in plans:
        file = then.get(each.ref.path)
        if file is not None:
            archived = shelf.ref_for_path(each.home, os.path.join(home.root, file.path)).archived
            known[each.ref.path] = Before(held[file], file.path, archived)
    return known


def _absent(plans: list[Asked]) -> frozenset[str]:
    """The names of code that plans give and that no tracked file holds."""
    from execplan.lint.symbols import find_symbols
    from execplan.lint.words import PlanSource

    names: set[str] = set()
    for _, ref, data in plans:
        plan = None if ref.archived else _read(data)
        if plan is not None and plan.state() == COMPLETE:
            names |= {span.text for span in find_symbols(plan, PlanSource(plan))}
    return frozenset(past.absent_symbols([each.home for each in plans], names))


def _read(data: bytes) -> Plan | None:
    """The plan that was committed, if it could be read."""
    try:
        return reader.read(data)
    except ExecplanError:
        return None


def _folders(plans: list[Asked]) -> list[str]:
    """The folders in which the plans may have lain, from the root; none for all of them."""
    homes = {each.home.base: each.home for each in plans}.values()
    places = {os.path.dirname(each.ref.path) for each in plans}
    places |= {folder for home in homes for folder in (home.plans, *home.archives)}
    return folders(plans[0].home.root, places)


def folders(root: str, places: set[str]) -> list[str]:
    """Directories from the root as git is asked about them, without those inside others; none for all of them."""
    found: list[str] = []
    for folder in sorted([os.path.relpath(place, root) for place in places]):
        if folder == ".":
            return []
        if not any([f"{folder}/".startswith(f"{other}/") for other in found[-1:]]):
            found.append(folder)
    return found if len(found) <= _MOST else []


def _then(plans: list[Asked], files: list[GitFile]) -> dict[str, GitFile]:
    """Where a commit holds the plans, by their paths of today: there, or where a plan of that id is no longer."""
    by_path = {file.path: file for file in files}
    found = {each.ref.path: by_path.get(each.home.display_path(each.ref.path)) for each in plans}
    moved = [each for each in plans if found[each.ref.path] is None]
    if moved:
        gone: dict[tuple[str, str], GitFile] = {}
        for home in {each.home.base: each.home for each in moved}.values():
            for file in files:
                if not os.path.lexists(os.path.join(home.root, file.path)):
                    ref = shelf.ref_for_path(home, os.path.join(home.root, file.path))
                    if ref.archived or home.split_plan_path(ref.path)[0] == home.plans:
                        gone[home.base, shelf.normalize_id(ref.id)] = file
        for each in moved:
            found[each.ref.path] = gone.get((each.home.base, shelf.normalize_id(each.ref.id)))
    return {path: file for path, file in found.items() if file is not None}


def _drift(plans: list[Asked], commit: str) -> dict[str, tuple[str, ...]]:
    """For each plan that is not finished: the paths that it names and that commits have changed since the last one of it."""
    from execplan.lint.scope import find_named_paths
    from execplan.lint.words import PlanSource

    waiting: dict[str, tuple[str, dict[str, str]]] = {}
    for home, ref, data in plans:
        plan = None if ref.archived else _read(data)
        if plan is None or plan.state() == COMPLETE:
            continue
        base = os.path.relpath(home.base, home.root)
        named = {name: name for name in find_named_paths(plan, PlanSource(plan))}
        named |= {os.path.normpath(os.path.join(base, name)): name for name in named}
        if named:
            waiting[home.display_path(ref.path)] = ref.path, named
    changed: dict[str, tuple[str, ...]] = {}
    since: set[str] = set()
    for paths in past.iter_commit_changes(plans[0].home, commit) if waiting else ():
        for path in waiting.keys() & paths:
            place, named = waiting.pop(path)
            changed[place] = tuple([name for actual, name in named.items() if actual in since])
        since.update(paths)
        if not waiting:
            break
    return changed
