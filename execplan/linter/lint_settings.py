"""The `lint` table of the settings: which rules run, for all plans or for paths."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.project.setting_shapes import choice, is_text, list_of, table_of
from execplan.core.project.setting_table import Setting, SettingTable, check_table
from execplan.linter.rule import BUILTIN_PREFIX, LEVELS, RULES
from execplan.linter.rule_selection import PROFILES, RuleSelection, unknown_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Final


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
        from execplan.core.text.suggestions import closest_names

        raise ExecplanError(
            "no-such-rule",
            f"{location}: no rule has the code or the prefix {name!r}",
            hint="list the rules: execplan explain --codes",
            candidates=[f"{code}  {RULES[code].summary}" for code in closest_names(name.upper(), RULES)],
        )


def _builtin_names(names: Iterable[str]) -> list[str]:
    """Return the names of built-in rules; the custom rules of one user are unknown to others."""
    return [name for name in names if name.startswith(BUILTIN_PREFIX) or not name]


def _check_lint_table(table: dict[str, object], source: str) -> None:
    known_names = [setting.name for setting in _SETTINGS if not setting.user_only]
    _ensure_no_rules(table, f"{source}: lint")
    check_table("lint", table, f"{source}: lint", known_names)
    paths = table.get("paths", {})
    for pattern, path_table in paths.items() if isinstance(paths, dict) else ():
        location = f"{source}: lint.paths.{pattern!r}"
        _ensure_no_rules(path_table, location)
        check_table("lint", path_table, location, ("select", "ignore", "levels"))


def _ensure_no_rules(table: Mapping[str, object], location: str) -> None:
    if "rules" in table:
        raise ExecplanError(
            "rules-of-repository",
            f"{location}: a repository can't name code to run, so it can't have its own rules",
            hint="put them in your own settings under lint.rules, or use --rules FILE",
        )


_CODES: Final = list_of("codes of rules", "must be a list of rule codes or their prefixes", is_text, quotes=False)
_SETTINGS: Final = (
    Setting("profile", choice(PROFILES, ", ".join(PROFILES)), "The rules that run by default.", "default"),
    Setting("select", _CODES, "The rules that run instead of those of the profile.", []),
    Setting("ignore", _CODES, "Rules that do not run.", []),
    Setting(
        "levels",
        table_of(
            "codes with levels",
            f"must map codes to {', '.join(LEVELS)}: levels = {{ EP204 = 'error' }}",
            lambda level: level in LEVELS,
            quotes=False,
        ),
        "The levels of findings, by rule code.",
        {},
    ),
    Setting(
        "paths",
        table_of(
            "patterns with tables",
            "must be a table for each pattern: paths.'docs/old/*' = { ignore = ['EP2'] }",
            lambda table: isinstance(table, dict),
            quotes=False,
        ),
        "`select`, `ignore` and `levels` for the plans whose paths match a pattern.",
        {},
    ),
    Setting(
        "rules",
        list_of(
            "files and entry points",
            "must be a list of files and entry points",
            lambda name: is_text(name) and bool(name),
            quotes=False,
        ),
        "Your own rules: execplan explain own-rules.",
        [],
        "names code to run",
    ),
)
TABLE: Final = SettingTable("In a repository's settings; `rules` only in your own.", _SETTINGS, _check_lint_table)
