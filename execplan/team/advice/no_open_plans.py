"""What commands print in a project without open plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.errors import ExecplanError
from execplan.core.plan_facts.facts_loader import load_archived
from execplan.core.plan_store import missing_plans
from execplan.core.plan_store.plan_store import name_in_commands
from execplan.core.project.project import Project
from execplan.core.text.invisible_characters import escape_unprintable
from execplan.core.text.message_parts import join_first
from execplan.team.advice.advice import Advice, Work
from execplan.team.advice.conflict_warnings import advise_git
from execplan.team.worktrees.worktree_record import finish_command, list_archived

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan_facts.listed_plan import ListedPlan
_NEW = "execplan new 'Title'"
_MAX_NAMED = 3
"""Maximum number of plans that a message names."""


def describe_no_open_plans(project: Project) -> tuple[str, Advice]:
    """Return the message that a project has no open plans, and the advice for whoever wants to see the archive first."""
    archived = load_archived(project)
    count = f"no open plans, {len(archived)} archived" if archived else "no plans yet"
    text, advice = _advise(project, count, archived)
    *first, last = advice.commands
    if advice.work is None and archived and last == _NEW:
        advice = advice._replace(commands=(*first, "execplan list --all", last))
    return text, advice


def advise_new_plan(project: Project, text: str) -> tuple[str, Advice]:
    """Return a message that a project has no open plans, and the advice: finish what was archived, then begin a plan.

    If plans were deleted that git still has, the message names them, and they come first: nobody may have wanted that.
    """
    return _advise(project, text, load_archived(project))


def _advise(project: Project, text: str, archived: Sequence[ListedPlan]) -> tuple[str, Advice]:
    from execplan.team.advice.archive_commit import uncommitted_archive_commands  # most projects have open plans

    if (advice := advise_git(project)).commands:
        return f"{text.replace('no plans yet', 'no open plans')}; {advice.why}", advice
    if deleted := _find_deleted(project):
        names = join_first([escape_unprintable(project.display_path(path)) for path in deleted], _MAX_NAMED)
        restore, removal = missing_plans.restore_command(deleted), missing_plans.removal_command(deleted)
        pronoun, possessive = ("it", "its") if len(deleted) == 1 else ("them", "their")
        description = f"restore {pronoun} unless you deleted {pronoun} on purpose"
        work = Work(description, restore, lead="with", otherwise=f"or commit {possessive} removal: {removal}")
        text = f"{text.removesuffix(' yet')}; deleted, but git still has {pronoun}: {names}"
        return text, Advice((restore, removal), work)
    commands = _merge_commands(archived) or (uncommitted_archive_commands(project) if archived else ())
    if not commands and (finished := list_archived(project)):
        names = join_first([record.id for record in finished], _MAX_NAMED)
        text = f"{text.replace('no plans yet', 'no open plans')}; still with {'a worktree' if len(finished) == 1 else 'worktrees'}: {names}"
        commands = tuple([finish_command(project, record) for record in finished])
    if not commands and (reopened := _find_reopened(archived)):
        reopened_names = [name_in_commands(plan.project, plan.ref) for plan in reopened]
        text = f"{text}; archived with open tasks: {join_first(reopened_names, _MAX_NAMED)}"
        commands = tuple([f"execplan restore {name}" for name in reopened_names[:_MAX_NAMED]])
    return text, Advice((*commands, _NEW))


def _merge_commands(archived: Sequence[ListedPlan]) -> tuple[str, ...]:
    """Return the command that resolves the conflict markers of each archived plan that has some."""
    return tuple(
        [f"execplan merge {name_in_commands(plan.project, plan.ref)}" for plan in archived if plan.facts.conflict_line]
    )


def _find_reopened(archived: Sequence[ListedPlan]) -> list[ListedPlan]:
    """Return the plans that got open tasks since they were archived, as a merge does; others were archived by hand with them."""
    recorded_digest = features.load(features.EVIDENCE_DIGEST)
    unfinished = [plan for plan in archived if plan.facts.finishing_command == "restore"]
    return [plan for plan in unfinished if recorded_digest(plan.project, plan.ref.path)]


def _find_deleted(project: Project) -> list[str]:
    """Return the paths of deleted plans that git has; none if git can't say."""
    try:
        return missing_plans.find_deleted(project)
    except ExecplanError:
        return []
