"""Which rules run on a plan: what was asked for, over what the settings say for its path and for all."""

from __future__ import annotations

from execplan.lint.runner import DEFAULT_LEVELS
from execplan.lint.selection import RuleSelection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project

_PLAIN = RuleSelection()
_MADE: dict[tuple[RuleSelection, ...], dict[str, str]] = {}


def _said(table: dict[str, object], home: Project) -> RuleSelection:
    """What a table of the settings says; most settings have none, and what reads it is not loaded then."""
    if not table:
        return _PLAIN
    from execplan.repo.checking.table import selection

    return selection(table, f"the settings of {home.base}: lint")


def levels(home: Project, asked: RuleSelection, path: str) -> dict[str, str]:
    """The rules that run on a plan that lies at a path from the root, each with its level."""
    table = home.settings.lint
    if not table and asked == _PLAIN:
        return DEFAULT_LEVELS
    layers = (asked, *_matching(table, home, path), _said(table, home))
    if layers not in _MADE:
        _MADE[layers] = merged(*layers).active_levels()
    return _MADE[layers]


def wanted(home: Project, asked: RuleSelection) -> RuleSelection:
    """What was asked for, over what the settings say for all plans of a home."""
    return asked.overlay(_said(home.settings.lint, home))


def merged(*layers: RuleSelection) -> RuleSelection:
    """Selections in one, the first over the second and so on."""
    result = layers[0]
    for layer in layers[1:]:
        result = result.overlay(layer)
    return result


def _matching(table: dict[str, object], home: Project, path: str) -> list[RuleSelection]:
    """What the settings say for the path, the last pattern first; patterns count from the folder of the settings."""
    paths = table.get("paths")
    if not isinstance(paths, dict):
        return []
    from fnmatch import fnmatchcase

    base = home.display_path(home.base)
    inside = path.removeprefix(f"{base}/") if base else path
    return [
        _said(below, home)
        for pattern, below in reversed(paths.items())
        if fnmatchcase(inside, pattern) or inside.startswith(f"{pattern.rstrip('/')}/")
    ]
