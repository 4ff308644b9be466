"""Rule context for a plan of the corpus: its original location, a fixed date, and a repository without any files."""

from __future__ import annotations

from typing import NamedTuple

from execplan.linter.rule import RuleContext
from execplan.linter.rule_facts import Clock, RepositoryTree
from execplan.scaffold.plan_layouts import detect_layouts

DAY = "2026-11-22"
_MINUTES = 29921760
"""That date in minutes since 1970."""
_ARCHIVES = frozenset(("archive", "archived", "closed", "complete", "completed", "done", "finished", "superseded"))


def path_of(name: str) -> str:
    """Return a plan's path in its repository; the corpus writes `__` between directories, `_dot_` for a first dot."""
    return "/".join(part.replace("_dot_", ".", 1) for part in name.partition("/")[2].split("__"))


class Place(NamedTuple):
    """Facts about a plan from the names of all plans in its repository."""

    form: str
    """Name pattern that adoption would detect."""
    archived: bool
    at_home: bool
    """Whether there is an archive next to it, to which it could be moved."""


def places(names: list[str]) -> dict[str, Place]:
    """Return the facts about each plan from the paths of all of them."""
    repositories: dict[str, dict[str, str]] = {}
    for name in names:
        repositories.setdefault(name.partition("/")[0], {})[path_of(name)] = name
    found = {}
    for plans in repositories.values():
        folders = {path: tuple(path.split("/")[:-1]) for path in plans}
        archives = {parts[:at] for parts in folders.values() for at, part in enumerate(parts) if part in _ARCHIVES}
        layouts = detect_layouts(list(plans), plans.__contains__)
        forms = {path: each.settings.name for each in (*layouts.selected, *layouts.others) for path in each.plans}
        for path, name in plans.items():
            folder = folders[path]
            archived = not _ARCHIVES.isdisjoint(folder)
            at_home = not archived and not archives.isdisjoint((folder, folder[:-1]))
            found[name] = Place("" if archived else forms.get(path, ""), archived, at_home)
    return found


def given(name: str, place: Place) -> RuleContext:
    """Return the rule context of a plan."""
    return RuleContext(
        is_archived=place.archived,
        in_project=place.at_home,
        path=path_of(name),
        name_format=place.form,
        clock=Clock(_MINUTES),
        tree=RepositoryTree(lambda kind, subject: ""),
    )
