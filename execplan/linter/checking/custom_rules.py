"""Custom rules: files and entry points named by the user, run like the built-in rules."""

from __future__ import annotations

import os
import sys
from importlib import util

from execplan.core.errors import ExecplanError
from execplan.core.project import user_settings
from execplan.core.text.text_lines import digest
from execplan.linter.rule import BUILTIN_PREFIX, RULES, RuleMatch
from execplan.linter.runner import DEFAULT_LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.linter.rule import Check, ProjectCheck, ProjectMatch, Rule, RuleContext
    from execplan.linter.rule_facts import ProjectFacts

ENTRY_POINT_GROUP = "execplan.rules"
"""Entry point group in which a package registers modules of rules."""

_loaded_names: set[str] = set()
"""Names of the files and entry points loaded so far."""


def load_rules(names: Sequence[str]) -> None:
    """Load rule files and entry points, each once.

    Raises ExecplanError if one can't be loaded or its codes are taken or reserved.
    """
    for name in names:
        if name in _loaded_names:
            continue
        old_rules = dict(RULES)
        try:
            _load_file(name) if user_settings.is_rule_file(name) else _load_entry_point(name)
            if any([code.startswith(BUILTIN_PREFIX) for code in RULES.keys() - old_rules.keys()]):
                raise ValueError(f"codes that start with {BUILTIN_PREFIX} are reserved for execplan")
        except BaseException as error:
            RULES.clear()
            RULES.update(old_rules)
            if isinstance(error, (ExecplanError, KeyboardInterrupt)):
                raise
            raise _bad_rules_error(name, f"{type(error).__name__}: {error}") from error
        _loaded_names.add(name)
        for code in RULES.keys() - old_rules.keys():
            rule = RULES[code]
            RULES[code] = rule._replace(check=_guard_rule(name, rule), project_check=_guard_project_rule(name, rule))
            DEFAULT_LEVELS.update({code: rule.level} if rule.on else {})


def _load_file(path: str) -> None:
    if not os.path.isfile(path):
        raise _bad_rules_error(path, "file not found")
    module_name = f"execplan_rules_{digest(os.path.abspath(path).encode('utf-8', 'surrogateescape'))[:12]}"
    spec = util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise _bad_rules_error(path, "it is not a Python file")
    rules_module = util.module_from_spec(spec)
    sys.modules[module_name] = rules_module
    spec.loader.exec_module(rules_module)


def _load_entry_point(name: str) -> None:
    from importlib.metadata import entry_points

    matches = list(entry_points(group=ENTRY_POINT_GROUP, name=name))
    if not matches:
        names = sorted({entry_point.name for entry_point in entry_points(group=ENTRY_POINT_GROUP)})
        available = f"available: {', '.join(names)}" if names else "no installed package has any"
        raise _bad_rules_error(name, f"no entry point of {ENTRY_POINT_GROUP} has this name; {available}")
    matches[0].load()


def _guard_rule(name: str, rule: Rule) -> Check:
    """Return a rule's check that reports an exception or an invalid place as a failure of that rule."""

    def check(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
        try:
            for location in rule.check(plan, context):
                if not isinstance(location, RuleMatch) or not 0 <= location.line <= max(len(plan.text.lines) - 1, 0):
                    raise ValueError(f"it yields {location!r}, which is not a location in the plan")
                yield location
        except (Exception, SystemExit) as error:
            raise _rule_failed_error(name, rule, f" on {context.path}" if context.path else "", error) from error

    check.__doc__ = rule.check.__doc__
    return check


def _guard_project_rule(name: str, rule: Rule) -> ProjectCheck | None:
    """Return the check of a project rule, guarded in the same way."""
    project_check = rule.project_check
    if project_check is None:
        return None

    def check(facts: ProjectFacts) -> Iterator[ProjectMatch]:
        try:
            yield from project_check(facts)
        except (Exception, SystemExit) as error:
            raise _rule_failed_error(name, rule, "", error) from error

    check.__doc__ = project_check.__doc__
    return check


def _rule_failed_error(name: str, rule: Rule, location: str, error: BaseException) -> ExecplanError:
    return ExecplanError(
        "rule-failed",
        f"rule {rule.code} of {name} failed{location}: {type(error).__name__}: {error}",
        hint=f"correct the rule, or ignore it: --ignore {rule.code}",
    )


def _bad_rules_error(name: str, reason: str) -> ExecplanError:
    return ExecplanError(
        "bad-rules",
        f"the rules of {name} can't be loaded: {reason}",
        hint="see how to write rules: execplan explain own-rules",
    )
