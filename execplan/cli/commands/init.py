"""The `execplan init` command."""

from __future__ import annotations

import json
import os
import shlex
from itertools import accumulate
from typing import Any, NamedTuple

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import define_command, new_options
from execplan.cli.option_rules import excludes, option_rules
from execplan.cli.output.terminal_text import printable_lines
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import CHECK_FAILED, OK, ExecplanError
from execplan.core.files import file_access
from execplan.core.git import gitignore
from execplan.core.plan import reader
from execplan.core.project import project_discovery, user_settings
from execplan.core.project.plan_dialects import dialect_of
from execplan.core.project.project import Project
from execplan.core.project.project_settings import SETTINGS_FILE
from execplan.core.project.settings_file import toml_literal
from execplan.core.scaffold import guide_upgrade, project_setup
from execplan.core.scaffold.check_proposals import find_checks
from execplan.core.scaffold.guide_upgrade import GuideUpgrade
from execplan.core.scaffold.other_files import OtherFile
from execplan.core.scaffold.project_setup import inspect_project
from execplan.core.scaffold.project_survey import SCRIPT, ProjectSurvey, guide_path, script_path, survey_project
from execplan.core.text.message_parts import format_count, format_excess, join_first
from execplan.core.text.pure_paths import is_inside

_MAX_MISFITS = 5
"""Maximum number of plans to name for each plans directory whose state doesn't fit their directory, and of directories."""
_MAX_SETTINGS = 1 << 20
"""Maximum number of bytes of a settings file to look into."""
_MAX_NAMES_WIDTH = 80
"""Maximum number of characters for the names of files that are not plans, of one kind."""


@define_command(
    reads="the settings, the guide, and every markdown file, to find plans; not those in node_modules and the like.",
    writes="settings; if there are no plans, also their directories; the guide .agent/PLANS.md, if it is missing; with --script, the script, if it is missing.",
    examples=(
        "execplan init --check || execplan init",
        "execplan init --commit",
        "execplan init packages/a",
        "execplan init --plans docs/plans --dry-run",
        "execplan init --upgrade --dry-run",
        "execplan init --script",
    ),
)
@click.argument("place", required=False, metavar="[DIR]")
@click.option("--plans", "wanted", metavar="DIR", help="Keep plans in DIR, even if plans are found elsewhere.")
@click.option(
    "--check", is_flag=True, help="Report what is found, and write nothing; exit 1 if init would write something."
)
@click.option("--upgrade", is_flag=True, help="Merge the newest guide into yours; your changes are kept.")
@click.option("--script", is_flag=True, help="Also write scripts/new_execplan.py, which runs execplan new.")
@new_options
@option_rules(excludes("--check", "--commit", "--upgrade", reason="writes nothing"))
def init(
    call: Call, place: str | None, wanted: str | None, check: bool, upgrade: bool, script: bool, options: WriteOptions
) -> Answer:
    """Set up plans in this repository.

    Run it once: it writes the settings, and the guide for authors in .agent/PLANS.md. Without git, plans are set up in
    the current directory. DIR selects another directory, which can be new.

    If the repository already has plans, in any form and also in the packages of a monorepo, the settings refer to all
    their directories. The command reports which files in and beside these directories are no plans, and why. Nothing is
    moved, and existing files are kept, so you can run the command again at any time. Only --upgrade changes the guide: it
    merges the newest guide into yours, keeps your text, and reports each place that both changed.

    The first time, the command also names the checks of the repository, such as `make test`, that agents under the guard
    could always run. Nothing changes before a person adds them to the setting `agent_checks`.

    --script is for those who know only the format, whose document names scripts/new_execplan.py.
    """
    if place is not None and os.path.lexists(place) and not os.path.isdir(place):
        raise ExecplanError("not-a-folder", f"{place} is not a directory", hint="name the directory of a package")
    project = project_discovery.find(os.getcwd()) if place is None else project_discovery.project_at(place)
    survey_result = survey_project(project, wanted, with_script=script)
    commit, warnings = project_setup.set_up_project(survey_result, options._replace(dry_run=options.dry_run or check))
    changed = any([path_entry.made for path_entry in survey_result.paths])
    is_writing = not (check or options.dry_run)
    projects_json = [
        _project_json(member, prepared.is_new)
        for prepared in survey_result.projects
        for member in project_discovery.with_directories(prepared.project)
    ]
    action = "created" if is_writing else "would create"
    passed_over = [
        *[file for project_json in projects_json for file in project_json.pop("other_files")],
        *survey_result.other_files,
    ]
    lines = [line for project_json in projects_json for line in _project_lines(project_json, check)]
    lines += _passed_over_lines(passed_over)
    lines += [
        f"{action if path_entry.made else _label_unchanged(project, path_entry.path)}  {path_entry.path}  ({path_entry.why})"
        for path_entry in survey_result.paths
    ]
    lines += _unlisted_lines(survey_result, check)
    guide_report = _check_guide(survey_result.projects[0].project, options, upgrade=upgrade)
    lines += guide_report.lines
    changed = changed or (upgrade and guide_report.upgrade.changed)
    commit = guide_report.upgrade.commit or commit
    if commit:
        lines.append(f"committed {commit[:12]}")
    arguments = ([place] if place else []) + (["--plans", wanted] if wanted else []) + ["--script"] * script
    commit_commands: tuple[str, ...] = ()
    if changed and is_writing and not commit and project.git is not None:
        commit_commands = (shlex.join(["execplan", "init", *arguments, "--commit"]),)
        lines.append(f"to commit these files: {commit_commands[0]}")
    offers_script = is_writing and not script and _lacks_named_script(survey_result.projects[0].project)
    script_command = shlex.join(["execplan", "init", *([place] if place else []), "--script"])
    lines += [f"the guide names {SCRIPT}, which is missing; to write it: {script_command}"] if offers_script else []
    lines += _check_lines(survey_result.projects[0].project) if is_writing and changed else []
    data = {
        "homes": projects_json,
        "others": [other._asdict() for other in survey_result.unused_directories],
        "elsewhere": list(survey_result.stray_paths),
        "passed_over": [file._asdict() for file in passed_over],
        "paths": [path_entry._asdict() for path_entry in survey_result.paths],
        "changed": changed,
        "commit": commit,
        "guide": {
            "path": guide_report.upgrade.path,
            "version": guide_report.upgrade.old_version,
            "newest": guide_report.upgrade.version,
            "conflicts": [conflict._asdict() for conflict in guide_report.upgrade.conflicts],
        },
    }
    if options.dry_run and upgrade:
        data["diff"] = guide_report.upgrade.diff
    status = CHECK_FAILED if check and changed else OK
    has_plans = any([project_json["plans"] for project_json in projects_json])
    directory_option = f" -C {shlex.quote(place)}" if place and os.path.realpath(place) != os.getcwd() else ""
    command_words = "status" if has_plans else _first_command(survey_result)
    next_commands: tuple[str, ...] = (f"execplan {command_words}{directory_option}", *commit_commands)
    if changed and not is_writing:
        next_commands = (shlex.join(["execplan", "init", *arguments]),)
    elif guide_report.upgrade.changed and not upgrade:
        next_commands += ("execplan init --upgrade",)
    next_commands += (script_command,) if offers_script else ()
    warnings = (
        survey_result.warnings
        + warnings
        + guide_report.upgrade.warnings
        + gitignore.ignore_warnings(survey_result.projects[0].project, with_settings=True)
    )
    text = printable_lines(lines, guide_report.upgrade.diff if upgrade else "")
    return Answer(data, text, status, warnings=warnings, next_commands=next_commands, is_requested=not is_writing)


def _first_command(survey: ProjectSurvey) -> str:
    """Return the words of the first command in a project without plans: to show one elsewhere, or else to write one."""
    if not survey.stray_paths:
        return "new 'Title'"
    path = os.path.join(survey.projects[0].project.root, survey.stray_paths[0])
    return f"show {shlex.quote(os.path.relpath(path))}"


def _lacks_named_script(project: Project) -> bool:
    """Return whether the guide tells authors to run the format's script, which does not exist."""
    path = guide_path(project)
    if os.path.lexists(script_path(project)) or not os.path.isfile(path):
        return False
    return SCRIPT.encode() in file_access.read(path, reader.MAX_BYTES)[0]


def _check_lines(project: Project) -> list[str]:
    """Return the lines that propose checks of the repository to a person who uses the guard."""
    checks, root = find_checks(project.root), os.path.realpath(project.root)
    if not checks or user_settings.agent_checks(root):
        return []
    return [
        f"checks found: {', '.join(checks)}",
        f"to let guarded agents run them at any time, a person adds to {user_settings.path()}:",
        "  [agent_checks]",
        f"  {json.dumps(root)} = {json.dumps(checks)}",
    ]


def _label_unchanged(project: Project, display_path: str) -> str:
    """Return what `init` does with a path that it doesn't create."""
    return "kept" if os.path.lexists(os.path.join(project.root, display_path)) else "skipped"


class _GuideReport(NamedTuple):
    """The report about the guide."""

    upgrade: GuideUpgrade
    lines: list[str]


def _check_guide(project: Project, options: WriteOptions, *, upgrade: bool) -> _GuideReport:
    """Upgrade the guide, or report that a newer one is available."""
    upgraded = guide_upgrade.upgrade_guide(project, options) if upgrade else guide_upgrade.preview_upgrade(project)
    if not upgraded.changed:
        return _GuideReport(upgraded, [])
    if not upgrade:
        return _GuideReport(upgraded, [f"a newer guide is available for {upgraded.path}: execplan init --upgrade"])
    action = "would upgrade" if options.dry_run else "upgraded"
    return _GuideReport(
        upgraded, [f"{action}  {upgraded.path}  (guide version {upgraded.old_version} to {upgraded.version})"]
    )


def _project_json(project: Project, is_new: bool) -> dict[str, Any]:
    """Return the JSON form of one plans directory of a project: its settings, number of plans, and plans with problems."""
    inspection = inspect_project(project)
    only_files = inspection.open_count == len(project.settings.files)
    place = [*(project.files if only_files else ()), project.plans][0]
    settings = {
        name: list(value) if isinstance(value, tuple) else value for name, value in project.settings._asdict().items()
    }
    return {
        "base": os.path.relpath(project.base, project.root),
        "settings": settings,
        "new": is_new,
        "dialect": dialect_of(project.display_path(place), project.settings.dialects).name,
        "plans": inspection.open_count,
        "archived": inspection.archived_count,
        "with_tasks": inspection.with_tasks_count,
        "documents": [file.path for file in inspection.documents],
        "other_files": inspection.documents,
        "broken": [{"path": path, "why": why} for path, why in inspection.broken],
        "misfits": [{"path": path, "why": why} for path, why in inspection.misfits],
    }


def _project_lines(project_json: dict[str, Any], check: bool) -> list[str]:
    """Return the lines about a project: its plans, and in a check their problems."""
    settings, base = project_json["settings"], project_json["base"]
    count = project_json["plans"] + project_json["archived"]
    if not count and not check:
        return []
    plans_directory, archive_directory = [
        os.path.normpath(os.path.join(base, settings[name])) for name in ("plans", "archive")
    ]
    files = [os.path.normpath(os.path.join(base, file)) for file in settings["files"]]
    places = (
        " and ".join([*([plans_directory] if project_json["plans"] > len(files) else []), *files]) or plans_directory
    )
    line = f"found {format_count(count, 'plan')} ({project_json['dialect']}): {project_json['plans']} in {places}, {project_json['archived']} archived in {archive_directory}"
    lines = [line + (f"; {project_json['with_tasks']} with tasks" if count else "")]
    if check:
        lines.append(
            f"  layout {settings['layout']}, names {settings['name']}, settings {'missing' if project_json['new'] else 'present'}"
        )
        misfits = project_json["misfits"]
        lines += [f"  {misfit['path']}: {misfit['why']}" for misfit in misfits[:_MAX_MISFITS]]
        if excess := format_excess(len(misfits), _MAX_MISFITS, "  "):
            lines.append(f"{excess}; see all: execplan init --check --json")
        lines += [f"  broken: {broken_plan['path']}: {broken_plan['why']}" for broken_plan in project_json["broken"]]
    return lines


def _passed_over_lines(files: list[OtherFile]) -> list[str]:
    """Return the lines about files that are not plans: one for each reason, with the first names that fit."""
    paths_by_reason: dict[str, list[str]] = {}
    for file in files:
        paths_by_reason.setdefault(file.why, []).append(file.path)
    lines = []
    for why, paths in sorted(paths_by_reason.items(), key=lambda item: -len(item[1])):
        ends = accumulate([len(path) + 2 for path in paths])
        count = max(1, len([end for end in ends if end <= _MAX_NAMES_WIDTH]))
        lines.append(f"  {why} ({len(paths)}): {join_first(paths, count)}")
    return [f"passed over {format_count(len(files), 'file')}:", *lines] if files else []


def _unlisted_lines(survey: ProjectSurvey, check: bool) -> list[str]:
    """Return the lines about plans that belong to no project."""
    if check:
        lines = [
            f"not used: {format_count(other.plans, 'plan')} in {other.folder}; add it to directories in the settings, or use only it: {other.take}"
            for other in survey.unused_directories
        ]
        return lines + [f"elsewhere: {path}" for path in survey.stray_paths] + _adoption_lines(survey)
    if not survey.stray_paths:
        return []
    count = format_count(len(survey.stray_paths), "plan")
    return [f"{count} elsewhere, usable only by path; see the paths: execplan init --check", *_adoption_lines(survey)]


def _adoption_lines(survey: ProjectSurvey) -> list[str]:
    """Return the lines about what the settings need to include the plans elsewhere: their directories, or single files."""
    if not survey.stray_paths:
        return []
    project = survey.projects[0].project
    paths = [os.path.relpath(os.path.join(project.root, path), project.base) for path in survey.stray_paths]
    members = project_discovery.with_directories(project_discovery.whole_project(project))
    # where each plan has a directory, another file can't be in a directory of plans
    nested_directories = [os.path.relpath(member.plans, project.base) for member in members if not member.is_flat]
    single_files = [
        path for path in paths if "/" not in path or any([is_inside(path, name) for name in nested_directories])
    ]
    new_directories = list(dict.fromkeys([os.path.dirname(path) for path in paths if path not in single_files]))
    settings_path = os.path.join(project.base, SETTINGS_FILE)
    lines = [f"to include them in all commands, add to {project.display_path(settings_path)}:"]
    lines += [f"  files = {json.dumps([*project.settings.files, *single_files])}"] if single_files else []
    if new_directories and project.settings.directories and not _has_directory_tables(settings_path):
        value = {**project.settings.directories, **{directory: {} for directory in new_directories}}
        return [*lines, f"  directories = {toml_literal(value)}  # in place of the line that is there"]
    lines += [f"  [directories.{json.dumps(directory)}]" for directory in new_directories[:_MAX_MISFITS]]
    excess = format_excess(len(new_directories), _MAX_MISFITS, "  ")
    return [*lines, *([excess] if excess else [])]


def _has_directory_tables(settings_path: str) -> bool:
    """Return whether a settings file has a table for each further directory; `init` writes all of them into one line."""
    return os.path.isfile(settings_path) and b"\n[directories." in file_access.read(settings_path, _MAX_SETTINGS)[0]
