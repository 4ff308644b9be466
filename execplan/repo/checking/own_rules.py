"""Rules of one's own: files and entry points that the user names, run like those that come with execplan."""

from __future__ import annotations

import os
import sys
from importlib import util

from execplan.errors import INPUT, ExecplanError
from execplan.lint.rule import BUILTIN_PREFIX, RULES, RuleMatch
from execplan.lint.runner import DEFAULT_LEVELS
from execplan.repo import own
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.lint.facts import ProjectFacts
    from execplan.lint.rule import Check, RuleContext, ProjectCheck, Rule, ProjectMatch
    from execplan.plan.model import Plan

GROUP = "execplan.rules"
"""The group of entry points in which a package names modules of rules."""

_loaded: set[str] = set()
"""What was loaded so far."""


def load(names: Sequence[str]) -> None:
    """Load files and entry points, each once; raises ExecplanError for one that can't be loaded, or whose codes are taken."""
    for name in names:
        if name in _loaded:
            continue
        before = dict(RULES)
        try:
            _file(name) if own.is_rule_file(name) else _entry(name)
            if any([code.startswith(BUILTIN_PREFIX) for code in RULES.keys() - before.keys()]):
                raise ValueError(f"codes that begin with {BUILTIN_PREFIX} are for the rules of execplan")
        except BaseException as error:
            RULES.clear()
            RULES.update(before)
            if isinstance(error, (ExecplanError, KeyboardInterrupt)):
                raise
            raise _broken(name, f"{type(error).__name__}: {error}") from error
        _loaded.add(name)
        for code in RULES.keys() - before.keys():
            rule = RULES[code]
            RULES[code] = rule._replace(check=_guarded(name, rule), project_check=_guarded_home(name, rule))
            DEFAULT_LEVELS.update({code: rule.level} if rule.on else {})


def _file(path: str) -> None:
    if not os.path.isfile(path):
        raise _broken(path, "there is no such file")
    module = f"execplan_rules_{digest(os.path.abspath(path).encode('utf-8', 'surrogateescape'))[:12]}"
    spec = util.spec_from_file_location(module, path)
    if spec is None or spec.loader is None:
        raise _broken(path, "it is no Python file")
    made = util.module_from_spec(spec)
    sys.modules[module] = made
    spec.loader.exec_module(made)


def _entry(name: str) -> None:
    from importlib.metadata import entry_points

    found = list(entry_points(group=GROUP, name=name))
    if not found:
        names = sorted({each.name for each in entry_points(group=GROUP)})
        there = f"there are: {', '.join(names)}" if names else "no package that is installed has any"
        raise _broken(name, f"no entry point of {GROUP} has this name; {there}")
    found[0].load()


def _guarded(name: str, rule: Rule) -> Check:
    """A rule whose failure is told as what it is, as is a place that no plan has."""

    def check(plan: Plan, given: RuleContext) -> Iterator[RuleMatch]:
        try:
            for place in rule.check(plan, given):
                if not isinstance(place, RuleMatch) or not 0 <= place.line <= max(len(plan.text.lines) - 1, 0):
                    raise ValueError(f"it yields {place!r}, which is no place of the plan")
                yield place
        except (Exception, SystemExit) as error:
            raise _failed(name, rule, f" on {given.path}" if given.path else "", error) from error

    check.__doc__ = rule.check.__doc__
    return check


def _guarded_home(name: str, rule: Rule) -> ProjectCheck | None:
    """A rule about a home, likewise."""
    of_home = rule.project_check
    if of_home is None:
        return None

    def check(shelf: ProjectFacts) -> Iterator[ProjectMatch]:
        try:
            yield from of_home(shelf)
        except (Exception, SystemExit) as error:
            raise _failed(name, rule, "", error) from error

    check.__doc__ = of_home.__doc__
    return check


def _failed(name: str, rule: Rule, where: str, error: BaseException) -> ExecplanError:
    return ExecplanError(
        "rule-failed",
        f"the rule {rule.code} of {name} failed{where}: {type(error).__name__}: {error}",
        exit=INPUT,
        hint=f"mend the rule, or leave it out: --ignore {rule.code}",
    )


def _broken(name: str, why: str) -> ExecplanError:
    return ExecplanError(
        "bad-rules",
        f"the rules of {name} can't be loaded: {why}",
        exit=INPUT,
        hint="how they are written: execplan explain own-rules",
    )
