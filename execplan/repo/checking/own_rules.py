"""Rules of one's own: files and entry points that the user names, run like those that come with execplan."""

from __future__ import annotations

import os
import sys
from importlib import util

from execplan.errors import INPUT, ExecplanError
from execplan.lint.rule import OURS, RULES
from execplan.lint.runner import DEFAULT
from execplan.repo import own
from execplan.text import disk
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.lint.rule import Check, Given, Place, Rule
    from execplan.plan.model import Plan

GROUP = "execplan.rules"
"""The group of entry points in which a package names modules of rules."""
_LIMIT = 1 << 20

loaded: dict[str, str] = {}
"""What was loaded so far, each with what tells it from another version of it."""


def load(names: Sequence[str]) -> None:
    """Load files and entry points, each once; raises ExecplanError for one that can't be loaded, or whose codes are taken."""
    for name in names:
        if name in loaded:
            continue
        before = dict(RULES)
        try:
            loaded[name] = _file(name) if own.is_file(name) else _entry(name)
        except ExecplanError:
            raise
        except Exception as error:
            RULES.clear()
            RULES.update(before)
            raise _broken(name, f"{type(error).__name__}: {error}") from error
        for code, rule in RULES.items():
            if code not in before:
                RULES[code] = rule._replace(check=_guarded(name, rule))
                DEFAULT.update({code: rule.level} if rule.on else {})
        if any([code.startswith(OURS) for code in RULES.keys() - before.keys()]):
            RULES.clear()
            RULES.update(before)
            raise _broken(name, f"codes that begin with {OURS} are for the rules of execplan")


def _file(path: str) -> str:
    data, size = disk.read(path, _LIMIT)
    if size > _LIMIT:
        raise _broken(path, f"it has {size:,} bytes")
    module = f"execplan_rules_{digest(os.path.abspath(path).encode('utf-8', 'surrogateescape'))[:12]}"
    spec = util.spec_from_file_location(module, path)
    if spec is None or spec.loader is None:
        raise _broken(path, "it is no Python file")
    made = util.module_from_spec(spec)
    sys.modules[module] = made
    spec.loader.exec_module(made)
    return digest(data)


def _entry(name: str) -> str:
    from importlib.metadata import entry_points

    found = list(entry_points(group=GROUP, name=name))
    if not found:
        names = sorted({each.name for each in entry_points(group=GROUP)})
        there = f"there are: {', '.join(names)}" if names else "no package that is installed has any"
        raise _broken(name, f"no entry point of {GROUP} has this name; {there}")
    found[0].load()
    return found[0].dist.version if found[0].dist is not None else ""


def _guarded(name: str, rule: Rule) -> Check:
    """A rule whose failure is told as what it is."""

    def check(plan: Plan, given: Given) -> Iterator[Place]:
        try:
            yield from rule.check(plan, given)
        except Exception as error:
            where = f" on {given.path}" if given.path else ""
            raise ExecplanError(
                "rule-failed",
                f"the rule {rule.code} of {name} failed{where}: {type(error).__name__}: {error}",
                exit=INPUT,
                hint=f"mend the rule, or leave it out: --ignore {rule.code}",
            ) from error

    check.__doc__ = rule.check.__doc__
    return check


def _broken(name: str, why: str) -> ExecplanError:
    return ExecplanError(
        "bad-rules",
        f"the rules of {name} can't be loaded: {why}",
        exit=INPUT,
        hint="how they are written: execplan explain own-rules",
    )
