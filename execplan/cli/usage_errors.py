"""Usage errors of click, in the words of all other messages."""

from __future__ import annotations

from typing import Any

import click

from execplan.core.errors import ExecplanError, usage_error
from execplan.core.text.suggestions import closest_names

_OPTION_SYNONYMS = {
    "because": ("why", "reason"),
    "rationale": ("why",),
    "reason": ("why",),
    "why": ("reason",),
    "proof": ("evidence",),
    "agent": ("as",),
    "user": ("as",),
    "message": ("reason", "why"),
    "all": ("complete",),
    "format": ("json",),
}
"""Names by which people look for an option, without hyphens."""


def convert_usage_error(error: click.UsageError, command_path: str) -> ExecplanError:
    """Convert a usage error of click into an error with a hint.

    Args:
        error: The error of click.
        command_path: The command whose help to suggest if the error doesn't name one, such as `execplan lint`.
    """
    hint = f"see {error.ctx.command_path if error.ctx is not None else command_path} --help"
    takes_text = _takes_text(error.ctx)
    if isinstance(error, click.NoSuchOption):
        if similar_option := _similar_option(error):
            hint = f"did you mean {similar_option}? Otherwise {hint}"
        elif error.option_name in ("-p", "--plan") and error.ctx is not None and error.ctx.parent is None:
            return usage_error(f"{error.option_name} follows the command", "use execplan COMMAND -p PLAN")
        if takes_text:
            hint += "; put -- before text that starts with a hyphen"
        return usage_error(f"unknown option {error.option_name}", hint)
    if isinstance(error, click.MissingParameter) and error.param is not None:
        hint = f"list all plans: execplan list --all; {hint}" if error.param.name == "plan" else hint
        return usage_error(f"missing {error.param.param_type_name} {_name(error.param)}", hint)
    if isinstance(error, click.BadParameter) and error.param is not None:
        return _value_error(error, error.param, hint)
    message = " ".join(error.format_message().split())
    if isinstance(error, click.BadOptionUsage):
        problem = "takes no value" if "not take a value" in message else "requires a value"
        return usage_error(f"{error.option_name} {problem}", hint)
    if message.startswith("Got unexpected extra argument"):
        if takes_text:
            hint += "; put text with spaces in quotes, and name the plan with -p"
        return usage_error(f"unexpected {message.removeprefix('Got unexpected extra ').replace(' (', ': ')[:-1]}", hint)
    return usage_error(message[:1].lower() + message[1:].removesuffix("."), hint)


def _value_error(error: click.BadParameter, param: click.Parameter, hint: str) -> ExecplanError:
    if _name(param) == "--as" and error.ctx is not None:  # of `archive` and `summarize`
        command, _, name = error.ctx.command_path.partition(" ")
        hint = f"to act as a person or an agent: {command} --as NAME {name}; otherwise {hint}"
    return usage_error(f"{_name(param)} {_describe_problem(error, param.type)}", hint)


def _similar_option(error: click.NoSuchOption) -> str:
    """Return the option that somebody probably meant; empty if there is none."""
    name = error.option_name.lstrip("-")
    params = error.ctx.command.params if error.ctx is not None else []
    options = {option for param in params for option in param.opts}
    if synonyms := [word for word in _OPTION_SYNONYMS.get(name, ()) if f"--{word}" in options]:
        return f"--{synonyms[0]}"
    # click compares options with their hyphens, which make all of them similar
    names = {option.lstrip("-"): option for option in error.possibilities or ()}
    similar_names = closest_names(name, names, limit=1)
    return names[similar_names[0]] if similar_names else ""


def _takes_text(ctx: click.Context | None) -> bool:
    """Return whether a command takes free text, which may lack its quotes."""
    return ctx is not None and any(
        [param.name in ("text", "title", "request", "query") for param in ctx.command.params]
    )


def _name(param: click.Parameter) -> str:
    """Return the name of an argument or option as it is typed."""
    return param.opts[-1] if isinstance(param, click.Option) else param.make_metavar(click.Context(click.Command("")))


def _describe_problem(error: click.BadParameter, value_type: click.ParamType[Any]) -> str:
    """Return what a value must be, and what it is."""
    value = error.message.partition(" is not ")[0].strip("'\"")
    if isinstance(value_type, click.Choice):
        return f"must be one of {', '.join(map(str, value_type.choices))}, not {value!r}"
    if isinstance(value_type, (click.IntRange, click.FloatRange)):
        kind = "a whole number" if isinstance(value_type, click.IntRange) else "a number"
        return f"must be {kind} {_describe_range(value_type.min, value_type.max)}, not {value!r}"
    return f"is not valid: {error.message.removesuffix('.')}"


def _describe_range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"from {low:g} to {high:g}"
    return f"of at least {low:g}" if low is not None else f"of at most {high:g}"
