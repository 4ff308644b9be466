"""Loading of the board, of one project or several: the card of each plan is computed from the files at each call."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.clock import current_minute
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.git.linked_worktrees import has_linked_worktrees
from execplan.core.plan.model import ACTIVE, ARCHIVED, COMPLETE, DOCUMENT, DRAFT
from execplan.core.plan.plan_dates import day_start
from execplan.core.plan.reader import MAX_BYTES
from execplan.core.plan_facts.facts_loader import load_archived, load_listed_plans, read_plan_facts
from execplan.core.plan_facts.listed_plan import ListedPlan
from execplan.core.plan_store import claims
from execplan.core.plan_store.comment_location import has_comments
from execplan.core.plan_store.plan_activity import PlanActivity
from execplan.core.project.plan_dialects import dialect_of
from execplan.core.project.project_discovery import with_nested_projects
from execplan.linter.checking.plan_check import CheckOptions, CheckTarget, check_plan
from execplan.team.advice import execution_status
from execplan.team.advice.next_tasks import describe_blockers, describe_next_task, describe_unknown, select_open_tasks
from execplan.team.dependencies.known_projects import KnownProjects
from execplan.team.dependencies.plan_blockers import find_blockers_of
from execplan.team.dependencies.plan_resolver import PlanResolver
from execplan.views.board.board_cards import (
    COLUMNS,
    STALLED,
    Board,
    Card,
    Column,
    FindingCounts,
    LastRun,
    NextTask,
    TaskClaim,
    check_all_plans,
    count_levels,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from execplan.core.plan_store.claims_file import Claim
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.core.project.project_list import ListedProject
    from execplan.team.worktrees.plan_versions import PlanVersion


def load_board(
    project: Project,
    *,
    archived: bool = False,
    all_worktrees: bool = False,
    known_projects: KnownProjects | None = None,
    tick: Callable[[int, int], None] | None = None,
) -> Board:
    """Load the board of a project and its nested projects; archived plans are only counted without `archived`.

    With `all_worktrees`, plans that other worktrees have changed are cards of their newest versions, and new ones too.
    Plans of other projects, on which plans depend, are looked up in `known_projects`.

    `tick` is called with the number of plans checked and the total, while findings are not in the cache. Raises
    ExecplanError if settings or the claims are damaged; a damaged plan is a card in the column of broken plans.
    """
    members = with_nested_projects(project)
    findings = check_all_plans(members, archived=archived, tick=tick)
    activity, resolver = PlanActivity(), PlanResolver(project, known_projects)
    listed_plans = load_listed_plans(project, archive=archived)
    resolver.add_listed(listed_plans)
    cards: list[Card] = []
    archived_count = len(load_archived(project))
    for member in members:
        member_path = ""
        if member.base != project.base:
            member_path = member.display_path(member.base)
        elif member.plans != project.plans:
            member_path = member.display_path(member.plans)
        plans = [plan for plan in listed_plans if plan.project.plans == member.plans]
        refs = [plan.ref for plan in plans]
        claims_by_path = claims.load_task_claims(member, refs)
        versions = _newest_versions(member, refs) if all_worktrees else {}
        for plan in plans:
            ref = plan.ref
            if plan.state == DOCUMENT or _is_elsewhere(member, versions, ref):
                continue
            card = _make_card(plan, claims_by_path.get(ref.path, {}), activity, resolver)
            location = versions[ref.path].location if ref.path in versions else None
            level_counts = count_levels(findings.get(card.path, ()))
            cards.append(card._replace(project=member_path, findings=level_counts, worktree=location))
        elsewhere = [version for version in versions.values() if version.project.root != member.root]
        cards += [
            _make_elsewhere_card(version, activity, resolver)._replace(project=member_path) for version in elsewhere
        ]
        archived_count += sum([version.ref.archived for version in elsewhere])
    return Board(
        tuple(
            [
                Column(name, tuple(column_cards), archived_count if name == ARCHIVED else len(column_cards))
                for name in COLUMNS
                for column_cards in [sort_cards([card for card in cards if card.column == name])]
            ]
        ),
        findings,
    )


def _newest_versions(project: Project, refs: list[PlanRef]) -> dict[str, PlanVersion]:
    """Return the newest versions of plans that other worktrees have changed, or that have a worktree, by path here."""
    if not has_linked_worktrees(project):
        return {}
    from execplan.team.worktrees.plan_versions import find_newest_versions  # most repositories don't need it

    own = {ref.path: file_access.read_if_exists(ref.path, MAX_BYTES) or b"" for ref in refs if not ref.archived}
    return {version.path: version for version in find_newest_versions(project, own, includes_new=True)}


def _is_elsewhere(project: Project, versions: Mapping[str, PlanVersion], ref: PlanRef) -> bool:
    """Return whether another worktree has the newest version of a plan."""
    return ref.path in versions and versions[ref.path].project.root != project.root


def _make_elsewhere_card(version: PlanVersion, activity: PlanActivity, resolver: PlanResolver) -> Card:
    """Return the card of a plan in its newest version, which is in another worktree."""
    project, ref = version.project, version.ref
    claims_by_task = claims.load_task_claims(project, [ref]).get(ref.path, {})
    card = _make_card(ListedPlan(project, ref, read_plan_facts(project, ref)), claims_by_task, activity, resolver)
    level_counts = count_levels(check_plan(CheckTarget(project, ref, ref.path), CheckOptions()).findings)
    return card._replace(findings=level_counts, worktree=version.location)


def sort_cards(cards: list[Card]) -> list[Card]:
    """Return cards in the order of their last activity, latest first; those of the same day by path."""
    return sorted(sorted(cards, key=lambda card: card.path), key=lambda card: card.last_date, reverse=True)


def _make_card(
    plan: ListedPlan,
    claims_by_task: Mapping[str, Claim],
    activity: PlanActivity,
    resolver: PlanResolver,
) -> Card:
    """Return a plan's card, without the path of its project and without findings."""
    project, ref, facts = plan
    state = plan.state
    is_open = state in (DRAFT, ACTIVE)
    tasks = [NextTask(*task[:3])._asdict() for task in facts.open_tasks] if is_open else []
    blockers = find_blockers_of(
        resolver,
        ref,
        facts.dependencies if is_open else (),
        [(task.number, task.text) for task in facts.open_tasks] if is_open else (),
    )
    open_tasks = select_open_tasks(project, tasks, claims_by_task, blockers=blockers)
    is_stalled = is_open and activity.is_stalled_since(
        project, ref.path, facts.last_date, on_hold=lambda: facts.is_on_hold
    )
    approval, run = _execution_state(project, ref, state)
    has_open_run = run is not None and execution_status.is_open_run(run.state)
    return Card(
        id=ref.id,
        path=project.display_path(ref.path),
        dialect=dialect_of(project.display_path(ref.path), project.settings.dialects).name,
        project="",
        title=facts.title or "",
        column=STALLED if is_stalled else state,
        state=state,
        digest=facts.digest,
        counts=facts.counts,
        next_task=next(
            (NextTask(*task[:3]) for task in facts.open_tasks if open_tasks.task and task.id == open_tasks.task["id"]),
            None,
        ),
        next_text=describe_next_task(
            state,
            open_tasks.task,
            open_tasks.claimed_tasks,
            facts.finishing_command if state == COMPLETE and not has_open_run else "",
            describe_blockers(open_tasks),
            describe_unknown(open_tasks),
        ),
        blocked_by=tuple([blocker.name for blocker in blockers.plan]),
        unknown_dependencies=blockers.unknown,
        claims=tuple([TaskClaim(**task) for task in open_tasks.claimed_tasks]),
        last_date=facts.last_date,
        idle_days=_days_since(facts.last_date),
        findings=FindingCounts(),
        approval=approval,
        run=run,
        conflict_line=facts.conflict_line,
        error=facts.error.removeprefix(f"can't read {ref.path}: "),
        open_comments=_count_open_comments(project, ref),
    )


def _count_open_comments(project: Project, ref: PlanRef) -> int:
    """Return the number of open review comments of a plan; 0 if they can't be read."""
    if not has_comments(project, ref):
        return 0
    from execplan.team.review.comment_file import load_threads

    return len([thread for thread in load_threads(project, ref) if thread.is_open])


def _execution_state(project: Project, ref: PlanRef, state: str) -> tuple[str, LastRun | None]:
    """Return the approval status and the last run of a plan; neither if they can't be read, which `doctor` reports."""
    try:
        if state in (DRAFT, ACTIVE):
            status = execution_status.execution_status_json(project, ref)
            approval, run = status["state"], status["run"]
        else:
            approval, run = execution_status.NOT_COMPILED, execution_status.read_last_run(project, ref)
    except ExecplanError:
        return execution_status.NOT_COMPILED, None
    if run is None:
        return approval, None
    return approval, LastRun(str(run["id"]), str(run["state"]), execution_status.last_run_text(run, approval))


def _days_since(last_date: str) -> int | None:
    day = day_start(last_date)
    if day is None or day > current_minute():
        return None
    return (current_minute() - day) // 1440


class JointBoard(NamedTuple):
    """The board of several projects, without findings, which are counted on the cards."""

    board: Board
    problems: tuple[str, ...]
    """Why plans of some projects are missing, with the names of the projects."""


def load_joint_board(
    projects: Sequence[ListedProject],
    *,
    archived: bool = False,
    all_worktrees: bool = False,
    tick: Callable[[int, int], None] | None = None,
) -> JointBoard:
    """Load the boards of several projects as one; the options are those of `load_board`.

    A project whose plans can't be loaded is a problem, and doesn't hide the others.
    """
    known_projects = KnownProjects([listed.project for listed in projects])
    boards: list[Board] = []
    problems: list[str] = []
    for listed in projects:
        try:
            board = load_board(
                listed.project,
                archived=archived,
                all_worktrees=all_worktrees,
                known_projects=known_projects,
                tick=tick,
            )
        except ExecplanError as error:
            problems.append(f"{listed.origin.name}: {error.message}")
            continue
        boards.append(_with_origin(board, listed))
    return JointBoard(join_boards(boards), tuple(problems))


def _with_origin(board: Board, listed: ListedProject) -> Board:
    columns = [
        column._replace(cards=tuple([_with_card_origin(card, listed) for card in column.cards]))
        for column in board.columns
    ]
    return Board(tuple(columns), {})


def _with_card_origin(card: Card, listed: ListedProject) -> Card:
    """Return a card with its project; the path of a plan in another project is absolute."""
    path = card.path
    if listed.project.is_read_only:
        root = card.worktree.root if card.worktree is not None else ""
        path = os.path.join(root or listed.project.root, path)
    return card._replace(path=path, from_project=listed.origin)


def join_boards(boards: Sequence[Board]) -> Board:
    """Return the cards of several boards in common columns, latest activity first."""
    columns = []
    for index, name in enumerate(COLUMNS):
        parts = [board.columns[index] for board in boards]
        cards: list[Card] = [card for column in parts for card in column.cards]
        columns.append(Column(name, tuple(sort_cards(cards)), sum([column.total for column in parts])))
    return Board(tuple(columns), {})
