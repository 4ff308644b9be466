"""Selection of the rules that run and their levels, from the profile, the settings and the options."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.linter.rule import ERROR, GIT_NEEDS, GRADUAL, HINT, LEVELS, RULES, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

DEFAULT: Final = "default"
STRICT: Final = "strict"
CI: Final = "ci"
PROFILES: Final = (DEFAULT, STRICT, CI)
"""Names of the rule profiles.

`default`: every rule that is on by default. `ci`: also rules that query Git. `strict`: also rules that are off by
default, and warnings fail.
"""


class RuleSelection(NamedTuple):
    """Rules selected by code or code prefix; if several names match a rule, the longest decides."""

    profile: str = ""
    select: tuple[str, ...] = ()
    """Selected rules; empty: those of the profile."""
    ignore: tuple[str, ...] = ()
    levels: tuple[tuple[str, str], ...] = ()
    """Codes with the level that replaces their own."""

    def overlay(self, base: RuleSelection) -> RuleSelection:
        """Return this selection with gaps filled from a base.

        Both ignore lists apply, except for base entries that this selection explicitly selects.
        """
        return RuleSelection(
            self.profile or base.profile,
            self.select or base.select,
            self.ignore + tuple([code for code in base.ignore if not _is_covered(self.select, code)]),
            base.levels + self.levels,
        )

    def active_levels(self) -> dict[str, str]:
        """Return the rules that run, each with its level."""
        level_overrides = dict(self.levels)
        levels = {}
        for code, rule in RULES.items():
            selected_length, ignored_length = _longest_match(self.select, code), _longest_match(self.ignore, code)
            is_selected = selected_length > 0 if self.select else rule.on or self.profile == STRICT
            if is_selected and (not ignored_length or ignored_length < selected_length):
                override_name = max([name for name in level_overrides if code.startswith(name)], key=len, default="")
                is_gradual = rule.unfinished and self.profile not in (STRICT, CI)
                levels[code] = level_overrides.get(override_name, GRADUAL if is_gradual else rule.level)
        return levels

    @property
    def failure_level(self) -> str:
        """Least severe level at which a finding fails the check."""
        return WARNING if self.profile == STRICT else ERROR

    @property
    def needs_history(self) -> bool:
        """Whether rules that query Git run for plans on disk."""
        if self.profile in (STRICT, CI):
            return True
        return any([rule.needs in GIT_NEEDS and _longest_match(self.select, code) > 0 for code, rule in RULES.items()])


def unknown_names(names: Sequence[str]) -> list[str]:
    """Return the names that match no rule's code."""
    return [name for name in names if not name or not any([code.startswith(name) for code in RULES])]


def levels_at_least(level: str) -> tuple[str, ...]:
    """Return the levels at least as severe as this one."""
    return LEVELS[: LEVELS.index(level or HINT) + 1]


def _longest_match(names: Sequence[str], code: str) -> int:
    """Return the length of the longest name that matches a code, or 0."""
    return max([len(name) for name in names if code.startswith(name)], default=0)


def _is_covered(names: Sequence[str], covered_name: str) -> bool:
    """Return whether any of the names equals the covered name or is more specific."""
    return any([name.startswith(covered_name) for name in names])
