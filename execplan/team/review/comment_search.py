"""Finding the plan that has a comment, given the beginning of the comment's ID."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.errors import INPUT, ExecplanError
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.project import project_discovery
from execplan.team.review.comment_reading import load_threads
from execplan.team.review.comment_threads import describe_thread, match_threads

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def select_commented_plan(start: str, plan: str | None, comment: str) -> tuple[Project, PlanRef]:
    """Return the named plan or, without a name, the plan that has the comment; an archived one if no open plan has it.

    Raises ExecplanError if there is no such plan, or if several have a comment whose ID begins like this.
    """
    if plan is not None or plan_selection.plan_from_environment() is not None:
        return plan_selection.select_plan(start, plan)
    projects = project_discovery.with_nested_projects(project_discovery.require(start))
    for archive in (False, True):
        matches = [
            (project, ref, thread)
            for project in projects
            for ref in plan_store.refs(project, archive=archive)
            for thread in match_threads(load_threads(project, ref), comment)
        ]
        if matches:
            break
    if len(matches) == 1:
        return matches[0][:2]
    if matches:
        raise ExecplanError(
            "ambiguous-comment",
            f"{comment!r} matches {len(matches)} comments",
            exit=INPUT,
            hint="use more characters of the comment's ID, or name the plan with -p",
            candidates=[f"{ref.id}: {describe_thread(thread)}" for _, ref, thread in matches],
        )
    raise ExecplanError(
        "no-such-comment",
        f"no plan has a comment whose ID begins with {comment!r}",
        exit=INPUT,
        hint="see a plan's comments: execplan show PLAN --comments",
    )
