"""Rule context for a plan of the corpus: its original location, a fixed date, and a repository without any files."""

from __future__ import annotations

from typing import NamedTuple

from execplan.core.scaffold.plan_layouts import detect_layouts
from execplan.linter.rule import RuleContext
from execplan.linter.rule_facts import Clock, RepositoryTree

DAY = "2026-11-22"
_MINUTES = 29921760
"""That date in minutes since 1970."""
_ARCHIVES = frozenset(("archive", "archived", "closed", "complete", "completed", "done", "finished", "superseded"))


def path_of(name: str) -> str:
    """Return a plan's path in its repository; the corpus writes `__` between directories, `_dot_` for a first dot."""
    return "/".join(component.replace("_dot_", ".", 1) for component in name.partition("/")[2].split("__"))


class PlanLocation(NamedTuple):
    """Facts about a plan from the names of all plans in its repository."""

    form: str
    """Name pattern that adoption would detect."""
    archived: bool
    in_project: bool
    """Whether there is an archive next to it, to which it could be moved."""


def locate_plans(names: list[str]) -> dict[str, PlanLocation]:
    """Return the facts about each plan from the paths of all of them."""
    repositories: dict[str, dict[str, str]] = {}
    for name in names:
        repositories.setdefault(name.partition("/")[0], {})[path_of(name)] = name
    locations = {}
    for plans in repositories.values():
        folders = {path: tuple(path.split("/")[:-1]) for path in plans}
        archives = {
            components[:at]
            for components in folders.values()
            for at, component in enumerate(components)
            if component in _ARCHIVES
        }
        layouts = detect_layouts(list(plans), plans.__contains__)
        forms = {path: layout.settings.name for layout in (*layouts.selected, *layouts.others) for path in layout.plans}
        for path, name in plans.items():
            folder = folders[path]
            archived = not _ARCHIVES.isdisjoint(folder)
            in_project = not archived and not archives.isdisjoint((folder, folder[:-1]))
            locations[name] = PlanLocation("" if archived else forms.get(path, ""), archived, in_project)
    return locations


def rule_context(name: str, location: PlanLocation) -> RuleContext:
    """Return the rule context of a plan of the corpus."""
    return context_at(path_of(name), location)


def context_at(path: str, location: PlanLocation) -> RuleContext:
    """Return the rule context of a plan at a path in its repository."""
    return RuleContext(
        is_archived=location.archived,
        in_project=location.in_project,
        path=path,
        name_format=location.form,
        clock=Clock(_MINUTES),
        tree=RepositoryTree(lambda kind, subject: ""),
    )
