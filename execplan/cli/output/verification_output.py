"""`done --verify`: the question about checks, what is shown while they run, and their results."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from execplan.cli import prompts
from execplan.cli.answer import Answer, Call, json_fields
from execplan.cli.error_handler import printable_line
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_editing import suggest_after_tasks
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import CHECK_FAILED, OK
from execplan.core.plan_store import author
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.project.project import Project
from execplan.execution.acceptance_check import AcceptanceCheck
from execplan.execution.engine.acceptance.check_permission import CheckPermission, command_text
from execplan.execution.engine.acceptance.check_run import TaskCheckResult
from execplan.execution.engine.acceptance.verified_completion import Verification, VerificationObserver
from execplan.execution.permission import ASK
from execplan.library.plan_api import Plan
from execplan.team.advice.advice import Work
from execplan.team.advice.plan_json import amended_json


class _ProgressObserver(VerificationObserver):
    """Shows which check runs, for a person at a terminal."""

    def check_starts(self, check: AcceptanceCheck) -> None:
        print(f"running the check of {check.task_id}: {printable_line(check.command)}", file=sys.stderr, flush=True)


def verify_tasks(
    call: Call, plan_name: str | None, tasks: tuple[str, ...], options: WriteOptions, *, approves_all: bool
) -> Answer:
    """Run the checks of tasks, check off those whose check passes, and report the results."""
    plan = Plan.find(plan_name)
    shows_progress = sys.stderr.isatty() and not call.quiet and not call.as_json

    def approve_checks(permissions: Sequence[CheckPermission]) -> bool:
        return approves_all or (not call.as_json and author.can_ask() and _ask(permissions))

    verification = plan.verify(
        *tasks,
        approve_checks=approve_checks,
        observer=_ProgressObserver() if shows_progress else None,
        options=options,
    )
    if options.dry_run:
        return _dry_run_answer(plan, verification)
    return _results_answer(plan, verification)


def _ask(permissions: Sequence[CheckPermission]) -> bool:
    """Show the checks and ask whether to approve them."""
    is_sandboxed = all([permission.is_sandboxed for permission in permissions])
    limits = "in the sandbox, without the network" if is_sandboxed else "without a sandbox, so it can do what you can"
    is_single = len(permissions) == 1
    lead = "This check comes" if is_single else f"These {len(permissions)} checks come"
    print(f"{lead} from the plan. {'It runs' if is_single else 'They run'} {limits}:", flush=True)
    for permission in permissions:
        print(f"  {printable_line(command_text(permission.check))}")
        place = "" if permission.check.cwd == "." else f" in {permission.check.cwd}"
        reasons = printable_line("; ".join(permission.reasons))
        print(f"    task {permission.check.task_id}{place}, risk {permission.level}: {reasons}")
    return prompts.confirm("Approve it, now and later?" if len(permissions) == 1 else "Approve all, now and later?")


def _dry_run_answer(plan: Plan, verification: Verification) -> Answer:
    """Return the checks that would run."""
    lines = []
    for permission in verification.planned:
        approval = ", needs a person's approval" if permission.kind == ASK else ""
        lines.append(f"would run the check of {permission.check.task_id}: {command_text(permission.check)}")
        lines.append(f"  risk {permission.level}{approval}: {'; '.join(permission.reasons)}")
    data = {
        "path": plan.project.display_path(plan.path),
        "changed": False,
        "checks": [
            {
                **_check_json(permission.check),
                "risk": permission.level,
                "reasons": list(permission.reasons),
                "approved": permission.kind != ASK,
            }
            for permission in verification.planned
        ],
    }
    return Answer(data, printable_lines(lines))


def _results_answer(plan: Plan, verification: Verification) -> Answer:
    """Return the results of the checks, and the tasks that were checked off."""
    edit = verification.edit
    lines = list(edit.messages) if edit is not None else []
    for result in verification.results:
        lines += _result_lines(plan.project, result)
    if edit is not None and edit.commit:
        lines.append(f"committed {edit.commit[:12]}")
    data: dict[str, Any] = (
        amended_json(edit, dry_run=False)
        if edit is not None
        else {"path": plan.project.display_path(plan.path), "changed": False}
    )
    data["checks"] = [
        {
            **_check_json(result.check),
            "passed": result.passed,
            "result": result.summary,
            "seconds": round(result.seconds, 3),
            "output_tail": list(result.tail),
            "transcript": plan.project.display_path(result.transcript),
        }
        for result in verification.results
    ]
    name = quote_plan_name(plan.id, data["path"])
    failed = [result.check.task_id for result in verification.results if not result.passed]
    repeat_command = f"execplan done {' '.join(failed)} --verify -p {name}"
    commands: tuple[str, ...] = (repeat_command,)
    work = Work("fix what failed", repeat_command) if failed else None
    if edit is not None and not failed:
        commands, work = suggest_after_tasks(plan.project, plan.ref, edit, name, "execplan next {id}")
    return Answer(
        data,
        printable_lines(lines),
        CHECK_FAILED if failed else OK,
        warnings=(*verification.warnings, *(edit.warnings if edit is not None else ())),
        next_commands=commands,
        is_requested=bool(failed),
        work=work,
    )


def _result_lines(project: Project, result: TaskCheckResult) -> list[str]:
    """Describe the result of a check; of a failed one, with the end of its output."""
    verdict = "passed" if result.passed else "failed"
    lines = [f"check {verdict}: {result.check.task_id}, {result.summary}: {result.check.command}"]
    if not result.passed:
        lines += [f"  | {line}" for line in result.tail]
    return [*lines, f"  transcript: {project.display_path(result.transcript)}"]


def _check_json(check: AcceptanceCheck) -> dict[str, Any]:
    fields = json_fields(check, "command cwd timeout_s step?")
    return {"task": check.task_id, "text": check.task_text, **fields}
