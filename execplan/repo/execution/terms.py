"""The table `execution` of settings: what may stand in it, and what it says of the policy."""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError
from execplan.execution import policy as policies
from execplan.execution.attributes import LEVELS
from execplan.execution.permission import NEVER, READ_POLICIES
from execplan.execution.policy import ROLLBACK_CAUSES, CHANGED_PROGRAMS, PINS, SANDBOXES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OWN = "~/.config/execplan/config.toml"
_CHOICES = {
    "person_from": (*LEVELS, NEVER),
    "sandbox": SANDBOXES,
    "pin": PINS,
    "programs": CHANGED_PROGRAMS,
    "reads": READ_POLICIES,
}
_LIMITS = {
    "steps": 1000,
    "files": 100_000,
    "megabytes": 100_000,
    "seconds": 604_800,
    "memory_mb": 1_000_000,
    "processes": 100_000,
    "file_mb": 1_000_000,
    "output_kb": 100_000,
    "checkpoint_interval": 1000,
    "backup_days": 3650,
}
"""The largest value of each number; the smallest is 1."""
_OWN_ONLY = ("environment", "tools", "backup_days")
NAMES = (*_CHOICES, *_LIMITS, "rollback_on", "checks", "risk", "environment", "tools", "notify")
"""What a table `execution` of settings may hold."""


def values(said: dict[str, object]) -> dict[str, Any]:
    """What a checked table says of the policy by itself: all but the checks, the rows of risk and `notify`."""
    found: dict[str, Any] = {name: said[name] for name in (*_CHOICES, *_LIMITS) if name in said}
    for name in ("environment", "tools"):
        if isinstance(names := said.get(name), list):
            found[name] = tuple(sorted(set(names)))
    if isinstance(causes := said.get("rollback_on"), list):
        found["rollback_on"] = tuple([each for each in ROLLBACK_CAUSES if each in causes])
    return found


def checks(said: dict[str, object]) -> dict[str, bool]:
    """The checks that a checked table names, and whether each is on."""
    found = said.get("checks", {})
    return found if isinstance(found, dict) else {}


def check_table(table: dict[str, object], where: str, *, may_loosen: bool) -> None:
    """Refuse a table `execution` of settings that says what it can't, or loosens what it may not; raises ExecplanError."""
    for name, value in table.items():
        if name not in NAMES:
            raise _unknown(f"{where}: execution", name, NAMES)
        why = _why_not(name, value, f"{where}: execution.{name}")
        if why:
            raise ExecplanError(
                "bad-setting",
                f"{where}: execution.{name} {why}, not {value!r}",
                exit=INPUT,
                hint="what can be set: execplan explain policy",
            )
        if name == "risk" and isinstance(value, list):
            from execplan.execution.risk import rate as risk

            risk.extend_table(risk.builtin_table(), value, may_lower=may_loosen)
    if not may_loosen:
        _check_tight(table, where)


def _check_tight(table: dict[str, object], where: str) -> None:
    """Refuse what a repository may not say; raises ExecplanError."""
    said = {name: value for name, value in values(table).items() if name not in _OWN_ONLY}
    loose = [f"{name} = {table[name]!r}" for name, value in said.items() if policies.is_looser(name, value)]
    loose += [f"checks.{name} = false" for name, on in checks(table).items() if not on]
    loose += ["environment names what commands get to see"] if "environment" in table else []
    loose += ["tools names what an agent may do unplanned"] if "tools" in table else []
    loose += ["notify names code to run"] if "notify" in table else []
    loose += ["backup_days says when your backups are deleted"] if "backup_days" in table else []
    if loose:
        raise ExecplanError(
            "loosened-policy",
            f"{where}: a repository may only tighten the policy, but execution.{', execution.'.join(loose)}",
            exit=INPUT,
            hint=f"take it out; what is your own to loosen stands in {_OWN}, under [execution]",
        )


def _why_not(name: str, value: object, where: str) -> str:
    """What is wrong with the value of a setting, or nothing; raises ExecplanError for a name that is unknown."""
    if name in _CHOICES:
        return "" if value in _CHOICES[name] else f"is {', '.join([repr(each) for each in _CHOICES[name]])}"
    if name in _LIMITS:
        return "" if type(value) is int and 0 < value <= _LIMITS[name] else f"is a number from 1 to {_LIMITS[name]:,}"
    if name == "rollback_on":
        good = isinstance(value, list) and all([each in ROLLBACK_CAUSES for each in value])
        return "" if good else f"is a list of {', '.join(ROLLBACK_CAUSES)}"
    if name == "risk":
        good = isinstance(value, list) and all([isinstance(each, dict) for each in value])
        return "" if good else "is a list of tables"
    if name in ("environment", "tools"):
        kind, fits = ("variables", _is_variable) if name == "environment" else ("tools", _is_tool)
        return "" if isinstance(value, list) and all(map(fits, value)) else f"is a list of names of {kind}"
    if name == "notify":
        return "" if isinstance(value, str) and "\0" not in value else "is a command"
    if not isinstance(value, dict) or not all([type(on) is bool for on in value.values()]):
        return "is a table of checks, each true or false"
    from execplan.execution.evaluation.checks.every import CHECKS

    for check in value:
        if check not in CHECKS:
            raise _unknown(where, check, tuple(CHECKS))
    return ""


def _is_variable(name: object) -> bool:
    return isinstance(name, str) and name.isascii() and name.isidentifier()


def _is_tool(name: object) -> bool:
    return isinstance(name, str) and name.isprintable() and bool(name.strip(" *"))


def _unknown(where: str, name: str, known: tuple[str, ...]) -> ExecplanError:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1, cutoff=0.0)
    what = f"{where} knows {', '.join(known)}, not {name!r}"
    return ExecplanError("unknown-setting", what, exit=INPUT, hint=f"did you mean {near[0]}?")
