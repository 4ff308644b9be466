"""The table `lint` of the settings: refused where it says what it can't, else a selection of rules."""

from __future__ import annotations

from execplan.errors import INPUT, POLICY, ExecplanError
from execplan.lint.rule import LEVELS, BUILTIN_PREFIX, RULES
from execplan.lint.selection import PROFILES, RuleSelection, unknown_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LISTS = ("select", "ignore")


def selection(table: dict[str, object], where: str) -> RuleSelection:
    """A table of settings whose form was checked, as a selection; raises ExecplanError for names of no rule."""
    profile, lists, own = table.get("profile", ""), [table.get(name, ()) for name in _LISTS], table.get("levels", {})
    select, ignore = [tuple(each) if isinstance(each, list) else () for each in lists]
    levels = tuple(own.items()) if isinstance(own, dict) else ()
    check_names(_ours([*select, *ignore, *dict(levels)]), where)
    return RuleSelection(str(profile), select, ignore, levels)


def check_table(table: dict[str, object], where: str) -> None:
    """Refuse a table `lint` of settings that says what it can't; raises ExecplanError."""
    _check(table, f"{where}: lint", ("profile", *_LISTS, "levels", "paths"))
    paths = table.get("paths", {})
    if not isinstance(paths, dict) or not all([isinstance(each, dict) for each in paths.values()]):
        raise _bad(
            "bad-setting",
            f"{where}: lint.paths",
            "takes a table for each pattern: paths.'docs/old/*' = { ignore = ['EP2'] }",
        )
    for pattern, below in paths.items():
        _check(below, f"{where}: lint.paths.{pattern!r}", (*_LISTS, "levels"))


def check_names(names: Sequence[str], where: str) -> None:
    """Refuse names with which no code of a rule begins; raises ExecplanError."""
    for name in unknown_names(names):
        from difflib import get_close_matches

        near = get_close_matches(name.upper(), list(RULES), n=3, cutoff=0.6)
        raise ExecplanError(
            "no-such-rule",
            f"{where}: there is no rule {name!r}, and none whose code begins so",
            exit=INPUT,
            hint="see which there are: execplan explain",
            candidates=[f"{code}  {RULES[code].summary}" for code in near],
        )


def _check(table: dict[str, object], where: str, known: tuple[str, ...]) -> None:
    for key, value in table.items():
        if key == "rules":
            raise ExecplanError(
                "rules-of-repository",
                f"{where}: a repository names no code to run, so it has no rules of its own",
                exit=POLICY,
                hint="name them in your own settings, under lint.rules, or with --rules FILE",
            )
        if key not in known:
            raise _bad("unknown-setting", where, f"knows {', '.join(known)}, not {key!r}")
        if key == "profile" and value not in PROFILES:
            raise _bad("bad-setting", f"{where}.profile", f"is {', '.join(PROFILES)}, not {value!r}")
        if key in _LISTS:
            if not isinstance(value, list) or not all([isinstance(each, str) for each in value]):
                raise _bad("bad-setting", f"{where}.{key}", "takes a list of codes, or of how codes begin")
        if key == "levels":
            if not isinstance(value, dict) or not all([each in LEVELS for each in value.values()]):
                raise _bad(
                    "bad-setting",
                    f"{where}.levels",
                    f"takes codes with {', '.join(LEVELS)}: levels = {{ EP204 = 'error' }}",
                )


def _ours(names: Iterable[str]) -> list[str]:
    """The names of rules that everybody has; somebody else's own rules are known to nobody else."""
    return [name for name in names if name.startswith(BUILTIN_PREFIX) or not name]


def _bad(code: str, where: str, why: str) -> ExecplanError:
    return ExecplanError(code, f"{where} {why}", exit=INPUT, hint="what can be set: execplan explain lint")
