"""Which rules run and how bad it is what they find: by profile, by what the settings say, and by what was asked for."""

from __future__ import annotations

from execplan.lint.rule import ERROR, GRADUAL, HINT, LEVELS, OF_GIT, RULES, WARNING
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Final

DEFAULT: Final = "default"
STRICT: Final = "strict"
CI: Final = "ci"
PROFILES: Final = (DEFAULT, STRICT, CI)
"""`default`: every rule that is on. `ci`: git is asked, too. `strict`: rules that are off by default as well, and a warning fails."""


class Selection(NamedTuple):
    """Rules by their codes, or by how codes begin; of a rule that is named twice the longer name decides."""

    profile: str = ""
    select: tuple[str, ...] = ()
    """None: those of the profile."""
    ignore: tuple[str, ...] = ()
    levels: tuple[tuple[str, str], ...] = ()
    """Codes with the level that they get in place of their own."""

    def over(self, under: Selection) -> Selection:
        """This selection where it says something, else the one under it; what either ignores is ignored."""
        return Selection(
            self.profile or under.profile,
            self.select or under.select,
            self.ignore + tuple([each for each in under.ignore if not _names(self.select, each)]),
            under.levels + self.levels,
        )

    def active(self) -> dict[str, str]:
        """The rules that run, each with its level."""
        own = dict(self.levels)
        chosen = {}
        for code, rule in RULES.items():
            asked, ignored = _longest(self.select, code), _longest(self.ignore, code)
            wanted = asked > 0 if self.select else rule.on or self.profile == STRICT
            if wanted and (not ignored or ignored < asked):
                named = max([name for name in own if code.startswith(name)], key=len, default="")
                gradual = rule.unfinished and self.profile not in (STRICT, CI)
                chosen[code] = own.get(named, GRADUAL if gradual else rule.level)
        return chosen

    @property
    def fails(self) -> str:
        """The least level at which a finding makes the answer no."""
        return WARNING if self.profile == STRICT else ERROR

    @property
    def asks_history(self) -> bool:
        """Whether rules that ask git are wanted of plans as they are on disk."""
        if self.profile in (STRICT, CI):
            return True
        return any([rule.needs in OF_GIT and _longest(self.select, code) > 0 for code, rule in RULES.items()])


def unknown(names: Sequence[str]) -> list[str]:
    """Those of the names that no rule's code begins with."""
    return [name for name in names if not name or not any([code.startswith(name) for code in RULES])]


def at_least(level: str) -> tuple[str, ...]:
    """The levels that are as bad as this one, or worse."""
    return LEVELS[: LEVELS.index(level or HINT) + 1]


def _longest(names: Sequence[str], code: str) -> int:
    """The length of the longest name that names a code, or 0."""
    return max([len(name) for name in names if code.startswith(name)], default=0)


def _names(names: Sequence[str], other: str) -> bool:
    """Whether one of the names is as exact as another that it covers, or more."""
    return any([name.startswith(other) for name in names])
