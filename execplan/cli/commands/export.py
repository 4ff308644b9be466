"""The `execplan export` command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.option_rules import option_rules, requires
from execplan.cli.output.terminal_text import printable_lines
from execplan.cli.plan_arguments import plan_argument
from execplan.core import features
from execplan.core.errors import ExecplanError, usage_error
from execplan.core.files import atomic_files, file_access
from execplan.core.files.file_access import resolve_path
from execplan.core.plan_store import plan_selection
from execplan.core.project.project import IN_GIT_DIR, ensure_inside, is_in_git_dir
from execplan.core.project.project_discovery import ensure_no_link_out
from execplan.core.text.message_parts import format_count
from execplan.core.text.pure_paths import do_overlap, is_inside
from execplan.core.text.text_lines import digest
from execplan.exchange.form_names import WRITERS
from execplan.execution.binding import bound_paths
from execplan.execution.export.export_jobs import passed_paths
from execplan.execution.world import normalize_path

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.execution.export.exported_plan import ExportedPlan

_ENGINES = ("github", "gitlab", "make")
_MARK = b"# Exported by execplan "
_MAX_BYTES = 16 << 20


def render(plan: ExportedPlan, target: str) -> str:
    """Return an exported plan as the file of an engine: `github`, `gitlab` or `make`."""
    if target == "github":
        from execplan.execution.export.workflow_files import github_workflow

        return github_workflow(plan)
    if target == "gitlab":
        from execplan.execution.export.workflow_files import gitlab_pipeline

        return gitlab_pipeline(plan)
    from execplan.execution.export.workflow_files import makefile

    return makefile(plan)


def printed_answer(plan: ExportedPlan, target: str, text: str) -> Answer:
    """Print the file of an exported plan."""
    return Answer(
        {**_plan_json(plan, target, text), "content": text}, text, warnings=_warnings(plan, target), is_raw=True
    )


def written_answer(
    project: Project, ref: PlanRef, plan: ExportedPlan, target: str, text: str, path: str, options: WriteOptions
) -> Answer:
    """Write the file, in place of an older export only, and commit it if requested."""
    from execplan.core.edits.plan_commit import commit_paths
    from execplan.core.edits.plan_writer import format_diff

    new, old, absolute_path = text.encode(), _read_export(path), os.path.abspath(path)
    data: dict[str, Any] = {**_plan_json(plan, target, text), "path": path, "changed": False, "commit": None}
    count = format_count(len(plan.jobs), "job")
    is_in_repository = _is_in_repository(project, path)
    if is_in_repository:
        _ensure_not_used(project, plan, path)
    place = path if is_in_repository else f"{path}, outside of the repository"
    if old == new:
        return Answer(data, f"{place} is up to date: {count}", warnings=_warnings(plan, target), is_requested=False)
    if options.dry_run:
        diff = format_diff(old or b"", new, path)
        text = printable_lines([f"would write {place}: {count}"], diff)
        return Answer({**data, "diff": diff}, text, warnings=_warnings(plan, target))
    if options.should_commit(project):
        ensure_inside(project, absolute_path)
    ensure_no_link_out(absolute_path)
    options.prepare_commit(project)
    atomic_files.replace_if_unchanged(absolute_path, old, new, make_directories=is_in_repository)
    lines, warnings, commit = [f"wrote {place}: {count}"], _warnings(plan, target), None
    if options.should_commit(project):
        result = commit_paths(
            project, ref.id, [absolute_path], "export", f"export to {target}", {absolute_path: old} if old else {}, None
        )
        commit, warnings = result.digest, (*warnings, *result.warnings)
        lines += [f"committed {commit[:12]}"] if commit else []
    data |= {"changed": True, "commit": commit}
    return Answer(data, printable_lines(lines), warnings=warnings, is_requested=False)


def _is_in_repository(project: Project, path: str) -> bool:
    """Return whether a file to write is in the repository. Raises ExecplanError if it is in a git directory."""
    target = resolve_path(os.path.abspath(path))
    if is_in_git_dir(project, target):
        hint = "choose another file, for example --out .github/workflows/plan.yml"
        raise usage_error(f"{path} {IN_GIT_DIR}", hint)
    return is_inside(target, project.root)


def _ensure_not_used(project: Project, plan: ExportedPlan, path: str) -> None:
    """Raise ExecplanError if a step of the plan reads or writes the file: the export would change its state."""
    file = os.path.relpath(resolve_path(os.path.abspath(path)), project.root)
    for step in [step for job in plan.jobs for step in job.job.steps]:
        is_written = any([do_overlap(file, output) for output in passed_paths(step) if output != "."])
        if is_written or file in [normalize_path(bound_path) for bound_path in bound_paths(step)]:
            message = f"{path} is a file that the step {step.id} uses, so the export would change what was approved"
            raise usage_error(message, "choose another file with --out")


def _read_export(path: str) -> bytes | None:
    """Return the older export at a path, or None if nothing is there. Raises ExecplanError for any other file."""
    if not os.path.lexists(path):
        return None
    data = file_access.read(path, _MAX_BYTES)[0]
    if data.strip() and not data.startswith(_MARK):
        message = f"{path} exists and was not written by `execplan export`"
        raise ExecplanError("not-an-export", message, hint="use another file, or move this one away")
    return data


def _plan_json(plan: ExportedPlan, target: str, text: str) -> dict[str, Any]:
    return {
        "id": plan.id,
        "to": target,
        "digest": digest(text.encode()),
        "jobs": [
            {"name": job.name, "digest": job.digest, "steps": [step.id for step in job.job.steps]} for job in plan.jobs
        ],
    }


def _warnings(plan: ExportedPlan, target: str) -> tuple[str, ...]:
    """Explain why steps wait for a person although they need none, and what the machine of a workflow must have."""
    programs = ", ".join(plan.unknown_programs) if target == "github" else ""
    needs = [f"the workflow doesn't install {programs}: install them in a step, or use a machine that has them"]
    waits = [
        f"a person lets all of {job.name} begin at once: {job.job.joined_because}"
        for job in plan.jobs
        if job.job.joined_because
    ]
    return (*waits, *(needs if programs else ()))


@define_command(
    reads=(
        "the plan; for github, gitlab and make also its execution plan and approval, the files that its steps name, the "
        "policy, and the files that Git ignores."
    ),
    writes="FILE, or files in the directory FILE, with --out; otherwise nothing.",
    examples=(
        "execplan export parser --to html --out parser.html",
        "execplan export parser --to github-issues",
        "execplan export parser --to openspec --out . --dry-run",
        "execplan export parser --to github --out .github/workflows/parser.yml",
        "execplan export parser --to gitlab --out .gitlab-ci.yml --dry-run",
        "execplan export parser --to make",
    ),
)
@plan_argument()
@click.option(
    "--to",
    "target",
    metavar="FORM",
    type=click.Choice((*WRITERS, *_ENGINES)),
    required=True,
    help=f"The form: {', '.join(WRITERS)}; or the engine that runs the plan: {', '.join(_ENGINES)}.",
)
@click.option(
    "--environment",
    metavar="NAME",
    help="The environment of GitHub whose reviewers let steps begin that need a person (default: execplan).",
)
@click.option(
    "--out",
    metavar="FILE",
    help="Write the result to FILE; backlog and openspec: to files in the directory FILE.",
)
@click.option("--force", is_flag=True, help="Replace files that have other content.")
@new_options
@option_rules(requires("--dry-run", "--out"), requires("--commit", "--out"), requires("--force", "--out"))
def export(
    call: Call,
    plan: str | None,
    *,
    target: str,
    environment: str | None,
    out: str | None,
    force: bool,
    options: WriteOptions,
) -> Answer:
    """Export a plan to the form of another program, or an approved plan to run in CI or with make.

    markdown, json, html, docx, github-issues, backlog, openspec and superpowers need no approval. What a form can't
    hold is printed as a warning. `import` reads json and github-issues; the Markdown forms are plans as they are.

    github, gitlab and make are workflows of GitHub and GitLab, and a makefile. Steps that run in sequence share a job; a
    new one begins where a person must decide. On GitHub, reviewers of an environment let such a job begin, on GitLab
    somebody starts it. Each job first checks that the plan and the files that it uses are the approved ones. Then
    `execplan job` runs its steps as `run` would, and passes their outputs on to the next job.

    A workflow of GitHub sets up the languages of the steps' programs. A plan that needs an answer in the middle of a
    job, or files that only this machine has, is not exported to these.
    """
    if out is not None and (not out or out == "-"):
        raise usage_error("--out requires the name of a file", "omit --out: the result is printed")
    if environment is not None and target != "github":
        raise usage_error("only GitHub has environments with reviewers", "omit --environment, or use --to github")
    if target in WRITERS:
        project, ref = plan_selection.select_plan(os.getcwd(), plan)
        answer: Answer = features.load(features.FORM_EXPORT)(project, ref, target, out, options, force=force)
        return answer
    if force:
        raise usage_error("--force is for the forms of other programs", "choose another file with --out")
    from execplan.execution.export.exported_plan import ENVIRONMENT, export_plan

    if environment is not None and not (
        environment.isascii() and environment.replace("-", "").replace("_", "").isalnum()
    ):
        hint = "for example: --environment production"
        raise usage_error(f"--environment requires letters, digits, - and _, not {environment!r}", hint)
    project, ref = plan_selection.select_plan(os.getcwd(), plan)
    exported_plan = export_plan(project, ref, uses_checkout=target != "make", environment=environment or ENVIRONMENT)
    text = render(exported_plan, target)
    if out is None:
        return printed_answer(exported_plan, target, text)
    return written_answer(project, ref, exported_plan, target, text, out, options)
