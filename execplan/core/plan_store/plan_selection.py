"""Selection of the plan for a command: by ID, by a part of the ID or title, by path, or as the only plan."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ACTIVE, DOCUMENT, DRAFT
from execplan.core.plan.plan_lookup import is_specific_enough, normalize_text
from execplan.core.plan_store import implied_plan, plan_store
from execplan.core.plan_store.implied_plan import plan_of_worktree
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.core.project.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from execplan.core.plan_store.plan_candidates import FoundPlan

    ChosenPlan = TypeVar("ChosenPlan", bound=FoundPlan)

PLAN_VARIABLE = "EXECPLAN_PLAN"
"""Environment variable that names a plan for commands without a plan argument."""
_LIST_HINT = "list all plans: execplan list --all"

named_by_path: list[tuple[Project, PlanRef]] = []
"""The plans that this command has selected, and that have only their paths as names.

Either no ID leads to them, because they are outside the plans directories, or the ID is also that of another plan.
"""

selected: dict[str, tuple[Project, PlanRef]] = {}
"""The plans that this command has selected, by the paths of their files."""


def plan_from_environment() -> str | None:
    """Return the value of EXECPLAN_PLAN, or None if it is not set."""
    return os.environ.get(PLAN_VARIABLE) or None


def select_plan(start: str, query: str | None) -> tuple[Project, PlanRef]:
    """Select a plan and its project: by name, by EXECPLAN_PLAN, as the sticky plan, as the worktree's, or as the only plan.

    Raises ExecplanError if no single plan fits.
    """
    project, ref = _select_plan(start, query)
    selected[ref.path] = (project, ref)
    return project, ref


def _select_plan(start: str, query: str | None) -> tuple[Project, PlanRef]:
    if query is not None:
        return _find_plan(start, query)
    variable = plan_from_environment()
    if variable is None:
        project = project_discovery.require(start)
        return _select_sticky_plan(project) or _find_only_plan(project)
    try:
        return _find_plan(start, variable)
    except ExecplanError as error:
        if error.code in ("no-such-plan", "ambiguous-plan", "usage"):
            error.message = f"{PLAN_VARIABLE} is set to {variable!r}: {error.message}"
            error.hint = f"name another plan in {PLAN_VARIABLE}, or unset it; {_LIST_HINT}"
        raise


def _select_sticky_plan(project: Project) -> tuple[Project, PlanRef] | None:
    """Return the sticky plan, and note that it was selected if another one could have been meant."""
    plan = implied_plan.find_sticky_plan(project)
    if plan is not None and plan[1] not in implied_plan.selected:
        plans = [ref for member in project_discovery.with_nested_projects(project) for ref in plan_store.refs(member)]
        implied_plan.selected += [plan[1]] if len(plans) > 1 else []
    return plan


def is_plan_chosen(start: str) -> bool:
    """Return whether EXECPLAN_PLAN names a plan, or the project has a sticky plan; raises ExecplanError."""
    if plan_from_environment() is not None:
        return True
    return implied_plan.find_sticky_plan(project_discovery.require(start)) is not None


def is_exact_name(start: str, query: str) -> bool:
    """Return whether a text is the full ID, the full slug or the path of a plan.

    Raises ExecplanError for bad settings.
    """
    if is_path_query(query):
        return os.path.lexists(query)
    project = project_discovery.find(start)
    return project.exists and any(
        [
            _is_exact(member, ref, query)
            for member in project_discovery.with_nested_projects(project)
            for ref in plan_store.all_refs(member)
        ]
    )


def _is_exact(project: Project, ref: PlanRef, query: str) -> bool:
    query_id = plan_store.normalize_id(query)
    return query_id == plan_store.normalize_id(ref.id) or query_id in plan_store.slugs(project, ref.id)


def _find_plan(start: str, query: str) -> tuple[Project, PlanRef]:
    """Find a plan by name or path. Raises ExecplanError if no plan or several match."""
    if query.strip() == "-":
        raise ExecplanError(
            "usage",
            "'-' means standard input, which this command does not read; it never means a plan",
            hint=f"name the plan by its ID; {_LIST_HINT}",
        )
    if is_path_query(query) and os.path.lexists(query):
        project = project_discovery.find_for_file(query)
        if os.path.lexists(query):  # otherwise an interrupted move has just been completed
            return _select_path(project, query)
    return _find_by_name(project_discovery.with_nested_projects(project_discovery.require(start)), query)


def _select_path(project: Project, path: str) -> tuple[Project, PlanRef]:
    """Return the plan in a file, and note it if no ID leads to it alone."""
    ref = plan_store.ref_for_path(project, path)
    note_path_name(project, ref)
    return project, ref


def note_path_name(project: Project, ref: PlanRef) -> None:
    """Note a plan that this command works on if its ID doesn't lead to it, so that suggested commands use its path."""
    is_listed = ref.path in [listed.path for listed in plan_store.all_refs(project)] or not os.path.lexists(ref.path)
    is_here = is_listed and path_from_here(project, ref) == project.display_path(ref.path)
    if not is_here or plan_store.has_namesake(project, ref):
        named_by_path.append((project, ref))


def path_from_here(project: Project, ref: PlanRef) -> str:
    """Return the path of a plan from the root of the repository, or from the working directory if that is in another."""
    is_here = os.path.samefile(project_discovery.find(os.getcwd()).root, project.root)
    return project.display_path(ref.path) if is_here else os.path.relpath(ref.path)


def _find_by_name(projects: list[Project], query: str) -> tuple[Project, PlanRef]:
    """Find a plan by name in some projects, and return it with its project.

    Raises ExecplanError if no single plan matches.
    """
    from unicodedata import normalize

    project = projects[0]
    path = os.path.join(project.root, query)
    if is_path_query(query) and os.path.lexists(path):
        nearest = project_discovery.find_for_file(path)
        project = nearest if nearest.exists else project
        return _select_path(project, path)
    if is_path_query(query):
        moved_plans = [(member, ref) for member in projects for ref in _find_by_former_path(member, query)]
        if len(moved_plans) == 1:
            return moved_plans[0]
    plan_name = normalize("NFC", query.removesuffix(".md"))
    exact_refs = [_find_by_exact_id(member, plan_name) for member in projects]
    if len(projects) - exact_refs.count(None) == 1:
        return next((member, ref) for member, ref in zip(projects, exact_refs, strict=True) if ref is not None)
    plans = [(member, ref) for member in projects for ref in plan_store.all_refs(member)]
    matches = [
        at for at, (_, ref) in enumerate(plans) if plan_store.normalize_id(ref.id) == plan_store.normalize_id(plan_name)
    ]
    differs_by_case = len({normalize("NFC", plans[at][1].id) for at in matches}) > 1
    if not matches and plan_name.strip():
        matches = _match_by_part(plans, plan_name)
        if not any([_is_exact(*plans[at], plan_name) for at in matches]):
            from execplan.core.plan_store.missing_plans import ensure_not_former

            ensure_not_former(projects, os.path.basename(plan_name), [plans[at][1] for at in matches])
    matches = matches if differs_by_case else _prefer_open_plan(plans, matches)
    if len(matches) == 1:
        return plans[matches[0]]
    if matches:
        from execplan.core.plan_store.plan_candidates import ambiguous_plan_error

        is_full_id = not differs_by_case and len({plans[at][1].id for at in matches}) == 1
        hint = f"use {'its path' if differs_by_case or is_full_id else 'its full ID or its path'}"
        raise ambiguous_plan_error(
            [plan_store.load(*plans[at]) for at in matches], f"{query!r} matches {len(matches)} plans", hint
        )
    if moved_plan := _find_moved(projects, os.path.basename(plan_name)):
        return moved_plan
    raise _unknown_plan_error(plans, query, plan_name)


def _prefer_open_plan(plans: Sequence[tuple[Project, PlanRef]], matches: list[int]) -> list[int]:
    """Return the only match that is not archived, or else the only one; without one, all. Documents count as none."""
    if len(matches) < 2:
        return matches
    current = [at for at in matches if not plans[at][1].archived and plan_store.load(*plans[at]).state != DOCUMENT]
    archived = [at for at in matches if plans[at][1].archived]
    preferred = current or archived
    return preferred if len(preferred) == 1 else matches


def _find_moved(projects: list[Project], plan_name: str) -> tuple[Project, PlanRef] | None:
    """Find a plan that was moved by hand and had this name, or any name if it is empty; return None if there is none.

    Raises ExecplanError if the plan was deleted.
    """
    from execplan.core.plan_store import missing_plans

    folded_id = plan_store.normalize_id(plan_name)
    is_part = not plan_name or is_specific_enough(plan_name)
    for project in projects:
        ref = missing_plans.find_moved_plan(
            project,
            lambda name: (
                folded_id == plan_store.normalize_id(name) or (is_part and folded_id in plan_store.normalize_id(name))
            ),
        )
        if ref is not None:
            return project, ref
    return None


def _match_by_part(plans: Sequence[tuple[Project, PlanRef]], plan_name: str) -> list[int]:
    """Return the plans with this slug; else with this part in the ID; else with this title; else with this part in it.

    A single character is a part of nearly every name, so it selects a plan only as a full slug or title.
    """
    folded_id, folded_text = plan_store.normalize_id(plan_name), normalize_text(plan_name)
    titles: list[str] = []

    def title(at: int) -> str:
        if not titles:
            titles.extend([normalize_text(_plan_title(project, ref) or "") for project, ref in plans])
        return titles[at]

    is_part = is_specific_enough(plan_name)
    predicates: tuple[Callable[[int], bool], ...] = (
        lambda at: folded_id in plan_store.slugs(plans[at][0], plans[at][1].id),
        lambda at: is_part and folded_id in plan_store.normalize_id(plans[at][1].id),
        lambda at: folded_text == title(at),
        lambda at: is_part and folded_text in title(at),
    )
    for predicate in predicates:
        if matches := [at for at in range(len(plans)) if predicate(at)]:
            return matches
    return []


def _unknown_plan_error(plans: Sequence[tuple[Project, PlanRef]], query: str, plan_name: str) -> ExecplanError:
    """Return the error for a name that matches no plan, with the IDs of plans with similar names."""
    similar = _similar_ids(plans, plan_name)
    hint = f"did you mean {similar[0]}? To {_LIST_HINT}" if similar else _LIST_HINT
    if query.startswith("-"):
        message = f"{query!r} looks like an option, not like a plan"
    elif plan_name.strip() and not is_specific_enough(plan_name):
        message = f"{query!r} is too short to identify a plan, unless it is a full ID or title"
    else:
        message = f"unknown plan {query!r}" + (": there is no such file" if is_path_query(query) else "")
    return ExecplanError("no-such-plan", message, hint=hint, candidates=similar)


def _similar_ids(plans: Sequence[tuple[Project, PlanRef]], plan_name: str) -> list[str]:
    """Return the IDs of plans with a similar ID, slug, title or word in one of them, most similar first."""
    from execplan.core.text.suggestions import closest_names

    ids_by_name: dict[str, list[str]] = {}
    for project, ref in plans:
        title = normalize_text(_plan_title(project, ref) or "")
        names = {plan_store.normalize_id(ref.id), title, *plan_store.slugs(project, ref.id)}
        words = {word for name in names for word in name.replace("-", " ").replace("_", " ").split() if len(word) > 2}
        for name in names | words:
            ids_by_name.setdefault(name, []).append(ref.id)
    similar = closest_names(plan_store.normalize_id(plan_name), ids_by_name, limit=8)
    return list(dict.fromkeys([ref for name in similar for ref in ids_by_name[name]]))[:3]


def _find_by_former_path(project: Project, query: str) -> list[PlanRef]:
    """Return the plans with the ID of a file that is no longer in the plans directory; it may have been archived."""
    for path in (os.path.abspath(query), os.path.join(project.root, query)):
        folder, name = project.split_plan_path(path)
        if folder == project.plans:
            return [ref for ref in plan_store.all_refs(project) if ref.id == name]
    return []


def _find_by_exact_id(project: Project, name: str) -> PlanRef | None:
    """Return the plan with exactly this ID, if it is unique; ASCII names only, which have just one Unicode form."""
    if not name.isascii() or "/" in name:
        return None
    folders = [project.plans, *project.archives]
    candidates = [
        plan_store.PlanRef(name, project.plan_file(folder, name), folder != project.plans) for folder in folders
    ]
    existing = [ref for ref in candidates if os.path.lexists(ref.path)]
    if len(existing) != 1:
        return None
    # Names that differ only by case are equal on some file systems: list the directory, but read no plan.
    entry = (f"{name}.md" if project.is_flat else name).lower()
    same_entries = [
        listed
        for folder in folders
        for listed in plan_store.list_entries(folder, in_order=False)
        if listed.lower() == entry
    ]
    return existing[0] if len(same_entries) == 1 else None


def is_path_query(query: str) -> bool:
    """Return whether the name of a plan is written as a path."""
    return "/" in query or query.endswith(".md")


def _find_only_plan(project: Project) -> tuple[Project, PlanRef]:
    worktree_plan = plan_of_worktree(project)
    if worktree_plan is not None:
        return project, worktree_plan
    projects = project_discovery.with_nested_projects(project)
    plans = [(member, ref) for member in projects for ref in plan_store.refs(member)]
    if len(plans) == 1 and sum([len(plan_store.all_refs(member)) for member in projects]) == 1:
        return plans[0]  # also a file that is no plan yet: nothing else can be meant
    if not plans and (moved_plan := _find_moved(projects, "")):
        return moved_plan
    try:
        stored_plan = select_only_plan(
            [stored_plan for member in projects for stored_plan in plan_store.load_all(member, plan_store.refs(member))]
        )
    except ExecplanError as error:
        if error.code == "no-plan":
            from execplan.core.plan_store.plan_candidates import name_archived_plans

            name_archived_plans(error, projects)
        if path := implied_plan.sticky_path(project):
            error.message += f"; the sticky plan {project.split_plan_path(path)[1]} is archived or gone"
        raise
    return stored_plan.project, stored_plan.ref


def select_only_plan(plans: Sequence[ChosenPlan]) -> ChosenPlan:
    """Return the only unarchived plan, else the only draft or active one; files that are not plans don't count.

    Raises ExecplanError if there is none or several.
    """
    plans = [plan for plan in plans if plan.state != DOCUMENT]
    if len(plans) == 1:
        return plans[0]
    open_plans = [plan for plan in plans if plan.state in (DRAFT, ACTIVE)]
    if len(open_plans) == 1:
        return open_plans[0]
    if not plans:
        raise ExecplanError(
            "no-plan", "there are no plans outside the archive", hint="create one: execplan new 'Title'"
        )
    from execplan.core.plan_store.plan_candidates import ambiguous_plan_error

    description = (
        f"{len(open_plans)} are open" if open_plans else f"{len(plans)} are not archived, but none of them is open"
    )
    raise ambiguous_plan_error(
        open_plans or plans,
        f"no plan specified; {description}",
        f"specify one with -p PLAN; for all commands, run execplan use PLAN or set {PLAN_VARIABLE}",
    )


def _plan_title(project: Project, ref: PlanRef) -> str | None:
    stored_plan = plan_store.load(project, ref)
    return stored_plan.plan.title if stored_plan.plan is not None else None
