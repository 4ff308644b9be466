"""The `execplan site` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, lock_option
from execplan.cli.output.progress_bar import ProgressBar
from execplan.cli.shared_options import projects_option, select_projects
from execplan.core.errors import CHECK_FAILED, OK, usage_error
from execplan.core.project import project_discovery
from execplan.core.text.message_parts import format_count

if TYPE_CHECKING:
    from execplan.views.site.site_builder import BuiltSite


@define_command(
    reads=(
        "every plan, including archived plans and nested projects, with its artifacts, runs, approvals, audit log and "
        "Git history; claims."
    ),
    writes=(
        "the pages in the directory that changed; removes pages of plans that no longer exist; caches in the git directory, "
        "and for other projects in ~/.cache/execplan."
    ),
    examples=(
        "execplan site",
        "execplan site --dry-run --json",
        "execplan site --out ../plans-site",
        "execplan site --project . --project ../other --out ../plans-site",
    ),
)
@click.option(
    "--out",
    "directory",
    metavar="DIR",
    help="Directory of the site: new, empty or an earlier site. Default: .agent/site.",
)
@click.option("--dry-run", is_flag=True, help="Show the files that would be written and removed.")
@projects_option
@lock_option
def site(
    call: Call, directory: str | None, *, dry_run: bool, project_paths: tuple[str, ...], all_projects: bool
) -> Answer:
    """Build a static web site with all plans.

    The start page is a board with a card for each plan. Each plan has a page with its sections, tasks, decisions,
    findings, runs, approvals, artifacts and history. All decisions are on one page, and so are archived plans.
    Charts show the progress of open plans and of all plans. The pages need no network and no server: open index.html in
    a browser. Secrets are redacted. Only changed pages are written. The default directory ignores itself in Git.

    With --project or --all-projects, one site has the plans of several projects, with a directory for the pages of each.
    It is never written into another project, and needs --out.
    """
    from execplan.core.secrets.redaction import Redactor
    from execplan.views.site.site_builder import build_site
    from execplan.views.site.site_directory import DEFAULT_DIRECTORY

    selected = select_projects(project_paths, all_projects=all_projects)
    if selected is not None and directory is None:
        message = "a site of several projects needs a directory of its own"
        raise usage_error(message, "name it, for example: --out ../plans-site")
    project = selected.owner if selected is not None else project_discovery.require(os.getcwd())
    projects = selected.projects if selected is not None else ()
    path = os.path.join(project.base, DEFAULT_DIRECTORY) if directory is None else os.path.abspath(directory)
    redactor = Redactor(os.environ, os.environ)  # of variables only those whose names tell
    with ProgressBar("site", is_enabled=not call.quiet and not call.as_json) as bar:
        built_site = build_site(project, path, redactor, dry_run=dry_run, tick=bar.tick, projects=projects)
    display_path = project.display_path(built_site.directory)
    text = _describe_result(built_site, dry_run=dry_run)
    problems = (*(selected.problems if selected is not None else ()), *built_site.problems)
    notices = selected.notices if selected is not None else ()
    return Answer(
        _site_json(built_site, display_path),
        text,
        CHECK_FAILED if problems else OK,
        warnings=(*problems, *notices, *built_site.warnings),
        is_requested=dry_run,
    )


def _describe_result(built_site: BuiltSite, *, dry_run: bool) -> str:
    """Describe the files that were written and removed, and where to look."""
    index = os.path.join(built_site.directory, "index.html")
    counts = (len(built_site.changed), len(built_site.removed))
    verbs = ("would write", "would remove") if dry_run else ("wrote", "removed")
    changes = [f"{verb} {format_count(count, 'file')}" for verb, count in zip(verbs, counts, strict=True) if count]
    pages = format_count(built_site.pages, "page")
    lines = [f"{pages}: {', '.join(changes) or 'nothing has changed'}"]
    if dry_run:
        lines += [f"write {name}" for name in built_site.changed] + [f"remove {name}" for name in built_site.removed]
        return "\n".join(lines)
    return "\n".join([*lines, index])


def _site_json(built_site: BuiltSite, display_path: str) -> dict[str, Any]:
    return {
        "path": display_path,
        "pages": built_site.pages,
        "written": list(built_site.changed),
        "removed": list(built_site.removed),
        "unchanged": built_site.unchanged,
        "charts": True,
        "changed": bool(built_site.changed or built_site.removed),
    }
