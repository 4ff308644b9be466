"""How a command is given its plan: as an argument, with `-p`, or as the first of its arguments."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import click

from execplan.errors import USAGE, ExecplanError
from execplan.plan import seek
from execplan.repo import pick, shelf

if TYPE_CHECKING:
    from collections.abc import Callable

FLAG: Final = "plan_flag"
"""The parameter of `-p` where PLAN is an argument too."""
_LEADING: Final = "execplan.leading"
"""Where a context keeps the arguments of a command that was given one more than it takes."""
_HELP = "ID, part of the ID or title, or path. Default: the only open plan."


def plan_argument(*, required: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`PLAN` or `-p PLAN`, for a command about a whole plan."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        metavar = "PLAN" if required else "[PLAN]"
        return click.argument("plan", required=False, metavar=metavar)(plan_flag(function))

    return decorate


def plan_flag(function: Callable[..., Any]) -> Callable[..., Any]:
    """`-p PLAN`, for a command that also takes plans as its arguments."""
    return click.option("-p", "--plan", FLAG, metavar="PLAN", help="The same as the argument PLAN.")(function)


def plan_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`-p PLAN`, for a command about a part of a plan; its whole ID or path may also be the first argument."""
    return click.option("-p", "--plan", metavar="PLAN", help=_HELP)(function)


def takes_leading(command: click.Command) -> bool:
    """Whether the first argument of a command may be a plan, before the arguments that it declares."""
    names = [param.name for param in command.params if isinstance(param, click.Argument)]
    return any([param.name == "plan" for param in command.params]) and not {"plan", "plans"} & set(names)


def keep_leading(ctx: click.Context) -> None:
    """Put the arguments aside if there is one more than a command takes; raises UsageError for more than that."""
    extra, ctx.args = ctx.args, []
    arguments = [param for param in ctx.command.params if isinstance(param, click.Argument)]
    if not extra or ctx.resilient_parsing:
        return
    if len(extra) > 1:
        raise click.UsageError(f"Got unexpected extra arguments ({' '.join(map(str, extra))})", ctx)
    ctx.meta[_LEADING] = [*[ctx.params[param.name or ""] for param in arguments], *extra]


def choose_plan(ctx: click.Context) -> None:
    """Let `plan`, or `plans`, be what was named in either form; raises UsageError and ExecplanError."""
    params = ctx.params
    if FLAG in params:
        _join(ctx, params.pop(FLAG))
    elif takes_leading(ctx.command):
        _take_leading(ctx)
    arguments = [each for each in ctx.command.params if isinstance(each, click.Argument) and each.name == "plan"]
    if arguments and arguments[0].metavar == "PLAN" and params["plan"] is None:
        raise click.UsageError("Missing argument 'PLAN'.", ctx)


def _join(ctx: click.Context, flag: str | None) -> None:
    """Join the argument and `-p`, which may name the plan in two ways, but not two plans."""
    params = ctx.params
    if flag is None:
        return
    given: list[str] = [*params.get("plans", ()), *filter(None, [params.get("plan")])]
    _require_one_plan(given, flag)
    params.update({"plans": (flag,)} if "plans" in params else {"plan": flag})


def _require_one_plan(given: list[str], flag: str) -> None:
    """Refuse two names of different plans; raises ExecplanError."""
    if given and (len(given) > 1 or not is_same_plan(given[0], flag)):
        what = f"{' '.join(given)} and -p {flag} do not name the same plan"
        raise ExecplanError("usage", what, exit=USAGE, hint="name the plan once")


def is_same_plan(one: str, other: str) -> bool:
    """Whether two names mean one plan."""
    if one == other:
        return True
    try:
        places = [os.path.realpath(pick.open_plan(os.getcwd(), name)[1].path) for name in (one, other)]
    except ExecplanError:
        return False
    return places[0] == places[1]


def _take_leading(ctx: click.Context) -> None:
    """Take a plan out of the arguments of a command about a part of it."""
    params, command = ctx.params, ctx.command
    names = [param.name or "" for param in command.params if isinstance(param, click.Argument)]
    values = ctx.meta.get(_LEADING)
    leading = None
    if values is not None:
        if names not in (["run"], ["title"]) and not pick.exactly_named(os.getcwd(), values[0]):
            raise click.UsageError(f"Got unexpected extra argument ({values[-1]})", ctx)
        leading = values[0]
        params.update(zip(names, values[1:], strict=True))
    elif names == ["run"] and params["run"] is not None and not _is_run(params["run"]):
        leading, params["run"] = params["run"], None
    elif names in (["tasks"], ["files"]) and _is_leading(params, names[0]):
        leading, *rest = params[names[0]]
        params[names[0]] = tuple(rest)
    if leading is not None and params["plan"] is not None:
        _require_one_plan([leading], params["plan"])
    params["plan"] = leading or params["plan"]


def _is_leading(params: dict[str, Any], name: str) -> bool:
    """Whether the first of many arguments is the plan; raises ExecplanError where it could also be a task."""
    first, *rest = params[name]
    if not rest or (first.isascii() and first.isdigit()) or (name == "files" and os.path.lexists(first)):
        return False
    if not pick.exactly_named(os.getcwd(), first):
        return False
    if name == "tasks" and _is_task(params["plan"], first):
        if params["plan"] is not None:
            return False
        what = f"{first!r} names a plan, and a task as well"
        raise ExecplanError("usage", what, exit=USAGE, hint="name the plan with -p, and the task by its number or ID")
    return True


def _is_task(name: str | None, words: str) -> bool:
    """Whether words name a task of the plan that is meant otherwise."""
    try:
        plan = shelf.load(*pick.open_plan(os.getcwd(), name)).plan
        return plan is not None and bool(seek.find_task(plan, words))
    except ExecplanError as error:
        return error.code == "ambiguous-task"


def _is_run(name: str) -> bool:
    """Whether a name can be the number or the ID of a run, or the beginning of one."""
    number, _, rest = name.partition("-")
    return number.isascii() and number.isdigit() and len(rest) <= 8 and not rest.strip("0123456789abcdef")
