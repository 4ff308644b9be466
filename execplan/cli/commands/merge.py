"""The `execplan merge` command."""

from __future__ import annotations

import os
from shlex import quote

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.plan_arguments import plan_flag
from execplan.cli.plan_editing import edit_answer
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import CHECK_FAILED, OK, ExecplanError, usage_error
from execplan.core.git.unmerged_files import list_unmerged
from execplan.core.git_merge import conflict_resolution, three_way_merge
from execplan.core.plan.merge.plan_merge import MergeResult
from execplan.core.plan_store import pending_merge, plan_selection, plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.team.advice.advice import Work


@define_command(
    reads="the three files; or the plan and its versions in git's index.",
    writes="OUT, or standard output; or the plan, with conflict markers around what can't be merged.",
    examples=(
        "execplan merge base.md ours.md theirs.md -o merged.md",
        "execplan merge /dev/null ours.md theirs.md",
        "execplan merge",
        "execplan merge parser --dry-run",
    ),
)
@click.argument("plans", nargs=-1, metavar="[PLAN] | BASE OURS THEIRS")
@plan_flag(default="")
@click.option("-o", "--out", metavar="OUT", help="Write the merged plan to this file; -: standard output.")
@click.option("--driver", is_flag=True, help="Run as a Git merge driver; see execplan install merge-driver.")
@writer_options
def merge(call: Call, plans: tuple[str, ...], out: str | None, driver: bool, options: WriteOptions) -> Answer:
    """Merge plans changed on two branches, or resolve a conflict.

    With a plan, resolves its conflict markers. Default: the only plan that has some. With three files, merges two
    versions of a plan and their common ancestor; for versions without one, BASE is /dev/null. Tasks, entries and
    revision notes of both sides are kept, each once; prose is merged line by line. If both sides changed the same text
    in different ways, conflict markers are left, and the command exits 1.
    """
    if driver:
        raise _usage_error("--driver must directly follow merge")
    if len(plans) not in (0, 1, 3):
        raise _usage_error(f"merge requires one plan or three files, not {len(plans)} arguments")
    if len(plans) == 3:
        if options.commit is not None or options.if_match:
            raise _usage_error("--commit and --if-match require a plan, not three files")
        return _merge_files(plans, out, options)
    if out is not None:
        raise _usage_error("-o requires three files; a plan is merged in place")
    start = os.getcwd()
    plan = plan_selection.select_plan(start, plans[0]) if plans else conflict_resolution.find_plan_in_conflict(start)
    if plan is None:
        project = project_discovery.require(start)
        message = "nothing to merge: no plan has conflict markers"
        commands = pending_merge.find_steps(project, [], "").finishing
        if not commands and list_unmerged(project):
            message = f"{message}; other files have conflicts"
            commands = ("git status",)
        unchanged = {"path": None, "changed": False, "digest": None, "commit": None, "said": [message]}
        return Answer({**unchanged, "conflicts": 0, "notes": []}, message, next_commands=commands)
    return _finish_plan(call, *plan, options)


def _usage_error(message: str) -> ExecplanError:
    hint = "use execplan merge PLAN, or execplan merge BASE OURS THEIRS -o OUT"
    return usage_error(message, hint)


def _merge_files(paths: tuple[str, ...], out: str | None, options: WriteOptions) -> Answer:
    """Merge three files into one."""
    out = None if out == "-" else out
    base, our, their = paths
    merged, our_data = three_way_merge.merge_files(base, our, their)
    changed, text, diff = merged.data != our_data, merged.data.decode("utf-8"), ""
    if out is not None:
        changed, diff = three_way_merge.write_merged(out, merged.data, dry_run=options.dry_run)
    data = {
        "conflicts": merged.conflict_count,
        "notes": list(merged.notes),
        "path": out,
        "text": text if out is None else None,
        "changed": changed,
    }
    if options.dry_run:
        data["diff"] = diff
    if out is not None:
        text = "\n".join([*([diff] if diff else []), f"would write {out}"]) if options.dry_run else f"merged into {out}"
    return Answer(
        data,
        text,
        exit=CHECK_FAILED if merged.conflict_count else OK,
        warnings=_warnings(merged),
        is_requested=out is None or options.dry_run,
        is_raw=out is None,
    )


def _finish_plan(call: Call, project: Project, ref: PlanRef, options: WriteOptions) -> Answer:
    """Resolve the conflict markers of a plan in place."""
    amended, merged = conflict_resolution.finish_merge(project, ref, options)
    answer = edit_answer(amended, options)
    data = {**answer.data, "conflicts": merged.conflict_count, "notes": list(merged.notes)}
    next_commands, work = _advise_git(call, project, ref, merged, changed=amended.changed, dry_run=options.dry_run)
    return answer._replace(
        data=data,
        exit=CHECK_FAILED if merged.conflict_count else OK,
        warnings=_warnings(merged) + answer.warnings,
        next_commands=next_commands,
        work=work,
    )


def _advise_git(
    call: Call, project: Project, ref: PlanRef, merged: MergeResult, *, changed: bool, dry_run: bool
) -> tuple[tuple[str, ...], Work | None]:
    """Return the git commands that come after a merge of a plan, and what to do by hand."""
    path = os.path.relpath(ref.path)
    if project.git is None:
        return (), None
    if dry_run:
        return (f"execplan merge {plan_store.name_in_commands(project, ref)}",) if changed else (), None
    if merged.conflict_count:
        file = os.path.join(call.folder or "", path)  # as the caller sees it
        by_hand = Work(f"keep what is right between the conflict markers of {file}", f"execplan merge {quote(path)}")
        return (f"git diff {quote(path)}",), by_hand
    again = f"execplan commit {plan_store.name_in_commands(project, ref)}"
    paths = pending_merge.plan_paths(project, ref)
    steps = pending_merge.find_steps(project, paths, again, [ref.path] if changed else ())
    *marking, last = [*steps.resolving, *steps.finishing] or [""]
    if steps.leaves_others and last:
        marking, last = [*marking, last], ""
    otherwise = f"then finish: {last}" if last else ""
    if steps.choices:
        choice = steps.choices[0]
        otherwise = f"or {choice.second}: {choice.second_command}"
        if chain := " && ".join(filter(None, [*marking, last])):
            otherwise += f"; then {f'{steps.edit_text}, and ' if steps.edits else ''}finish: {chain}"
        description = f"{choice.reason}; {choice.first}"
        commands = (choice.first_command, choice.second_command)
        return commands, Work(description, choice.first_command, lead="with", otherwise=otherwise)
    if not marking:
        return (last,) if last else (), None
    description = steps.edit_text or "mark it as resolved"
    work = Work(description, " && ".join(marking), lead="then" if steps.edits else "with", otherwise=otherwise)
    return (*marking, *([last] if last else [])), work


def _warnings(merged: MergeResult) -> tuple[str, ...]:
    conflict_count = merged.conflict_count
    conflicts_text = f"{conflict_count} conflicts are" if conflict_count > 1 else "1 conflict is"
    return (*merged.notes, *([f"{conflicts_text} left between conflict markers"] if conflict_count else []))
