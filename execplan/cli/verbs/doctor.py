"""`execplan doctor`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.printing import one_per_line
from execplan.cli.table import table
from execplan.cli.verb import new_options, verb
from execplan.errors import NO, OK, USAGE, ExecplanError
from execplan.repo import pick
from execplan.repo.edits import overwritten
from execplan.repo.edits.losses import look
from execplan.view.doctor.examine import run_checks, apply_fixes, preview_fixes

if TYPE_CHECKING:
    from execplan.repo.amend import Options
    from execplan.view.doctor.examine import CheckResult, FixOutcome


@verb(
    reads="the home and those that its settings name: settings, plans, artifacts, the journal of edits, what integrations "
    "have added; git's history, where an edit is missing.",
    writes="nothing; with --fix, what can be mended safely: folders, blocks, hooks, leftovers, and edits that another program "
    "has overwritten, put back; with --forget, the journal.",
    examples=("execplan doctor", "execplan doctor --fix --dry-run", "execplan doctor --fix", "execplan doctor --json"),
)
@click.option("--fix", is_flag=True, help="Mend what can be mended safely.")
@click.option("--forget", metavar="PLAN", help="What was overwritten in this plan was taken out on purpose.")
@new_options
def doctor(call: Call, options: Options, *, fix: bool, forget: str | None) -> Answer:
    """Look for everything that can be wrong with a home, each with what mends it; exit 1 when something is."""
    if not (fix or forget is not None) and (options.dry_run or options.commit is not None):
        raise ExecplanError(
            "usage", "--dry-run and --commit go with --fix", exit=USAGE, hint="see execplan doctor --help"
        )
    forgotten = _forget(forget, options) if forget is not None else []
    here = os.getcwd()
    mended: list[FixOutcome] = []
    refused: list[str] = []
    if fix and not options.dry_run:
        mended, refused = apply_fixes(here, _script, options)
    checked = run_checks(here, _script)
    if fix and options.dry_run:
        mended = preview_fixes(checked)
    return _told(call, checked, mended, forgotten, refused, dry_run=options.dry_run, fix=fix)


def _forget(name: str, options: Options) -> list[str]:
    """Forget what was overwritten in a plan; what it was. Raises ExecplanError."""
    home, ref = pick.open_plan(os.getcwd(), name)
    steps = look(home, ref).lost
    if steps and not options.dry_run:
        overwritten.forget(home, ref, steps)
    return [step.said for step in steps]


def _script(shell: str) -> str:
    from execplan.cli.app import group
    from execplan.cli.completion import script

    return script(group, shell)


def _told(
    call: Call,
    checked: list[CheckResult],
    mended: list[FixOutcome],
    forgotten: list[str],
    refused: list[str],
    *,
    dry_run: bool,
    fix: bool,
) -> Answer:
    findings = [(each.name, finding) for each in checked for finding in each.findings]
    fixable = [finding for _, finding in findings if finding.fix is not None]
    data: dict[str, Any] = {
        "checks": [{"name": each.name, "ok": each.ok, "message": each.message} for each in checked],
        "findings": [
            {
                "check": name,
                "level": finding.level,
                "path": finding.path,
                "line": finding.line,
                "message": finding.message,
                "mend": finding.remedy,
                "fixable": finding.fix is not None,
            }
            for name, finding in findings
        ],
        "fixed": [{"check": each.check, "path": each.path, "message": each.message} for each in mended],
        "forgotten": forgotten,
    }
    word = "would " if dry_run else ""
    diffs = "\n".join([each.diff for each in mended if each.diff])
    lines = [f"{word}{each.message}" for each in mended]
    lines += [f"{word}{'forget' if dry_run else 'forgotten'}: {each}" for each in forgotten]
    if dry_run:
        data["diff"] = "\n".join([each.diff for each in mended if each.diff])
    skipped: dict[str, list[str]] = {}
    for each in checked:
        if not each.was_run:
            skipped.setdefault(each.message, []).append(each.name)
    lines.append(_headline(checked, len(findings), len(fixable), is_after_fix=bool(mended or forgotten)))
    for name, finding in findings:
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        lines += [f"{place or name}: {finding.level}: {finding.message}", f"  fix: {finding.remedy}"]
    lines += [f"{', '.join(names)}: {why}" for why, names in skipped.items()]
    below = ""
    if call.verbose and (passed := [(each.name, each.message) for each in checked if each.ok]):
        below = "\n\n" + table(("check", "passed"), passed)
    follow = ("execplan doctor --fix",) if fixable and not (fix and not dry_run) else ()
    wrong = bool(findings) or not all([each.was_run for each in checked])
    warnings = tuple([f"not mended: {each}" for each in refused])
    return Answer(
        data, one_per_line(lines, diffs) + below, NO if wrong else OK, warnings, follow, wanted=wrong or dry_run
    )


def _headline(checked: list[CheckResult], found: int, fixable: int, *, is_after_fix: bool) -> str:
    """How many problems there are, on a line."""
    passed = len([each for each in checked if each.ok])
    if not found:
        return f"no {'other ' if is_after_fix else ''}problems found ({passed} checks passed)"
    problems = "1 problem" if found == 1 else f"{found} problems"
    fixes = f"execplan doctor --fix fixes {fixable}" if fixable else "none can be fixed automatically"
    return f"{problems} found; {fixes} ({passed} of {len(checked)} checks passed)"


doctor.settles = False  # it tells of a move that was cut short
command = doctor
