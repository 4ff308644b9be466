"""What commands print in a project without open plans."""

from __future__ import annotations

from execplan.core.plan_facts.facts_loader import count_archived
from execplan.core.project.project import Project


def no_open_plans_text(project: Project) -> str:
    """Return a message that a project has no open plans, with the number of archived ones."""
    count = count_archived(project)
    return f"no open plans, {count} archived" if count else "no plans yet"


def no_open_plans_commands(project: Project) -> tuple[str, ...]:
    """Return the suggested commands for a project without open plans, for whoever wants to see the archive first."""
    *commit, new = new_plan_commands(project)
    return (*commit, "execplan list --all", new) if count_archived(project) else (new,)


def new_plan_commands(project: Project) -> tuple[str, ...]:
    """Return the suggested commands for a project without open plans: commit what was archived, then begin a plan."""
    from execplan.core.edits.plan_commit import uncommitted_archive_commands  # most projects have open plans

    commit = uncommitted_archive_commands(project) if count_archived(project) else ()
    return (*commit, "execplan new 'Title'")
