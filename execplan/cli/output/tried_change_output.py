"""Answer of `compile --from-diff`: the steps that were written, the files left out, and the files that were reverted."""

from __future__ import annotations

from contextlib import nullcontext

from execplan.cli.answer import Answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_editing import edit_answer
from execplan.core.edits.plan_writer import WriteOptions, amend
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_change import PlanChange
from execplan.core.plan_store.plan_store import PlanRef, quote_plan_name
from execplan.core.project import project_state
from execplan.core.project.project import Project
from execplan.execution.tried_changes.change_reader import read_change
from execplan.execution.tried_changes.change_restore import STASH_MESSAGE, ensure_restorable, restore_files
from execplan.execution.tried_changes.change_steps import TriedSteps, write_steps


def tried_change_answer(
    project: Project, ref: PlanRef, revisions: str, options: WriteOptions, *, staged: bool, restore: bool
) -> Answer:
    """Write the steps of a change into a plan, and revert its files if `restore` is set. Raises ExecplanError."""
    # without a lock two calls would stash the same change twice, or read files while they are reverted
    with project_state.lock(project, "change", "compile") if restore else nullcontext():
        return _write_and_restore(project, ref, revisions, options, staged=staged, restore=restore)


def _write_and_restore(
    project: Project, ref: PlanRef, revisions: str, options: WriteOptions, *, staged: bool, restore: bool
) -> Answer:
    if revisions and (staged or restore):
        option = "--staged" if staged else "--restore"
        raise usage_error(f"{option} can't be combined with a RANGE, which has its own commits")
    tried = read_change(project, revisions, staged=staged)
    if not tried.files and not tried.left:
        raise _no_change_error(revisions, staged=staged)
    if restore:
        ensure_restorable(project, [file.path for file in tried.files], staged=staged)
    results: list[TriedSteps] = []

    def build_change(plan: ParsedPlan) -> PlanChange:
        results[:] = [write_steps(plan, tried, dry_run=options.dry_run)]
        change = results[0].change
        # an undo removes only the steps
        return change._replace(summary=f"{change.summary}, which is stashed") if restore else change

    amended = amend(project, ref, build_change, options, command="compile")
    result = results[0]
    paths = list(result.covered_paths)
    name = quote_plan_name(ref.id, amended.path)
    # as long as the change is in the working tree, its steps would make it a second time
    is_in_tree = not revisions and not restore
    restoring = f" --from-diff{' --staged' * staged} --restore" if is_in_tree else ""
    answer = edit_answer(amended, options, f"execplan compile {name}{restoring}" if result.steps or restore else "")
    text = answer.text
    if is_in_tree and result.steps and not options.dry_run:
        text += "\nthe change is still in the working tree, so its steps don't run before it is reverted"
    if options.dry_run and amended.changed:
        text += f"\n{printable_lines(amended.messages)}"
    stash = ""
    if restore and paths:
        count = f"{len(paths)} file{'s' * (len(paths) != 1)}"
        if options.dry_run:
            text += f"\nwould revert {count}"
        else:
            stash = restore_files(project, paths, STASH_MESSAGE.format(ref.id))
            text += f"\nreverted {count}; to have the change again: git stash apply {stash[:12]}" if stash else ""
    data = {
        **answer.data,
        "written": [step._asdict() for step in result.steps],
        "left_files": [file._asdict() for file in result.left],
        "restored": paths if stash else [],
        "stash": stash or None,
    }
    return answer._replace(data=data, text=text)


def _no_change_error(revisions: str, *, staged: bool) -> ExecplanError:
    if revisions:
        place = f"in {revisions}"
    else:
        place = "staged" if staged else "in the working tree"
    return ExecplanError(
        "no-change", f"no file has changed {place}, apart from plans", hint="see what git finds: git status"
    )
