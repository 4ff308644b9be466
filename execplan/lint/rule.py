"""What a rule is: one function with its page in its docstring, and what it finds."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Final

    from execplan.plan.model import Plan

ERROR: Final = "error"
WARNING: Final = "warning"
HINT: Final = "hint"


class Given(NamedTuple):
    """What a rule is told besides the plan."""

    archived: bool = False
    draft_is_fine: bool = False
    """Whether a draft may still hold guidance and no task, as a hook allows."""


class Place(NamedTuple):
    """Where a rule found something and what; lines and columns count from 0, ends are exclusive."""

    message: str
    line: int
    column: int
    end_line: int
    end_column: int


class Finding(NamedTuple):
    """One thing to mend; lines and columns count from 1 in code points, ends are inclusive."""

    code: str
    level: str
    line: int
    column: int
    end_line: int
    end_column: int
    message: str

    def to_json(self, path: str = "") -> dict[str, object]:
        """The finding as a document shows it."""
        return {
            "code": self.code,
            "level": self.level,
            "path": path,
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
            "message": self.message,
            "fix": None,
        }


if TYPE_CHECKING:
    Check = Callable[[Plan, Given], Iterable[Place]]


class Rule(NamedTuple):
    """A rule as it is registered."""

    code: str
    level: str
    check: Check

    @property
    def page(self) -> str:
        """Sentence, why, `Bad:` and `Good:`, as the function's docstring has them."""
        lines = (self.check.__doc__ or "").strip("\n").split("\n")
        return "\n".join([line.removeprefix("    ") for line in lines]).strip()

    @property
    def sentence(self) -> str:
        """What the rule is about."""
        return self.page.split("\n", 1)[0]


RULES: dict[str, Rule] = {}
"""Every rule by its code, in the order in which findings on one line are shown."""


def rule(code: str, level: str) -> Callable[[Check], Check]:
    """Register a function as the rule of a code."""

    def register(check: Check) -> Check:
        RULES[code] = Rule(code, level, check)
        return check

    return register


def on_line(plan: Plan, line: int, message: str) -> Place:
    """A place that is the words of one line."""
    words = plan.text.lines[line] if line < len(plan.text.lines) else ""
    begin = len(words) - len(words.lstrip())
    return Place(message, line, begin, line + 1, max(len(words.rstrip()), begin + 1))
