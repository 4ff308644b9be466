"""The `execplan stats` command."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command
from execplan.cli.option_rules import excludes, exclusive, option_rules, requires
from execplan.cli.output import output_file
from execplan.cli.plan_arguments import plan_flag
from execplan.cli.shared_options import PROJECT_OPTIONS, projects_option, select_projects
from execplan.core.errors import CHECK_FAILED, ExecplanError
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.project import project_discovery

if TYPE_CHECKING:
    from execplan.context.gathering.agent_session_logs import SessionUsage
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.core.project.project_list import ProjectList
    from execplan.execution.engine.run_records.run_statistics import RunStatistics

TEXT = "text"
PROMETHEUS = "prometheus"
_CHARTS = ("burn-up", "weekly", "lead-time", "age", "runs")
_TEXTFILE_PREFIX = b"# HELP plan_"
"""Start of every text file written by execplan."""
_MAX_TEXTFILE_BYTES = 1 << 20


@define_command(
    reads=(
        "the audit logs of the named plans, or of all plans, including archived plans and nested projects; "
        "the session logs that they name, below ~/.claude and ~/.codex; with --chart, the plans, their history in git, and their runs; "
        "with --cost, the plans, the log of claims, and the logs of the sessions that made them."
    ),
    writes="nothing; with --textfile or --svg, that file.",
    examples=(
        "execplan stats",
        "execplan stats parser --json",
        "execplan stats parser --cost",
        "execplan stats --format prometheus",
        "execplan stats --textfile execplan.prom",
        "execplan stats --chart burn-up",
        "execplan stats parser --chart burn-up --svg burn-up.svg",
        "execplan stats --project . --project ../other",
    ),
    finishes_moves=False,  # a command that writes finishes an interrupted move
    may_page=True,
)
@click.argument("plans", nargs=-1, metavar="[PLAN]...")
@plan_flag(default="all plans")
@click.option(
    "--format",
    "form",
    type=click.Choice([TEXT, PROMETHEUS]),
    default=TEXT,
    help="Output format; prometheus is the Prometheus text format.",
)
@click.option(
    "--textfile", metavar="FILE", help="Write the Prometheus text format to FILE, for node_exporter to collect."
)
@click.option(
    "--chart",
    type=click.Choice(_CHARTS),
    help="Show a chart: tasks in total and done; tasks done per week; days from added to done; age of open plans; results of runs.",
)
@click.option("--cost", is_flag=True, help="Show the time, the tokens and the cost of each task.")
@click.option("--svg", metavar="FILE", help="With --chart, write the chart to FILE as SVG.")
@projects_option
@option_rules(
    requires("--svg", "--chart", hint="add the name of a chart: --chart burn-up"),
    excludes("--chart", "--format", "--textfile"),
    excludes("--cost", "--format", "--textfile", "--chart"),
    exclusive("--json", "--format"),
    excludes("PLAN", *PROJECT_OPTIONS, hint="go to the project of the plan: execplan -C DIR stats PLAN"),
)
def stats(
    call: Call,
    plans: tuple[str, ...],
    *,
    form: str,
    textfile: str | None,
    chart: str | None,
    cost: bool,
    svg: str | None,
    project_paths: tuple[str, ...],
    all_projects: bool,
) -> Answer:
    """Count runs, steps, rollbacks and approvals, or show a chart.

    Use it to see how often runs succeed, how long they take, and what agents cost. Plans, errors and replans are
    counted, too. The numbers come from the audit logs. Tokens and costs come from the agents' session logs, if the
    audit logs name them and they record costs.

    --cost shows what each task has cost: the time from its claim until it was checked off, and the tokens that the
    session with the claim used in that time. Money is computed from the models' prices. What can't be known is listed.

    The chart burn-up shows done tasks by their timestamps and by git, so you see where the two differ. Install
    execplan[charts] to draw charts on a terminal; without a terminal, their numbers are printed.
    """
    selected = select_projects(project_paths, all_projects=all_projects)
    selected, plans_by_project = _with_plans(selected) if selected is not None else (None, [])
    answer = _answer(plans, selected, plans_by_project, form=form, textfile=textfile, chart=chart, cost=cost, svg=svg)
    if selected is None:
        return answer
    return answer._replace(
        warnings=(*selected.problems, *selected.notices, *answer.warnings),
        exit=CHECK_FAILED if selected.problems else answer.exit,
    )


def _answer(
    plans: tuple[str, ...],
    selected: ProjectList | None,
    plans_by_project: list[list[tuple[Project, PlanRef]]],
    *,
    form: str,
    textfile: str | None,
    chart: str | None,
    cost: bool,
    svg: str | None,
) -> Answer:
    """Return the answer about the named plans, or about all plans of the current or the selected projects."""
    from execplan.cli.output.stats_output import format_project_table, measure, stats_text

    if selected is not None:
        project = selected.owner
        plan_refs = [plan for project_plans in plans_by_project for plan in project_plans]
    else:
        project, plan_refs = _find_plans(plans)
    if cost:
        from execplan.cli.output.cost_output import cost_answer

        return cost_answer(project, plan_refs)
    if chart is not None:
        from execplan.cli.output.chart_output import chart_answer

        is_all = selected is not None or (not plans and plan_selection.plan_from_environment() is None)
        return chart_answer(project, plan_refs, chart, svg, is_all=is_all)
    audit_logs, warnings = _read_audit_logs(plan_refs)
    total = measure(None, audit_logs)
    data, statistics, session_usage = total.to_json(), total.statistics, total.session_usage
    parts = []
    if selected is not None:
        remaining_logs = iter(audit_logs)
        parts = [
            measure(listed.origin, list(islice(remaining_logs, len(project_plans))))
            for listed, project_plans in zip(selected.projects, plans_by_project, strict=True)
        ]
        data["projects"] = [part.to_json() for part in parts]
    if textfile is not None:
        changed = _write_textfile(project, textfile, statistics, session_usage)
        return output_file.written_answer(project, textfile, data, warnings, changed=changed)
    if form == PROMETHEUS:
        from execplan.cli.output.prometheus_metrics import render

        return Answer(data, render(statistics, session_usage), warnings=warnings, is_raw=True)
    text = stats_text(statistics, session_usage) if total.plan_count else "no records yet"
    if parts and total.plan_count:
        text += f"\n\n{format_project_table(parts)}"
    return Answer(data, text, warnings=warnings)


def _with_plans(selected: ProjectList) -> tuple[ProjectList, list[list[tuple[Project, PlanRef]]]]:
    """Return the selection, with a problem for each project whose plans can't be listed, and the plans of each project."""
    plans_by_project, problems = [], [*selected.problems]
    for listed in selected.projects:
        try:
            plans_by_project.append(_all_plans(listed.project))
        except ExecplanError as error:
            problems.append(f"{listed.origin.name}: {error.message}")
            plans_by_project.append([])
    return selected._replace(problems=tuple(problems)), plans_by_project


def _all_plans(project: Project) -> list[tuple[Project, PlanRef]]:
    """Return all plans of a project and its nested projects."""
    members = project_discovery.with_nested_projects(project)
    return [(member, ref) for member in members for ref in plan_store.all_refs(member)]


def _find_plans(plan_names: tuple[str, ...]) -> tuple[Project, list[tuple[Project, PlanRef]]]:
    """Return the current project and the selected plans."""
    directory = os.getcwd()
    names: tuple[str | None, ...] = plan_names or (
        (None,) if plan_selection.plan_from_environment() is not None else ()
    )
    if names:
        plan_refs = list(
            {
                ref.path: (project, ref)
                for project, ref in [plan_selection.select_plan(directory, name) for name in names]
            }.values()
        )
        return project_discovery.require_existing(plan_refs[0][0]), plan_refs
    project = project_discovery.require(directory)
    return project, _all_plans(project)


def _read_audit_logs(plans: list[tuple[Project, PlanRef]]) -> tuple[list[Any], tuple[str, ...]]:
    """Return the records of each plan, and warnings about broken audit logs."""
    from execplan.execution.engine.audit_log import hash_chain, log_reader

    record_lists, warnings = [], []
    for project, ref in plans:
        data = log_reader.read(project, ref)
        chain_walk = hash_chain.parse_chain(data[: data.rfind(b"\n") + 1])
        record_lists.append(chain_walk.records)
        if chain_walk.flaw is not None:
            warnings.append(f"the audit log of {ref.id} is broken, so the statistics may be wrong: {chain_walk.flaw}")
    return record_lists, tuple(warnings)


def _write_textfile(project: Project, file: str, statistics: RunStatistics, session_usage: SessionUsage) -> bool:
    """Write the metrics to a file atomically, and return whether it changed. Raises ExecplanError."""
    from execplan.cli.output.prometheus_metrics import render

    message = f"{file} contains something other than metrics, so it was not overwritten"
    error = ExecplanError("not-metrics", message, hint="use another file, or remove it")
    new, is_new = render(statistics, session_usage).encode(), not os.path.lexists(file)
    changed = output_file.write_output_file(project, file, new, _TEXTFILE_PREFIX, error, _MAX_TEXTFILE_BYTES)
    if is_new:
        os.chmod(file, 0o644)  # whatever the umask says: another user's collector reads it
    return changed
