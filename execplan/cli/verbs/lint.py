"""`execplan lint`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.lint import status
from execplan.cli.mending import Mending, mending_options
from execplan.cli.output import Output, output_options
from execplan.cli.plan_name import plan_flag
from execplan.cli.progress import Bar
from execplan.cli.selecting import Selecting, selecting_options, unmet
from execplan.cli.verb import verb, writer_options
from execplan.errors import USAGE, ExecplanError
from execplan.repo import pick
from execplan.repo.checking.handed import STDIN
from execplan.repo.checking.history import informed
from execplan.repo.checking.many import check_all
from execplan.repo.checking.older import without_older
from execplan.repo.checking.one import Way
from execplan.repo.checking.revised import with_committed
from execplan.repo.checking.staged import check_staged
from execplan.repo.checking.targets import changed_since, lots, targets
from execplan.repo.checking.tree import Trees
from execplan.repo.checking.whole import check_commit, check_homes
from execplan.repo.edits.since import check_match

if TYPE_CHECKING:
    from execplan.repo.amend import Options


@verb(
    reads="the plans or files that are named, every file below a folder; with none, every plan, archived ones too; "
    "with --staged, what git's index holds of the plans that the next commit adds or changes, and nothing on disk; "
    "with --since, the plans that differ from where the branch left a revision, and these as they were then; "
    "with -, standard input; the baseline; the user's own settings, which may name rules of one's own.",
    writes="a cache in the git folder; with --fix and --unsafe-fixes, the plans whose findings can be mended; with --write-baseline, the "
    "baseline.",
    examples=(
        "execplan lint",
        "execplan lint parser",
        "execplan lint .agent/execplans/*.md",
        "execplan lint --select EP2,EP301 --level warning",
        "execplan lint --fix --diff",
        "execplan lint --json",
        "execplan lint --staged --hook",
        "execplan lint --since main --profile ci",
        "execplan lint --format sarif",
        "execplan lint --statistics",
        "execplan lint --write-baseline",
    ),
)
@click.argument("plans", nargs=-1, metavar="[PLAN|FILE|-]...")
@plan_flag
@click.option("--hook", is_flag=True, help="Accept a draft without content, and a complete plan without an outcome.")
@click.option("--no-cache", is_flag=True, help="Judge every plan anew, and keep nothing for the next run.")
@click.option("--staged", is_flag=True, help="The plans of the next commit, as they are staged.")
@click.option("--since", metavar="REV", help="The plans that changed since this branch left REV.")
@selecting_options
@mending_options
@output_options
@writer_options
def lint(
    call: Call,
    options: Options,
    plans: tuple[str, ...],
    *,
    hook: bool,
    staged: bool,
    since: str | None,
    no_cache: bool,
    **asked: Any,
) -> Answer:
    """Check plans against the rules; `file:line:col CODE message` for each finding, exit 1 when one is an error."""
    output = Output(**_own(Output, asked))
    mending = Mending(**_own(Mending, asked))
    selecting = Selecting(**_own(Selecting, asked))
    if not (plans or staged or since is not None) and pick.from_environment() is not None:
        plans = (os.path.relpath(pick.open_plan(os.getcwd(), None)[1].path),)
    output.check(call, plans, staged=staged, since=since)
    _check_usage(plans, options, output, mending, staged=staged)
    way = Way(hook=hook, selection=selecting.selection(), trees=Trees())
    here = os.getcwd()
    if staged:
        return output.answer(call, [*check_staged(here, way), *check_commit(here, way)], way)
    if plans == (STDIN,):
        return output.answer(call, output.check_stdin(way), way)
    chosen, base = (lots(plans, hook=hook), None) if since is None else changed_since(here, since)
    way = with_committed(chosen, informed(chosen, way, base))
    for target in targets(chosen) if options.if_match is not None else ():
        check_match(target.home, target.ref, options.if_match)
    mended = mending.mend(list(targets(chosen)) if mending.wanted else (), way, options)
    invisible: tuple[str, ...] = ()
    with Bar(wanted=not call.quiet and not call.as_json) as bar:
        checked = check_all(chosen, way, cached=not no_cache, with_data=not call.as_json, tick=bar.tick)
    if hook and plans and not output.write_baseline and status(checked):
        checked = without_older(list(targets(chosen)), checked, way)
    if not plans and since is None:
        from execplan.repo import homes, ignored

        checked += check_homes(here, way)
        invisible = ignored.warnings(homes.require(here))
    answer = output.answer(call, checked, way, dry_run=options.dry_run)
    idle = unmet(way.selection.select, git=any([lot.home.git is not None for lot in chosen]))
    answer = answer._replace(warnings=answer.warnings + idle + invisible)
    return mended.before(answer) if mending.wanted else answer


def _own(kind: type[NamedTuple], asked: dict[str, Any]) -> dict[str, Any]:
    """The options of one kind."""
    return {name: asked[name] for name in kind._fields}


def _check_usage(plans: tuple[str, ...], options: Options, output: Output, mending: Mending, *, staged: bool) -> None:
    """Refuse what does not go together; raises ExecplanError."""
    for wrong, why in (
        (mending.wanted and staged, "--staged judges git's index, in which nothing can be mended"),
        (mending.wanted and STDIN in plans, "standard input can't be mended; name the file"),
        (mending.wanted and output.is_for_machines, "--fix tells what it mended: it takes --json or text"),
        (mending.wanted and output.write_baseline, "--write-baseline keeps findings, and --fix mends them"),
        (mending.diff and not mending.wanted, "--diff shows what --fix would change"),
        (
            options.if_match is not None and not (mending.wanted and len(plans) == 1),
            "--if-match is for --fix of one plan, which is named",
        ),
        (options.commit and not mending.wanted, "--commit is for what --fix mends"),
        (options.dry_run and not (mending.wanted or output.write_baseline), "--dry-run is for what writes: --fix"),
    ):
        if wrong:
            raise ExecplanError("usage", why, exit=USAGE, hint="see execplan lint --help")


command = lint
