"""What `init` finds and would create: a project in the default directories, or settings for existing plans."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import reader
from execplan.core.plan.plan_recognition import follows_format
from execplan.core.plan_store import plan_store
from execplan.core.project import (
    directory_tree,
    plan_directories,
    plan_discovery,
    project_discovery,
    project_settings,
    setting_checks,
    settings_file,
)
from execplan.core.project.plan_dialects import ANY_FORM, dialect_of
from execplan.core.project.project import Project
from execplan.core.project.project_settings import Settings
from execplan.core.scaffold import plan_layouts
from execplan.core.scaffold.other_files import OtherFile, other_files
from execplan.core.scaffold.tool_setups import include_tools

_SAMPLE_SIZE = 20
"""Number of plans, the last ones by name, whose form decides the template of new ones."""
_DIRECTORY_REASON = "directory"
SCRIPT = "scripts/new_execplan.py"
"""Path of the script that the document of the format names, from the directory of a project."""
_GUIDE_REASON = "the guide for authors"
_SCRIPT_REASON = "the script that the format names"
_LAYOUT_SETTINGS = ("plans", "archive", "superseded", "artifacts", "archive_artifacts", "layout", "name", "directories")
"""Settings that define where plans are stored."""


class PathEntry(NamedTuple):
    """A path of a project, and whether `init` creates it."""

    path: str
    made: bool
    why: str


class PreparedProject(NamedTuple):
    """A project as it is, or as `init` would create it."""

    project: Project
    is_new: bool
    """Whether the project's settings must still be written."""
    old_content: bytes = b""
    """Content of the settings file to replace, if any."""


class ProjectSurvey(NamedTuple):
    """The findings of `init`, and the paths it would create."""

    projects: tuple[PreparedProject, ...]
    """The project of the directory itself, followed by nested projects."""
    paths: tuple[PathEntry, ...]
    unused_directories: tuple[UnusedDirectory, ...]
    stray_paths: tuple[str, ...]
    """Files that look like plans but are in no plans directory, from the repository root."""
    other_files: tuple[OtherFile, ...]
    """Files in and beside the plans directories that are no plans by their paths."""
    warnings: tuple[str, ...]


class UnusedDirectory(NamedTuple):
    """A plans directory that is not used, because another has more plans or the settings name another."""

    folder: str
    """Path from the repository root."""
    plans: int
    take: str
    """Command that uses this directory instead."""


def survey_project(project: Project, requested: str | None = None, *, with_script: bool = False) -> ProjectSurvey:
    """Find plans below a project's base directory; a requested directory is always used.

    Raises ExecplanError if the requested directory or the settings can't be used.
    """
    base = project.base
    loaded_settings = project_settings.load(base)
    requested = _relative_plans_directory(project, requested) if requested is not None else None
    files = plan_discovery.find_markdown(base)
    plans = [path for path in files if plan_discovery.is_plan_file(base, path, project.settings.dialects)]

    indexes = [path for path in files if os.path.basename(path) == "PLANS.md" and _is_index(project, path, plans)]

    def path_exists(path: str) -> bool:
        return path not in indexes and os.path.lexists(os.path.join(base, path))

    usual = requested
    if requested is None and loaded_settings is None and not plans:
        directories = plan_directories.existing_directories(base)
        usual = next((path for path in directories if not path.endswith(".md")), None)
    detected = plan_layouts.detect_layouts(plans, path_exists, usual)
    if requested is None:
        detected = include_tools(detected, base, files, project.settings.dialects)
    layouts_by_base = {layout.base: layout for layout in detected.selected}
    names = sorted(
        {*layouts_by_base, *[os.path.relpath(nested_path, base) for nested_path in directory_tree.find_projects(base)]}
        - {""}
    )
    settings = project.settings
    old_content = b""
    if loaded_settings is None:
        settings = (
            detected.settings_of("") if "" in layouts_by_base else Settings(guide=plan_layouts.find_guide(path_exists))
        )
        settings = settings._replace(files=detected.files, homes=tuple(names))
        settings = settings._replace(template=_find_template(base, settings.plans, layouts_by_base.get("")))
    elif requested is not None and layouts_by_base[""].settings.plans != settings.plans:
        old_content = _require_unmodified_settings(project, loaded_settings)
        settings = settings._replace(**{name: getattr(layouts_by_base[""].settings, name) for name in _LAYOUT_SETTINGS})
    is_new = loaded_settings is None or bool(old_content)
    prepared = [
        PreparedProject(
            project_discovery.ensure_folders_inside(project._replace(settings=settings, exists=True)),
            is_new,
            old_content,
        )
    ]
    for name in names:
        nested = project_discovery.nested_project(project, name)
        is_nested_new = project_settings.load(nested.base) is None
        if is_nested_new and name in layouts_by_base:
            nested_settings = detected.settings_of(name)
            template = _find_template(base, nested_settings.plans, layouts_by_base[name])
            nested = project_discovery.ensure_folders_inside(
                nested._replace(settings=nested_settings._replace(template=template), exists=True)
            )
        prepared.append(PreparedProject(nested, is_nested_new))
    members = [
        member
        for prepared_project in prepared
        for member in project_discovery.with_directories(prepared_project.project)
    ]
    found_paths = {ref.path for member in members for ref in plan_store.all_refs(member)}
    unclaimed_paths = [path for path in plans if os.path.join(base, path) not in found_paths]
    unused_layouts = [
        layout
        for layout in (*detected.selected, *detected.others)
        if layout.plans and set(layout.plans) <= set(unclaimed_paths)
    ]
    unused_directories = tuple([_unused_directory(project, layout) for layout in unused_layouts])
    stray_paths = [path for path in unclaimed_paths if not any([path in layout.plans for layout in unused_layouts])]
    unnamed = [name for name in names if name not in settings.homes]
    warnings = [f"{name} is a nested project: add it to homes in the settings" for name in unnamed]
    return ProjectSurvey(
        tuple(prepared),
        tuple(_path_entries(prepared, with_script=with_script)),
        unused_directories,
        tuple([prepared[0].project.display_path(os.path.join(base, path)) for path in stray_paths]),
        tuple(
            other_files(
                prepared[0].project, members, found_paths.union(os.path.join(base, path) for path in plans), files
            )
        ),
        tuple(warnings),
    )


def _is_index(project: Project, path: str, plans: list[str]) -> bool:
    """Return whether a file lists the plans, so that it is no guide for their authors: it has links to half of them."""
    try:
        text = plan_store.read_bytes(project, os.path.join(project.base, path)).decode("utf-8", "replace")
    except ExecplanError:
        return False  # such as a link that leads nowhere
    linked = [plan for plan in plans if f"]({os.path.relpath(plan, os.path.dirname(path))}" in text]
    return bool(plans) and len(linked) * 2 >= len(plans)


def _find_template(root: str, directory: str, layout: plan_layouts.PlanLayout | None) -> str:
    """Return the template for plans like those in a plans directory: the repository's own file, or a built-in one.

    `directory` is relative to the base of the layout.
    """
    base = os.path.join(root, layout.base) if layout is not None else root
    for folder in filter(None, (directory, os.path.dirname(directory))):
        for name in plan_store.list_entries(os.path.join(base, folder)):
            if "template" in name.lower() and name.lower() in project_settings.NON_PLAN_FILES:
                return os.path.join(folder, name)
    all_paths = [os.path.join(root, path) for path in (layout.plans if layout is not None else ())]
    paths = sorted([path for path in all_paths if path.startswith(f"{os.path.join(base, directory)}/")])[-_SAMPLE_SIZE:]
    plans = [reader.read_or_none(file_access.read(path, reader.MAX_BYTES)[0]) for path in paths]
    other_forms = [plan for plan in plans if plan is not None and not follows_format(plan)]
    template = dialect_of(directory).template
    has_other_form = len(other_forms) * 2 > len(plans) or (not plans and template != ANY_FORM)
    return template if has_other_form else Settings().template


def _relative_plans_directory(project: Project, directory: str) -> str:
    """Return the requested directory, relative to the base. Raises ExecplanError if it can't be a plans directory."""
    path = os.path.relpath(os.path.realpath(directory), project.base)
    if path in (".", "..") or path.startswith("../"):
        raise ExecplanError(
            "bad-folder",
            f"{directory} is not below {project.base}",
            hint="specify a directory below the one of the project: execplan init DIR --plans DIR/plans",
        )
    if any(["\ud800" <= char <= "\udfff" for char in path]):
        raise ExecplanError("bad-folder", f"{directory} is not UTF-8, as settings require", hint="rename the directory")
    setting_checks.check_setting("plans", path, "--plans")
    return path


def _require_unmodified_settings(project: Project, loaded_settings: project_settings.LoadedSettings) -> bytes:
    """Return the settings file's content if it has only known settings and may be replaced.

    Raises ExecplanError otherwise.
    """
    content = settings_file.render_settings(loaded_settings.settings)
    if loaded_settings.file == project_settings.SETTINGS_FILE and settings_file.has_content(
        os.path.join(project.base, loaded_settings.file), content
    ):
        return content
    raise ExecplanError(
        "home-exists",
        f"{project.base} is already set up: plans = {settings_file.toml_literal(loaded_settings.settings.plans)} in {loaded_settings.file}",
        hint="change it there, with the other directories",
    )


def _unused_directory(project: Project, layout: plan_layouts.PlanLayout) -> UnusedDirectory:
    from shlex import quote

    base = os.path.join(project.base, layout.base)
    current_directory = os.path.realpath(os.getcwd())
    directory = os.path.join(project.base, layout.directory)
    base_argument = "" if base.rstrip("/") == project.base else f" {quote(os.path.relpath(base, current_directory))}"
    command = f"execplan init{base_argument} --plans {quote(os.path.relpath(directory, current_directory))}"
    return UnusedDirectory(project.display_path(directory), len(layout.plans), command)


def _path_entries(prepared: list[PreparedProject], *, with_script: bool) -> list[PathEntry]:
    """Return the paths to create and to keep, directories first. No directories are created if plans exist."""
    project = prepared[0].project
    paths = []
    if not plan_store.all_refs(project) and (len(prepared) == 1 or os.path.isdir(project.plans)):
        directories = [
            project.plans,
            project.archives[0],
            project.artifacts_dir(""),
            project.artifacts_dir("", archived=True),
        ]
        for directory in dict.fromkeys([directory.rstrip("/") for directory in directories]):
            exists = os.path.isdir(directory)
            paths.append(
                PathEntry(
                    project.display_path(directory), not exists, "already exists" if exists else _DIRECTORY_REASON
                )
            )
    parent_guide = _parent_guide(project)
    if parent_guide:
        paths.append(PathEntry(project.display_path(parent_guide), False, "the repository's guide"))
    else:
        paths.append(_file_entry(project, guide_path(project), _GUIDE_REASON))
    for prepared_project in prepared:
        settings_path = os.path.join(prepared_project.project.base, project_settings.SETTINGS_FILE)
        loaded_settings = project_settings.load(prepared_project.project.base)
        if loaded_settings is not None and loaded_settings.file != project_settings.SETTINGS_FILE:
            paths.append(
                PathEntry(project.display_path(settings_path), False, f"settings are in {loaded_settings.file}")
            )
        elif prepared_project.old_content:
            paths.append(
                PathEntry(project.display_path(settings_path), True, "settings, rewritten for another directory")
            )
        else:
            paths.append(_file_entry(project, settings_path, "settings"))
    return paths + ([_file_entry(project, script_path(project), _SCRIPT_REASON)] if with_script else [])


def _file_entry(project: Project, path: str, reason: str) -> PathEntry:
    exists = os.path.lexists(path)
    return PathEntry(project.display_path(path), not exists, "already exists" if exists else reason)


def guide_path(project: Project) -> str:
    """Return the path of a project's guide."""
    return os.path.join(project.base, project.settings.guide)


def script_path(project: Project) -> str:
    """Return the path of the script that creates plans for those who know only the format."""
    return os.path.join(project.base, SCRIPT)


def _parent_guide(project: Project) -> str | None:
    """Return the repository's guide for a nested project that has none of its own."""
    if project.base == project.root or os.path.lexists(guide_path(project)):
        return None
    guides = [os.path.join(project.root, guide_name) for guide_name in plan_layouts.GUIDE_PATHS]
    return next((parent_path for parent_path in guides if os.path.lexists(parent_path)), None)
