"""Where a repository keeps its plans already: paths of plans → settings, without a disk."""

from __future__ import annotations

import os
from collections import Counter

from execplan.named_tuple import NamedTuple
from execplan.project import plan_names
from execplan.project.plan_directories import ACTIVE, FINISHED, GIVEN_UP, is_plans_directory_name
from execplan.project.project_settings import FLAT_LAYOUT, FOLDER_LAYOUT, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeVar

    T = TypeVar("T")

_SIBLING_FINISHED_NAMES = ("completed", "complete", "closed", "finished")
"""Folders for finished plans that stand beside one for active ones, rather than in the folder of these."""
_WRAPPER_NAMES = frozenset(("docs", "doc", "documentation", "design", "engineering", "internal", "notes"))
_COLLECTION_NAMES = frozenset(
    ("packages", "services", "apps", "libs", "crates", "modules", "projects", "plugins", "components")
)
_PACKAGE_MARKERS = (
    "package.json pyproject.toml setup.py Cargo.toml go.mod pom.xml build.gradle build.gradle.kts Gemfile composer.json "
    "mix.exs AGENTS.md CLAUDE.md .agent"
).split()
GUIDE_PATHS = (".agent/PLANS.md", "PLANS.md", "docs/PLANS.md", ".agents/PLANS.md")
"""Where a guide for authors may lie."""
_MIN_PLANS = 3
"""Plans that make a folder of any name one that plans are kept in."""


class PlanLayout(NamedTuple):
    """A folder that plans are kept in, with those beside it for plans that are finished."""

    base: str
    """The folder that settings count from, from the root; empty for the root itself."""
    directory: str
    """What the folders of the plans have in common, from the root."""
    settings: Settings
    plans: tuple[str, ...]
    """Those that the settings find."""


class DetectedLayouts(NamedTuple):
    """How a repository keeps its plans."""

    selected: tuple[PlanLayout, ...]
    """The largest of each base."""
    others: tuple[PlanLayout, ...]


class _PlanLocation(NamedTuple):
    """A plan's place, taken apart."""

    path: str
    directory: str
    """The folder without that of the state."""
    state_name: str
    """The name of the folder that says how far its plans are, or nothing."""
    date_depth: int
    """How many folders below that are named by year, month and day."""
    layout: str
    id: str


def detect_layouts(
    plans: Sequence[str], path_exists: Callable[[str], bool], requested: str | None = None
) -> DetectedLayouts:
    """The layouts that the paths of plans, from the root, come to; with a folder that is wanted, that one alone.

    `path_exists` says whether a path from the root exists.
    """
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
        _infer_layout(layout_directory, group, path_exists)
        for layout_directory, group in locations_by_directory.items()
        if layout_directory
    ]
    if requested is not None:
        requested_layouts = [
            layout for layout in found_layouts if requested in (layout.directory, layout.settings.plans)
        ]
        layout_directory = os.path.dirname(requested) if os.path.basename(requested).lower() in ACTIVE else requested
        layout = (
            requested_layouts[0] if requested_layouts else _infer_layout(layout_directory or requested, [], path_exists)
        )
        return DetectedLayouts((_relative_to_base(layout, "", path_exists),), ())
    found_layouts = [
        layout for layout in found_layouts if _is_plans_directory(layout, locations_by_directory[layout.directory])
    ]
    found_layouts.sort(
        key=lambda layout: (-len(layout.plans), layout.settings.plans != Settings().plans, layout.directory)
    )
    selected: dict[str, PlanLayout] = {}
    others = []
    for layout in found_layouts:
        base = _package_base(layout.directory, path_exists)
        if base in selected:
            others.append(layout)
        else:
            selected[base] = _relative_to_base(layout, base, path_exists)
    return DetectedLayouts(tuple([selected[base] for base in sorted(selected)]), tuple(others))


def _parse_location(path: str, name_counts: Counter[tuple[str, str]]) -> _PlanLocation:
    directory, name = os.path.split(path)
    parent, directory_name = os.path.split(directory)
    plan_id, layout = name.removesuffix(".md"), FLAT_LAYOUT
    if (
        parent
        and directory_name.lower() not in (*ACTIVE, *FINISHED, *GIVEN_UP)
        and not is_plans_directory_name(directory_name)
    ):
        if plan_id == directory_name or plan_id.endswith((f"_{directory_name}", f"-{directory_name}")):
            directory, layout = parent, FOLDER_LAYOUT
        elif plan_id.lower().replace("-", "").replace("_", "") == "execplan" or name_counts[parent, name] > 1:
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
    """Take the finished plans of `.agents/done` to those of `.agents/execplans`."""
    for directory, locations in list(locations_by_directory.items()):
        if (
            is_plans_directory_name(directory)
            or not directory
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


def _infer_layout(directory: str, locations: Sequence[_PlanLocation], path_exists: Callable[[str], bool]) -> PlanLayout:
    """The settings for the plans of one folder and of those below it that say how far they are."""
    layout = _most_common([location.layout for location in locations]) or FLAT_LAYOUT
    locations = [location for location in locations if location.layout == layout]
    finished_name = _state_directory(directory, locations, FINISHED, path_exists)
    active_name = _most_common(
        [location.state_name for location in locations if location.state_name.lower() in ("", *ACTIVE)]
    )
    if active_name is None:
        existing_names = [name for name in ACTIVE if path_exists(f"{directory}/{name}")]
        active_name = (
            existing_names[0]
            if existing_names
            else "active"
            if finished_name and finished_name.lower() in _SIBLING_FINISHED_NAMES
            else ""
        )
    parent = os.path.dirname(directory)
    if finished_name is None and os.path.basename(parent).startswith(".") and path_exists(f"{parent}/done"):
        finished_name = "../done"
    if finished_name is None:
        finished_name = "completed" if active_name else "archive"
    superseded_name = _state_directory(directory, locations, GIVEN_UP, path_exists)
    date_depth = (
        _most_common([location.date_depth for location in locations if location.state_name == finished_name]) or 0
    )
    plans, archive = [os.path.normpath(os.path.join(directory, name)) for name in (active_name, finished_name)]
    settings = Settings(
        plans=plans,
        archive=archive + "".join(["/{year}", "/{month}", "/{day}"][:date_depth]),
        superseded=os.path.normpath(os.path.join(directory, superseded_name)) if superseded_name else "",
        layout=layout,
        name=plan_names.guess_form([location.id for location in locations]) if locations else Settings().name,
    )
    if layout == FLAT_LAYOUT:
        settings = settings._replace(artifacts=f"{directory}/artifacts", archive_artifacts=f"{archive}/artifacts")
    plan_paths = [
        location.path for location in locations if location.state_name in (active_name, finished_name, superseded_name)
    ]
    return PlanLayout("", directory, settings, tuple(plan_paths))


def _state_directory(
    directory: str, locations: Sequence[_PlanLocation], names: Sequence[str], path_exists: Callable[[str], bool]
) -> str | None:
    """Which folder of a kind holds the most plans; else which of them there is."""
    most_used = _most_common(
        [location.state_name for location in locations if os.path.basename(location.state_name).lower() in names]
    )
    return most_used or next((name for name in names if path_exists(f"{directory}/{name}")), None)


def _is_plans_directory(layout: PlanLayout, locations: Sequence[_PlanLocation]) -> bool:
    """Whether plans are kept in a folder, rather than strewn there or laid off with what is old."""
    if {part.lower() for part in layout.directory.split("/")[:-1]} & {*FINISHED, *GIVEN_UP}:
        return False
    has_state = any([location.state_name for location in locations])
    return bool(layout.plans) and (
        is_plans_directory_name(layout.directory)
        or has_state
        or layout.settings.layout != FLAT_LAYOUT
        or len(layout.plans) >= _MIN_PLANS
    )


def _package_base(directory: str, path_exists: Callable[[str], bool]) -> str:
    """The package that a folder of plans belongs to; the root, where there is no sign of one."""
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
    """The layout with settings that count from a base, and with the guide that there is."""
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
    """Where the guide for authors is, or where it is put."""
    return next(
        (guide_path for guide_path in (*GUIDE_PATHS, *extra_paths) if path_exists(guide_path)), Settings().guide
    )


def _parents(directory: str) -> Iterable[str]:
    """The folders above a folder."""
    while directory:
        directory = os.path.dirname(directory)
        yield directory


def _most_common(values: Sequence[T]) -> T | None:
    """What occurs most often."""
    return Counter(values).most_common(1)[0][0] if values else None
