"""Ways to name a command's plan: as an argument, with `-p`, or as the first of its arguments."""

from __future__ import annotations

import os
from collections.abc import Callable
from shlex import quote
from typing import Any, Final

import click

from execplan.core.errors import ExecplanError, usage_error
from execplan.core.plan import plan_lookup
from execplan.core.plan_store import plan_selection, plan_store

PLAN_FLAG: Final = "plan_flag"
"""Parameter name of `-p` for commands that also have an argument PLAN."""
_LEADING_ARGUMENTS: Final = "execplan.leading"
"""Key in a click context for the arguments of a command that got one more than it declares."""
_FORMS: Final = "ID, part of the ID or title, or path."
DEFAULT_PLAN: Final = "the sticky plan, or else the only open one"


def plan_argument(
    *, required: bool = False, default: str = DEFAULT_PLAN
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add `PLAN` and `-p PLAN`, for a command about a whole plan; the help names the plan that is used by default."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        metavar = "PLAN" if required else "[PLAN]"
        return click.argument("plan", required=False, metavar=metavar)(
            plan_flag(default="" if required else default)(function)
        )

    return decorate


def plan_flag(*, default: str = DEFAULT_PLAN) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add `-p PLAN`, for a command that also takes plans as its arguments."""
    text = f"Same as PLAN: {_FORMS}" + (f" Default: {default}." if default else "")
    return click.option("-p", "--plan", PLAN_FLAG, metavar="PLAN", help=text)


def plan_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `-p PLAN`, for a command about part of a plan; its full ID or path may also be the first argument."""
    return click.option("-p", "--plan", metavar="PLAN", help=f"{_FORMS} Default: {DEFAULT_PLAN}.")(function)


def takes_leading_plan(command: click.Command) -> bool:
    """Return whether a command's first argument may be a plan, before its declared arguments."""
    names = [param.name for param in command.params if isinstance(param, click.Argument)]
    return any([param.name == "plan" for param in command.params]) and not {"plan", "plans"} & set(names)


def set_aside_leading(ctx: click.Context) -> None:
    """Save the arguments if there is one more than a command declares; raises UsageError if there are more."""
    extra, ctx.args = ctx.args, []
    arguments = [param for param in ctx.command.params if isinstance(param, click.Argument)]
    if not extra or ctx.resilient_parsing:
        return
    if len(extra) > 1:
        raise click.UsageError(f"Got unexpected extra arguments ({' '.join(map(str, extra))})", ctx)
    ctx.meta[_LEADING_ARGUMENTS] = [*[ctx.params[param.name or ""] for param in arguments], *extra]


def resolve_plan_name(ctx: click.Context) -> None:
    """Set `plan` or `plans` from whichever form names it; raises UsageError and ExecplanError."""
    params = ctx.params
    if PLAN_FLAG in params:
        _merge_plan_flag(ctx, params.pop(PLAN_FLAG))
    elif takes_leading_plan(ctx.command):
        _take_leading(ctx)
    arguments = [param for param in ctx.command.params if isinstance(param, click.Argument) and param.name == "plan"]
    if arguments and arguments[0].metavar == "PLAN" and params["plan"] is None:
        raise click.MissingParameter(ctx=ctx, param=arguments[0])


def _merge_plan_flag(ctx: click.Context, flag: str | None) -> None:
    """Merge `-p` with the argument; both may name the same plan, but not two plans."""
    params = ctx.params
    if flag is None:
        return
    plan_names: list[str] = [*params.get("plans", ()), *filter(None, [params.get("plan")])]
    require_one_plan(plan_names, flag)
    params.update({"plans": (flag,)} if "plans" in params else {"plan": flag})


def require_one_plan(plan_names: list[str], flag: str) -> None:
    """Raise ExecplanError if the names are for different plans."""
    if plan_names and (len(plan_names) > 1 or not is_same_plan(plan_names[0], flag)):
        message = f"{' '.join(plan_names)} and -p {flag} name different plans"
        hint, command = "specify the plan once", click.get_current_context().command.name
        if _plan_path(plan_names[0]) is None and _is_task(flag, plan_names[0]):
            message = f"{command} takes a plan, and {plan_names[0]} is a task of {flag}"
            hint = f"omit the task: execplan {command} {quote(flag)}"
            if command == "drop":
                hint = f"to drop the task, mark it [-] in Progress: execplan edit {quote(flag)}"
        raise usage_error(message, hint)


def is_same_plan(first_name: str, second_name: str) -> bool:
    """Return whether two names refer to the same plan."""
    if first_name == second_name:
        return True
    path = _plan_path(first_name)
    return path is not None and path == _plan_path(second_name)


def _plan_path(name: str) -> str | None:
    """Return the path of the plan that a name refers to, or None."""
    try:
        return os.path.realpath(plan_selection.select_plan(os.getcwd(), name)[1].path)
    except ExecplanError:
        return None


def _take_leading(ctx: click.Context) -> None:
    """Remove a leading plan from the arguments of a command about part of a plan."""
    params, command = ctx.params, ctx.command
    names = [param.name or "" for param in command.params if isinstance(param, click.Argument)]
    values = ctx.meta.get(_LEADING_ARGUMENTS)
    leading = None
    if values is not None:
        takes_any_name = names in (["run"], ["title"]) or command.name == "comment"
        if not takes_any_name and not plan_selection.is_exact_name(os.getcwd(), values[0]):
            raise click.UsageError(f"Got unexpected extra argument ({values[-1]})", ctx)
        leading = values[0]
        params.update(zip(names, values[1:], strict=True))
    elif names == ["run"] and params["run"] is not None and not _is_run(params["run"]):
        leading, params["run"] = params["run"], None
    elif names in (["tasks"], ["files"]) and _is_leading(params, names[0]):
        leading, *rest = params[names[0]]
        params[names[0]] = tuple(rest)
    if leading is not None and params["plan"] is not None:
        require_one_plan([leading], params["plan"])
    params["plan"] = leading or params["plan"]


def _is_leading(params: dict[str, Any], name: str) -> bool:
    """Return whether the first of several arguments is the plan; raises ExecplanError if it could also be a task."""
    first, *rest = params[name]
    if not rest or (first.isascii() and first.isdigit()) or (name == "files" and os.path.lexists(first)):
        return False
    if not plan_selection.is_exact_name(os.getcwd(), first):
        return False
    if name == "tasks" and _is_task(params["plan"], first):
        if params["plan"] is not None:
            return False
        message = f"{first!r} matches both a plan and a task"
        raise usage_error(message, "name the plan with -p, and the task by its number or ID")
    return True


def _is_task(name: str | None, text: str) -> bool:
    """Return whether a text names a task of the plan that is selected otherwise."""
    try:
        plan = plan_store.load(*plan_selection.select_plan(os.getcwd(), name)).plan
        return plan is not None and bool(plan_lookup.find_task(plan, text))
    except ExecplanError as error:
        return error.code == "ambiguous-task"


def _is_run(name: str) -> bool:
    """Return whether a name has the form of a run's number, its ID, or the beginning of one."""
    number, _, suffix = name.partition("-")
    return number.isascii() and number.isdigit() and len(suffix) <= 8 and not suffix.strip("0123456789abcdef")
