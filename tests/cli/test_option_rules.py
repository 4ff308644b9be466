"""Rules about options: each names options that the command has, and each is enforced with a message that names them."""

from __future__ import annotations

import click
import pytest

from execplan.cli import option_rules
from execplan.cli.app import group
from execplan.cli.command_definition import ExecplanCommand
from execplan.cli.option_rules import ONE_PLAN, SEVERAL_PLANS, OptionRule, excludes, exclusive, requires
from execplan.core.errors import ExecplanError


def commands() -> list[ExecplanCommand]:
    context = click.Context(group)
    found = [group.get_command(context, name) for name in group.list_commands(context)]
    return [command for command in found if isinstance(command, ExecplanCommand)]


def test_rules_name_options_of_their_command() -> None:
    with_rules = [command for command in commands() if command.option_rules]
    assert len(with_rules) > 20
    for command in with_rules:
        known = {"-", "PLAN", ONE_PLAN, SEVERAL_PLANS, "--json"}
        for param in command.params:
            known.update(param.opts if isinstance(param, click.Option) else [option_rules.argument_name(param)])
            choices = param.type.choices if isinstance(param.type, click.Choice) else ["-"]
            known.update(f"{name} {choice}" for name in param.opts for choice in choices)
        for rule in command.option_rules:
            assert known >= {*rule.options, *rule.other_options}, (command.name, rule)


RULES = (
    exclusive("--a", "--b", reason="both print"),
    excludes("--all", "PLAN", "--form x", reason="writes everything", hint="omit PLAN"),
    requires("--to", "--a", "--b", hint="tool --a --to {value}"),
    excludes("--match", SEVERAL_PLANS),
)


@pytest.mark.parametrize(
    ("values", "message", "hint"),
    [
        ({"a": True}, "", ""),
        ({"a": True, "b": True}, "--a and --b can't be combined: both print", "omit one of them"),
        ({"all": True, "form": "text"}, "", ""),
        ({"all": True, "form": "x"}, "--all writes everything, so it can't be combined with --form x", "omit PLAN"),
        ({"all": True, "plans": ("p",)}, "--all writes everything, so it can't be combined with PLAN", "omit PLAN"),
        ({"to": "me too"}, "--to requires --a or --b", "tool --a --to 'me too'"),
        ({"to": "", "b": True}, "", ""),
        ({"to": ""}, "--to requires --a or --b", "tool --a --to ''"),
        ({"match": "1", "plans": ("p",)}, "", ""),
        ({"match": "1", "plans": ("p", "q")}, "--match can't be combined with several plans", "omit one of them"),
    ],
)
def test_rules_are_enforced(values: dict[str, object], message: str, hint: str) -> None:
    flags: list[click.Parameter] = [click.Option([f"--{name}"], is_flag=True) for name in ("a", "b", "all")]
    others = [click.Option(["--form"], default="text"), click.Option(["--to"]), click.Option(["--match"])]
    command = click.Command("tool", params=[*flags, *others, click.Argument(["plans"], nargs=-1)])

    def check(rules: tuple[OptionRule, ...]) -> tuple[str, str]:
        try:
            option_rules.ensure_compatible(click.Context(command), rules, values)
        except ExecplanError as error:
            return error.message, error.hint
        return "", ""

    assert check(RULES) == (message, hint)
