"""Checks of one real plan: the parsed content, and whether a writer changed what it should and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from corpus_page import Report, new_report
from markdown_it import MarkdownIt
from markdown_it.token import Token

from execplan.core.edits.plan_writer import apply_change
from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.line_grammar import is_empty_text, read_label
from execplan.core.plan.model import DONE, OPEN, OTHER, ParsedPlan, task_state
from execplan.core.plan.placeholder_text import is_placeholder_text
from execplan.core.plan.plan_change import PlanChange, PlanContent, plan_content
from execplan.core.plan.text_rebase import rebase_text
from execplan.core.text.text_lines import Text
from execplan.linter.rule import RuleContext
from execplan.linter.runner import RULES, lint_plan

if TYPE_CHECKING:
    from execplan.core.plan.plan_change import ChangeBuilder

_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 1000}).disable("inline")
_REPLACING = ("done", "reopen", "reword", "split", "set")
"""Writers that replace lines with others."""
ALL_LEVELS = {code: rule.level for code, rule in RULES.items()}
"""Level of every rule, including those that are off by default."""
_STATUS_LINE = re.compile(rb"[-*+ ]*\**(?:status|state)\b", re.IGNORECASE)
_BOX = re.compile(r"\[(.)\](\s|$)")


def counted_again(data: bytes, *, anywhere: bool = False) -> list[tuple[int, str]]:
    """Return the line and the state of each task in Progress, or of each checkbox anywhere, according to markdown-it-py."""
    tasks: list[tuple[int, str]] = []
    within, quotes = int(anywhere), 0
    tokens = _MARKDOWN.parse(data.decode("utf-8").removeprefix("\ufeff"))
    for at, token in enumerate(tokens):
        if token.type in ("blockquote_open", "blockquote_close"):
            quotes += token.nesting
        elif token.type == "heading_open" and not token.level and token.tag in ("h1", "h2") and not anywhere:
            if within:
                break
            within = token.tag == "h2" and _is_progress(tokens[at + 1].content)
        elif within and not quotes and token.type == "list_item_open" and tokens[at + 1].type == "paragraph_open":
            box = _BOX.match(tokens[at + 2].content)
            if box:
                tasks.append((_first_line(token), {" ": OPEN, "x": DONE, "X": DONE}.get(box[1], OTHER)))
    return tasks


def _is_progress(title: str) -> bool:
    return re.sub(r"\(.*\)\s*$", "", title.partition(" / ")[0]).strip(" *_:").lower() == "progress"


def _first_line(token: Token) -> int:
    return token.map[0] if token.map else -1


def is_placeholder_line(line: str) -> bool:
    """Return whether a first entry may replace a line."""
    label = read_label(line)
    return is_placeholder_text(line) or is_empty_text(label[1] if label else line.strip().lstrip("-*+ "))


def has_one_added(before: tuple[Any, ...], after: tuple[Any, ...], new: object) -> bool:
    """Return whether `after` is `before` with the new element inserted at any position."""
    return any(after == (*before[:at], new, *before[at:]) for at in range(len(before) + 1))


class Probe:
    """A plan under test, with its report."""

    def __init__(self, name: str, data: bytes, context: RuleContext, *, anywhere: bool = False) -> None:
        self.data = data
        self.context = context
        self.anywhere = anywhere
        """Whether the plan may have its tasks outside Progress, so that all checkboxes are compared."""
        self.plan = reader.read(data)
        self.facts = plan_content(self.plan)
        self.report = new_report(name)
        self.undone: set[str] = set()
        """Writers whose edit was tested with undo."""

    def run(self, checks: Iterable[Callable[[Probe], None]]) -> Report:
        """Run checks and return the report, to which a crash belongs like any other failure."""
        for check in checks:
            try:
                check(self)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding about this plan
                self.fail(0, f"{check.__name__}: {type(error).__name__}: {error}")
        return self.report

    def fail(self, line: int, why: str) -> None:
        """Record a failure with its line, counted from 0."""
        self.report.failures.append(f"{self.report.name}:{line + 1}: {why}")

    def read(self) -> None:
        """Check that the lines join to the same bytes and that another parser finds the same tasks; count the parts."""
        plan = self.plan
        if Text.from_bytes(self.data).to_bytes() != self.data:
            self.fail(0, "the lines do not join back to the same bytes")
        tasks, expected_tasks = self.read_tasks(plan), self.counted_tasks(self.data)
        if tasks != expected_tasks:
            line = min(set(tasks).symmetric_difference(expected_tasks))[0]
            self.fail(line, f"{len(tasks)} tasks, but markdown-it-py has {len(expected_tasks)}, or not the same")
        self.report.counts.update(
            plans=1, bytes=len(self.data), lines=len(plan.text.lines), sections=len(plan.sections),
            decisions=len(plan.decisions), discoveries=len(plan.discoveries), outcomes=len(plan.outcomes),
            revisions=len(plan.revisions), checklists=len(plan.checklists), **plan.counts(),
        )  # fmt: skip
        self.report.findings.update(finding.code for finding in lint_plan(plan, self.context, ALL_LEVELS))

    def read_tasks(self, plan: ParsedPlan) -> list[tuple[int, str]]:
        """Return the line and the state of each task that has a checkbox; anywhere, also of checklist items."""
        boxes = plan.boxes if self.anywhere else plan.tasks
        return sorted([(box.start, task_state(box.mark, "")) for box in boxes if box.status is None])

    def counted_tasks(self, data: bytes) -> list[tuple[int, str]]:
        """Return what `read_tasks` should return, according to markdown-it-py."""
        return counted_again(data, anywhere=True) if self.anywhere else counted_again(data)

    def write(
        self, writer: str, make: Callable[[], ChangeBuilder], data: bytes | None = None
    ) -> tuple[bytes, ParsedPlan] | None:
        """Make a change, undo it and repeat it; return the new bytes and the new plan, or None if it is rejected."""
        old = self.data if data is None else data
        try:
            new, change = apply_change(old, make())
        except ExecplanError as error:
            self.report.refused[error.code, writer] += 1
            return None
        self.report.edits[writer] += 1
        self.check_own_lines(writer, old, new, change)
        if writer not in self.undone:
            self.undone.add(writer)
            self.report.edits["undo"] += 1
            if apply_change(new, lambda plan: rebase_text(plan, new, old, "undo", "undone", ""))[0] != old:
                self.fail(change.edits[0].start, f"undo does not give back the bytes from before {writer}")
        if apply_change(new, make())[0] != new:
            self.fail(change.edits[0].start, f"{writer} changes the plan when it is done again")
        return new, reader.read(new)

    def check_own_lines(self, writer: str, old: bytes, new: bytes, change: PlanChange) -> None:
        """Check that all lines outside the one edit are unchanged, including their ends."""
        before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
        follows = {edit.start: edit.lines[0].encode() for edit in change.edits[1:]}  # the status lines of phases
        for at, line in follows.items():
            if writer not in ("done", "reopen") or not _STATUS_LINE.match(line) or after[at].rstrip(b"\r\n") != line:
                self.fail(at, f"{writer} made {len(change.edits)} edits")
            before[at] = after[at]
        start, end, lines, _ = change.edits[0]
        ended = old.endswith((b"\n", b"\r"))
        if start == end == len(before) and not ended:
            before[-1] += before[0][len(before[0].rstrip(b"\r\n")) :]  # the new text gives it the end that others have
        lines_below = len(before) - end
        if before[:start] != after[:start] or before[end:] != after[len(after) - lines_below :]:
            self.fail(start, f"{writer} changed lines that are not its own")
        if len(after) - len(before) != len(lines) - (end - start) or new.endswith((b"\n", b"\r")) != ended:
            self.fail(start, f"{writer} changed the number of lines, or the last line's end")
        if end > start and writer not in _REPLACING:
            self.report.replaced[writer] += 1
            if not all(is_placeholder_line(line.decode("utf-8")) for line in before[start:end]):
                self.fail(start, f"{writer} replaced words")

    def expect(self, writer: str, new_plan: ParsedPlan, line: int, **expected_fields: object) -> None:
        """Check that a plan's content is unchanged except for the given fields."""
        actual, expected = plan_content(new_plan), self.facts._replace(**expected_fields)  # type: ignore[arg-type]  # fields by name
        for field, actual_field, expected_field in zip(PlanContent._fields, actual, expected, strict=True):
            if actual_field != expected_field:
                self.fail(line, f"after {writer} the plan's {field} are not as meant")
