"""Detection of where a repository already keeps its plans: from plan paths to settings, without disk access."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from execplan.core.named_tuple import NamedTuple
from execplan.core.project import plan_names
from execplan.core.project.plan_dialects import Dialect, dialect_of, find_dialect
from execplan.core.project.plan_directories import ACTIVE, FINISHED, GIVEN_UP, is_plans_directory_name
from execplan.core.project.project_settings import FLAT_LAYOUT, FOLDER_LAYOUT, Settings
from execplan.core.project.setting_table import DIRECTORY_SETTINGS

T = TypeVar("T")

_SIBLING_FINISHED_NAMES = ("completed", "complete", "closed", "finished")
"""Directories for finished plans that are siblings of one for active plans, instead of children of their directory."""
_WRAPPER_NAMES = frozenset(
    ("docs", "doc", "documentation", "design", "engineering", "internal", "notes", "openspec", "superpowers")
)
_COLLECTION_NAMES = frozenset(
    ("packages", "services", "apps", "libs", "crates", "modules", "projects", "plugins", "components")
)
_PACKAGE_MARKERS = (
    "package.json pyproject.toml setup.py Cargo.toml go.mod pom.xml build.gradle build.gradle.kts Gemfile composer.json "
    "mix.exs AGENTS.md CLAUDE.md .agent"
).split()
GUIDE_PATHS = (".agent/PLANS.md", "PLANS.md", "docs/PLANS.md", ".agents/PLANS.md")
"""Possible paths of the authoring guide."""
_MIN_PLANS = 3
"""Number of plans that makes a directory with any name a plans directory."""


class PlanLayout(NamedTuple):
    """A plans directory, with its sibling directories for finished plans."""

    base: str
    """Base directory of the settings, from the repository root; empty for the root itself."""
    directory: str
    """Common parent of the plan directories, from the repository root."""
    settings: Settings
    plans: tuple[str, ...]
    """Plans that these settings find."""


class DetectedLayouts(NamedTuple):
    """The detected ways in which a repository stores its plans."""

    selected: tuple[PlanLayout, ...]
    """Layout with the most plans for each base."""
    others: tuple[PlanLayout, ...]
    """Further layouts of these bases."""
    files: tuple[str, ...]
    """Plans that are single files, from the root."""

    def settings_of(self, base: str) -> Settings:
        """Return the settings of a selected base, which include its further layouts."""
        settings = next(layout.settings for layout in self.selected if layout.base == base)
        directories: dict[str, object] = {
            layout.settings.plans: _directory_table(layout.settings) for layout in self.others if layout.base == base
        }
        return settings._replace(directories=directories)


def _directory_table(settings: Settings) -> dict[str, object]:
    """Return the settings of a further plans directory."""
    table = {name: getattr(settings, name) for name in DIRECTORY_SETTINGS}
    return {name: value for name, value in table.items() if value}


class _PlanLocation(NamedTuple):
    """The parts of a plan's path."""

    path: str
    directory: str
    """Directory without its state directory."""
    state_name: str
    """Name of the directory that indicates the plans' state; empty if there is none."""
    date_depth: int
    """Number of subdirectories named by year, month and day."""
    layout: str
    id: str


def detect_layouts(
    plans: Sequence[str], path_exists: Callable[[str], bool], requested: str | None = None
) -> DetectedLayouts:
    """Detect layouts from plan paths, which are relative to the root; with a requested directory, return only that one.

    `path_exists` tests whether a path, relative to the root, exists.
    """
    files = tuple([path for path in plans if dialect_of(path).files == (path,)])
    plans = [path for path in plans if path not in files]
    name_counts = Counter([(os.path.dirname(os.path.dirname(path)), os.path.basename(path)) for path in plans])
    locations = [_parse_location(path, name_counts) for path in plans]
    own_directories = {os.path.dirname(location.path) for location in locations if location.layout != FLAT_LAYOUT}
    locations_by_directory: dict[str, list[_PlanLocation]] = {}
    for location in locations:
        directory = os.path.dirname(location.path)
        if not (location.layout == FLAT_LAYOUT and directory in own_directories) and not any(
            [parent in own_directories for parent in _parents(directory)]
        ):
            locations_by_directory.setdefault(location.directory, []).append(location)
    _merge_done_directory(locations_by_directory, path_exists)
    found_layouts = [
        layout
        for layout_directory, group in locations_by_directory.items()
        if layout_directory
        for layout in _infer_layouts(layout_directory, group, path_exists)
    ]
    if requested is not None:
        requested_layouts = [
            layout for layout in found_layouts if requested in (layout.directory, layout.settings.plans)
        ]
        layout_directory = os.path.dirname(requested) if os.path.basename(requested).lower() in ACTIVE else requested
        layout = (
            requested_layouts[0] if requested_layouts else _infer_layout(layout_directory or requested, [], path_exists)
        )
        return DetectedLayouts((_relative_to_base(layout, "", path_exists),), (), files)
    found_layouts = [
        layout for layout in found_layouts if _is_plans_directory(layout, locations_by_directory[layout.directory])
    ]
    found_layouts.sort(
        key=lambda layout: (
            bool(dialect_of(layout.directory).tool),  # new plans rather belong elsewhere
            -len(layout.plans),
            layout.settings.plans != Settings().plans,
            layout.directory,
        )
    )
    selected: dict[str, PlanLayout] = {}
    others = []
    for found_layout in found_layouts:
        base = _package_base(found_layout.directory, path_exists)
        layout = _relative_to_base(found_layout, base, path_exists)
        if base in selected:
            others.append(layout)
        else:
            selected[base] = layout
    return DetectedLayouts(tuple([selected[base] for base in sorted(selected)]), tuple(others), files)


def _parse_location(path: str, name_counts: Counter[tuple[str, str]]) -> _PlanLocation:
    directory, name = os.path.split(path)
    parent, directory_name = os.path.split(directory)
    plan_id, layout = name.removesuffix(".md"), FLAT_LAYOUT
    match = find_dialect(path)
    if match is not None and match.below.startswith("../"):
        return _PlanLocation(path, match.directory, os.path.dirname(match.below), 0, layout, plan_id)
    if match is not None and match.dialect.has_subdirectories:
        return _PlanLocation(path, directory, "", 0, layout, plan_id)
    if (
        parent
        and directory_name.lower() not in (*ACTIVE, *FINISHED, *GIVEN_UP, *_WRAPPER_NAMES)
        and not is_plans_directory_name(directory_name)
    ):
        if plan_id == directory_name or plan_id.endswith((f"_{directory_name}", f"-{directory_name}")):
            directory, layout = parent, FOLDER_LAYOUT
        elif (
            plan_id.lower().replace("-", "").replace("_", "") == "execplan"
            or name_counts[parent, name] > 1
            or (match is not None and name == match.dialect.plan_file)
        ):
            directory, plan_id, layout = parent, directory_name, name
    elif parent and plan_id == directory_name:
        directory, layout = parent, FOLDER_LAYOUT
    parts = directory.split("/")
    date_depth = 0
    while date_depth < 3 and len(parts) > 1 + date_depth and not parts[-1 - date_depth].strip("0123456789-_."):
        date_depth += 1
    if date_depth and parts[-1 - date_depth].lower() not in (*FINISHED, *GIVEN_UP):
        date_depth = 0
    parts = parts[: len(parts) - date_depth]
    state_name = parts.pop() if parts[-1].lower() in (*ACTIVE, *FINISHED, *GIVEN_UP) else ""
    return _PlanLocation(path, "/".join(parts), state_name, date_depth, layout, plan_id)


def _merge_done_directory(
    locations_by_directory: dict[str, list[_PlanLocation]], path_exists: Callable[[str], bool]
) -> None:
    """Merge the finished plans in `.agents/done` with those of `.agents/execplans`."""
    for directory, locations in list(locations_by_directory.items()):
        if (
            not directory
            or is_plans_directory_name(directory)
            or find_dialect(directory) is not None
            or {location.state_name.lower() for location in locations} - {*FINISHED, *GIVEN_UP}
        ):
            continue
        siblings = [f"{directory}/{name}" for name in ("execplans", "exec-plans", "exec_plans", "plans")]
        plans_directory = next(
            (sibling for sibling in siblings if sibling in locations_by_directory or path_exists(sibling)), siblings[0]
        )
        locations_by_directory.setdefault(plans_directory, []).extend(
            [
                location._replace(directory=plans_directory, state_name=f"../{location.state_name}")
                for location in locations
            ]
        )
        del locations_by_directory[directory]


def _infer_layouts(
    directory: str, locations: Sequence[_PlanLocation], path_exists: Callable[[str], bool]
) -> Iterable[PlanLayout]:
    """Yield the layout of a directory, and one for each further state directory with plans, such as `in-progress`.

    These have the same archive.
    """
    layout = _infer_layout(directory, locations, path_exists)
    yield layout
    further = [location for location in locations if location.path not in layout.plans]
    for state_name in sorted(
        {location.state_name for location in further if location.layout == layout.settings.layout}
    ):
        state_directory = os.path.normpath(os.path.join(directory, state_name))
        plans = tuple([location.path for location in further if location.state_name == state_name])
        yield PlanLayout("", directory, layout.settings._replace(plans=state_directory), plans)


def _infer_layout(directory: str, locations: Sequence[_PlanLocation], path_exists: Callable[[str], bool]) -> PlanLayout:
    """Return the settings for the plans in one directory and in its state subdirectories."""
    dialect = dialect_of(directory)
    layout = _most_common([location.layout for location in locations]) or dialect.plan_file or FLAT_LAYOUT
    locations = [location for location in locations if location.layout == layout]
    finished_name = _state_directory(directory, locations, FINISHED, path_exists)
    active_name = _most_common(
        [location.state_name for location in locations if location.state_name.lower() in ("", *ACTIVE)]
    )
    if active_name is None:
        existing_names = [name for name in ACTIVE if path_exists(f"{directory}/{name}")]
        if existing_names:
            active_name = existing_names[0]
        elif finished_name and finished_name.lower() in _SIBLING_FINISHED_NAMES:
            active_name = "active"
        else:
            active_name = ""
    parent = os.path.dirname(directory)
    if finished_name is None and os.path.basename(parent).startswith(".") and path_exists(f"{parent}/done"):
        finished_name = "../done"
    if finished_name is None:
        finished_name = "completed" if active_name else "archive"
    finished_name = dialect.archive or finished_name
    superseded_name = dialect.superseded or _state_directory(directory, locations, GIVEN_UP, path_exists)
    date_depth = (
        _most_common([location.date_depth for location in locations if location.state_name == finished_name]) or 0
    )
    plans, archive = [os.path.normpath(os.path.join(directory, name)) for name in (active_name, finished_name)]
    settings = Settings(
        plans=plans,
        archive=archive + "".join(["/{year}", "/{month}", "/{day}"][:date_depth]),
        superseded=os.path.normpath(os.path.join(directory, superseded_name)) if superseded_name else "",
        layout=layout,
        name=_name_form(dialect, locations),
    )
    if layout == FLAT_LAYOUT:
        settings = settings._replace(artifacts=f"{directory}/artifacts", archive_artifacts=f"{archive}/artifacts")
    plan_paths = [
        location.path for location in locations if location.state_name in (active_name, finished_name, superseded_name)
    ]
    return PlanLayout("", directory, settings, tuple(plan_paths))


def _name_form(dialect: Dialect, locations: Sequence[_PlanLocation]) -> str:
    """Return the form of new names: that of the dialect, with the prefix of numbers that the repository has."""
    form = dialect.plan_name or _guess_name(locations)
    guessed = _guess_name(locations) if "{number" in form else ""
    return guessed if "{number" in guessed else form


def _guess_name(locations: Sequence[_PlanLocation]) -> str:
    return plan_names.guess_form([location.id for location in locations]) if locations else Settings().name


def _state_directory(
    directory: str, locations: Sequence[_PlanLocation], names: Sequence[str], path_exists: Callable[[str], bool]
) -> str | None:
    """Return the state directory with the most plans, else the first that exists."""
    most_used = _most_common(
        [location.state_name for location in locations if os.path.basename(location.state_name).lower() in names]
    )
    return most_used or next((name for name in names if path_exists(f"{directory}/{name}")), None)


def _is_plans_directory(layout: PlanLayout, locations: Sequence[_PlanLocation]) -> bool:
    """Return whether a directory is meant for plans, rather than containing scattered or outdated ones."""
    if {part.lower() for part in layout.directory.split("/")[:-1]} & {*FINISHED, *GIVEN_UP}:
        return False
    has_state = any([location.state_name for location in locations])
    match = find_dialect(layout.directory)
    return bool(layout.plans) and (
        (match is not None and (not match.below or match.dialect.has_subdirectories))
        or is_plans_directory_name(layout.directory)
        or has_state
        or layout.settings.layout != FLAT_LAYOUT
        or len(layout.plans) >= _MIN_PLANS
    )


def _package_base(directory: str, path_exists: Callable[[str], bool]) -> str:
    """Return the package that a plans directory belongs to; the root if no package is recognized."""
    parts = directory.split("/")[:-1]
    while parts:
        base = "/".join(parts)
        is_wrapper = parts[-1].lower() in _WRAPPER_NAMES or parts[-1].startswith(".")
        is_collected = len(parts) > 1 and parts[-2] in _COLLECTION_NAMES
        if not is_wrapper and (is_collected or any([path_exists(f"{base}/{marker}") for marker in _PACKAGE_MARKERS])):
            return base
        parts.pop()
    return ""


def _relative_to_base(layout: PlanLayout, base: str, path_exists: Callable[[str], bool]) -> PlanLayout:
    """Return the layout with settings relative to a base, and with the existing guide."""
    base_prefix = f"{base}/" if base else ""
    directory = layout.directory.removeprefix(base_prefix)
    directory_settings = {
        name: getattr(layout.settings, name).removeprefix(base_prefix)
        for name in ("plans", "archive", "superseded", "artifacts", "archive_artifacts")
    }
    guide_path = find_guide(
        lambda path: path_exists(base_prefix + path),
        os.path.join(os.path.dirname(directory), "PLANS.md"),
        f"{directory}/PLANS.md",
    )
    return layout._replace(base=base, settings=layout.settings._replace(guide=guide_path, **directory_settings))


def find_guide(path_exists: Callable[[str], bool], *extra_paths: str) -> str:
    """Return the path of the authoring guide, or its default path if none exists."""
    return next(
        (guide_path for guide_path in (*GUIDE_PATHS, *extra_paths) if path_exists(guide_path)), Settings().guide
    )


def _parents(directory: str) -> Iterable[str]:
    """Yield the parent directories of a directory."""
    while directory:
        directory = os.path.dirname(directory)
        yield directory


def _most_common(values: Sequence[T]) -> T | None:
    """Return the most frequent value, or None if there are no values."""
    return Counter(values).most_common(1)[0][0] if values else None
