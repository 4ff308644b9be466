"""The rules in force for a plan: the requested selection over the settings of the plan's path and project."""

from __future__ import annotations

from execplan.linter.rule_selection import RuleSelection
from execplan.linter.runner import DEFAULT_LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.project.project import Project

_DEFAULT_SELECTION = RuleSelection()
_LEVELS_BY_LAYERS: dict[tuple[RuleSelection, ...], dict[str, str]] = {}


def _table_selection(table: dict[str, object], project: Project) -> RuleSelection:
    """Return the rule selection in a settings table.

    The parser is only imported if the table is not empty, which is rare.
    """
    if not table:
        return _DEFAULT_SELECTION
    from execplan.linter.lint_settings import parse_selection

    return parse_selection(table, f"the settings of {project.base}: lint")


def active_levels(project: Project, requested: RuleSelection, path: str) -> dict[str, str]:
    """Return the rules that run on a plan with this path from the root, each with its level."""
    table = project.settings.lint
    if not table and requested == _DEFAULT_SELECTION:
        return DEFAULT_LEVELS
    layers = (requested, *_path_selections(table, project, path), _table_selection(table, project))
    if layers not in _LEVELS_BY_LAYERS:
        _LEVELS_BY_LAYERS[layers] = merge_selections(*layers).active_levels()
    return _LEVELS_BY_LAYERS[layers]


def effective_selection(project: Project, requested: RuleSelection) -> RuleSelection:
    """Return the requested selection, with gaps filled from a project's settings for all plans."""
    return requested.overlay(_table_selection(project.settings.lint, project))


def merge_selections(*layers: RuleSelection) -> RuleSelection:
    """Merge selections, where each takes precedence over those after it."""
    combined = layers[0]
    for layer in layers[1:]:
        combined = combined.overlay(layer)
    return combined


def _path_selections(table: dict[str, object], project: Project, path: str) -> list[RuleSelection]:
    """Return the selections for a path from the settings, last pattern first.

    Patterns are relative to the directory of the settings.
    """
    paths = table.get("paths")
    if not isinstance(paths, dict):
        return []
    from fnmatch import fnmatchcase

    base_prefix = project.display_path(project.base)
    relative_path = path.removeprefix(f"{base_prefix}/") if base_prefix else path
    return [
        _table_selection(path_table, project)
        for pattern, path_table in reversed(paths.items())
        if fnmatchcase(relative_path, pattern) or relative_path.startswith(f"{pattern.rstrip('/')}/")
    ]
