"""The `execplan index` command."""

from __future__ import annotations

import os
from typing import Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.option_rules import option_rules, requires
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.plan.model import ACTIVE, DRAFT
from execplan.core.plan_store.index_location import find_index
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.text.message_parts import format_count
from execplan.team.plan_index.index_table import index_lines
from execplan.team.plan_index.plan_index_file import PlanIndex, WrittenIndex, compute_index, write_index


@define_command(
    reads="the plans outside the archive; the file with the index.",
    writes="nothing; with --write, the index: only the lines between its markers, or a new file.",
    examples=(
        "execplan index",
        "execplan index --write",
        "execplan index --write --dry-run",
        "execplan index --write --commit",
    ),
)
@click.option("--write", is_flag=True, help="Write the index into its file.")
@new_options
@option_rules(requires("--dry-run", "--write"), requires("--commit", "--write"))
def index(call: Call, options: WriteOptions, *, write: bool) -> Answer:
    """Print or write an index of the open plans as Markdown.

    Each plan has a row with its title, state, progress, owner, last change and links. The index is in the file that the
    setting `index_file` names, else in index.md or README.md near the plans, between two markers; your text around them
    stays as it is. The index is computed from the plans alone, so it is the same in every clone. `lint` reports an
    index that is out of date, and `lint --fix` writes it again. With nested projects, their indexes are written, too.
    `undo` doesn't restore an old index.
    """
    project = project_discovery.require(os.getcwd())
    nested_projects = [member for member in project_discovery.with_nested_projects(project)[1:] if find_index(member)]
    if write:
        index_results = [(member, write_index(member, options)) for member in (project, *nested_projects)]
        return _written_answer(index_results, dry_run=options.dry_run)
    return _printed_answer([(member, compute_index(member)) for member in (project, *nested_projects)])


def _printed_answer(indexes: list[tuple[Project, PlanIndex]]) -> Answer:
    """Return the answer with the indexes as Markdown, each after the name of its file if there are several."""
    lines: list[str] = []
    for project, plan_index in indexes:
        lines += [f"<!-- {plan_index.display_path} -->"] if len(indexes) > 1 else []
        lines += index_lines(project, plan_index.entries, plan_index.path)
    data = {"indexes": [_index_json(project, plan_index) for project, plan_index in indexes]}
    return Answer(data, "\n".join(lines), is_raw=True)


def _written_answer(index_results: list[tuple[Project, WrittenIndex]], *, dry_run: bool) -> Answer:
    """Return the answer with the indexes that were written, or would be."""
    lines = [_describe(result, dry_run=dry_run) for _, result in index_results]
    data = {
        "indexes": [
            {
                **_index_json(project, result.plan_index),
                **({} if dry_run else {"current": True}),
                "changed": result.changed,
                "commit": result.commit,
                **({"diff": result.diff} if dry_run else {}),
            }
            for project, result in index_results
        ]
    }
    warnings = tuple([warning for _, result in index_results for warning in result.warnings])
    return Answer(data, "\n".join(lines), warnings=warnings, is_requested=dry_run)


def _describe(result: WrittenIndex, *, dry_run: bool) -> str:
    plan_index = result.plan_index
    open_count = len([entry for entry in plan_index.entries if entry.state in (ACTIVE, DRAFT)])
    count = len(plan_index.entries)
    plans = f"{format_count(count, 'plan')}, {open_count} open"
    if count == open_count:
        plans = format_count(count, "open plan")
    if not result.changed:
        return f"{plan_index.display_path} is current ({plans})"
    verb = "created" if plan_index.old is None else "updated"
    line = f"{'would be ' if dry_run else ''}{verb}: {plan_index.display_path} ({plans})"
    return f"{result.diff}\n{line}" if dry_run else line


def _index_json(project: Project, plan_index: PlanIndex) -> dict[str, Any]:
    return {
        "path": plan_index.display_path,
        "current": plan_index.is_current,
        "plans": [entry.to_json(project) for entry in plan_index.entries],
    }
