"""The `execplan next` command."""

from __future__ import annotations

import os
from shlex import quote

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, lock_option
from execplan.cli.option_rules import excludes, exclusive, option_rules, requires
from execplan.cli.output.next_output import joint_next_answer, task_answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_arguments import plan_argument
from execplan.cli.shared_options import PROJECT_OPTIONS, projects_option, select_projects
from execplan.cli.text_input import read_text
from execplan.cli.time_options import parse_duration
from execplan.core.errors import CHECK_FAILED, OK, ExecplanError, usage_error
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan_store import claims, plan_selection, plan_store
from execplan.core.plan_store.author import ActingAs, actor
from execplan.core.plan_store.plan_store import StoredPlan, quote_plan_name
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.project.project_discovery import require_existing
from execplan.core.text.invisible_characters import escape_unprintable
from execplan.team.advice.conflict_warnings import conflict_warnings
from execplan.team.advice.next_plan import select_next_plan
from execplan.team.advice.next_tasks import (
    blocked_task_ids,
    claim_line,
    find_open_tasks,
    first_lines,
    tasks_done_elsewhere,
)
from execplan.team.advice.no_open_plans import describe_no_open_plans
from execplan.team.advice.plan_advice import finish_archived_commands
from execplan.team.advice.plan_json import plan_json, task_line, tasks_json


def release_claims(
    stored_plan: StoredPlan, plan: ParsedPlan, name: str, *, task: str | None, to: str | None, hours: float | None
) -> Answer:
    """End the claims of `name`, or hand them over; raises ExecplanError if there is nothing to hand over."""
    project, ref = stored_plan.project, stored_plan.ref
    if to is None:
        ids = claims.release_claims(project, ref, name, task)
    else:
        ids = claims.transfer_claims(project, ref, name, to, task, hours)
    tasks = zip(tasks_json(plan.tasks), plan.tasks, strict=True)
    open_tasks_by_id = {fields["id"]: fields for fields, task in tasks if task.is_unfinished}
    released = [open_tasks_by_id[task_id] for task_id in ids if task_id in open_tasks_by_id]
    nothing_text = f"{name} has {'no claims' if task is None else 'no claim on this task'} in {ref.id}"
    if to is not None and not released:
        hint = f"see who has claimed what: execplan next {ref.shell_name}"
        raise ExecplanError("nothing-claimed", nothing_text, hint=hint)
    remaining_claims = find_open_tasks(project, ref, plan, to)
    action = "released" if to is None else f"handed over to {to}"
    lines = [f"{action}: {task_line(released_task)}" for released_task in released] or [nothing_text]
    other_claims = [task for task in remaining_claims.claimed_tasks if to is None or task["id"] not in ids]
    lines += first_lines([claim_line(task) for task in other_claims])
    data = {
        **plan_json(stored_plan),
        "task": remaining_claims.task,
        "taken": remaining_claims.claimed_tasks,
        "broken": [],
        "released": ids,
    }
    next_commands = (f"execplan next {ref.shell_name}",) if to == actor(project) else ()
    return Answer(data, "\n".join(lines), next_commands=next_commands)


@define_command(
    reads="the plan; without a name, the states of all plans outside the archive; the claims; the plans that they depend on, also in other projects of your settings.",
    writes="the index of many plans in the git directory; with --claim and --release, the claims that all worktrees share.",
    examples=(
        "execplan next",
        "execplan next parser --json",
        "execplan next parser --claim agent-1",
        "execplan next parser --claim agent-1 --task 3 --for 30m",
        "execplan next parser --release agent-1",
        "execplan next parser --release agent-1 --to agent-2",
        "execplan next --project . --project ../other",
    ),
)
@plan_argument()
@click.option(
    "--claim",
    metavar="[NAME]",
    is_flag=False,
    flag_value="",
    help="Claim the task, so that others get the next one. Default NAME: see --as.",
)
@click.option("--task", metavar="TASK", help="Claim or release this task: number, ID or unique text.")
@click.option("--for", "time", metavar="TIME", help="How long the claim lasts: 30m, 2h, 1d (default: 2h).")
@click.option(
    "--release",
    metavar="[NAME]",
    is_flag=False,
    flag_value="",
    help="End the claims of NAME on this plan. Default NAME: see --as.",
)
@click.option("--to", metavar="NAME", help="With --release: hand the claims over to NAME.")
@click.option(
    "--hook",
    type=click.Choice(["claude", "codex"]),
    help="Answer that agent's Stop hook on standard input; never fail.",
)
@projects_option
@lock_option
@option_rules(
    exclusive("--claim", "--release"),
    requires("--to", "--release", hint="execplan next {plan} --release --to {value}"),
    requires("--for", "--claim", "--to", hint="execplan next {plan} --claim --for {value}"),
    requires("--task", "--claim", "--release", hint="execplan next {plan} --claim --task {value}"),
    *[
        excludes(
            option, "PLAN", "--claim", "--release", hint="go to the project of the plan: execplan -C DIR next PLAN"
        )
        for option in PROJECT_OPTIONS
    ],
)
def next_(
    call: Call,
    plan: str | None,
    claim: str | None,
    task: str | None,
    time: str | None,
    release: str | None,
    to: str | None,
    hook: str | None,
    *,
    project_paths: tuple[str, ...],
    all_projects: bool,
) -> Answer:
    """Show or claim the next open task.

    Prints the task that you have claimed, otherwise the first open task that nobody has claimed and that waits for no
    other plan. If several people or agents work on a plan, --claim gives each of them a different task.

    A plan waits for the plans that its metadata names under `depends_on`, until these are complete or archived. A task
    waits for a task of another plan if its text says so, as in `needs scanner#2`. Without a name, plans that wait are
    passed over.

    A claim ends when you release it or when its time is over; until then it counts while the task is open. If the task
    is reworded or split, the claim stays. If you claim again without --task, you keep the task that you have claimed, and its time restarts.
    Claims are made in your name: --as NAME, or else $EXECPLAN_AGENT, or else your git name. `undo` doesn't end a claim;
    --release does.

    With --project or --all-projects, lists the next task of each open plan of these projects. Other projects are only
    read: to claim a task there, run the command there, as in execplan -C ../other next --claim.
    """
    if hook is not None:
        raise usage_error(
            "--hook can't be combined with anything else", f"omit everything else: execplan next --hook {hook}"
        )
    selected = select_projects(project_paths, all_projects=all_projects)
    if selected is not None:
        return joint_next_answer(selected)
    hours = _parse_hours(time) if time is not None else None
    chosen = select_next_plan(os.getcwd(), plan)
    stored_plan, broken_ids, passed_over = chosen.stored_plan, chosen.broken_ids, chosen.passed_over
    if stored_plan is None:
        text, advice = describe_no_open_plans(project_discovery.require(os.getcwd()))
        return Answer({"task": None, "taken": []}, text, next_commands=advice.commands, work=advice.work)
    project, ref = stored_plan.project, stored_plan.ref
    plan_fields = plan_json(stored_plan)
    if stored_plan.plan is None:
        data = {**plan_fields, "task": None, "taken": [], "broken": [ref.id]}
        return Answer(
            data,
            escape_unprintable(f"{ref.id} is broken: {plan_fields['error']}"),
            CHECK_FAILED,
            next_commands=(f"execplan lint {quote_plan_name(plan_fields['path'])}",),
        )
    if ref.archived:
        data = {**plan_fields, "task": None, "taken": [], "broken": broken_ids}
        text = escape_unprintable(f"{ref.id} is archived; it has no next task")
        return Answer(data, text, next_commands=finish_archived_commands(stored_plan))
    warnings = tuple([f"{name} is broken: see execplan lint {name}" for name in broken_ids])
    warnings += conflict_warnings([stored_plan])
    if claim is not None or release is not None:
        require_existing(project)
    if release is not None:
        owner = read_text(release, "the name") if release else actor(project)
        heir = read_text(to, "the name") if to is not None else None
        answer = release_claims(stored_plan, stored_plan.plan, owner, task=task, to=heir, hours=hours)
        return answer._replace(warnings=warnings)
    claimant = _act_as_claimant(project, claim, has_plan=plan is not None)
    if claimant is not None:
        blocked_ids = blocked_task_ids(project, ref, stored_plan.plan)
        done_ids = tasks_done_elsewhere(project, ref)
        chosen_id = claims.claim_task(
            project, ref, claimant, hours or claims.DEFAULT_HOURS, task, blocked_ids, done_ids
        )
        if chosen_id is not None:
            warnings += ("the claimed task is blocked: see below",) if chosen_id in blocked_ids else ()
            stored_plan = plan_store.load(project, ref)
    answer = task_answer(stored_plan, claimant, task, chosen.location)
    return answer._replace(
        data={**answer.data, "broken": broken_ids, "passed_over": [name for name, _ in passed_over]},
        text="\n".join([answer.text, *[printable_lines([f"passed over: {name}, {why}"]) for name, why in passed_over]]),
        exit=CHECK_FAILED if broken_ids else OK,
        warnings=(*warnings, *answer.warnings),
    )


def _ensure_no_plan(name: str) -> None:
    """Raise ExecplanError if a name after `--claim` is that of a plan, which was meant instead."""
    try:
        _, ref = plan_selection.select_plan(os.getcwd(), name)
    except ExecplanError:
        return
    hint = f"execplan next {ref.shell_name} --claim; or, if it is your name: execplan next --claim --as {quote(name)}"
    raise usage_error(f"--claim takes a name, but {name!r} is the plan {ref.id}", hint)


def _act_as_claimant(project: Project, claim: str | None, *, has_plan: bool) -> str | None:
    """Return who claims a task, who is also whoever reads the hints; None without --claim."""
    if not claim:
        return actor(project) if claim is not None else None
    name = read_text(claim, "the name")
    if not has_plan:
        _ensure_no_plan(name)
    click.get_current_context().with_resource(ActingAs(name))
    return name


def _parse_hours(time: str) -> float:
    """Parse `30m`, `2h` or `1d` as hours; raises ExecplanError."""
    seconds = parse_duration(time)
    if seconds is None:
        message = f"--for requires a number followed by m, h or d, at most 30d, not {time!r}"
        raise usage_error(message, "for example 30m, 2h or 1d")
    return seconds / 3600
