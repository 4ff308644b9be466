"""The options that select lint rules, for each command that checks plans."""

from __future__ import annotations

import os
from collections.abc import Mapping
from shlex import quote
from typing import Any, NamedTuple

import click

from execplan.cli.command_definition import complete_with
from execplan.cli.option_rules import join_options
from execplan.core.errors import usage_error
from execplan.core.project import user_settings
from execplan.linter.checking import custom_rules
from execplan.linter.lint_settings import ensure_known_rules
from execplan.linter.rule_selection import PROFILES, RuleSelection


class RuleSettings(NamedTuple):
    """Rules selected by the options."""

    select: tuple[str, ...] = ()
    """Values of the option; each has comma-separated codes."""
    ignore: tuple[str, ...] = ()
    profile: str | None = None
    rules: tuple[str, ...] = ()

    def selection(self) -> RuleSelection:
        """Return the selection, after loading the user's own rules; raises ExecplanError."""
        custom_rules.load_rules(
            (
                *user_settings.rules(),
                *[os.path.abspath(rule) if user_settings.is_rule_file(rule) else rule for rule in self.rules],
            )
        )
        select, ignore = _split_codes(self.select), _split_codes(self.ignore)
        ensure_known_rules(select, "--select")
        ensure_known_rules(ignore, "--ignore")
        rule_selection = RuleSelection(self.profile or "", select, ignore)
        if not rule_selection.active_levels():
            message = "--select and --ignore leave no rules"
            raise usage_error(message, "the longer code takes precedence; if both are equally long, --ignore does")
        return rule_selection


def selecting_options(params: Mapping[str, Any]) -> str:
    """Return the options that selected findings, as typed in a shell, from the parameters of a command; empty without any."""
    options = [(name, value) for name in ("select", "ignore", "rules") for value in params.get(name, ())]
    options += [(name, params[name]) for name in ("profile", "level") if params.get(name)]
    return "".join([f" --{name} {quote(value)}" for name, value in options])


def _split_codes(code_lists: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([code.strip() for code_list in code_lists for code in code_list.split(",")])


rule_options = join_options(
    click.option(
        "--select",
        multiple=True,
        metavar="CODES",
        shell_complete=complete_with("rule"),
        help="Run only these rules: EP205, or EP2 for all EP2….",
    ),
    click.option(
        "--ignore", multiple=True, metavar="CODES", shell_complete=complete_with("rule"), help="Skip these rules."
    ),
    click.option("--profile", type=click.Choice(PROFILES), help="A set of rules; with strict, warnings fail too."),
    click.option("--rules", multiple=True, metavar="FILE", help="Your own rules: a file, or an entry point."),
)
"""The options of RuleSettings."""
