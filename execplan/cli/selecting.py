"""Which rules `lint` runs: the options that say so."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from execplan.cli.verb import complete_with
from execplan.errors import USAGE, ExecplanError
from execplan.lint.homes import FOLLOW_CODE
from execplan.lint.rule import GIT_NEEDS, RULES
from execplan.lint.selection import PROFILES, RuleSelection
from execplan.repo import own
from execplan.repo.checking import own_rules
from execplan.repo.checking.table import ensure_known_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.cli.answer import Answer


class RuleSettings(NamedTuple):
    """What was asked for."""

    select: tuple[str, ...] = ()
    """Each some codes, with commas between them."""
    ignore: tuple[str, ...] = ()
    profile: str | None = None
    rules: tuple[str, ...] = ()

    def selection(self) -> RuleSelection:
        """The selection, with the rules of the user's own loaded; raises ExecplanError."""
        own_rules.load_rules((*own.rules(), *[os.path.abspath(rule) if own.is_rule_file(rule) else rule for rule in self.rules]))
        select, ignore = _split_codes(self.select), _split_codes(self.ignore)
        ensure_known_rules(select, "--select")
        ensure_known_rules(ignore, "--ignore")
        rule_selection = RuleSelection(self.profile or "", select, ignore)
        if not rule_selection.active_levels():
            message = "--select and --ignore leave no rule"
            raise ExecplanError("usage", message, exit=USAGE, hint="of two names that are as long, --ignore decides")
        return rule_selection


def unmet_rule_warnings(select: tuple[str, ...], *, git: bool) -> tuple[str, ...]:
    """What to be told of rules that were asked for by their codes and can't run on plans as they are on disk."""
    warnings = [f"{code} is about a commit: it runs with --staged" for code in select if code == FOLLOW_CODE]
    git_rules = [code for code in select if code in RULES and RULES[code].needs in GIT_NEEDS]
    if git_rules and not git:
        warnings.append(f"there is no git repository, so {' and '.join(git_rules)} did not run")
    return tuple(warnings)


def _split_codes(code_lists: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([code.strip() for code_list in code_lists for code in code_list.split(",")])


def rule_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """The options of Selecting."""
    for option in (
        click.option("--rules", multiple=True, metavar="FILE", help="Rules of your own: a file, or an entry point."),
        click.option("--profile", type=click.Choice(PROFILES), help="A set of rules; strict: a warning fails, too."),
        click.option(
            "--ignore", multiple=True, metavar="CODES", shell_complete=complete_with("rule"), help="Not these rules."
        ),
        click.option(
            "--select",
            multiple=True,
            metavar="CODES",
            shell_complete=complete_with("rule"),
            help="Only these rules: EP205, or EP2 for all EP2….",
        ),
    ):
        function = option(function)
    return function
