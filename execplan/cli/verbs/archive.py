"""`execplan archive`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.links import agreement, links_option
from execplan.cli.moving import told
from execplan.cli.plan_name import plan_flag
from execplan.cli.verb import verb, writer_options
from execplan.cli.words import words
from execplan.engine.open_runs import DESCRIPTIONS, list_open_runs, ensure_no_open_runs, open_run_warnings
from execplan.errors import NO, OK, USAGE, ExecplanError
from execplan.plan.model import COMPLETE
from execplan.repo import homes, pick, shelf
from execplan.repo.amend import Options
from execplan.repo.moving import archive as archiving

if TYPE_CHECKING:
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

    Chosen = tuple[Home, Ref]

COMPLETED, SUPERSEDED, ABANDONED = "completed", "superseded", "abandoned"


@verb(
    reads="the plans, their runs, the plans that name them, and the files outside the plans that name them.",
    writes="evidence beside the moved artifacts; the paths in plans that name them, and in documents with --rewrite-links; a "
    "note in a plan that was not finished.",
    examples=(
        "execplan archive parser --dry-run",
        "execplan archive parser --commit",
        "execplan archive --complete",
        "execplan archive parser --as superseded --by scanner",
        "execplan archive parser --as abandoned --reason 'No longer wanted.'",
    ),
)
@click.argument("plans", nargs=-1, metavar="[PLAN]...")
@plan_flag
@click.option("--complete", is_flag=True, help="Every plan whose tasks are all done.")
@click.option(
    "--as",
    "how",
    type=click.Choice([COMPLETED, SUPERSEDED, ABANDONED]),
    default=COMPLETED,
    help="superseded needs --by; abandoned, which gives a plan up, needs --reason.",
)
@click.option("--by", metavar="PLAN", help="The plan that supersedes it.")
@click.option("--force", is_flag=True, help="Archive a plan that is not finished as completed; needs --reason.")
@click.option("--reason", metavar="TEXT", help="Why it is archived unfinished; written into the plan.")
@links_option
@writer_options
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
    options: Options,
) -> Answer:
    """Move finished plans and their artifacts into the archive, with evidence: digests, counts, commit.

    A plan with open tasks, without an outcome, or with lint errors is not archived, and every reason is listed. Give up a
    plan that will never be finished with --as abandoned and the reason. A plan with an unfinished run has to be resumed or
    rolled back first, in any case but --force. Of several plans all are archived, or none; --complete archives those that
    it can and lists the others. Documents that name the old paths are reported, and rewritten if you agree.
    """
    _check_usage(plans, complete=complete, how=how, by=by, force=force, reason=reason, options=options)
    why = words(reason, "the reason") if reason is not None else None
    chosen = _complete() if complete else _named(plans)
    successor = pick.open_plan(os.getcwd(), by)[1] if by is not None else None
    must_be_finished = how == COMPLETED and not force
    left: dict[str, list[str]] = {}
    if complete or len(chosen) > 1:
        against = {ref.id: _against(home, ref, finished=must_be_finished) for home, ref in chosen if not force}
        left = {name: found for name, found in against.items() if found}
        if left and not complete:
            raise _refused(left, len(chosen))
    answers = []
    for home, ref in chosen:
        if ref.id in left:
            continue
        origin = archiving.moved_from(home, ref)
        source = shelf.by_file(home, origin) if origin else ref
        warnings = open_run_warnings(home, source) if force else ()
        if not (force or source.archived):
            ensure_no_open_runs(home, source, "archived")
        moved = archiving.archive(
            home,
            ref,
            options,
            reason=why,
            successor=successor,
            abandoned=how == ABANDONED,
            origin=origin,
            agrees=agreement(call, links),
        )
        moved = moved._replace(warnings=(*warnings, *moved.warnings))
        command = None if links is False else f"execplan archive {ref.typed} --rewrite-links"
        answers.append(told(home, moved, options, "archived already", command))
    if len(answers) == 1 and not complete:
        return answers[0]
    return _joined(answers, left)


def _check_usage(
    plans: tuple[str, ...],
    *,
    complete: bool,
    how: str,
    by: str | None,
    force: bool,
    reason: str | None,
    options: Options,
) -> None:
    """Refuse what does not go together; raises ExecplanError."""
    gives_up = how == ABANDONED
    for wrong, what, hint in (
        (
            force and reason is None,
            "--force needs --reason",
            "execplan archive --force --reason 'Why it is archived as it is'",
        ),
        (
            gives_up and reason is None,
            "--as abandoned needs --reason",
            "execplan archive --as abandoned --reason 'Why it is given up'",
        ),
        (
            reason is not None and not (force or gives_up),
            "--reason goes with --as abandoned or --force",
            "execplan archive --as abandoned --reason 'Why it is given up'",
        ),
        (
            (how == SUPERSEDED) != (by is not None) or (force and by is not None),
            "--as superseded needs --by PLAN, --by goes with it, and --force does not",
            "execplan archive PLAN --as superseded --by OTHER",
        ),
        (
            complete and (bool(plans) or how != COMPLETED or force),
            "--complete archives all complete plans, as completed",
            "name the plans, or leave the other options out: execplan archive --complete",
        ),
        (
            options.if_match is not None and (complete or len(plans) > 1),
            "--if-match is for one plan",
            "name one plan: execplan archive PLAN --if-match DIGEST",
        ),
    ):
        if wrong:
            raise ExecplanError("usage", what, exit=USAGE, hint=hint)


def _named(plans: tuple[str, ...]) -> list[Chosen]:
    """The plans that are named, each once; the only one for none. Raises ExecplanError."""
    found = [pick.open_plan(os.getcwd(), name) for name in plans] or [pick.open_plan(os.getcwd(), None)]
    return list({ref.real: (home, ref) for home, ref in found}.values())


def _complete() -> list[Chosen]:
    """Every plan outside the archive whose tasks are all done; raises ExecplanError."""
    shelved = shelf.load_together(homes.require(os.getcwd()))
    return [(each.home, each.ref) for each in shelved if each.state == COMPLETE]


def _against(home: Home, ref: Ref, *, finished: bool) -> list[str]:
    """Every reason for which a plan is not archived; raises ExecplanError."""
    if ref.archived:
        return []
    runs = [f"run {each.id} {DESCRIPTIONS[each.state]}: resume or roll back first" for each in list_open_runs(home, ref)]
    return runs + (archiving.reasons_against(home, ref) if finished else [])


def _refused(left: dict[str, list[str]], count: int) -> ExecplanError:
    lines = [f"{name}: {reason}" for name, reasons in left.items() for reason in reasons]
    return ExecplanError(
        "not-finished",
        f"{len(left)} of {count} plans can't be archived; nothing was changed",
        exit=NO,
        hint=f"finish them, or give them up: execplan archive {' '.join(left)} --as abandoned --reason 'Why'",
        candidates=lines,
        data={"reasons": lines},
    )


def _joined(answers: list[Answer], left: dict[str, list[str]]) -> Answer:
    """The answers of several plans as one."""
    data: dict[str, Any] = {
        "plans": [each.data for each in answers],
        "left": [{"id": name, "reasons": reasons} for name, reasons in left.items()],
        "changed": any([each.data["changed"] for each in answers]),
    }
    lines = [each.text for each in answers]
    lines += [f"not archived: {name}: {reason}" for name, reasons in left.items() for reason in reasons]
    text = "\n".join(lines) or "no plan is complete"
    warnings = tuple(dict.fromkeys([line for each in answers for line in each.warnings]))
    follow = tuple([command for each in answers for command in each.next])
    wanted = bool(left) or any([each.wanted for each in answers])
    return Answer(data, text, NO if left else OK, warnings, follow, wanted=wanted)


command = archive
