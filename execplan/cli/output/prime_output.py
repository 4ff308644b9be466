"""Output of `prime` for the start of a session; without click, because every session waits for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer, Call, print_answer
from execplan.cli.plan_hints import denied_commands
from execplan.context import session_primer
from execplan.context.quoted_text import QUOTE_PREFIX, quote_line
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.author import explicit_actor
from execplan.core.plan_store.hint_reader import fit_command, fit_commands, fit_hint
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.project import project_discovery
from execplan.team.advice.advice import Advice
from execplan.team.advice.overview_builder import build_overview, make_redactor
from execplan.team.advice.plan_json import plan_json
from execplan.team.worktrees.newest_plans import with_newest_version

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.context.plan_overview import PlanOverview
    from execplan.core.plan_store.plan_store import StoredPlan
    from execplan.team.worktrees.plan_versions import PlanLocation

    Redactor = Callable[[str], str]

_CLAUDE = "claude"
PROGRAMS = (_CLAUDE, "codex", "gemini")
_SLOW_RULES = ("EP6",)
"""Rules that take most of the time: whether steps can be compiled, which `Steps:` and `evaluate` report anyway."""
_NO_PLAN_CODES = ("no-plan", "plan-deleted", "no-home", "ambiguous-plan", "dependency-cycle")
"""Error codes that are not errors if no plan was named, because the session starts anyway."""


def prime_fast(arguments: Sequence[str]) -> int:
    """Run `prime`, `prime PLAN` or `prime --hook PROGRAM`; return -1 for other arguments. Raises ExecplanError."""
    hook = arguments[1] if len(arguments) == 2 and arguments[0] == "--hook" and arguments[1] in PROGRAMS else None
    plan_names = [] if hook else list(arguments)
    if len(plan_names) > 1 or any([not name or name.startswith("-") for name in plan_names]):
        return -1
    project_discovery.finish_moves()
    return print_answer(
        prime_answer(plan_names[0] if plan_names else None, hook)._replace(next_commands=()), Call(), "prime"
    )


def prime_answer(plan: str | None, hook: str | None) -> Answer:
    """Build the answer for the named or only plan, or about why there is none; raises ExecplanError."""
    redactor = make_redactor()
    try:
        plan_answer = _plan_answer(plan, redactor)
    except ExecplanError as error:
        if not hook and (plan is not None or error.code not in _NO_PLAN_CODES):
            raise
        if hook and error.code == "no-home":
            return Answer({"id": None, "candidates": [], "text": ""}, "")  # a plugin's hooks run in every directory
        plan_answer = _no_plan_answer(error, redactor)
    return Answer(plan_answer.data, _format_for_hook(hook, plan_answer.text)) if hook else plan_answer


def _format_for_hook(program: str, text: str) -> str:
    """Format the text for a program's hook: Claude Code takes plain text, the others take a JSON document."""
    if program == _CLAUDE:
        return text
    import json

    return json.dumps({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}})


def _plan_answer(plan: str | None, redactor: Redactor) -> Answer:
    """Build the answer for the selected plan; raises ExecplanError."""
    stored_plan, location = _select_plan(plan)
    project, ref = stored_plan.project, stored_plan.ref
    if stored_plan.plan is None:
        message = f"{ref.id} can't be read: {stored_plan.error.message if stored_plan.error else ''}"
        lint = f"execplan lint {quote_plan_name(project.display_path(ref.path))}"
        return _build_answer(
            stored_plan,
            redactor,
            f"{QUOTE_PREFIX}{quote_line(message, redactor, 600)}\n{quote_line(lint, redactor, 400)}\n",
            (lint,),
        )
    overview = build_overview(stored_plan, stored_plan.plan, ignore=_SLOW_RULES)
    overview = _fit_to_reader(_in_directory(overview, location.directory if location is not None else ""))
    extra_data = {
        "task": overview.next_task_id or None,
        "steps": overview.steps_status or None,
        "drift": {"commits": overview.drift.commits, "paths": list(overview.drift.paths)} if overview.drift else None,
        "without_git": [quote_line(reason, redactor) for reason in overview.git_error] if overview.git_error else None,
        "findings": [quote_line(finding, redactor) for finding in overview.lint_errors],
        "comments": [quote_line(comment, redactor) for comment in overview.open_comments],
    }
    return _build_answer(
        stored_plan,
        redactor,
        session_primer.format_primer(overview, redactor),
        overview.commands[: session_primer.MAX_COMMANDS],
        extra_data,
    )


def _select_plan(plan: str | None) -> tuple[StoredPlan, PlanLocation | None]:
    """Return the named or current plan in its newest version, as `next` chooses it among several; raises ExecplanError."""
    try:
        project, ref = plan_selection.select_plan(os.getcwd(), plan)
    except ExecplanError as error:
        if plan is None and error.code == "no-plan":
            _hint_at_archive(error)
        if plan is not None or error.code != "ambiguous-plan":
            raise
        from execplan.team.advice.next_plan import select_next_plan

        chosen = select_next_plan(os.getcwd(), None)
        if chosen.stored_plan is None:
            raise
        return chosen.stored_plan, chosen.location
    return with_newest_version(project, plan_store.load(project, ref))


def _hint_at_archive(error: ExecplanError) -> None:
    """Let an error that there is no plan lead to what is left to do, such as a plan that was archived with open tasks."""
    from execplan.team.advice.no_open_plans import describe_no_open_plans

    text, advice = describe_no_open_plans(project_discovery.require(os.getcwd()))
    if len(advice.commands) > 1 and not advice.commands[0].startswith("execplan list "):  # not only a new plan
        error.message, error.hint = text, fit_command(advice.commands[0], denied_commands())
        if advice.work is not None:
            error.hint = advice.work.to_text()


def _in_directory(overview: PlanOverview, directory: str) -> PlanOverview:
    """Return the overview with commands that run in another directory; unchanged if it is empty."""
    commands = (overview.completion_command, overview.claim_command, *overview.commands)
    completion_command, claim_command, *commands_there = Advice(commands).in_directory(directory).commands
    return overview._replace(
        completion_command=completion_command, claim_command=claim_command, commands=tuple(commands_there)
    )


def _fit_to_reader(overview: PlanOverview) -> PlanOverview:
    """Return the overview with commands for its reader; a named agent claims a task before it does it."""
    completion_command, commands = overview.completion_command, overview.commands
    if overview.claim_command and explicit_actor() is not None:
        completion_command, commands = "", (overview.claim_command, *commands)
    commands = fit_commands(commands, denied_commands())
    return overview._replace(completion_command=fit_command(completion_command), commands=commands)


def _build_answer(
    stored_plan: StoredPlan,
    redactor: Redactor,
    text: str,
    next_commands: tuple[str, ...],
    extra_data: dict[str, Any] | None = None,
) -> Answer:
    """Build an answer with the plan's standard fields, with secrets redacted."""
    data: dict[str, Any] = {**plan_json(stored_plan), "text": text, **(extra_data or {})}
    redacted = {name: quote_line(data[name], redactor) for name in ("title", "error") if data.get(name)}
    return Answer({**data, **redacted}, text, next_commands=next_commands)


def _no_plan_answer(error: ExecplanError, redactor: Redactor) -> Answer:
    """Build the answer if there is no plan, or more than one."""
    if error.code == "ambiguous-plan":
        from itertools import zip_longest

        from execplan.core.plan_store.plan_candidates import format_description

        plans = [  # an error has the details of its first candidates only
            (name, plan["title"] or "", format_description(plan)) if plan is not None else (name, "", "")
            for name, plan in zip_longest(error.candidates, error.details)
        ]
        text = session_primer.format_plan_choices(error.message, plans, redactor, _choice_hint(error))
    else:
        hint = f"{error.hint_label}: {quote_line(error.hint, redactor, 200)}\n" if error.hint else ""
        text = f"execplan: {quote_line(error.message, redactor, 300)}\n{hint}"
    details = [_redacted(plan, redactor) for plan in error.details]
    return Answer({"id": None, "candidates": details or list(error.candidates), "text": text}, text)


def _choice_hint(error: ExecplanError) -> str:
    """Return what to do about several plans: the command for a named agent, which `next` suggests, too."""
    if explicit_actor() is not None and "execplan next " in error.hint:
        return f"Continue: {fit_hint(error.hint)}"
    return "Specify one: execplan prime PLAN, or set EXECPLAN_PLAN."


def _redacted(value: Any, redactor: Redactor) -> Any:
    """Redact the secrets in the strings of a JSON value."""
    if isinstance(value, dict):
        return {name: _redacted(element, redactor) for name, element in value.items()}
    if isinstance(value, list):
        return [_redacted(element, redactor) for element in value]
    return quote_line(value, redactor) if isinstance(value, str) else value
