"""The paths that a plan names: what it promises to deliver, and what it cites."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.plan import outline
from execplan.core.plan.plan_metadata import read_metadata
from execplan.core.text.pure_paths import resolve_relative
from execplan.linter.plan_paths import MissingPathExcuses, extract_path, find_named_paths, repository_path
from execplan.linter.plan_source import PlanSource
from execplan.linter.rule import RuleContext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.project.project import Project


class PlanPaths(NamedTuple):
    """The paths that a plan names, as it writes them."""

    promised: tuple[str, ...]
    """Paths of Interfaces and Dependencies and of the metadata's `shipped`; without any, all that are certainly paths."""
    cited: tuple[str, ...]
    """Every path that makes up a code span outside the logs."""
    excused: frozenset[str]
    """Cited paths of which the plan says that they may be missing, for example because it removes them."""


def read_plan_paths(plan: ParsedPlan) -> PlanPaths:
    """Return the paths that a plan names."""
    source = PlanSource(plan)
    cited = tuple(find_named_paths(plan, source))
    section = plan.section(outline.INTERFACES)
    spans = source.code_spans_in(section.body_start, section.notes_start) if section is not None else []
    promised = [path for span in spans if (path := extract_path(span.text))]
    promised += [path for path in read_metadata(plan).links.shipped if repository_path(path)]
    excuses = MissingPathExcuses(plan, RuleContext(source=source))
    return PlanPaths(
        tuple(dict.fromkeys(promised)) or tuple(filter(repository_path, cited)),
        cited,
        frozenset([path for path in cited if excuses.is_excused(path)]),
    )


class TrackedFiles:
    """The files that git tracks in a repository, to find those that plans mean."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self._names = {os.path.basename(path) for path in self.paths}

    def resolve(self, project: Project, path: str) -> str:
        """Return the tracked file that a plan means, by a path from the repository's or the project's root, or empty."""
        return next((candidate for candidate in candidates(project, path) if candidate in self.paths), "")

    def is_missing(self, project: Project, path: str) -> bool:
        """Return whether a text is certainly the path of a file in the repository, and no file has this path or a longer one."""
        if not repository_path(path) or not any(candidates(project, path)) or self.resolve(project, path):
            return False
        return os.path.basename(path) not in self._names


def candidates(project: Project, path: str) -> Iterator[str]:
    """Yield the paths from the repository's root that a path in a plan of the project may mean; none outside of it."""
    for directory in dict.fromkeys((".", os.path.relpath(project.base, project.root))):
        candidate = resolve_relative(directory, path)
        if candidate:
            yield candidate
