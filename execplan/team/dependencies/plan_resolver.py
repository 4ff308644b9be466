"""Resolution of the names by which plans refer to each other, and the progress of the plans that they mean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.files.file_access import read_start
from execplan.core.plan.model import ARCHIVED, BROKEN, COMPLETE, DONE, Task
from execplan.core.plan.plan_dependencies import split_project_name
from execplan.core.plan.plan_lookup import find_task, is_specific_enough
from execplan.core.plan.task_needs import TaskNeed
from execplan.core.plan_facts.facts_loader import load_facts, read_plan_facts
from execplan.core.plan_facts.listed_plan import ListedPlan, PlanFacts
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.missing_plans import read_former_names
from execplan.core.plan_store.plan_store import PlanRef, StoredPlan
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import related_projects
from execplan.core.project.project_list import Identity, ProjectOrigin, identify, main_directory, unique_names
from execplan.team.dependencies.known_projects import KnownProjects, has_name


class PlanEntry(NamedTuple):
    """A plan of the project, of a nested project, or of another repository."""

    project: Project
    ref: PlanRef
    origin: ProjectOrigin | None = None
    """The other project that the plan is in; None for the own project."""

    @property
    def display_path(self) -> str:
        """Path from the repository root, or an absolute path in another project."""
        return self.project.display_path(self.ref.path) if self.origin is None else self.ref.path

    @property
    def name(self) -> str:
        """ID of the plan, after the name of its project if it is in another one."""
        return self.ref.id if self.origin is None else f"{self.origin.name}:{self.ref.id}"


class Resolution(NamedTuple):
    """The result of resolving a name: one plan, or the reason why there is none."""

    entry: PlanEntry | None
    candidates: tuple[str, ...] = ()
    """Names of the plans that the name could mean, if there are several."""
    unknown_project: str = ""
    """Name of the project, if it is not among the projects of the user."""
    is_task_name: bool = False
    """Whether no plan has the name, and it has the form of a task's name, such as `parser#3`."""
    renamed_to: str = ""
    """ID of the plan that had this full name before it was renamed."""

    @property
    def problem(self) -> str:
        """Why the name is not clear; empty if it is."""
        if self.entry is not None:
            return ""
        if self.unknown_project:
            return f"unknown: your settings list no project {self.unknown_project} that can be read"
        if self.renamed_to:
            return f"the plan was renamed to {self.renamed_to}"
        if self.is_task_name:
            return "no such plan; a plan waits for whole plans, a task waits for a task: write `needs PLAN#TASK` in its text"
        if self.candidates:
            return f"matches {len(self.candidates)} plans: {', '.join(self.candidates[:3])}"
        return "no such plan"


class PlanResolver:
    """Resolves names of plans in a project and its nested projects; directories are listed and plans are read once.

    A name such as `parser:2026-01-01_grammar` is that of a plan in another project.
    """

    def __init__(self, project: Project, known_projects: KnownProjects | None = None) -> None:
        """Prepare to resolve names; other projects are by default those in the user's settings."""
        self._project = project
        self._known_projects = known_projects
        self._origin: ProjectOrigin | None = None
        self._resolvers: dict[Identity, PlanResolver] = {identify(project): self}
        """The resolvers of all projects that were needed, which they share."""
        self._entries: list[PlanEntry] | None = None
        self._names: list[tuple[PlanEntry, str, str]] = []
        """Each plan with its normalized ID, and its normalized path without `.md`."""
        self._by_id: dict[str, list[PlanEntry]] = {}
        self._by_slug: dict[str, list[PlanEntry]] = {}
        self._written_ids: dict[str, list[PlanEntry]] | None = None
        self._former_names: list[tuple[str, set[str]]] | None = None
        """The ID of each plan with its former names."""
        self._loaded: dict[str, StoredPlan] = {}
        self._facts: dict[str, PlanFacts] = {}
        self._resolutions: dict[str, Resolution] = {}

    @property
    def entries(self) -> list[PlanEntry]:
        """All plans, archived ones last in each project."""
        if self._entries is None:
            members = related_projects(self._project)
            self._entries = [
                PlanEntry(member, ref, self._origin) for member in members for ref in plan_store.all_refs(member)
            ]
            for entry in self._entries:
                plan_id, path = plan_store.normalize_id(entry.ref.id), plan_store.normalize_id(entry.display_path)
                self._names.append((entry, plan_id, path.removesuffix(".md")))
                self._by_id.setdefault(plan_id, []).append(entry)
                for slug in plan_store.slugs(entry.project, entry.ref.id):
                    self._by_slug.setdefault(slug, []).append(entry)
        return self._entries

    def resolve(self, name: str) -> Resolution:
        """Resolve a name: a path, an ID, an ID in front matter, or a unique part of an ID.

        Of several plans with the name, the one outside the archive is meant.
        """
        if name not in self._resolutions:
            resolution = self._resolve(name)
            project, plan = split_project_name(name)
            if resolution.entry is None and project:
                resolution = self._resolve_elsewhere(project, plan)
            elif "#" in name and resolution == Resolution(None):
                resolution = Resolution(None, is_task_name=True)
            self._resolutions[name] = resolution
        return self._resolutions[name]

    def resolver_of(self, entry: PlanEntry) -> PlanResolver:
        """Return the resolver for the names in a plan, which is that of its project."""
        return next(resolver for resolver in self._resolvers.values() if resolver._origin == entry.origin)  # noqa: SLF001 - own class

    def _resolve_elsewhere(self, name: str, plan: str) -> Resolution:
        """Resolve the name of a plan in the project with a name, which may be this one."""
        if self._known_projects is None:
            self._known_projects = KnownProjects()
        candidates = [resolver._project for resolver in self._resolvers.values()]  # noqa: SLF001 - own class
        projects = {identify(project): project for project in candidates if has_name(project, name)}
        projects |= {identify(project): project for project in self._known_projects.find(name)}
        if not projects:
            return Resolution(None, unknown_project=name)
        if len(projects) > 1:
            names = unique_names([main_directory(project) for project in projects.values()])
            return Resolution(None, tuple([f"{project_name}:{plan}" for project_name in names]))
        ((identity, project),) = projects.items()
        if identity not in self._resolvers:
            resolver = PlanResolver(project, self._known_projects)
            resolver._origin = ProjectOrigin(name, project.base)
            resolver._resolvers = self._resolvers
            self._resolvers[identity] = resolver
        return self._resolvers[identity].resolve(plan)

    def load(self, entry: PlanEntry) -> StoredPlan:
        """Return the content of a plan."""
        path = entry.ref.path
        if path not in self._loaded:
            self._loaded[path] = plan_store.load(entry.project, entry.ref)
        return self._loaded[path]

    def facts(self, entry: PlanEntry) -> PlanFacts:
        """Return the facts of a plan."""
        path = entry.ref.path
        if path not in self._facts:
            self._facts[path] = read_plan_facts(entry.project, entry.ref)
        return self._facts[path]

    def load_all_facts(self, *, only_indexed: bool = False) -> None:
        """Load the facts of all plans at once, which is faster than one after the other, or those that the index has."""
        self._load_facts(self.entries, only_indexed=only_indexed)

    def _load_facts(self, entries: list[PlanEntry], *, only_indexed: bool = False) -> None:
        missing = [(entry.project, entry.ref) for entry in entries if entry.ref.path not in self._facts]
        self.add_listed(load_facts(self.entries[0].project, missing, only_indexed=only_indexed) if missing else ())

    def add_listed(self, plans: Iterable[ListedPlan]) -> None:
        """Remember the facts of plans."""
        self._facts.update({plan.ref.path: plan.facts for plan in plans})

    def is_done(self, entry: PlanEntry) -> bool:
        """Return whether plans that depend on this one can start: it is archived, or all its tasks are done."""
        return entry.ref.archived or self.facts(entry).state == COMPLETE

    def progress_text(self, entry: PlanEntry) -> str:
        """Describe how far a plan is, such as `active, 2 of 5 tasks done`."""
        facts = self.facts(entry)
        if facts.counts is None:
            return BROKEN
        if entry.ref.archived:
            return ARCHIVED
        return f"{facts.state}, {facts.counts.done} of {facts.counts.total} tasks done"

    def find_task(self, entry: PlanEntry, query: str) -> tuple[str, Task] | None:
        """Return the ID and the task with a number or an ID; None if the plan has no such task or can't be read."""
        plan = self.load(entry).plan
        if plan is None:
            return None
        try:
            return find_task(plan, query)
        except ExecplanError:
            return None

    def is_task_done(self, entry: PlanEntry, query: str) -> bool:
        """Return whether a task is done, or its whole plan."""
        if self.is_done(entry):
            return True
        numbered_task = self.find_task(entry, query)
        return numbered_task is not None and numbered_task[1].state == DONE

    def need_problem(self, need: TaskNeed) -> str:
        """Return why it is not clear which task of another plan a task needs; empty if it is, or if that plan is broken."""
        resolution = self.resolve(need.plan)
        entry = resolution.entry
        if entry is None:
            return resolution.problem
        is_readable = not self.is_done(entry) and self.load(entry).plan is not None
        return f"{entry.ref.id} has no such task" if is_readable and self.find_task(entry, need.task) is None else ""

    def _resolve(self, name: str) -> Resolution:
        bare_name = plan_store.normalize_id(name.strip().removesuffix(".md").rstrip("/"))
        if not bare_name or not self.entries:
            return Resolution(None)
        if "/" in name:
            last_part = bare_name.rpartition("/")[2]
            former_path = self._by_id.get(last_part, []) if name.endswith(".md") else []
            return _single(self._match_path(bare_name) or former_path)
        starts = (f"{bare_name}-", f"{bare_name}_")
        is_specific = is_specific_enough(bare_name)
        matches = self._by_id.get(bare_name) or self._by_slug.get(bare_name) or []
        if matches:
            return _single(matches)
        matches = [entry for entry, plan_id, _ in self._names if is_specific and plan_id.startswith(starts)]
        if not matches and (entries := self._match_written_ids(bare_name)):
            return _single(entries)
        matches = matches or [entry for entry, plan_id, _ in self._names if is_specific and bare_name in plan_id]
        renamed_ids = [] if bare_name.isdecimal() else self._match_former_names(bare_name)
        if renamed_ids and [entry.ref.id for entry in matches] != renamed_ids:
            return Resolution(None, renamed_to=" or ".join(renamed_ids))
        return _single(matches)

    def _match_path(self, path: str) -> list[PlanEntry]:
        """Return the plans whose path ends with these parts; the last part may be the number that starts a file name."""
        directory, _, name = path.removeprefix("./").rpartition("/")
        matches = []
        for entry, _, plan_path in self._names:
            plan_directory, _, plan_name = plan_path.rpartition("/")
            is_same_name = plan_name == name or (name.isdigit() and plan_name.startswith(f"{name}-"))
            if is_same_name and f"/{plan_directory}".endswith(f"/{directory}"):
                matches.append(entry)
        return matches

    def _match_former_names(self, name: str) -> list[str]:
        """Return the IDs of the plans that had this full name before they were renamed."""
        if self._former_names is None:
            members = related_projects(self._project)
            self._former_names = [(ref.id, names) for member in members for ref, names in read_former_names(member)]
        return [plan_id for plan_id, names in self._former_names if name in names]

    def _match_written_ids(self, name: str) -> list[PlanEntry]:
        """Return the plans with this ID in their front matter."""
        if self._written_ids is None:
            self._written_ids = {}
            entries = [entry for entry in self.entries if _may_have_front_matter(entry.ref.path)]
            self._load_facts(entries)
            for entry in entries:
                written_id = self.facts(entry).written_id
                if written_id:
                    self._written_ids.setdefault(plan_store.normalize_id(written_id), []).append(entry)
        return self._written_ids.get(name, [])


def _may_have_front_matter(path: str) -> bool:
    """Return whether the first line of a file begins like front matter, possibly after a byte order mark."""
    try:
        return b"---" in read_start(path, 6)
    except OSError:  # such as a symbolic link
        return True


def _single(matches: list[PlanEntry]) -> Resolution:
    """Return the result for matching plans; of several, the only one outside the archive is meant."""
    current = [entry for entry in matches if not entry.ref.archived]
    matches = current if len(current) == 1 else matches
    if len(matches) == 1:
        return Resolution(matches[0])
    is_one_id = len({entry.ref.id for entry in matches}) < len(matches)
    return Resolution(None, tuple([entry.display_path if is_one_id else entry.ref.id for entry in matches]))
