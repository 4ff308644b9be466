"""Which rules `lint` runs: the options that say so."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from execplan.lint.selection import PROFILES, Selection
from execplan.repo import own
from execplan.repo.checking import own_rules
from execplan.repo.checking.table import check_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.cli.answer import Answer


class Selecting(NamedTuple):
    """What was asked for."""

    select: tuple[str, ...] = ()
    """Each some codes, with commas between them."""
    ignore: tuple[str, ...] = ()
    profile: str | None = None
    rules: tuple[str, ...] = ()

    def selection(self) -> Selection:
        """The selection, with the rules of the user's own loaded; raises ExecplanError."""
        own_rules.load((*own.rules(), *[os.path.abspath(each) if own.is_file(each) else each for each in self.rules]))
        select, ignore = _codes(self.select), _codes(self.ignore)
        check_names(select, "--select")
        check_names(ignore, "--ignore")
        return Selection(self.profile or "", select, ignore)


def _codes(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([code.strip() for each in given for code in each.split(",")])


def selecting_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """The options of Selecting."""
    for option in (
        click.option("--rules", multiple=True, metavar="FILE", help="Rules of your own: a file, or an entry point."),
        click.option("--profile", type=click.Choice(PROFILES), help="A set of rules; strict: a warning fails, too."),
        click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules."),
        click.option("--select", multiple=True, metavar="CODES", help="Only these rules: EP205, or EP2 for all EP2…."),
    ):
        function = option(function)
    return function
