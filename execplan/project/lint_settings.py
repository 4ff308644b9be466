"""Settings that select lint rules: the tables for all plans and for paths, parsed and checked."""

from __future__ import annotations

from execplan.errors import INPUT, POLICY, ExecplanError
from execplan.linter.rule import BUILTIN_PREFIX, LEVELS, RULES
from execplan.linter.rule_selection import PROFILES, RuleSelection, unknown_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_LIST_KEYS = ("select", "ignore")


def parse_selection(table: dict[str, object], location: str) -> RuleSelection:
    """Parse a checked settings table into a rule selection. Raises ExecplanError for unknown rule names."""
    profile, code_lists, level_table = (
        table.get("profile", ""),
        [table.get(name, ()) for name in _LIST_KEYS],
        table.get("levels", {}),
    )
    select, ignore = [tuple(codes) if isinstance(codes, list) else () for codes in code_lists]
    levels = tuple(level_table.items()) if isinstance(level_table, dict) else ()
    ensure_known_rules(_builtin_names([*select, *ignore, *dict(levels)]), location)
    return RuleSelection(str(profile), select, ignore, levels)


def check_lint_table(table: dict[str, object], location: str) -> None:
    """Raise ExecplanError for an invalid `lint` table of the settings."""
    _check_keys(table, f"{location}: lint", ("profile", *_LIST_KEYS, "levels", "paths"))
    paths = table.get("paths", {})
    if not isinstance(paths, dict) or not all([isinstance(path_table, dict) for path_table in paths.values()]):
        raise _setting_error(
            "bad-setting",
            f"{location}: lint.paths",
            "takes a table for each pattern: paths.'docs/old/*' = { ignore = ['EP2'] }",
        )
    for pattern, path_table in paths.items():
        _check_keys(path_table, f"{location}: lint.paths.{pattern!r}", (*_LIST_KEYS, "levels"))


def ensure_known_rules(names: Sequence[str], location: str) -> None:
    """Raise ExecplanError for names that are no prefix of a rule code."""
    for name in unknown_names(names):
        from execplan.text.suggestions import closest_names

        raise ExecplanError(
            "no-such-rule",
            f"{location}: there is no rule {name!r}, and none whose code begins so",
            exit=INPUT,
            hint="see which there are: execplan explain",
            candidates=[f"{code}  {RULES[code].summary}" for code in closest_names(name.upper(), RULES)],
        )


def _check_keys(table: dict[str, object], location: str, known_keys: tuple[str, ...]) -> None:
    for key, value in table.items():
        if key == "rules":
            raise ExecplanError(
                "rules-of-repository",
                f"{location}: a repository names no code to run, so it has no rules of its own",
                exit=POLICY,
                hint="name them in your own settings, under lint.rules, or with --rules FILE",
            )
        if key not in known_keys:
            raise _setting_error("unknown-setting", location, f"knows {', '.join(known_keys)}, not {key!r}")
        if key == "profile" and value not in PROFILES:
            raise _setting_error("bad-setting", f"{location}.profile", f"is {', '.join(PROFILES)}, not {value!r}")
        if key in _LIST_KEYS:
            if not isinstance(value, list) or not all([isinstance(code, str) for code in value]):
                raise _setting_error("bad-setting", f"{location}.{key}", "takes a list of codes, or of how codes begin")
        if key == "levels":
            if not isinstance(value, dict) or not all([level in LEVELS for level in value.values()]):
                raise _setting_error(
                    "bad-setting",
                    f"{location}.levels",
                    f"takes codes with {', '.join(LEVELS)}: levels = {{ EP204 = 'error' }}",
                )


def _builtin_names(names: Iterable[str]) -> list[str]:
    """Return the names of built-in rules; the custom rules of one user are unknown to others."""
    return [name for name in names if name.startswith(BUILTIN_PREFIX) or not name]


def _setting_error(code: str, location: str, problem: str) -> ExecplanError:
    return ExecplanError(code, f"{location} {problem}", exit=INPUT, hint="what can be set: execplan explain lint")
