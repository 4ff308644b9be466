"""Options of a command in groups, and rules about which go together or exclude each other, checked before it runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from shlex import quote
from typing import Any, NamedTuple

import click

from execplan.core.errors import usage_error

ONE_PLAN, SEVERAL_PLANS = "exactly one PLAN", "several plans"
"""Numbers of plans that a rule can name instead of an option."""


def join_options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds several arguments and options, in this order in the help."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


class OptionRule(NamedTuple):
    """A rule about options, written as on the command line.

    `--json` is an option that is used, `--format github` one with a value, `PLAN` an argument, and `-` standard input.
    """

    options: tuple[str, ...]
    find_problem: Callable[[OptionRule, Collection[str]], str]
    """Returns what is wrong with the options that are used; empty if nothing is."""
    other_options: tuple[str, ...] = ()
    reason: str = ""
    hint: str = "omit one of them"
    """What to do; `{value}` is the value of the option, `{plan}` the plans that were named."""


def exclusive(*options: str, reason: str = "", hint: str = "omit one of them") -> OptionRule:
    """Return the rule that at most one of some options is used; `reason` is added to the message."""
    return OptionRule(options, _find_exclusive, reason=reason, hint=hint)


def excludes(option: str, *other_options: str, reason: str = "", hint: str = "omit one of them") -> OptionRule:
    """Return the rule that an option is used without all others; `reason` says what it does, in the message."""
    return OptionRule((option,), _find_excluded, other_options, reason, hint)


def requires(option: str, *other_options: str, reason: str = "", hint: str = "") -> OptionRule:
    """Return the rule that an option is used only with one of the others; the default hint is the command's help."""
    return OptionRule((option,), _find_required, other_options, reason, hint)


def option_rules(*rules: OptionRule) -> Callable[[Any], Any]:
    """Declare rules about the options of a command; several declarations add up."""

    def decorate(function: Any) -> Any:
        function.option_rules = (*rules, *getattr(function, "option_rules", ()))
        return function

    return decorate


def ensure_compatible(ctx: click.Context, rules: Sequence[OptionRule], values: Mapping[str, Any]) -> None:
    """Raise ExecplanError if the values of a command's parameters break a rule."""
    used = _used_options(ctx.command, values) if rules else {}
    for rule in rules:
        if problem := rule.find_problem(rule, used):
            hint = rule.hint.replace("{value}", used.get(rule.options[0], ""))
            hint = hint.replace(" {plan}", "".join([f" {quote(plan)}" for plan in _plans_of(values)]))
            hint = hint or f"see execplan {ctx.command.name} --help"
            raise usage_error(problem, hint)


def _used_options(command: click.Command, values: Mapping[str, Any]) -> dict[str, str]:
    """Return the options and arguments whose value is not the default, as rules write them, with the quoted value."""
    used: dict[str, str] = {}
    for param in command.params:
        value = values.get(param.name or "")
        if value is None or value is False or value == () or value == param.default:
            continue
        for name in param.opts if isinstance(param, click.Option) else [argument_name(param)]:
            used[name] = used[f"{name} {value}"] = quote(str(value))
    plans = values.get("plans", ())
    if plans:
        used[ONE_PLAN if len(plans) == 1 else SEVERAL_PLANS] = ""
    if "-" in plans:
        used["-"] = ""
    return used


def _plans_of(values: Mapping[str, Any]) -> Sequence[str]:
    """Return the plans that a call names."""
    plan = values.get("plan")
    return [plan] if plan else values.get("plans", ())


def argument_name(param: click.Parameter) -> str:
    """Return how rules and messages write an argument."""
    is_plan = param.name in ("plan", "plans")
    return "PLAN" if is_plan else (param.metavar or param.name or "").strip("[].").upper()


def _find_exclusive(rule: OptionRule, used: Collection[str]) -> str:
    conflicting = [option for option in rule.options if option in used]
    reason = f": {rule.reason}" if rule.reason else ""
    return f"{' and '.join(conflicting)} can't be combined{reason}" if len(conflicting) > 1 else ""


def _find_excluded(rule: OptionRule, used: Collection[str]) -> str:
    option, conflicting = rule.options[0], [other for other in rule.other_options if other in used]
    reason = f"{rule.reason}, so it " if rule.reason else ""
    if option in used and conflicting:
        return f"{option} {reason}can't be combined with {' and '.join(conflicting)}"
    return ""


def _find_required(rule: OptionRule, used: Collection[str]) -> str:
    option, other_options = rule.options[0], rule.other_options
    if option not in used or any([other in used for other in other_options]):
        return ""
    names = " or ".join(filter(None, [", ".join(other_options[:-1]), other_options[-1]]))
    return f"{option} requires {names}{rule.reason}"
