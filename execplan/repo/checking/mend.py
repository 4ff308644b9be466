"""Findings mended in the file, through the one write path."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from execplan.errors import ENVIRONMENT
from execplan.lint.fix import build_fix_change
from execplan.lint.rule import SAFE, UNSAFE
from execplan.repo.amend import EditResult, amend, remove_leftovers
from execplan.repo.checking.one import check, given
from execplan.repo.checking.selected import levels

if TYPE_CHECKING:
    from execplan.lint.rule import Finding
    from execplan.repo.amend import WriteOptions
    from execplan.repo.checking.one import Target, Way


class Mended(NamedTuple):
    """What became of the findings of one plan."""

    target: Target
    amended: EditResult | None
    """None for a plan that may not be written: it is archived."""
    codes: Counter[str]
    """How many findings of each rule were mended."""


def mend(target: Target, way: Way, options: WriteOptions, *, unsafe: bool) -> Mended | None:
    """Mend what can be mended in one plan; None where there is nothing. Raises ExecplanError."""
    home, ref = target.home, target.ref
    checked = check(target, way)
    if checked.error is not None and checked.error.exit == ENVIRONMENT:  # it may be readable again when it is judged
        raise checked.error
    if not any([_can(finding, unsafe=unsafe) for finding in checked.findings]):
        if not options.dry_run:
            remove_leftovers(home, ref, command="lint")
        return None
    codes: Counter[str] = Counter()
    if ref.archived:
        return Mended(target, None, codes)
    rules = levels(home, way.selection, home.display_path(ref.path))
    changer = build_fix_change(given(home, ref, way), rules, unsafe=unsafe, fix_counts=codes)
    return Mended(target, amend(home, ref, changer, options, command="lint"), codes)


def _can(finding: Finding, *, unsafe: bool) -> bool:
    return finding.fix is not None and (finding.fix.kind == SAFE or (unsafe and finding.fix.kind == UNSAFE))
