"""What a rule is: one function with its page in its docstring, and what it finds."""

from __future__ import annotations

from execplan.linter.plan_source import EMPTY_SOURCE
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Final

    from execplan.linter.plan_source import PlanSource, Span
    from execplan.linter.rule_facts import Clock, GitHistory, ProjectFacts, RepositoryTree
    from execplan.plan.model import ParsedPlan
    from execplan.text.line_edit import Edit

ERROR: Final = "error"
WARNING: Final = "warning"
HINT: Final = "hint"
LEVELS: Final = (ERROR, WARNING, HINT)
NOTICE: Final = "notice"
"""In place of a level: the file is not a plan, so no rule ran."""
GRADUAL: Final = "gradual"
"""In a selection of rules: the level depends on whether the plan is complete (`Rule.level_of`)."""

BYTES: Final = "bytes"
CLOCK: Final = "clock"
TREE: Final = "tree"
HISTORY: Final = "history"
COMMIT: Final = "commit"
PROJECT: Final = "home"
"""What a rule needs besides the plan; a rule whose need is not given does not run.

`commit` is the plan as it was committed, which git tells at once; `history` is all that git can be asked. A rule that needs
a home is about no single plan.
"""
GIT_NEEDS: Final = (HISTORY, COMMIT)

SAFE: Final = "safe"
UNSAFE: Final = "unsafe"
NO_FIX: Final = "none"
"""Whether what mends a finding keeps what the plan says, may change it, or is for a person to write."""


class RuleContext(NamedTuple):
    """What a rule is told besides the plan."""

    is_archived: bool = False
    is_superseded: bool = False
    """Whether it is archived among the plans that were given up, where open tasks are no wonder."""
    in_project: bool = False
    """Whether it lies among the plans of a home, from where it can be archived."""
    allows_draft: bool = False
    """Whether a draft may have placeholder text and no task, and a complete plan no outcome yet, as a hook allows."""
    skips_other_files: bool = False
    """Whether a file that is not a plan is skipped: nobody named it."""
    path: str = ""
    """The plan's, from the repository's root; empty for a text that lies nowhere."""
    id: str = ""
    """Its id, where its folder decides that; empty: its file's name without `.md`."""
    name_format: str = "{date}_{slug}"
    """How the settings name plans; empty for a plan that lies in none of their folders."""
    stalled_days: int = 14
    clock: Clock | None = None
    tree: RepositoryTree | None = None
    history: GitHistory | None = None
    source: PlanSource = EMPTY_SOURCE
    """What the plan's lines hold beyond its structure; the runner puts it there."""


class RuleMatch(NamedTuple):
    """Where a rule found something and what; lines and columns count from 0, ends are exclusive."""

    message: str
    line: int
    column: int
    end_line: int
    end_column: int
    edits: tuple[Edit, ...] = ()
    """What mends it, as the rule's kind of fix says; none: this one is for a person."""


class Fix(NamedTuple):
    """What mends a finding; lines of its edits count from 0."""

    kind: str
    edits: tuple[Edit, ...]

    @property
    def is_displayable(self) -> bool:
        """Whether a document may show it: one whose lines hold a secret is made, and not told."""
        from execplan.secrets.certain_secrets import find_secrets

        return not any([find_secrets(line) for edit in self.edits for line in edit.lines])

    def to_json(self) -> dict[str, object]:
        """The fix as a document shows it: lines from 1, the end inclusive, so that an insertion ends before it starts."""
        edits = [{"line_start": edit.start + 1, "line_end": edit.end, "lines": list(edit.lines)} for edit in self.edits]
        return {"kind": self.kind, "edits": edits}


class Finding(NamedTuple):
    """One thing to mend; lines and columns count from 1 in code points, ends are inclusive."""

    code: str
    level: str
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    fix: Fix | None = None

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
            "fix": self.fix.to_json() if self.fix is not None and self.fix.is_displayable else None,
        }


class ProjectMatch(NamedTuple):
    """What a rule about a home found: a file or a folder, by its path from the root, and what is to be said of it."""

    path: str
    message: str


if TYPE_CHECKING:
    Check = Callable[[ParsedPlan, RuleContext], Iterable[RuleMatch]]
    ProjectCheck = Callable[[ProjectFacts], Iterable[ProjectMatch]]


class Rule(NamedTuple):
    """A rule as it is registered."""

    code: str
    level: str
    """Unless the settings say otherwise."""
    check: Check
    needs: str = BYTES
    fix: str = NO_FIX
    on: bool = True
    """Whether it runs where nobody selects it."""
    project_check: ProjectCheck | None = None
    """What a rule about a home does, in place of `check`."""
    unfinished: str = ""
    """Its level for a plan with open tasks, outside of the profiles `strict` and `ci`; empty: the same."""

    def level_of(self, level: str, *, complete: bool) -> str:
        """The level for a plan, where `level` is what the selection of rules says."""
        return level if level != GRADUAL else self.level if complete else self.unfinished

    @property
    def help_text(self) -> str:
        """Sentence, why, `Bad:` and `Good:`, as the function's docstring has them."""
        lines = ((self.project_check or self.check).__doc__ or "").strip("\n").split("\n")
        return "\n".join([line.removeprefix("    ") for line in lines]).strip()

    @property
    def summary(self) -> str:
        """What the rule is about."""
        return self.help_text.split("\n", 1)[0]


BUILTIN_PREFIX: Final = "EP"
"""How the codes of the rules begin that come with execplan; no other rule's may."""

RULES: dict[str, Rule] = {}
"""Every rule by its code, in the order in which findings on one line are shown."""


def rule(
    code: str, level: str, *, needs: str = BYTES, fix: str = NO_FIX, on: bool = True, unfinished: str = ""
) -> Callable[[Check], Check]:
    """Register a function as the rule of a code; raises ValueError for a code that is taken or a level that is none."""

    def register(check: Check) -> Check:
        _register(Rule(code, level, check, needs, fix, on, unfinished=unfinished))
        return check

    return register


def project_rule(code: str, level: str, *, on: bool = True) -> Callable[[ProjectCheck], ProjectCheck]:
    """Register a function as the rule of a code, about a home and not about one of its plans; raises ValueError as `rule`."""

    def register(check: ProjectCheck) -> ProjectCheck:
        _register(Rule(code, level, _no_matches, PROJECT, NO_FIX, on, check))
        return check

    return register


def _register(new: Rule) -> None:
    code = new.code
    if code in RULES:
        raise ValueError(f"the rule {code} is there already")
    if not (code.isascii() and code.isalnum()) or new.level not in LEVELS or new.fix not in (NO_FIX, SAFE, UNSAFE):
        raise ValueError(f"{code!r}, {new.level}, {new.fix}: letters and digits, a level, a kind of fix?")
    RULES[code] = new


def _no_matches(plan: ParsedPlan, context: RuleContext) -> Iterable[RuleMatch]:
    return ()


def on_line(plan: ParsedPlan, line: int, message: str, edits: tuple[Edit, ...] = ()) -> RuleMatch:
    """A place that is the words of one line."""
    text = plan.text.lines[line] if line < len(plan.text.lines) else ""
    begin = len(text) - len(text.lstrip())
    return RuleMatch(message, line, begin, line + 1, max(len(text.rstrip()), begin + 1), edits)


def on_span(span: Span, message: str) -> RuleMatch:
    """A place that is some words within a line."""
    return RuleMatch(message, span.line, span.column, span.line + 1, span.column + len(span.text))
