"""Which rules run and how bad it is what they find: by profile, by what the settings say, and by what was asked for."""

from __future__ import annotations

from execplan.linter.rule import ERROR, GIT_NEEDS, GRADUAL, HINT, LEVELS, RULES, WARNING
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

DEFAULT: Final = "default"
STRICT: Final = "strict"
CI: Final = "ci"
PROFILES: Final = (DEFAULT, STRICT, CI)
"""`default`: every rule that is on. `ci`: git is asked, too. `strict`: rules that are off by default as well, and a warning fails."""


class RuleSelection(NamedTuple):
    """Rules by their codes, or by how codes begin; of a rule that is named twice the longer name decides."""

    profile: str = ""
    select: tuple[str, ...] = ()
    """None: those of the profile."""
    ignore: tuple[str, ...] = ()
    levels: tuple[tuple[str, str], ...] = ()
    """Codes with the level that they get in place of their own."""

    def overlay(self, base: RuleSelection) -> RuleSelection:
        """This selection where it says something, else the one under it; what either ignores is ignored."""
        return RuleSelection(
            self.profile or base.profile,
            self.select or base.select,
            self.ignore + tuple([code for code in base.ignore if not _is_covered(self.select, code)]),
            base.levels + self.levels,
        )

    def active_levels(self) -> dict[str, str]:
        """The rules that run, each with its level."""
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
        """The least level at which a finding makes the answer no."""
        return WARNING if self.profile == STRICT else ERROR

    @property
    def needs_history(self) -> bool:
        """Whether rules that ask git are wanted of plans as they are on disk."""
        if self.profile in (STRICT, CI):
            return True
        return any([rule.needs in GIT_NEEDS and _longest_match(self.select, code) > 0 for code, rule in RULES.items()])


def unknown_names(names: Sequence[str]) -> list[str]:
    """Those of the names that no rule's code begins with."""
    return [name for name in names if not name or not any([code.startswith(name) for code in RULES])]


def levels_at_least(level: str) -> tuple[str, ...]:
    """The levels that are as bad as this one, or worse."""
    return LEVELS[: LEVELS.index(level or HINT) + 1]


def _longest_match(names: Sequence[str], code: str) -> int:
    """The length of the longest name that names a code, or 0."""
    return max([len(name) for name in names if code.startswith(name)], default=0)


def _is_covered(names: Sequence[str], covered_name: str) -> bool:
    """Whether one of the names is as exact as another that it covers, or more."""
    return any([name.startswith(covered_name) for name in names])
