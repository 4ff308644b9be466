"""Settings that select lint rules, for all plans or for paths."""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError
from execplan.linter.rule import BUILTIN_PREFIX, RULES
from execplan.linter.rule_selection import RuleSelection, unknown_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def parse_selection(table: dict[str, object], location: str) -> RuleSelection:
    """Parse a checked settings table into a rule selection. Raises ExecplanError for unknown rule names."""
    profile, code_lists, level_table = (
        table.get("profile", ""),
        [table.get(name, ()) for name in ("select", "ignore")],
        table.get("levels", {}),
    )
    select, ignore = [tuple(codes) if isinstance(codes, list) else () for codes in code_lists]
    levels = tuple(level_table.items()) if isinstance(level_table, dict) else ()
    ensure_known_rules(_builtin_names([*select, *ignore, *dict(levels)]), location)
    return RuleSelection(str(profile), select, ignore, levels)


def ensure_known_rules(names: Sequence[str], location: str) -> None:
    """Raise ExecplanError for names that are no prefix of a rule code."""
    for name in unknown_names(names):
        from execplan.text.suggestions import closest_names

        raise ExecplanError(
            "no-such-rule",
            f"{location}: no rule has the code or the prefix {name!r}",
            exit=INPUT,
            hint="list the rules: execplan explain --codes",
            candidates=[f"{code}  {RULES[code].summary}" for code in closest_names(name.upper(), RULES)],
        )


def _builtin_names(names: Iterable[str]) -> list[str]:
    """Return the names of built-in rules; the custom rules of one user are unknown to others."""
    return [name for name in names if name.startswith(BUILTIN_PREFIX) or not name]
