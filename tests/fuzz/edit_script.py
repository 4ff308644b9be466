"""What a fuzzer feeds in: a plan, and a sequence of changes with their words, as bytes in which every line counts.

The plan ends where a line begins with `%% `; each such line names a change and its words, ` || ` between them:

    ## Progress

    - [ ] Read lines

    %% done 1
    %% +decide Read bytes || Nothing is lost.

Whatever the bytes are, they are some script: a name that is no change stands for one all the same. A `+` before the name
lets the change add a section that is missing, or mend what is not safe to mend.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.archive.plan_relocation import _title_change as title_change
from execplan.core.plan import log_edits, section_edits, task_edits, task_rewording
from execplan.core.plan.path_rewriting import PathReplacement, replace_paths
from execplan.core.plan.plan_change import require_lines, require_text
from execplan.core.plan.text_rebase import rebase_text
from execplan.linter.checking.plan_fix import build_fix_change
from execplan.linter.rule import RULES, RuleContext
from execplan.linter.rule_facts import Clock, RepositoryTree
from execplan.linter.runner import DEFAULT_LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.core.plan.plan_change import ChangeBuilder

    Maker = Callable[[bytes, bool, list[str]], ChangeBuilder]

MARK = b"\n%% "
SEPARATOR = " || "
MOMENT = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
LEVELS = {code: DEFAULT_LEVELS.get(code, rule.level) for code, rule in RULES.items()}
_CURRENT_MINUTE = 29_454_480
"""The first minute of 2026."""
_MAX_STEPS = 12
"""Changes of one script; more only take time."""


class Step(NamedTuple):
    """One change."""

    name: str
    create: bool
    arguments: tuple[str, ...]

    def make(self, original: bytes) -> ChangeBuilder:
        """The change, new with every call; `original` is the plan as it was before all changes. Raises ExecplanError."""
        return CHANGES[self.name](original, self.create, [*self.arguments, "", "", ""])

    @property
    def is_repeatable(self) -> bool:
        """Whether a second time must change nothing: its task is named by what the change leaves as it is."""
        return self.name not in ("reword", "split") or self.arguments[0].strip().isdecimal()


def parse(data: bytes) -> tuple[bytes, list[Step]]:
    """The plan and its changes."""
    plan, *lines = (b"\n" + data).split(MARK)
    return plan[1:], [_step(line) for line in lines[:_MAX_STEPS]]


def _step(line: bytes) -> Step:
    name, _, rest = line.decode("utf-8", "surrogateescape").rstrip("\n").partition(" ")
    create = name.startswith("+")
    name = name.lstrip("+")
    if name not in CHANGES:
        name = list(CHANGES)[sum(line[:4]) % len(CHANGES)]
    return Step(name, create, tuple(rest.split(SEPARATOR)))


def rule_context() -> RuleContext:
    """What rules are told: where the plan lies, the time, and a tree without files."""
    tree = RepositoryTree(lambda kind, subject: "")
    return RuleContext(
        path=".agent/execplans/2026-01-01_x.md",
        id="2026-01-01_x",
        in_project=True,
        clock=Clock(_CURRENT_MINUTE),
        tree=tree,
    )


def _text(argument: str) -> str:
    return require_text(argument, "the words")


def _lines(argument: str) -> list[str]:
    return require_lines(argument, "the lines")


def _add(original: bytes, create: bool, arguments: list[str]) -> ChangeBuilder:
    return task_edits.add_task(_text(arguments[0]), MOMENT, after=arguments[1] or None, create=create)


def _under(original: bytes, create: bool, arguments: list[str]) -> ChangeBuilder:
    return task_edits.add_task(_text(arguments[0]), MOMENT, under=arguments[1], create=create)


def _split(original: bytes, create: bool, arguments: list[str]) -> ChangeBuilder:
    return task_rewording.split_task(arguments[0], _text(arguments[1]), _text(arguments[2]), MOMENT)


def _decide(original: bytes, create: bool, arguments: list[str]) -> ChangeBuilder:
    why = _text(arguments[1] or "why")
    return log_edits.add_decision(
        _text(arguments[0]), why, "Ann", MOMENT, supersedes=arguments[2] or None, create=create
    )


def _note(original: bytes, create: bool, arguments: list[str]) -> ChangeBuilder:
    return section_edits.add_note([_text(arguments[0])], _lines(arguments[1]) if arguments[1] else (), create=create)


def _items(original: bytes, create: bool, arguments: list[str]) -> ChangeBuilder:
    return section_edits.add_note([_text(argument) for argument in arguments if argument], as_items=True, create=create)


def _edit(original: bytes, create: bool, arguments: list[str]) -> ChangeBuilder:
    """Somebody edits the plan as it was at first: other words in the place of some."""
    old, new = [argument.encode("utf-8", "replace") for argument in arguments[:2]]
    theirs = original.replace(old, new) if old else original + new
    return lambda plan: rebase_text(plan, original, theirs, "edit", "edited", "look")


def _retarget(original: bytes, create: bool, arguments: list[str]) -> ChangeBuilder:
    old, new = [" ".join(argument.split()) for argument in arguments[:2]]
    return replace_paths([PathReplacement(old or "old.md", _text(new), create)])


CHANGES: dict[str, Maker] = {
    "done": lambda original, create, arguments: task_edits.complete_tasks(
        [argument for argument in arguments if argument], MOMENT
    ),
    "reopen": lambda original, create, arguments: task_edits.reopen_tasks(
        [argument for argument in arguments if argument]
    ),
    "add": _add,
    "under": _under,
    "split": _split,
    "reword": lambda original, create, arguments: task_rewording.reword_task(arguments[0], _text(arguments[1])),
    "decide": _decide,
    "discover": lambda original, create, arguments: log_edits.add_discovery(
        _text(arguments[0]), _text(arguments[1] or "shown"), create=create
    ),
    "outcome": lambda original, create, arguments: log_edits.add_outcome(_text(arguments[0]), create=create),
    "note": _note,
    "items": _items,
    "revise": lambda original, create, arguments: log_edits.add_revision_note(_text(arguments[0]), MOMENT),
    "set": lambda original, create, arguments: section_edits.set_section_body(
        arguments[0], _lines(arguments[1]), create=create
    ),
    "edit": _edit,
    "retarget": _retarget,
    "fix": lambda original, create, arguments: build_fix_change(
        rule_context(), LEVELS, unsafe=create, fix_counts=Counter()
    ),
    "title": lambda original, create, arguments: title_change(_text(arguments[0])),
}
"""Every change that a verb makes, by the name that stands behind `%% `."""
