"""The `execplan undo` and `execplan redo` commands."""

from __future__ import annotations

import os
from itertools import islice
from typing import Any

import click

from execplan.cli.answer import Answer, Call, json_fields
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.output.move_output import PlanAnswer, join_answers, move_answer
from execplan.cli.output.text_table import format_table
from execplan.cli.plan_arguments import plan_argument
from execplan.cli.plan_editing import edit_answer
from execplan.core import features
from execplan.core.archive.plan_move import MoveResult
from execplan.core.edits.edit_entries import REDO, UNDO
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import OK
from execplan.core.git.git_directory import operation_in_progress
from execplan.core.plan_store import missing_plans, plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_count
from execplan.core.undo import undo_redo
from execplan.core.undo.operation_selection import (
    SelectedOperation,
    find_plan,
    first_step,
    is_by_other_author,
    iter_operations,
    operations_on_plan,
)
from execplan.core.undo.plan_removal import is_committed
from execplan.core.undo.undo_redo import ReversalResult, ReversedStep
from execplan.execution import rare_features
from execplan.execution.engine.run_records.finishing_commands import ensure_no_open_runs
from execplan.team.advice.advice import Work

_MAX_SHOWN = 20
"""Maximum number of operations shown to people; JSON has all of them."""


def undo_answer(undo_result: ReversalResult, options: WriteOptions) -> Answer:
    """Build the answer of `undo` or `redo`."""
    if len({step.selected.ref.id for step in undo_result.steps}) == 1 and not undo_result.left:
        answer = _step_answer(undo_result.steps[-1], undo_result.message, options)
        operation = operation_json(first_step([step.selected for step in undo_result.steps]))
        warnings = (*answer.warnings, *undo_result.warnings)
        return answer._replace(data={**answer.data, "operation": operation}, warnings=warnings)
    answers = [
        PlanAnswer(step.selected.project, _step_answer(step, undo_result.message, options))
        for step in undo_result.steps
    ]
    left = {
        plan_store.unique_name(selected.project, selected.ref): [error.message, error.hint]
        for selected, error in undo_result.left
    }
    failed = undo_result.left[0][1].exit if undo_result.left else OK
    answer = join_answers(answers, f"{undo_result.message}:", left, "unchanged", options, failed=failed)
    operation = {
        **operation_json(undo_result.selected),
        "plans": [step.selected.ref.id for step in undo_result.steps],
    }
    return answer._replace(
        data={**answer.data, "operation": operation}, warnings=(*answer.warnings, *undo_result.warnings)
    )


def _step_answer(step: ReversedStep, message: str, options: WriteOptions) -> Answer:
    """Build the answer about one plan; `message` describes the complete operation."""
    chosen, result = step
    operation = operation_json(chosen)
    if isinstance(result, MoveResult):
        result = result._replace(messages=(message, *result.messages[1:]))
        answer = move_answer(chosen.project, result, options, message)
        data = {**answer.data, "said": [message], "operation": operation}
        return answer._replace(data=data, text=answer.text if result.changed else message)
    path = os.path.join(chosen.project.root, result.path)
    name = plan_store.name_in_commands(chosen.project, chosen.ref)
    next_command = f"execplan show {name}" if os.path.lexists(path) else _find_command_after_removal(chosen, path)
    answer = edit_answer(result, options, next_command)
    answer = answer._replace(data={**answer.data, "operation": operation})
    if operation["command"] == "compile" and "tried change" in operation["summary"] and result.changed:
        if stash := features.load(rare_features.STASHED_CHANGE)(chosen.project, chosen.ref.id):
            stash_text = f"the change itself is in git's stash; to have it again: git stash apply {stash[:12]}"
            answer = answer._replace(text=f"{answer.text}\n{stash_text}")
    if operation["command"] != "merge" or options.dry_run or not result.changed:
        return answer
    git = chosen.project.git
    is_git_merging = git is not None and operation_in_progress(git)
    if chosen.step.latest.command == UNDO:
        return answer._replace(next_commands=(f"execplan merge {name}",)) if is_git_merging else answer
    redo_command = f"execplan redo -p {name}"
    warning = f"{result.path} contains conflict markers again, uncommitted; to redo the merge: {redo_command}"
    if git is not None and not is_git_merging:
        return answer._replace(warnings=(*answer.warnings, warning), next_commands=(redo_command,))
    work = Work(f"keep what is right between the conflict markers of {result.path}", f"execplan merge {name}")
    return answer._replace(warnings=(*answer.warnings, warning), next_commands=(work.command,), work=work)


def _find_command_after_removal(chosen: SelectedOperation, path: str) -> str:
    """Return the command that commits the removal of a plan if git has it."""
    is_in_git = chosen.project.git is not None and is_committed(chosen.project, chosen.ref.real_path)
    return missing_plans.removal_command([path]) if is_in_git else "execplan list"


def require_movable(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError if an undo or redo would move a plan with an unfinished run."""
    ensure_no_open_runs(project, ref, "moved")


def operation_json(chosen: SelectedOperation) -> dict[str, Any]:
    """Return the JSON form of an operation."""
    operation = chosen.step.operation
    return {
        **json_fields(operation, "command summary"),
        "plan": chosen.ref.id,
        "path": chosen.project.display_path(chosen.ref.path),
        "by": operation.author or None,
        "at": operation.timestamp.replace("T", " "),
    }


def history_answer(start: str, query: str | None) -> Answer:
    """Build the list of operations that can be undone or redone, newest first; only those of a plan if it is named."""
    query = query if query is not None else os.environ.get("EXECPLAN_PLAN") or None
    if query is not None:
        project, ref = find_plan(start, query)
        candidates = {command: operations_on_plan(project, ref, command) for command in (UNDO, REDO)}
    else:
        project = project_discovery.require(start)
        candidates = {command: list(iter_operations(project, command)) for command in (UNDO, REDO)}
    data = {
        name: [_history_json(steps, command) for steps in _group_steps(candidates[command])]
        for name, command in (("undo", UNDO), ("redo", REDO))
    }
    lines = [
        line
        for name, rows in data.items()
        if rows
        for line in (f"can be {_PAST_TENSE[name]}:", _operations_table(rows))
    ]
    return Answer(data, "\n".join(lines) if lines else "nothing can be undone or redone")


def _group_steps(candidates: list[SelectedOperation]) -> list[list[SelectedOperation]]:
    """Return the steps of each operation, in the order of their first steps."""
    groups: dict[str, list[SelectedOperation]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.group, []).append(candidate)
    return list(groups.values())


def _history_json(steps: list[SelectedOperation], command: str) -> dict[str, Any]:
    """Return the JSON form of an operation in the list; `plan` and `path` are those of the plan changed last."""
    first = first_step(steps)
    plans = list(dict.fromkeys([step.ref.id for step in steps]))
    operation = operation_json(first) | ({"summary": first.step.operation.command} if len(plans) > 1 else {})
    is_elsewhere = any([step.is_elsewhere for step in steps])
    return {
        **operation,
        "plans": plans,
        "next": all([step.is_reversible for step in steps]) and not is_elsewhere,
        "missing": is_elsewhere,
        "yours": not any([is_by_other_author(step.project, step.step, command) for step in steps]),
    }


_MISSING = " (not in this checkout)"
_PAST_TENSE = {"undo": "undone", "redo": "redone"}


def _operations_table(rows: list[dict[str, Any]]) -> str:
    cells = [
        (
            row["at"],
            row["by"] or "",
            _format_plans(row["plans"]),
            f"{row['summary']}{'' if row['yours'] else ' (needs --any)'}{_MISSING if row['missing'] else ''}",
        )
        for row in islice(rows, _MAX_SHOWN)
    ]
    remainder = f"\nand {len(rows) - _MAX_SHOWN} more; see all with --json" if len(rows) > _MAX_SHOWN else ""
    return format_table(("when", "by", "plan", "operation"), cells) + remainder


def _format_plans(plans: list[str]) -> str:
    """Format the plans of an operation: the only one, or their number."""
    return plans[0] if len(plans) == 1 else format_count(len(plans), "plan")


@define_command(
    reads="the journal of edits, and the plan.",
    writes="the state before the last operation; later changes are kept.",
    examples=(
        "execplan undo",
        "execplan undo --list",
        "execplan undo -p parser --dry-run",
        "execplan undo --commit",
    ),
)
@plan_argument(default="the plan of your last operation")
@click.option("--list", "show", is_flag=True, help="List what can be undone and redone, and who did it.")
@click.option("--any", "other_authors", is_flag=True, help="Also undo an operation of another author.")
@writer_options
def undo(call: Call, plan: str | None, show: bool, other_authors: bool, options: WriteOptions) -> Answer:
    """Undo the last operation; run it again for earlier ones.

    Undoes edits, `new`, `drop`, `attach`, `archive`, `restore` and `rename`. Without -p, the command undoes your last operation
    on any plan, and prints the plan's name. It fails if the same lines have changed since. Comments, claims, checkpoints and
    the index are no edits of a plan, so it passes over them.
    """
    if show:
        return history_answer(os.getcwd(), plan)
    return undo_answer(
        undo_redo.undo(os.getcwd(), plan, options, other_authors=other_authors, may_move=require_movable), options
    )


@define_command(
    reads="the journal of edits, and the plan.",
    writes="the changes of the last undone operation.",
    examples=("execplan redo", "execplan redo -p parser --dry-run", "execplan redo --commit"),
)
@plan_argument(default="the plan of your last operation")
@click.option("--any", "other_authors", is_flag=True, help="Also redo operations that another author undid.")
@writer_options
def redo(call: Call, plan: str | None, other_authors: bool, options: WriteOptions) -> Answer:
    """Redo the last undone operation; run it again for earlier ones.

    Without -p, the command redoes your last undo on any plan, and prints the plan's name. After a new operation on the
    plan, earlier undos can't be redone.
    """
    return undo_answer(
        undo_redo.redo(os.getcwd(), plan, options, other_authors=other_authors, may_move=require_movable), options
    )
