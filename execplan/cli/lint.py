"""What `lint` says: shared by the quick way and the verbs."""

from __future__ import annotations

import os
import sys

from execplan.errors import NO, OK
from execplan.lint.rule import ERROR, LEVELS
from execplan.lint.selection import at_least
from execplan.repo import own
from execplan.repo.checking.one import Way, check
from execplan.repo.checking.targets import lots, targets
from execplan.repo.checking.tree import Trees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.repo.checking.one import Checked


def quick(paths: list[str], *, hook: bool) -> int:
    """Lint files and folders that exist, or all plans; the exit status.

    It is -1 when a name is no such file, the user has rules of their own, or a move was cut short.
    """
    if not all([os.path.lexists(path) for path in paths]) or own.rules():
        return -1
    way = Way(hook=hook, trees=Trees())
    chosen = lots(paths)
    if any([os.path.lexists(lot.home.move) for lot in chosen]):
        return -1
    if any([lot.home.settings.lint for lot in chosen]):
        from execplan.repo.checking.history import informed

        way = informed(chosen, way)
    if len(paths) == 1 and not os.path.isdir(paths[0]):
        checked = [check(target, way) for target in targets(chosen)]
    else:
        from execplan.cli.progress import Bar
        from execplan.repo.checking.many import check_all

        with Bar() as bar:
            checked = check_all(chosen, way, with_data=True, tick=bar.tick)
    if not paths:
        from execplan.repo.checking.whole import check_homes

        checked += check_homes(os.getcwd(), way)
    lines = [*report(checked), summary(checked), *[f"next: {command}" for command in follow(checked)]]
    sys.stdout.write("".join([line + "\n" for line in lines]))
    return status(checked)


def report(checked: Sequence[Checked]) -> list[str]:
    """Each finding, as a person reads it; nothing is loaded for this where there is none."""
    if not any([each.findings for each in checked]):
        return []
    from execplan.cli.formats import text

    return [text.render(checked)]


def shown_levels(checked: Sequence[Checked], level: str | None) -> list[Checked]:
    """The plans with the findings of a level, and of those that are worse."""
    if level is None:
        return list(checked)
    wanted = at_least(level)
    return [each._replace(findings=[every for every in each.findings if every.level in wanted]) for each in checked]


def summary(checked: Sequence[Checked]) -> str:
    """How many findings of which level in how many plans."""
    if not checked:
        return "no plans to check"
    findings = [finding for each in checked for finding in each.findings]
    number = len([each for each in checked if each.plan])
    plans = f"{number} plan{'s' if number != 1 else ''}"
    if not findings:
        return f"{plans}, nothing found"
    from execplan.lint.tally import weight

    parts = []
    for level in LEVELS:
        count = sum([weight(finding) for finding in findings if finding.level == level])
        if count:
            parts.append(f"{count} {level}{'s' if count > 1 else ''}")
    return f"{', '.join(parts)} in {plans}"


def follow(checked: Sequence[Checked]) -> tuple[str, ...]:
    """The command that says what the first error is about, or the first finding."""
    findings = [finding for each in checked for finding in each.findings]
    codes = [finding.code for finding in findings if finding.level == ERROR] or [finding.code for finding in findings]
    return (f"execplan explain {codes[0]}",) if codes else ()


def status(checked: Sequence[Checked]) -> int:
    """1 when a finding is an error, or as bad as what fails in the profile of its home; else 0."""
    failed = any([finding.level in at_least(each.fails) for each in checked for finding in each.findings])
    return NO if failed else OK
