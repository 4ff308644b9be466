"""The `execplan board` command."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.board_app.board_source import BoardSource
from execplan.cli.command_definition import define_command
from execplan.cli.output.board_output import board_json, board_text, broken_cards
from execplan.cli.output.progress_bar import ProgressBar
from execplan.cli.output.terminal_layout import is_terminal
from execplan.cli.shared_options import projects_option, select_projects
from execplan.core.errors import CHECK_FAILED, OK
from execplan.core.plan.model import ACTIVE, DRAFT
from execplan.core.plan_store.author import can_ask
from execplan.core.plan_store.plan_store import quote_plan_name
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.team.advice.advice import Advice
from execplan.team.advice.no_open_plans import advise_new_plan
from execplan.views.board.board_cards import Board, Card


@define_command(
    reads="every plan outside the archive, with those of nested projects; with --all, also archived plans; execution plans, approvals, runs and claims; the plans that they depend on, also in other projects of your settings.",
    writes="caches in the git directory, and for other projects in ~/.cache/execplan; in the interactive board, the edits and claims that you make there.",
    examples=(
        "execplan board",
        "execplan board --plain",
        "execplan board --all --json",
        "execplan board --project . --project ../other",
    ),
    may_page=True,
)
@click.option("--all", "everything", is_flag=True, help="Include archived plans.")
@click.option("--plain", is_flag=True, help="Print a table instead of opening the interactive board.")
@projects_option
def board(call: Call, *, everything: bool, plain: bool, project_paths: tuple[str, ...], all_projects: bool) -> Answer:
    """Show plans as a board: broken, draft, active, stalled, complete.

    On a terminal, the board is interactive if the extra `tui` is installed. It follows changes of the files. There you
    can filter and read plans, check off, reopen, add and claim tasks; press ? for all keys.
    Elsewhere, for agents, and with --plain, it is a table. A stalled plan is open but has had no activity for
    `stalled_days` days (default: 14): no date in the plan, no edit and no commit. The activity that the board shows is
    the latest date in the plan, in UTC. Findings are those of `lint`, without your own rules. Exits 1 if a plan is broken.
    """
    selected = select_projects(project_paths, all_projects=all_projects)
    wants_app = not (plain or call.as_json) and is_terminal() and can_ask() and not os.environ.get("EXECPLAN_AGENT")
    project = selected.owner if selected is not None else project_discovery.require(os.getcwd())
    source = BoardSource(project, selected)
    if wants_app and find_spec("textual") is not None:
        return _open_board(source, everything=everything)
    with ProgressBar("board", is_enabled=not call.quiet and not call.as_json) as bar:
        loaded_board, problems = source.load(everything=everything, tick=bar.tick)
    if wants_app:
        from execplan.core.installation import extra_hint

        print(f"execplan: to open the interactive board, {extra_hint('tui')}", file=sys.stderr)
    return Answer(
        board_json(loaded_board),
        board_text(loaded_board, everything=everything),
        CHECK_FAILED if broken_cards(loaded_board) or problems else OK,
        warnings=(*problems, *(selected.notices if selected is not None else ())),
        next_commands=_next_commands(loaded_board, project),
    )


def _open_board(source: BoardSource, *, everything: bool) -> Answer:
    """Open the interactive board and wait until it is closed."""
    from execplan.cli.board_app.board_app import run_board

    snapshot = source.take_snapshot()  # before loading, so that no change is missed
    with ProgressBar("board") as bar:
        loaded_board, _ = source.load(everything=everything, tick=bar.tick)
    run_board(source, loaded_board, snapshot, everything=everything)
    return Answer({}, "", is_requested=False)


def _next_commands(loaded_board: Board, project: Project) -> tuple[str, ...]:
    """Return the command for the first broken plan, or else for the first open plan, active ones before drafts and stalled ones.

    Without plans, it is what `status` says.
    """
    if broken := broken_cards(loaded_board):
        return (f"execplan lint {quote_plan_name(broken[0].path)}",)
    cards = [card for card in loaded_board.cards if card.state in (ACTIVE, DRAFT)]
    cards.sort(key=lambda card: card.column != ACTIVE)
    if cards:
        first, directory = cards[0], _command_directory(cards[0])
        namesakes = [card for card in cards if card.id == first.id and _command_directory(card) == directory]
        verb = "merge" if first.conflict_line else "show"
        command = f"execplan {verb} {quote_plan_name(first.path if len(namesakes) > 1 else first.id, first.path)}"
        return Advice((command,)).in_directory(directory).commands
    directory = project.base if project.is_read_only else ""
    return () if loaded_board.cards else advise_new_plan(project, "")[1].in_directory(directory).commands


def _command_directory(card: Card) -> str:
    """Return the directory in which commands about a plan run; empty for the current one."""
    if card.worktree is not None and card.worktree.directory:
        return card.worktree.directory
    return card.from_project.path if card.from_project is not None and os.path.isabs(card.path) else ""
