"""Open plans that name the same files, so that work on both at the same time would collide."""

from __future__ import annotations

import os
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.core.plan.model import ACTIVE, DRAFT
from execplan.core.project.project_discovery import owned_path_prefixes
from execplan.core.text.pure_paths import is_inside
from execplan.linter.plan_paths import find_named_paths
from execplan.linter.plan_source import PlanSource
from execplan.team.dependencies.dependency_graph import build_graph

if TYPE_CHECKING:
    from execplan.core.project.project import Project
    from execplan.team.dependencies.plan_resolver import PlanEntry, PlanResolver

_COMMON_FILES = frozenset(("PLANS.md", "AGENTS.md", "CLAUDE.md", "README.md", "CHANGELOG.md"))
"""Files that plans name as reading, or that merge easily."""


class NamingPlan(NamedTuple):
    """A plan that names a file."""

    id: str
    path: str
    line: int
    """First line with the name, from 1."""


class PlanOverlap(NamedTuple):
    """A file that several open plans name."""

    file: str
    """Path from the repository root."""
    plans: tuple[NamingPlan, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the overlap as a document shows it."""
        return {"file": self.file, "plans": [plan._asdict() for plan in self.plans]}


class PlanOverlaps(NamedTuple):
    """All overlaps of open plans."""

    overlaps: tuple[PlanOverlap, ...]
    """Files that the most plans name come first."""
    plan_count: int
    """Number of open plans."""
    ordered: tuple[tuple[str, str], ...]
    """IDs of pairs of plans that name the same files, but can't be in progress together: one waits for the other."""
    unreadable: tuple[str, ...] = ()
    """Paths of plans that can't be read, so that the files that they name are unknown."""


def find_overlaps(project: Project, resolver: PlanResolver) -> PlanOverlaps:
    """Find the files that several open plans name in code spans outside their logs.

    Files count if they exist or if their directory does. Plans, their artifacts and files that everybody reads don't.
    """
    resolver.load_all_facts()
    entries = [
        entry for entry in resolver.entries if not entry.ref.archived and resolver.facts(entry).state in (ACTIVE, DRAFT)
    ]
    owned_prefixes = owned_path_prefixes(project)
    by_file: dict[str, dict[str, NamingPlan]] = {}
    for entry in entries:
        for file, line in _named_files(resolver, entry).items():
            if not file.startswith(owned_prefixes) and os.path.basename(file) not in _COMMON_FILES:
                by_file.setdefault(file, {})[entry.display_path] = NamingPlan(entry.ref.id, entry.display_path, line)
    all_needed = build_graph(resolver).all_needed()
    overlaps: list[PlanOverlap] = []
    ordered: dict[tuple[str, str], None] = {}
    for file, naming_plans in sorted(by_file.items()):
        colliding: set[str] = set()
        for first, second in combinations(naming_plans, 2):
            if second in all_needed[first] or first in all_needed[second]:
                ordered[naming_plans[first].id, naming_plans[second].id] = None
            else:
                colliding |= {first, second}
        if colliding:
            overlaps.append(
                PlanOverlap(file, tuple([plan for path, plan in naming_plans.items() if path in colliding]))
            )
    overlaps.sort(key=lambda overlap: -len(overlap.plans))
    unreadable = [
        entry.display_path
        for entry in resolver.entries
        if not entry.ref.archived and resolver.load(entry).plan is None and os.path.lexists(entry.ref.path)
    ]
    return PlanOverlaps(tuple(overlaps), len(entries), tuple(ordered), tuple(unreadable))


def _named_files(resolver: PlanResolver, entry: PlanEntry) -> dict[str, int]:
    """Return the files of the repository that a plan names, each with its first line, from 1."""
    plan = resolver.load(entry).plan
    if plan is None:
        return {}
    root = os.path.realpath(entry.project.root)
    files: dict[str, int] = {}
    for name, span in find_named_paths(plan, PlanSource(plan)).items():
        path = os.path.normpath(os.path.join(root, name))
        if is_inside(path, root) and not os.path.isdir(path) and os.path.isdir(os.path.dirname(path)):
            is_new_file = "/" in name and "." in os.path.basename(path)
            if os.path.isfile(path) or is_new_file:
                files.setdefault(os.path.relpath(path, root), span.line + 1)
    return files
