"""Plans directories of tools that are set up in a repository or in its packages, also before they have plans."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from execplan.core.project.plan_dialects import dialect_of, load_dialects
from execplan.core.project.plan_directories import tool_directories
from execplan.core.project.plan_discovery import is_plan_file
from execplan.core.scaffold.plan_layouts import DetectedLayouts, PlanLayout, detect_layouts


def include_tools(
    detected: DetectedLayouts, root: str, files: Sequence[str], own: Mapping[str, object]
) -> DetectedLayouts:
    """Return the layouts of a repository with those of the tools that are set up there, given all its Markdown files.

    A package in which a tool is set up is searched like a repository: its plans can be in `specs`. `own` is the setting
    `dialects`.
    """
    packages = _tool_packages(files)
    selected = [layout for layout in detected.selected if layout.base not in packages]
    other_layouts = [layout for layout in detected.others if layout.base not in packages]
    for package in packages:
        base = os.path.join(root, package)
        paths = [path.removeprefix(f"{package}/") for path in files if path.startswith(f"{package}/")]
        package_layouts = detect_layouts(
            [path for path in paths if is_plan_file(base, path, own)], _existence_test(base)
        )
        selected += [_in_package(layout, package) for layout in package_layouts.selected if not layout.base]
        other_layouts += [_in_package(layout, package) for layout in package_layouts.others if not layout.base]
    for package in ("", *packages):
        for layout in _iter_empty_layouts(os.path.join(root, package), package, [*selected, *other_layouts]):
            has_layout = package in [selected_layout.base for selected_layout in selected]
            (other_layouts if has_layout else selected).append(layout)
    selected.sort(key=lambda layout: layout.base)
    return detected._replace(selected=tuple(selected), others=tuple(other_layouts))


def _tool_packages(files: Sequence[str]) -> list[str]:
    """Return the directories below the root that contain the marker of a tool, from the root."""
    markers = [dialect.marker for dialect in load_dialects() if dialect.marker]
    return sorted(
        {
            path.partition(f"/{marker}/")[0]
            for marker in markers
            for path in files
            if f"/{marker}/" in path and not path.startswith(f"{marker}/")
        }
    )


def _iter_empty_layouts(base: str, package: str, layouts: Sequence[PlanLayout]) -> Iterator[PlanLayout]:
    """Yield a layout for each tool that is set up in a directory and has no layout there yet."""
    known_names = {dialect_of(layout.directory).name for layout in layouts if layout.base == package}
    for directory in tool_directories(base):
        if dialect_of(directory).name not in known_names:
            yield from [
                _in_package(layout, package) for layout in detect_layouts((), _existence_test(base), directory).selected
            ]


def _in_package(layout: PlanLayout, package: str) -> PlanLayout:
    """Return a layout that was found in a package as one of the repository."""
    if not package:
        return layout
    plans = tuple([f"{package}/{path}" for path in layout.plans])
    return layout._replace(base=package, directory=f"{package}/{layout.directory}", plans=plans)


def _existence_test(base: str) -> Callable[[str], bool]:
    return lambda path: os.path.lexists(os.path.join(base, path))
