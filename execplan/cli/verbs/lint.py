"""`execplan lint`."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.lint import follow, report, shown_levels, status, summary
from execplan.cli.progress import Bar
from execplan.cli.verb import new_options, verb
from execplan.errors import USAGE, ExecplanError
from execplan.lint.rule import LEVELS
from execplan.lint.selection import PROFILES, Selection
from execplan.repo import own
from execplan.repo.amend import Options
from execplan.repo.checking import mend, own_rules
from execplan.repo.checking.many import check_all
from execplan.repo.checking.one import Checked, Target, Way
from execplan.repo.checking.staged import check_staged
from execplan.repo.checking.table import check_names
from execplan.repo.checking.targets import lots, targets


class _Codes(click.ParamType[tuple[str, ...]]):
    """Codes of rules, or how codes begin, with commas between them."""

    name = "codes"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The codes."""
        return tuple([each.strip() for each in value.split(",") if each.strip()])


@verb(
    reads="the plans or files that are named, every file below a folder; with none, every plan, archived ones too; "
    "with --staged, what git's index holds of the plans that the next commit adds or changes, and nothing on disk; "
    "the user's own settings, which may name rules of one's own.",
    writes="a cache in the git folder; with --fix and --unsafe-fixes, the plans whose findings can be mended.",
    examples=(
        "execplan lint",
        "execplan lint parser",
        "execplan lint .agent/execplans/*.md",
        "execplan lint --select EP2,EP301 --level warning",
        "execplan lint --fix --diff",
        "execplan lint --json",
        "execplan lint --staged --hook",
    ),
)
@click.argument("plans", nargs=-1, metavar="[PLAN|FILE]...")
@click.option(
    "--select", type=_Codes(), multiple=True, metavar="CODES", help="Only these rules: EP205, or EP2 for all."
)
@click.option("--ignore", type=_Codes(), multiple=True, metavar="CODES", help="Not these rules.")
@click.option("--profile", type=click.Choice(PROFILES), help="A set of rules; strict: a warning fails, too.")
@click.option("--level", type=click.Choice(LEVELS), help="Only findings of this level, or worse.")
@click.option("--rules", multiple=True, metavar="FILE", help="Rules of your own, from a Python file or an entry point.")
@click.option("--fix", is_flag=True, help="Mend what can be mended without changing what a plan says.")
@click.option("--unsafe-fixes", is_flag=True, help="Mend also what may change what a plan says.")
@click.option("--diff", is_flag=True, help="With --fix: show the change and do nothing, as --dry-run does.")
@click.option("--hook", is_flag=True, help="A draft may still hold guidance and no task.")
@click.option("--no-cache", is_flag=True, help="Judge every plan anew, and keep nothing for the next run.")
@click.option("--staged", is_flag=True, help="The plans of the next commit, as they are staged.")
@new_options
def lint(call: Call, options: Options, plans: tuple[str, ...], rules: tuple[str, ...], **given: Any) -> Answer:
    """Check plans against the rules; `file:line:col CODE message` for each finding, exit 1 when one is an error."""
    fixes = given["fix"] or given["unsafe_fixes"]
    _check_usage(plans, options, fixes=fixes, **given)
    own_rules.load((*own.rules(), *[os.path.abspath(each) if "." in each or "/" in each else each for each in rules]))
    names = [tuple([code for each in given[flag] for code in each]) for flag in ("select", "ignore")]
    for codes, flag in zip(names, ("--select", "--ignore"), strict=True):
        check_names(codes, flag)
    way = Way(hook=given["hook"], selection=Selection(given["profile"] or "", *names))
    if given["staged"]:
        return _answer(check_staged(os.getcwd(), way), call, given["level"])
    chosen = lots(plans)
    options = options._replace(dry_run=options.dry_run or given["diff"])
    mended = _mend(list(targets(chosen)), way, options, unsafe=given["unsafe_fixes"]) if fixes else _Mended()
    with Bar(wanted=not call.quiet and not call.as_json) as bar:
        checked = check_all(chosen, way, cached=not given["no_cache"], tick=bar.tick)
    answer = _answer(checked, call, given["level"])
    return mended.before(answer) if fixes else answer


def _check_usage(plans: tuple[str, ...], options: Options, *, fixes: bool, **given: Any) -> None:
    """Refuse what does not go together."""
    for wrong, why in (
        (given["staged"] and plans, "--staged takes no PLAN"),
        (given["staged"] and fixes, "--staged judges git's index, in which nothing can be mended"),
        (not fixes and given["diff"], "--diff shows what --fix would change"),
        (not fixes and (options.dry_run or options.commit), "without --fix there is nothing to write"),
    ):
        if wrong:
            raise ExecplanError("usage", why, exit=USAGE, hint="leave one of the two out, or add --fix")


def _answer(checked: list[Checked], call: Call, level: str | None) -> Answer:
    """What was found."""
    checked = shown_levels(checked, level)
    findings = [finding.to_json(each.path) for each in checked for finding in each.findings]
    lines = report(checked)
    if not call.quiet:
        lines.append(summary(checked))
    data = {"findings": findings, "plans": len(checked)}
    return Answer(data, "\n".join(lines), status(checked), next=follow(checked))


class _Mended(NamedTuple):
    """What was mended, for people and for programs."""

    lines: tuple[str, ...] = ()
    fixed: tuple[dict[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()

    def before(self, answer: Answer) -> Answer:
        """An answer that tells this first."""
        text = "\n".join([*self.lines, answer.text])
        return answer._replace(data={**answer.data, "fixed": list(self.fixed)}, text=text, warnings=self.warnings)


def _mend(wanted: list[Target], way: Way, options: Options, *, unsafe: bool) -> _Mended:
    """Mend the plans, or show how that would change them."""
    lines, fixed, warnings = [], [], []
    for target in wanted:
        done = mend.mend(target, way, options, unsafe=unsafe)
        if done is None:
            continue
        if done.amended is None:
            warnings.append(f"{target.named} is archived, so nothing was mended in it")
            continue
        amended = done.amended
        if amended.changed:
            lines.append(amended.diff if options.dry_run else f"{target.named}: {amended.said[0]}")
        warnings += amended.warnings
        shown = {"diff": amended.diff} if options.dry_run else {}
        about = {"path": amended.path, "changed": amended.changed, "digest": amended.digest, "commit": amended.commit}
        fixed.append({**about, "mended": dict(sorted(done.codes.items())), **shown})
    return _Mended(tuple(lines), tuple(fixed), tuple(warnings))


command = lint
