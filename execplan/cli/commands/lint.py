"""The `execplan lint` command."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import click

from execplan.cli import formats
from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.lint_fixes import FixSettings, fix_options
from execplan.cli.option_rules import ONE_PLAN, SEVERAL_PLANS, excludes, exclusive, option_rules, requires
from execplan.cli.output.lint_output import HUMAN_FORMATS, OutputSettings, output_options
from execplan.cli.output.lint_report import exit_status, report_maker
from execplan.cli.output.progress_bar import ProgressBar
from execplan.cli.plan_arguments import plan_flag
from execplan.cli.rule_options import RuleSettings, rule_options
from execplan.core.edits.digest_check import ensure_digest_matches
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import usage_error
from execplan.core.plan_store import plan_selection
from execplan.linter.checking.batch_check import check_plans
from execplan.linter.checking.check_targets import changed_target_groups, iter_targets, resolve_target_groups
from execplan.linter.checking.commit_check import check_staged_plans, drop_older_findings
from execplan.linter.checking.modified_plans import add_committed_plans
from execplan.linter.checking.plan_check import STDIN_NAME, CheckOptions
from execplan.linter.checking.plan_histories import add_histories
from execplan.linter.checking.project_check import check_commit, check_projects
from execplan.linter.checking.repository_trees import RepositoryTrees
from execplan.linter.rule import GIT_NEEDS, RULES
from execplan.linter.rules.project_rules import FOLLOW_CODE
from execplan.linter.text_check import UTF_16


def unmet_rule_warnings(select: tuple[str, ...], *, git: bool) -> tuple[str, ...]:
    """Return warnings about rules that were selected by code and can't run on plans on disk."""
    warnings = [f"{code} checks a commit; it runs only with --staged" for code in select if code == FOLLOW_CODE]
    git_rules = [code for code in select if code in RULES and RULES[code].needs in GIT_NEEDS]
    if git_rules and not git:
        warnings.append(f"there is no git repository, so {' and '.join(git_rules)} did not run")
    return tuple(warnings)


_FIXES = ("--fix", "--unsafe-fixes")
_MACHINE_FORMATS = tuple([f"--format {name}" for name in formats.NAMES if name not in HUMAN_FORMATS])


@define_command(
    reads=(
        "the named plans or files, and every file below a directory; without any, every plan, including archived plans; "
        "with --staged, only the plans in git's index that the next commit adds or changes; "
        "with --since, the plans that differ from where the branch left a revision, and their content at that point; "
        "a plan whose review comments changed counts as changed, except with --staged --hook; "
        "with -, standard input; the baseline; your own settings, which can name your own rules."
    ),
    writes=(
        "a cache in the git directory; with --fix and --unsafe-fixes, the plans with fixable findings and the plan index; with "
        "--write-baseline, the baseline."
    ),
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
@plan_flag(default="all plans")
@click.option(
    "--hook", is_flag=True, help="For hooks: accept a draft without content and a complete plan without an outcome."
)
@click.option("--no-cache", is_flag=True, help="Check every plan again, and don't write the cache.")
@click.option("--staged", is_flag=True, help="Check the plans of the next commit, as staged.")
@click.option("--since", metavar="REV", help="Check the plans that changed since this branch left REV.")
@rule_options
@fix_options
@output_options
@writer_options
@option_rules(
    exclusive("--json", "--format"),
    exclusive("--staged", "PLAN"),
    exclusive("--since", "PLAN"),
    exclusive("--since", "--staged", reason="--since checks files, --staged the git index"),
    excludes("-", SEVERAL_PLANS, *_FIXES, reason="is standard input", hint="name the file"),
    requires("--stdin-filename", "-", reason=" as PLAN"),
    excludes("--statistics", *_MACHINE_FORMATS),
    requires(f"--columns {UTF_16}", "--json", f"--format {formats.CONCISE}"),
    excludes("--write-baseline", "--statistics", *_MACHINE_FORMATS, reason="prints no findings"),
    excludes("--write-baseline", "--staged", "-", reason="checks plans on disk"),
    excludes("--staged", "--unsafe-fixes", "--diff", "--dry-run", "--commit", reason="fixes only the plan index"),
    *[excludes(fix, "--write-baseline") for fix in _FIXES],
    *[excludes(fix, *_MACHINE_FORMATS, reason="prints what was fixed") for fix in _FIXES],
    requires("--diff", *_FIXES),
    requires("--if-match", *_FIXES),
    requires("--if-match", ONE_PLAN),
    requires("--commit", *_FIXES),
    requires("--dry-run", *_FIXES, "--write-baseline"),
)
def lint(
    call: Call,
    options: WriteOptions,
    plans: tuple[str, ...],
    *,
    hook: bool,
    staged: bool,
    since: str | None,
    no_cache: bool,
    **flags: Any,
) -> Answer:
    """Check plans against the rules.

    The rules find what makes a plan hard to follow or to process: missing sections, malformed tasks, placeholder text,
    broken links. `execplan explain --codes` lists all rules. Prints `file:line:col CODE message` for each finding.
    If you name no plan and the findings are many, those of changed and open plans come first, and the others are
    counted by rule; `--all` lists them all. Exits 1 if a finding is an error.
    """
    output = OutputSettings(**_pick_options(OutputSettings, flags))
    fix_settings = FixSettings(**_pick_options(FixSettings, flags))
    rule_settings = RuleSettings(**_pick_options(RuleSettings, flags))
    if not (plans or staged or since is not None) and plan_selection.plan_from_environment() is not None:
        plans = (os.path.relpath(plan_selection.select_plan(os.getcwd(), None)[1].path),)
    if output.stdin_filename == "":
        message = "--stdin-filename requires the path of a file"
        raise usage_error(message, "see execplan lint --help")
    check_options = CheckOptions(is_hook=hook, selection=rule_settings.selection(), trees=RepositoryTrees())
    directory = os.getcwd()
    if staged:
        fix_report = fix_settings.fix_staged_indexes(directory, check_options) if fix_settings.fix else None
        answer = output.answer(
            call,
            [*check_staged_plans(directory, check_options), *check_commit(directory, check_options)],
            check_options,
        )
        return answer if fix_report is None else fix_report.prepend_to(answer)
    if plans == (STDIN_NAME,):
        return output.answer(call, output.check_stdin(check_options), check_options)
    target_groups, base = (
        (resolve_target_groups(plans, is_hook=hook), None) if since is None else changed_target_groups(directory, since)
    )
    check_options = add_committed_plans(target_groups, add_histories(target_groups, check_options, base))
    for target in iter_targets(target_groups) if options.if_match is not None else ():
        ensure_digest_matches(target.project, target.ref, options.if_match)
    fix_report = None
    if fix_settings.is_requested:
        projects = {group.project.plans: group.project for group in target_groups if group.project.exists}
        targets = list(iter_targets(target_groups))
        fix_report = fix_settings.fix_all(targets, list(projects.values()), check_options, options)
    ignored_warnings: tuple[str, ...] = ()
    make_report = report_maker() if output.prints_all_findings and not call.as_json else None
    with ProgressBar("lint", is_enabled=not call.quiet and not call.as_json) as bar:
        checked = check_plans(
            target_groups,
            check_options,
            use_cache=not no_cache,
            with_data=not call.as_json and make_report is None,
            make_report=make_report,
            tick=bar.tick,
        )
    if hook and plans and not output.write_baseline and exit_status(checked):
        checked = drop_older_findings(list(iter_targets(target_groups)), checked, check_options)
    if not plans and since is None:
        from execplan.core.git import gitignore
        from execplan.core.project import project_discovery

        checked += check_projects(directory, check_options)
        ignored_warnings = gitignore.ignore_warnings(project_discovery.require(directory))
    is_whole_project = not (plans or hook) and since is None
    answer = output.answer(
        call, checked, check_options, target_groups if is_whole_project else None, dry_run=options.dry_run
    )
    rule_warnings = unmet_rule_warnings(
        check_options.selection.select, git=any([group.project.git is not None for group in target_groups])
    )
    answer = answer._replace(warnings=answer.warnings + rule_warnings + ignored_warnings)
    return answer if fix_report is None else fix_report.prepend_to(answer)


def _pick_options(kind: type[NamedTuple], flags: dict[str, Any]) -> dict[str, Any]:
    """Return the options of one kind."""
    return {name: flags[name] for name in kind._fields}
