"""Completion of the attributes of a step's code block, and of their values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from execplan.execution import attributes
from execplan.execution.annotations.annotated_steps import find_annotated_steps
from execplan.execution.attributes import (
    ALTERNATIVE,
    ATTRIBUTES,
    ATTRIBUTES_BY_NAME,
    EXAMPLE,
    EXECUTION,
    EXPECT,
    PLAN_ATTRIBUTES,
    STEP_OUTCOMES,
    STRATEGIES,
    TRIGGERS,
    Attribute,
)
from execplan.views.language_server.completion_items import Candidate
from execplan.views.language_server.name_completion import list_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.views.language_server.plan_document import PlanDocument

_VALUE: Final = re.compile(r"(?:^|\s)(?P<name>[\w-]+)=(?P<value>\"[^\"]*|'[^']*|[^\s\"']*)$")
_NAME: Final = re.compile(r"(?:^|\s)(?P<name>[\w-]*)$")
_MARKS: Final = {
    EXAMPLE: "a code block that is never run",
    EXPECT: "the expected output of the step above",
    EXECUTION: "how the whole plan runs",
}


def complete_attributes(document: PlanDocument, typed_text: str) -> list[Candidate]:
    """Return what fits after the text since the opening brace."""
    names = typed_text.split()
    attributes_by_name = (
        {attribute.name: attribute for attribute in PLAN_ATTRIBUTES} if EXECUTION in names else ATTRIBUTES_BY_NAME
    )
    if value := _VALUE.search(typed_text):
        attribute = attributes_by_name.get(value["name"])
        return list(_values(document, attribute, value["value"])) if attribute is not None else []
    name = _NAME.search(typed_text)
    if name is None:
        return []
    used = {word.partition("=")[0] for word in names}
    table = PLAN_ATTRIBUTES if EXECUTION in names else ATTRIBUTES
    kind = lsp.CompletionItemKind.Property
    candidates = [
        Candidate(f"{attribute.name}=", len(name["name"]), attribute.about, kind, attribute.name, goes_on=True)
        for attribute in table
        if attribute.name not in used and attribute.name != "id"
    ]
    if not used - {name["name"]}:
        candidates += [Candidate(mark, len(name["name"]), about, kind) for mark, about in _MARKS.items()]
    return candidates


def _values(document: PlanDocument, attribute: Attribute, typed_text: str) -> Iterator[Candidate]:
    """Yield the values of an attribute; of a list, what fits after its last comma or space."""
    bare = typed_text.lstrip("'\"")
    part = re.split(r"[,\s]", bare)[-1]
    kind = attribute.kind
    if attribute.choices or kind == attributes.FLAG:
        for choice in attribute.choices or ("true", "false"):
            yield Candidate(choice, len(bare), attribute.about)
    elif attribute.name == "task":
        for task_id, task in document.tasks_by_id.items():
            if task.is_unfinished:
                yield Candidate(task_id, len(bare), task.text, lsp.CompletionItemKind.Event, f"{task_id}  {task.text}")
    elif attribute.name == "triggers":
        for trigger in TRIGGERS:
            yield Candidate(trigger, len(part))
    elif kind in (attributes.PATH, attributes.PATHS):
        yield from list_paths(document, bare if kind == attributes.PATH else part)
    else:
        yield from _step_values(document, kind, part if kind == attributes.IDS else bare)


def _step_values(document: PlanDocument, kind: str, typed_text: str) -> Iterator[Candidate]:
    """Yield the values that name steps, and those that can stand in their place."""
    step_kind = lsp.CompletionItemKind.Function
    if kind == attributes.STRATEGY:
        yield from [Candidate(strategy, len(typed_text)) for strategy in STRATEGIES]
    forms = {
        attributes.IDS: ("{}",),
        attributes.STRATEGY: (f"{ALTERNATIVE}{{}}",),
        attributes.WHEN: tuple([f"{{}}.{outcome}" for outcome in STEP_OUTCOMES]),
    }.get(kind, ())
    for name, about in _steps(document) if forms else ():
        for form in forms:
            yield Candidate(form.format(name), len(typed_text), about, step_kind)
    if kind == attributes.WHEN:
        for condition in ("exists:", "missing:"):
            yield Candidate(condition, len(typed_text), "a path of the repository", goes_on=True)


def _steps(document: PlanDocument) -> list[tuple[str, str]]:
    """Return the IDs of the plan's steps, each with its command or target."""
    assert document.plan is not None
    drafts = find_annotated_steps(document.plan).drafts
    steps = {draft.attributes["id"]: draft for draft in drafts if "id" in draft.attributes}
    return [(name, draft.command or draft.attributes.get("target", "")) for name, draft in steps.items()]
