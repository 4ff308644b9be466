"""Homes checked as a whole: what lies in them beside the plans, and what the next commit does."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.lint.facts import ProjectFacts
from execplan.lint.homes import FOLLOW_CODE
from execplan.lint.runner import lint_project
from execplan.repo import ask, homes, shelf
from execplan.repo.checking.one import Checked
from execplan.repo.checking.selected import levels, wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.checking.one import Way
    from execplan.repo.home import Project


_TOLD = 2
"""Reasons of triage that one finding tells, the weightiest."""


def check_homes(start: str, way: Way) -> list[Checked]:
    """What is found about the home of a folder, and those that it names; raises ExecplanError."""
    return [each for home in homes.with_nested_projects(homes.require(start)) for each in _checked(home, _shelf(home), way)]


def check_commit(start: str, way: Way) -> list[Checked]:
    """What is found about the next commit, where that is wanted; raises ExecplanError."""
    home = homes.find(start)
    chosen = _following(home, way)
    if not chosen or home.git is None:
        return []
    from execplan.repo.git import operation_in_progress

    return _checked(home, _commit(home), way, chosen) if operation_in_progress(home.git) is None else []


def _checked(home: Project, found: ProjectFacts, way: Way, chosen: dict[str, str] | None = None) -> list[Checked]:
    fails = wanted(home, way.selection).failure_level
    chosen = levels(home, way.selection, "") if chosen is None else chosen
    return [
        Checked(path, os.path.relpath(os.path.join(home.root, path)), [finding], b"", fails, plan=False)
        for path, finding in lint_project(found, chosen)
    ]


def _following(home: Project, way: Way) -> dict[str, str]:
    """The rule that asks for a plan with its level, where it was selected, or the settings want it and nothing was."""
    chosen = levels(home, way.selection, "")
    if FOLLOW_CODE not in chosen and home.settings.follow and not way.selection.select:
        chosen = wanted(home, way.selection)._replace(select=(FOLLOW_CODE,)).active_levels()
    return {code: level for code, level in chosen.items() if code == FOLLOW_CODE}


def _shelf(home: Project) -> ProjectFacts:
    """The plans of a home and its artifacts."""
    artifacts = artifacts_of(home)
    plans = tuple([shelf.normalize_id(ref.id) for ref in shelf.all_refs(home)]) if artifacts else ()
    return ProjectFacts(plans, tuple(artifacts))


def artifacts_of(home: Project) -> list[tuple[str, str]]:
    """Id, as it is compared, and path of each folder of artifacts; none where plans lie among their artifacts."""
    artifacts = []
    for archived in (False, True) if home.is_flat else ():
        folder = home.artifacts_dir("", archived=archived).rstrip("/")
        for name in shelf.list_entries(folder):
            path = os.path.join(folder, name)
            if _is_like_an_id(home, name) and os.path.isdir(path) and shelf.list_entries(path):
                artifacts.append((shelf.normalize_id(name), home.display_path(path)))
    return artifacts


def _is_like_an_id(home: Project, name: str) -> bool:
    """Whether a folder's name can be an id: where the settings put a date or a number into ids, one without is no id."""
    counted = home.settings.name.replace("{slug}", "").strip("-_. ")
    return not counted or any([char.isdigit() for char in name])


def _commit(home: Project) -> ProjectFacts:
    """What the next commit changes, and what the plans are about that are worked on, as git's index holds them."""
    from execplan.repo.checking.targets import among

    paths = ask.staged_paths(home)
    commits = tuple([path for path in paths if not path.startswith(homes.owned_path_prefixes(home))])
    if not commits or among(home, [path for path in paths if path.endswith(".md")]):
        return ProjectFacts(commit_files=commits, touches_plan=True)
    folders = [each.display_path(each.plans) for each in homes.with_nested_projects(home)]
    files = {each.path: each for each in ask.index_files(home, folders)}
    plans = [
        (own, ref) for own, ref in among(home, [path for path in files if path.endswith(".md")]) if not ref.archived
    ]
    held = ask.read_blobs(home, [files[own.display_path(ref.path)] for own, ref in plans])
    scopes = [(own.display_path(ref.path), _scope(own, data)) for (own, ref), (data, _) in zip(plans, held, strict=True)]
    return ProjectFacts(commit_files=commits, plan_scopes=tuple(scopes), max_files=home.settings.follow_files, triage_reasons=_due(home))


def _due(home: Project) -> tuple[str, ...]:
    """Why what is staged calls for a plan, if it does."""
    from execplan.context.triage.judge import PLAN, evaluate_triage
    from execplan.repo import triaging
    from execplan.repo.thresholds import parse_thresholds

    found = evaluate_triage(None, triaging.staged_changes(home), thresholds=parse_thresholds(home.settings.triage))
    return found.reasons[:_TOLD] if found.verdict == PLAN else ()


def _scope(home: Project, data: bytes) -> frozenset[str]:
    """The paths that a plan names which is not complete, from the root; they may count from its home, too."""
    from execplan.lint.scope import find_named_paths
    from execplan.lint.words import PlanSource
    from execplan.plan import reader
    from execplan.plan.model import COMPLETE

    try:
        plan = reader.read(data)
    except ExecplanError:
        return frozenset()
    if plan.state() == COMPLETE:
        return frozenset()
    base = os.path.relpath(home.base, home.root)
    named = find_named_paths(plan, PlanSource(plan))
    return frozenset(named) | {os.path.normpath(os.path.join(base, path)) for path in named}
