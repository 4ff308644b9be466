"""The `execplan archive` command."""

from __future__ import annotations

import os
from collections.abc import Callable

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, writer_options
from execplan.cli.option_rules import SEVERAL_PLANS, excludes, exclusive, option_rules, requires
from execplan.cli.output.move_output import (
    PlanAnswer,
    join_answers,
    links_option,
    mention_warnings,
    move_answer,
    rewrite_decider,
)
from execplan.cli.plan_arguments import plan_flag
from execplan.cli.text_input import read_text
from execplan.core.archive import plan_archive
from execplan.core.archive.archive_blockers import ArchiveBlockers, load_blockers
from execplan.core.archive.plan_move import MoveResult
from execplan.core.edits.bulk_operation import BulkOperation
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import CHECK_FAILED, ExecplanError
from execplan.core.plan.model import COMPLETE, DOCUMENT
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_count
from execplan.execution.engine.run_records.finishing_commands import describe_open_run, finishing_commands
from execplan.execution.engine.run_records.run_statuses import list_open_runs
from execplan.team import plan_moves
from execplan.team.advice.no_open_plans import describe_no_open_plans

LocatedPlan = tuple[Project, PlanRef]

COMPLETED, SUPERSEDED, ABANDONED = "completed", "superseded", "abandoned"
_ARCHIVE_ALL = "execplan archive --complete"


@define_command(
    reads="the plans and their runs, and the plans and other files that refer to them.",
    writes=(
        "evidence and an attestation of the last run next to the moved artifacts; the paths in plans that refer to them, and in documents with --rewrite-links; a "
        "note in a plan that was not finished."
    ),
    examples=(
        "execplan archive parser --dry-run",
        "execplan archive parser --commit",
        "execplan archive --complete",
        "execplan archive parser --as superseded --by scanner",
        "execplan archive parser --as abandoned --reason 'No longer wanted.'",
    ),
)
@click.argument("plans", nargs=-1, metavar="[PLAN]...")
@plan_flag()
@click.option("--complete", is_flag=True, help="Archive every complete plan.")
@click.option(
    "--as",
    "how",
    type=click.Choice([COMPLETED, SUPERSEDED, ABANDONED]),
    default=COMPLETED,
    help="How the plan ended: superseded requires --by, abandoned requires --reason.",
)
@click.option("--by", metavar="PLAN", help="The plan that replaces it.")
@click.option("--force", is_flag=True, help="Archive an unfinished plan as completed; requires --reason.")
@click.option("--reason", metavar="TEXT", help="Why the plan is archived unfinished; written into the plan.")
@links_option
@writer_options
@option_rules(
    requires("--force", "--reason", hint="execplan archive {plan} --force --reason 'Why it is archived unfinished'"),
    requires(
        f"--as {ABANDONED}", "--reason", hint="execplan archive {plan} --as abandoned --reason 'Why it is abandoned'"
    ),
    excludes(
        f"--as {SUPERSEDED}",
        "--reason",
        hint="the plan that replaces it says why: execplan archive {plan} --as superseded --by OTHER",
    ),
    requires(
        "--reason",
        f"--as {ABANDONED}",
        "--force",
        hint="execplan archive {plan} --as abandoned --reason 'Why it is abandoned'",
    ),
    requires(f"--as {SUPERSEDED}", "--by", hint="execplan archive {plan} --as superseded --by OTHER"),
    requires("--by", f"--as {SUPERSEDED}", hint="execplan archive {plan} --as superseded --by OTHER"),
    exclusive("--by", "--force"),
    excludes(
        "--complete",
        "PLAN",
        "--as",
        "--force",
        reason="archives all complete plans as completed",
        hint=f"name the plans, or omit the other options: {_ARCHIVE_ALL}",
    ),
    excludes("--if-match", "--complete", SEVERAL_PLANS, hint="name one plan: execplan archive PLAN --if-match DIGEST"),
)
def archive(
    call: Call,
    plans: tuple[str, ...],
    *,
    complete: bool,
    how: str,
    by: str | None,
    force: bool,
    reason: str | None,
    links: bool | None,
    options: WriteOptions,
) -> Answer:
    """Archive completed plans and their artifacts.

    Use it when the work is done. A plan with unfinished tasks, without an outcome, or with lint errors is not archived,
    and all reasons are listed. A file with evidence is added: digests, counts and the commit. If the plan ran, an
    attestation of its last run is added too.

    To archive a plan that will never be finished, use --as abandoned with a reason. Resume or roll back an unfinished
    run first; only --force archives a plan with one. If you name several plans, nothing is archived if one of them
    can't be. --complete archives each complete plan that has no problem, lists the others with the reasons, and exits 1
    if there are any. One `undo` restores all plans that one command has archived. Documents that refer to the old paths
    are reported, and rewritten if you agree.
    """
    reason_text = read_text(reason, "the reason") if reason is not None else None
    selected = _find_complete_plans() if complete else _find_named_plans(plans)
    successor = plan_selection.select_plan(os.getcwd(), by)[1] if by is not None else None
    must_be_finished = how == COMPLETED and not force
    blocked: dict[str, ArchiveBlockers] = {}
    if complete or len(selected) > 1:
        blockers_by_plan = {
            plan_store.unique_name(project, ref): _load_blockers(project, ref, finished=must_be_finished)
            for project, ref in selected
            if not force
        }
        blocked = {name: blockers for name, blockers in blockers_by_plan.items() if blockers.reasons}
        if blocked and not complete:
            raise _not_finished_error(blocked, len(selected))
    to_archive = [(project, ref) for project, ref in selected if plan_store.unique_name(project, ref) not in blocked]
    bulk = BulkOperation() if len(to_archive) > 1 else None
    confirm_rewrite = rewrite_decider(call, links, has_more=len(to_archive) > 1)

    def move_plan(project: Project, ref: PlanRef) -> MoveResult:
        return plan_moves.archive(
            project,
            ref,
            options._replace(bulk=bulk),
            reason=reason_text,
            successor=successor,
            abandoned=how == ABANDONED,
            force=force,
            confirm_rewrite=confirm_rewrite,
        )

    moves, errors = _move_each(plan_archive.order_by_mentions(to_archive), move_plan)
    if errors and len(selected) == 1 and not complete:
        raise next(iter(errors.values()))
    blocked |= {name: ArchiveBlockers((error.message, *error.candidates), "", "") for name, error in errors.items()}
    failed = max([CHECK_FAILED, *[error.exit for error in errors.values()]])
    moves.sort(key=lambda move: to_archive.index(move[:2]))
    warnings: tuple[str, ...] = ()
    if bulk is not None:
        warnings = bulk.commit("archive", "archive")
        moves = [(project, ref, bulk.with_commit(project, moved)) for project, ref, moved in moves]
    answers = [
        PlanAnswer(project, move_answer(project, moved, options, "already archived", None))
        for project, _, moved in moves
    ]
    if links is not False:
        archive_all = f"{_ARCHIVE_ALL} --rewrite-links" if complete and options.dry_run else ""
        warnings += _mention_warnings([(project, moved) for project, _, moved in moves], archive_all)
    if len(answers) == 1 and not complete and not blocked:
        return answers[0].answer._replace(warnings=(*answers[0].answer.warnings, *warnings))
    headline = f"archived {format_count(len([moved for _, _, moved in moves if moved.changed]), 'plan')}:"
    reasons = {name: blockers.reasons for name, blockers in blocked.items()}
    answer = join_answers(answers, headline, reasons, "not archived", options, failed=failed)
    answer = answer._replace(warnings=(*answer.warnings, *warnings))
    if not selected:
        return _nothing_complete_answer(answer)
    unblocking = tuple([blockers.command for blockers in blocked.values() if blockers.command])
    archiving = (_ARCHIVE_ALL,) if complete and options.dry_run and moves else ()
    return answer._replace(next_commands=(*archiving, *(answer.next_commands or unblocking)))


def _move_each(
    plans: list[LocatedPlan], move_plan: Callable[[Project, PlanRef], MoveResult]
) -> tuple[list[tuple[Project, PlanRef, MoveResult]], dict[str, ExecplanError]]:
    """Move plans one after the other, and return the moves and, by the names of the other plans, why not."""
    moves: list[tuple[Project, PlanRef, MoveResult]] = []
    errors: dict[str, ExecplanError] = {}
    for project, ref in plans:
        try:
            moves.append((project, ref, move_plan(project, ref)))
        except ExecplanError as error:
            errors[plan_store.unique_name(project, ref)] = error
        except KeyboardInterrupt:
            if not moves:
                raise
            message = f"interrupted: {len(moves)} of {len(plans)} plans archived"
            hint = f"see what is left: execplan status; or take the {len(moves)} back: execplan undo"
            raise ExecplanError("interrupted", message, hint=hint) from None
    return moves, errors


def _mention_warnings(moves: list[tuple[Project, MoveResult]], command: str) -> tuple[str, ...]:
    """Return warnings about files that name the old paths of plans, with one command that rewrites all documents.

    `command` is that command, if not all of these plans are to be named in it.
    """
    naming = [(project, moved) for project, moved in moves if moved.mentions]
    names = [
        plan_store.name_in_commands(project, plan_store.ref_for_path(project, os.path.join(project.root, moved.path)))
        for project, moved in naming
    ]
    mentions = {mention.path: mention for _, moved in naming for mention in moved.mentions}
    command = command or f"execplan archive {' '.join(names)} --rewrite-links"
    return mention_warnings(list(mentions.values()), command)


def _find_named_plans(plans: tuple[str, ...]) -> list[LocatedPlan]:
    """Return the named plans without duplicates, or the only plan if none is named. Raises ExecplanError."""
    try:
        matches = [plan_selection.select_plan(os.getcwd(), name) for name in plans or (None,)]
    except ExecplanError as error:
        if not plans and error.code == "ambiguous-plan" and (complete := _find_complete_plans()):
            error.message = f"no plan specified; {format_count(len(complete), 'plan')} can be archived"
            error.candidates, error.details = tuple([ref.id for _, ref in complete]), ()
            error.hint = f"name one of them, or archive all complete plans: {_ARCHIVE_ALL}"
        raise
    return list({ref.real_path: (project, ref) for project, ref in matches}.values())


def _find_complete_plans() -> list[LocatedPlan]:
    """Return every complete plan; raises ExecplanError."""
    stored_plans = plan_store.load_with_nested(project_discovery.require(os.getcwd()))
    return [(stored_plan.project, stored_plan.ref) for stored_plan in stored_plans if stored_plan.state == COMPLETE]


def _nothing_complete_answer(answer: Answer) -> Answer:
    """Say why there is nothing to archive, and what shows the open plans if there are any; raises ExecplanError."""
    project = project_discovery.require(os.getcwd())
    count = len([plan for plan in plan_store.load_with_nested(project) if plan.state != DOCUMENT])
    why = format_count(count, "open plan") if count else describe_no_open_plans(project)[0]
    text = f"no complete plans to archive: {why}"
    return answer._replace(text=text, next_commands=("execplan status",) if count else ())


def _load_blockers(project: Project, ref: PlanRef, *, finished: bool) -> ArchiveBlockers:
    """Return what keeps a plan from being archived, with its unfinished runs; raises ExecplanError."""
    if ref.archived:
        return ArchiveBlockers((), "", "")
    blockers = load_blockers(project, ref) if finished else ArchiveBlockers((), "", "")
    runs = list_open_runs(project, ref)
    if not runs:
        return blockers
    reasons = [f"{describe_open_run(project, ref, run)}: finish or roll it back first" for run in runs]
    command = finishing_commands(project, ref, runs[0], plan_store.name_in_commands(project, ref))[0]
    return ArchiveBlockers((*reasons, *blockers.reasons), "finish or roll back its run", command)


def _not_finished_error(blocked: dict[str, ArchiveBlockers], count: int) -> ExecplanError:
    lines = [f"{name}: {reason}" for name, blockers in blocked.items() for reason in blockers.reasons]
    first = next(iter(blocked.values()))
    message = f"{len(blocked)} of {count} plans can't be archived; nothing was changed"
    return ExecplanError("not-finished", message, hint=first.hint, candidates=lines, data={"reasons": lines})
