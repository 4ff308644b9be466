"""The definition of a rule, a function with its help topic as docstring, and the types of its findings."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.linter.plan_source import EMPTY_SOURCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Final

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.text.text_lines import Edit
    from execplan.linter.plan_source import PlanSource, TextSpan
    from execplan.linter.rule_facts import Clock, GitHistory, ProjectFacts, RepositoryTree

ERROR: Final = "error"
WARNING: Final = "warning"
HINT: Final = "hint"
LEVELS: Final = (ERROR, WARNING, HINT)
NOTICE: Final = "notice"
"""Level of what is no problem, such as a file that is not a plan, so no rule ran."""
GRADUAL: Final = "gradual"
"""Level in a rule selection that depends on whether the plan is complete (see `Rule.level_of`)."""

BYTES: Final = "bytes"
CLOCK: Final = "clock"
TREE: Final = "tree"
HISTORY: Final = "history"
COMMIT: Final = "commit"
PROJECT: Final = "project"
"""Data that a rule needs besides the plan; a rule whose need is not met does not run.

`commit` is the committed version of the plan, which Git returns at once; `history` is everything that Git can be asked.
A rule that needs a project is not about a single plan.
"""
GIT_NEEDS: Final = (HISTORY, COMMIT)

CONFLICT_CODE: Final = "EP002"
"""Code of the rule about conflict markers, which must be resolved before anything else."""
SAFE: Final = "safe"
UNSAFE: Final = "unsafe"
NO_FIX: Final = "none"
"""Kinds of fixes: one that keeps the plan's meaning, one that may change it, or none, so a person must fix it."""


class RuleContext(NamedTuple):
    """Information for rules besides the plan."""

    is_archived: bool = False
    is_superseded: bool = False
    """Whether the plan is archived as superseded, where open tasks are expected."""
    in_project: bool = False
    """Whether the plan is in a project's plans directory and can be archived."""
    allows_draft: bool = False
    """Whether a draft may have placeholder text and no tasks, and a complete plan no outcome yet, as in a hook."""
    skips_other_files: bool = False
    """Whether to skip a file that is not a plan, because it was not named explicitly."""
    path: str = ""
    """Path of the plan from the repository root; empty for text without a file."""
    id: str = ""
    """ID of the plan if its directory determines it; empty: the file name without `.md`."""
    required_lines: tuple[str, ...] | None = None
    """Beginnings of lines that the plan's dialect demands; the runner sets None for an ExecPlan, which has sections."""
    titles: Mapping[str, str] | None = None
    """Titles of sections to which the settings give a role, as `reader.read` takes them."""
    name_format: str = "{date}_{slug}"
    """Plan name format of the settings; empty for a plan outside their directories."""
    stalled_days: int = 14
    clock: Clock | None = None
    tree: RepositoryTree | None = None
    history: GitHistory | None = None
    source: PlanSource = EMPTY_SOURCE
    """Text features of the plan beyond its structure; set by the runner."""

    @property
    def is_record(self) -> bool:
        """Whether the plan is in the archive, where no fix may change it."""
        return self.is_archived or self.is_superseded


class RuleMatch(NamedTuple):
    """The place and message of a rule's finding; lines and columns count from 0, ends are exclusive."""

    message: str
    line: int
    column: int
    end_line: int
    end_column: int
    edits: tuple[Edit, ...] = ()
    """Edits that fix the finding, of the rule's kind of fix; empty if a person must fix it."""


class Fix(NamedTuple):
    """The fix for a finding; the lines of its edits count from 0."""

    kind: str
    edits: tuple[Edit, ...]

    @property
    def is_displayable(self) -> bool:
        """Whether output may show the fix; a fix with a secret in its lines is applied but not shown."""
        from execplan.core import features

        text = "\n".join([line for edit in self.edits for line in edit.lines])
        return bool(features.load(features.MASKING)(text) == text)

    def to_json(self) -> dict[str, object]:
        """Return the fix as JSON. Lines count from 1 with an inclusive end, so an insertion ends before it starts."""
        edits = [{"line_start": edit.start + 1, "line_end": edit.end, "lines": list(edit.lines)} for edit in self.edits]
        return {"kind": self.kind, "edits": edits}


class Finding(NamedTuple):
    """A problem found in a plan; lines and columns count from 1 in code points, ends are inclusive."""

    code: str
    level: str
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    fix: Fix | None = None

    def to_json(self, path: str = "") -> dict[str, object]:
        """Return the finding as a JSON object."""
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


NOT_A_PLAN = Finding("", NOTICE, 1, 1, 1, 1, "not a plan")
"""Returned instead of findings for a document, which is a file that is not a plan, unless it is named explicitly."""


class ProjectMatch(NamedTuple):
    """A finding of a project rule: the path of a file or directory from the root, the message, and the line from 0."""

    path: str
    message: str
    line: int = 0
    edits: tuple[Edit, ...] = ()
    """Edits of the file that fix the finding, of the rule's kind of fix; empty if a person must fix it."""


if TYPE_CHECKING:
    Check = Callable[[ParsedPlan, RuleContext], Iterable[RuleMatch]]
    ProjectCheck = Callable[[ProjectFacts], Iterable[ProjectMatch]]


class Rule(NamedTuple):
    """A registered rule with its level, needs and kind of fix."""

    code: str
    level: str
    """Default level, unless the settings change it."""
    check: Check
    needs: str = BYTES
    fix: str = NO_FIX
    on: bool = True
    """Whether the rule runs by default."""
    project_check: ProjectCheck | None = None
    """Check function of a project rule, used instead of `check`."""
    in_archive: bool = True
    """Whether the rule runs on archived plans; one that helps somebody to carry out the plan does not."""
    unfinished: str = ""
    """Level for a plan with open tasks, except in the profiles `strict` and `ci`; empty: the same level."""

    def level_of(self, level: str, *, complete: bool) -> str:
        """Return the level for a plan, given the level in the rule selection."""
        if level != GRADUAL:
            return level
        if complete:
            return self.level
        return self.unfinished

    @property
    def help_text(self) -> str:
        """Help text from the function's docstring: summary, reason, `Bad:` and `Good:` examples."""
        lines = ((self.project_check or self.check).__doc__ or "").strip("\n").split("\n")
        return "\n".join([line.removeprefix("    ") for line in lines]).strip()

    @property
    def summary(self) -> str:
        """Summary of the rule in one sentence."""
        return self.help_text.split("\n", 1)[0]


BUILTIN_PREFIX: Final = "EP"
"""Code prefix reserved for the built-in rules."""

RULES: dict[str, Rule] = {}
"""All rules by code, in the order in which findings on one line are shown."""


def rule(
    code: str,
    level: str,
    *,
    needs: str = BYTES,
    fix: str = NO_FIX,
    on: bool = True,
    in_archive: bool = True,
    unfinished: str = "",
) -> Callable[[Check], Check]:
    """Register a function as the rule with this code.

    Raises ValueError if the code is taken or invalid, or if the level or fix does not exist.
    """

    def register(check: Check) -> Check:
        _register(Rule(code, level, check, needs, fix, on, in_archive=in_archive, unfinished=unfinished))
        return check

    return register


def project_rule(
    code: str, level: str, *, fix: str = NO_FIX, on: bool = True
) -> Callable[[ProjectCheck], ProjectCheck]:
    """Register a function as a rule about a project rather than a single plan. Raises ValueError as `rule` does."""

    def register(check: ProjectCheck) -> ProjectCheck:
        _register(Rule(code, level, _no_matches, PROJECT, fix, on, check))
        return check

    return register


def _register(new: Rule) -> None:
    code = new.code
    if code in RULES:
        raise ValueError(f"rule {code} already exists")
    if not (code.isascii() and code.isalnum()) or new.level not in LEVELS or new.fix not in (NO_FIX, SAFE, UNSAFE):
        raise ValueError(
            f"{code!r}, {new.level}, {new.fix}: must be a code of letters and digits, a level, and a kind of fix"
        )
    RULES[code] = new


def _no_matches(plan: ParsedPlan, context: RuleContext) -> Iterable[RuleMatch]:
    return ()


def on_line(plan: ParsedPlan, line: int, message: str, edits: tuple[Edit, ...] = ()) -> RuleMatch:
    """Return a match that covers the text of one line."""
    text = plan.text.lines[line] if line < len(plan.text.lines) else ""
    begin = len(text) - len(text.lstrip())
    return RuleMatch(message, line, begin, line + 1, max(len(text.rstrip()), begin + 1), edits)


def on_span(span: TextSpan, message: str) -> RuleMatch:
    """Return a match that covers a piece of text within a line."""
    return RuleMatch(message, span.line, span.column, span.line + 1, span.column + len(span.text))
