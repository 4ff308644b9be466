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

from execplan.archive.plan_relocation import _title_change as titled
from execplan.linter.autofix import build_fix_change
from execplan.linter.rule import RULES, RuleContext
from execplan.linter.rule_facts import Clock, RepositoryTree
from execplan.linter.runner import DEFAULT_LEVELS
from execplan.plan import log_edits, section_edits, task_edits, task_rewording
from execplan.plan.path_rewriting import PathReplacement, replace_paths
from execplan.plan.plan_change import require_lines, require_text
from execplan.plan.text_rebase import rebase_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.plan.plan_change import ChangeBuilder

    Maker = Callable[[bytes, bool, list[str]], ChangeBuilder]

MARK = b"\n%% "
BETWEEN = " || "
MOMENT = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
LEVELS = {code: DEFAULT_LEVELS.get(code, rule.level) for code, rule in RULES.items()}
_NOW = 29_454_480
"""The first minute of 2026."""
_MOST = 12
"""Changes of one script; more only take time."""


class Step(NamedTuple):
    """One change."""

    name: str
    create: bool
    words: tuple[str, ...]

    def make(self, first: bytes) -> ChangeBuilder:
        """The change, new with every call; `first` is the plan as it was before all changes. Raises ExecplanError."""
        return CHANGES[self.name](first, self.create, [*self.words, "", "", ""])

    @property
    def again(self) -> bool:
        """Whether a second time must change nothing: its task is named by what the change leaves as it is."""
        return self.name not in ("reword", "split") or self.words[0].strip().isdecimal()


def parse(data: bytes) -> tuple[bytes, list[Step]]:
    """The plan and its changes."""
    plan, *lines = (b"\n" + data).split(MARK)
    return plan[1:], [_step(line) for line in lines[:_MOST]]


def _step(line: bytes) -> Step:
    name, _, rest = line.decode("utf-8", "surrogateescape").rstrip("\n").partition(" ")
    create = name.startswith("+")
    name = name.lstrip("+")
    if name not in CHANGES:
        name = list(CHANGES)[sum(line[:4]) % len(CHANGES)]
    return Step(name, create, tuple(rest.split(BETWEEN)))


def given() -> RuleContext:
    """What rules are told: where the plan lies, the time, and a tree without files."""
    tree = RepositoryTree(lambda kind, subject: "")
    return RuleContext(
        path=".agent/execplans/2026-01-01_x.md", id="2026-01-01_x", in_project=True, clock=Clock(_NOW), tree=tree
    )


def _words(said: str) -> str:
    return require_text(said, "the words")


def _lines(said: str) -> list[str]:
    return require_lines(said, "the lines")


def _add(first: bytes, create: bool, said: list[str]) -> ChangeBuilder:
    return task_edits.add_task(_words(said[0]), MOMENT, after=said[1] or None, create=create)


def _under(first: bytes, create: bool, said: list[str]) -> ChangeBuilder:
    return task_edits.add_task(_words(said[0]), MOMENT, under=said[1], create=create)


def _split(first: bytes, create: bool, said: list[str]) -> ChangeBuilder:
    return task_rewording.split_task(said[0], _words(said[1]), _words(said[2]), MOMENT)


def _decide(first: bytes, create: bool, said: list[str]) -> ChangeBuilder:
    why = _words(said[1] or "why")
    return log_edits.add_decision(_words(said[0]), why, "Ann", MOMENT, supersedes=said[2] or None, create=create)


def _note(first: bytes, create: bool, said: list[str]) -> ChangeBuilder:
    return section_edits.add_note([_words(said[0])], _lines(said[1]) if said[1] else (), create=create)


def _items(first: bytes, create: bool, said: list[str]) -> ChangeBuilder:
    return section_edits.add_note([_words(each) for each in said if each], as_items=True, create=create)


def _edit(first: bytes, create: bool, said: list[str]) -> ChangeBuilder:
    """Somebody edits the plan as it was at first: other words in the place of some."""
    old, new = [each.encode("utf-8", "replace") for each in said[:2]]
    theirs = first.replace(old, new) if old else first + new
    return lambda plan: rebase_text(plan, first, theirs, "edit", "edited", "look")


def _retarget(first: bytes, create: bool, said: list[str]) -> ChangeBuilder:
    old, new = [" ".join(each.split()) for each in said[:2]]
    return replace_paths([PathReplacement(old or "old.md", _words(new), create)])


CHANGES: dict[str, Maker] = {
    "done": lambda first, create, said: task_edits.complete_tasks([each for each in said if each], MOMENT),
    "reopen": lambda first, create, said: task_edits.reopen_tasks([each for each in said if each]),
    "add": _add,
    "under": _under,
    "split": _split,
    "reword": lambda first, create, said: task_rewording.reword_task(said[0], _words(said[1])),
    "decide": _decide,
    "discover": lambda first, create, said: log_edits.add_discovery(
        _words(said[0]), _words(said[1] or "shown"), create=create
    ),
    "outcome": lambda first, create, said: log_edits.add_outcome(_words(said[0]), create=create),
    "note": _note,
    "items": _items,
    "revise": lambda first, create, said: log_edits.add_revision_note(_words(said[0]), MOMENT),
    "set": lambda first, create, said: section_edits.set_section_body(said[0], _lines(said[1]), create=create),
    "edit": _edit,
    "retarget": _retarget,
    "fix": lambda first, create, said: build_fix_change(given(), LEVELS, unsafe=create, fix_counts=Counter()),
    "title": lambda first, create, said: titled(_words(said[0])),
}
"""Every change that a verb makes, by the name that stands behind `%% `."""
