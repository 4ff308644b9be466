"""What commands print in a project without open plans."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan_facts.facts_loader import count_archived
from execplan.core.plan_store import missing_plans
from execplan.core.project.project import Project
from execplan.core.text.invisible_characters import escape_unprintable
from execplan.core.text.message_parts import join_first
from execplan.team.advice.advice import Advice, Work

_MAX_NAMED = 3
"""Maximum number of deleted plans that a message names."""


def no_open_plans_text(project: Project) -> str:
    """Return a message that a project has no open plans, with the number of archived ones."""
    count = count_archived(project)
    return f"no open plans, {count} archived" if count else "no plans yet"


def describe_no_open_plans(project: Project) -> tuple[str, Advice]:
    """Return the message that a project has no open plans, and the advice for whoever wants to see the archive first."""
    text, advice = advise_new_plan(project, no_open_plans_text(project))
    if advice.work is None and count_archived(project):
        *commit, new = advice.commands
        advice = advice._replace(commands=(*commit, "execplan list --all", new))
    return text, advice


def advise_new_plan(project: Project, text: str) -> tuple[str, Advice]:
    """Return a message that a project has no open plans, and the advice: commit what was archived, then begin a plan.

    If plans were deleted that git still has, the message names them, and they come first: nobody may have wanted that.
    """
    from execplan.core.edits.plan_commit import uncommitted_archive_commands  # most projects have open plans

    if deleted := _find_deleted(project):
        names = join_first([escape_unprintable(project.display_path(path)) for path in deleted], _MAX_NAMED)
        restore, removal = missing_plans.restore_command(deleted), missing_plans.removal_command(deleted)
        pronoun, possessive = ("it", "its") if len(deleted) == 1 else ("them", "their")
        description = f"restore {pronoun} unless you deleted {pronoun} on purpose"
        work = Work(description, restore, lead="with", otherwise=f"or commit {possessive} removal: {removal}")
        text = f"{text.removesuffix(' yet')}; deleted, but git still has {pronoun}: {names}"
        return text, Advice((restore, removal), work)
    commit = uncommitted_archive_commands(project) if count_archived(project) else ()
    return text, Advice((*commit, "execplan new 'Title'"))


def _find_deleted(project: Project) -> list[str]:
    """Return the paths of deleted plans that git has; none if git can't say."""
    try:
        return missing_plans.find_deleted(project)
    except ExecplanError:
        return []
