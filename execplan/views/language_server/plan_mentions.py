"""Where a plan's text names plans, tasks, steps, files and rules, to the column."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from execplan.core.plan.plan_dependencies import read_dependencies
from execplan.core.plan.task_needs import read_task_needs
from execplan.execution import attributes
from execplan.execution.annotations.annotated_fences import find_annotated_fences
from execplan.execution.attributes import ATTRIBUTES_BY_NAME
from execplan.linter.plan_links import find_links, relative_path
from execplan.linter.plan_paths import extract_path
from execplan.linter.rule import RuleContext

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.annotations.annotated_fences import AnnotatedFence
    from execplan.views.language_server.plan_document import PlanDocument

PLAN: Final = "plan"
TASK: Final = "task"
STEP: Final = "step"
PATH: Final = "path"
LINK: Final = "link"
RULE: Final = "rule"
_TASK_ID: Final = re.compile(r"\bt[0-9a-hjkmnp-tv-z]{6}(?:-\d+)?\b")
_RULE_CODE: Final = re.compile(r"\bEP\d{3}\b")
_STEP_NAME: Final = re.compile(r"[A-Za-z][\w.-]*")
_VALUE_PART: Final = re.compile(r"[^\s,\"']+")


class Mention(NamedTuple):
    """A name in a plan's text; line and columns count from 0, and the end is exclusive."""

    kind: str
    name: str
    line: int
    start: int
    end: int
    plan: str = ""
    """Name of the plan whose task is meant; empty for this plan."""


def find_mentions(document: PlanDocument) -> list[Mention]:
    """Return all names in a document."""
    if document.plan is None:
        return []
    return [
        *_dependencies(document),
        *_task_needs(document),
        *[
            mention
            for fence in find_annotated_fences(document.plan).steps
            for mention in _step_names(document.lines[fence.line], fence)
        ],
        *_words(document),
        *_paths(document),
    ]


def mention_at(document: PlanDocument, line: int, column: int) -> Mention | None:
    """Return the name at a place, which may be directly before the column; None if there is none."""
    for mention in find_mentions(document):
        if mention.line == line and mention.start <= column <= mention.end:
            return mention
    return None


def _dependencies(document: PlanDocument) -> Iterator[Mention]:
    assert document.plan is not None
    for dependency in read_dependencies(document.plan):
        for start in _find_words(document.lines[dependency.line], dependency.name):
            yield Mention(PLAN, dependency.name, dependency.line, start, start + len(dependency.name))


def _task_needs(document: PlanDocument) -> Iterator[Mention]:
    assert document.plan is not None
    for task in document.plan.tasks:
        for need in read_task_needs(task.text):
            for line in range(task.start, task.end):
                for start in _find_words(document.lines[line], need.name):
                    middle = start + len(need.plan)
                    yield Mention(PLAN, need.plan, line, start, middle)
                    yield Mention(TASK, need.task, line, middle + 1, start + len(need.name), need.plan)


def _step_names(line: str, fence: AnnotatedFence) -> Iterator[Mention]:
    """Yield the names in the attributes of a step: of steps, tasks and files."""
    if fence.info.id is not None:
        start = fence.column + fence.info.id.start + 1
        yield Mention(STEP, fence.info.id.value, fence.line, start, start + len(fence.info.id.value))
    for attribute in fence.info.attributes:
        definition = ATTRIBUTES_BY_NAME.get(attribute.name)
        if definition is None or attribute.is_bare:
            continue
        begin = fence.column + attribute.start + len(attribute.name) + 1
        end = fence.column + attribute.end
        if definition.name == "task":
            begin += line[begin : begin + 1] in ("'", '"')
            yield Mention(TASK, attribute.value, fence.line, begin, begin + len(attribute.value))
            continue
        for part in _VALUE_PART.finditer(line, begin, end):
            if name := _named_in_value(definition.kind, part[0]):
                kind, text, at = name
                start = part.start() + at
                yield Mention(kind, text, fence.line, start, start + len(text))


def _named_in_value(kind: str, value: str) -> tuple[str, str, int] | None:
    """Return what a part of an attribute's value names, with its kind and where in the part it starts."""
    prefix, colon, rest = value.partition(":")
    if kind in (attributes.PATH, attributes.PATHS):
        return PATH, value, 0
    if kind == attributes.IDS:
        return STEP, value, 0
    if kind == attributes.WHEN:
        return (PATH, rest, len(prefix) + 1) if colon else (STEP, value.rpartition(".")[0], 0)
    if kind == attributes.STRATEGY and colon and _STEP_NAME.fullmatch(rest):
        return STEP, rest, len(prefix) + 1
    return None


def _words(document: PlanDocument) -> Iterator[Mention]:
    """Yield IDs of the plan's own tasks, and codes of rules, in any text."""
    for number, line in enumerate(document.lines):
        if "EP" in line:
            for match in _RULE_CODE.finditer(line):
                yield Mention(RULE, match[0], number, *match.span())
        for match in _TASK_ID.finditer(line):
            if match[0] in document.tasks_by_id:
                yield Mention(TASK, match[0], number, *match.span())


def _paths(document: PlanDocument) -> Iterator[Mention]:
    assert document.plan is not None
    for span in document.plan_source.code_spans:
        path = extract_path(span.text)
        if path and " " not in path:
            yield Mention(PATH, span.text, span.line, span.column, span.column + len(span.text))
    for span, _ in find_links(document.plan, RuleContext(source=document.plan_source)):
        if relative_path(span.text):
            yield Mention(LINK, span.text, span.line, span.column, span.column + len(span.text))


def _find_words(line: str, word: str) -> Iterator[int]:
    """Yield the columns at which a line has a word that is no part of a longer one."""
    at = line.find(word)
    while at >= 0:
        before, after = line[at - 1 : at] if at else "", line[at + len(word) : at + len(word) + 1]
        if not (before.isalnum() or after.isalnum()):
            yield at
        at = line.find(word, at + 1)
