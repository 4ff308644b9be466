"""What `lint` says: shared by the quick way and the verbs."""

from __future__ import annotations

import os
import sys

from execplan.cli.door import shown
from execplan.errors import NO, OK
from execplan.lint.rule import ERROR, LEVELS
from execplan.lint.selection import at_least
from execplan.repo import own
from execplan.repo.checking.one import Way, check, differs
from execplan.repo.checking.targets import lots, targets
from execplan.repo.checking.tree import Trees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.repo.checking.one import Checked


_SKIPPED = 5
"""Skipped files that are named."""


def quick(paths: list[str], *, hook: bool) -> int:
    """Lint files and folders that exist, or all plans; the exit status.

    It is -1 when a name is no such file, only EXECPLAN_PLAN names a plan, the user has rules of their own, or a move was
    interrupted.
    """
    if not all([os.path.lexists(path) for path in paths]) or own.rules():
        return -1
    if not paths and os.environ.get("EXECPLAN_PLAN"):
        return -1
    way = Way(hook=hook, trees=Trees())
    chosen = lots(paths, hook=hook)
    if any([os.path.lexists(lot.home.move) for lot in chosen]):
        return -1
    if any([lot.home.settings.lint for lot in chosen]):
        from execplan.repo.checking.history import informed

        way = informed(chosen, way)
    if len(paths) == 1 and not os.path.isdir(paths[0]):
        named = list(targets(chosen))
        if any([differs(target) for target in named]):
            from execplan.repo.checking.revised import with_committed

            way = with_committed(chosen, way)
        checked = [check(target, way) for target in named]
    else:
        from execplan.cli.progress import Bar
        from execplan.repo.checking.many import check_all
        from execplan.repo.checking.revised import with_committed

        way = with_committed(chosen, way)
        with Bar() as bar:
            checked = check_all(chosen, way, with_data=True, tick=bar.tick)
    if hook and paths and status(checked):
        from execplan.repo.checking.older import without_older

        checked = without_older(list(targets(chosen)), checked, way)
    if not paths:
        from execplan.repo.checking.whole import check_homes

        checked += check_homes(os.getcwd(), way)
    for notice in notices(checked):
        sys.stderr.write(f"execplan: warning: {shown(notice)}\n")
    lines = [*report(checked), summary(checked), *[f"next: {command}" for command in follow(checked)]]
    sys.stdout.write(_printable("".join([line + "\n" for line in lines])))
    return status(checked)


def notices(checked: Sequence[Checked]) -> tuple[str, ...]:
    """What to say of the files that were skipped because they are not plans, in one line."""
    skipped = [each.named for each in checked if each.skipped]
    if not skipped:
        return ()
    named = ", ".join(skipped[:_SKIPPED])
    if len(skipped) == 1:
        return (f"{named} is not a plan and was skipped; to check it, name it: execplan lint FILE",)
    more = f" and {len(skipped) - _SKIPPED} more" if len(skipped) > _SKIPPED else ""
    return (f"{len(skipped)} files are not plans and were skipped: {named}{more}",)


def _printable(text: str) -> str:
    """What can be printed anywhere; nothing is loaded for this where a text is plain."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    from execplan.cli.printing import printable

    return printable(text)


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
    if all([each.skipped for each in checked]):
        return "no plans to check"
    findings = [finding for each in checked for finding in each.findings]
    number = len([each for each in checked if each.plan])
    older = sum([each.older for each in checked])
    plans = f"{number} plan{'s' if number != 1 else ''}"
    left_out = f"; {older} older finding{'s' if older > 1 else ''} left out" if older else ""
    if not findings:
        return f"{plans}, nothing {'new ' if older else ''}found{left_out}"
    from execplan.lint.tally import weight

    parts = []
    for level in LEVELS:
        count = sum([weight(finding) for finding in findings if finding.level == level])
        if count:
            parts.append(f"{count} {level}{'s' if count > 1 else ''}")
    return f"{', '.join(parts)} in {plans}{left_out}"


def follow(checked: Sequence[Checked]) -> tuple[str, ...]:
    """The command that says what the first error is about, or the first finding."""
    findings = [finding for each in checked for finding in each.findings]
    codes = [finding.code for finding in findings if finding.level == ERROR] or [finding.code for finding in findings]
    return (f"execplan explain {codes[0]}",) if codes else ()


def status(checked: Sequence[Checked]) -> int:
    """1 when a finding is an error, or as bad as what fails in the profile of its home; else 0."""
    failed = any([finding.level in at_least(each.fails) for each in checked for finding in each.findings])
    return NO if failed else OK
