"""Where a plan stands, looked up for `prime` and `checkpoint`: tasks, lint, the last run, git."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.cli import standing
from execplan.cli.advice import advise
from execplan.cli.ahead import ahead
from execplan.cli.answer import typed
from execplan.context.bearings import PlanOverview
from execplan.errors import ExecplanError
from execplan.plan.model import ACTIVE, ARCHIVED, DRAFT
from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from execplan.cli.advice import Advice
    from execplan.plan.model import Plan
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref, Shelved


def bearings(shelved: Shelved, plan: Plan, *, ignore: Sequence[str] = (), but: Sequence[str] = ()) -> PlanOverview:
    """Where a plan stands that was read, without what some rules find, and some files; raises ExecplanError."""
    from execplan.repo import ask
    from execplan.repo.gathering import worktree

    home, ref = shelved.home, shelved.ref
    found = None
    try:
        with ask.Ahead(home, worktree.questions(home)) as asked:
            found = _without_git(shelved, plan, tuple(ignore))
            if home.git is None:
                return found
            from functools import partial

            from execplan.agents.installed_changes import differs_only_by_install

            tree, drift = worktree.looked(home, ref, asked.told(), but, partial(differs_only_by_install, home))
    except ExecplanError as error:
        if error.code not in ask.UNUSABLE:
            raise
        found = found or _without_git(shelved, plan, tuple(ignore))
        return found._replace(git_error=(error.message, error.hint))
    return found._replace(working_tree=tree, drift=drift)


def _without_git(shelved: Shelved, plan: Plan, ignore: tuple[str, ...]) -> PlanOverview:
    """What is told by the plan and by what execplan keeps of it."""
    from execplan.repo.life import Activity

    home, ref, state = shelved.home, shelved.ref, shelved.state
    is_open = state in (ACTIVE, DRAFT)
    found = ahead(home, ref, plan) if is_open else None
    task = found.task["id"] if found is not None and found.task is not None else ""
    steps, said = _steps(shelved)
    advice = advise(shelved, found, steps)
    work = advice.work
    return PlanOverview(
        id=ref.id,
        path=home.shown(ref.path),
        digest=digest(shelved.data),
        state=state,
        plan=plan,
        next_task_id=task,
        claimed_tasks=tuple([(each["id"], each["by"]) for each in found.others]) if found is not None else (),
        stalled=is_open and Activity().is_stalled(home, ref.path, plan),
        lint_errors=_errors(home, ref, ignore),
        steps_status=said,
        working_tree=None,
        drift=None,
        commands=tuple(_more(shelved, advice)),
        claimed_until=found.task["until"] if found is not None and found.task is not None and found.is_yours else "",
        completion_command=work.then if work is not None and work.task is not None else "",
        urgency_reason=work.what if work is not None and work.task is None else advice.why,
    )


def redact() -> Callable[[str], str]:
    """What takes secrets out of a text."""
    from execplan.engine.commands.environment import public_variables
    from execplan.text.redaction import Redaction

    return Redaction(os.environ, public_variables(os.environ)).text


def _steps(shelved: Shelved) -> tuple[dict[str, Any] | None, str]:
    """How the execution plan stands, and that in words, or why it can't be told."""
    try:
        found = standing.told(shelved)
    except ExecplanError as error:
        return None, f"can't be told: {error.message}"
    return found, standing.said(found) if found and (found["state"] != standing.NONE or found["run"]) else ""


def _errors(home: Home, ref: Ref, ignore: tuple[str, ...]) -> tuple[str, ...]:
    """The errors that lint finds, of a draft too."""
    from execplan.lint.rule import ERROR
    from execplan.lint.selection import Selection
    from execplan.repo.checking.one import Target, Way, check

    found = check(Target(home, ref, ref.path), Way(selection=Selection(ignore=ignore))).findings
    return tuple([f"line {each.line}: {each.code} {each.message}" for each in found if each.level == ERROR])


def _more(shelved: Shelved, advice: Advice) -> Iterator[str]:
    """The commands that make sense now, the most urgent first."""
    path = shelved.home.shown(shelved.ref.path)
    name = typed(shelved.ref.id, path)
    show = f"execplan show {name}"
    urgent = [each for each in advice.commands if each != show]
    yield from urgent[:1] if shelved.state == ARCHIVED else urgent[:2]
    yield show
    if shelved.state == ARCHIVED:
        return
    yield f"execplan checkpoint {name}"
    yield f"execplan decide 'What' --why 'Why' -p {name}"
    yield f"execplan discover 'What' --evidence 'Proof' -p {name}"
    yield f"execplan lint {typed(path)}"
