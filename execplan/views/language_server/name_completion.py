"""Completion of the names of plans and tasks, and of paths of the repository."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from execplan.core.errors import ExecplanError
from execplan.core.plan.metadata_values import normalize_key
from execplan.core.plan.outline import title_key
from execplan.core.plan.plan_dependencies import DEPENDENCY_TITLES
from execplan.core.text.markdown_blocks import HEADING, front_matter_length
from execplan.team.dependencies.plan_resolver import PlanResolver
from execplan.views.language_server.completion_items import MAX_ITEMS, Candidate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.views.language_server.open_documents import OpenDocuments
    from execplan.views.language_server.plan_document import PlanDocument

_NEED: Final = re.compile(r"\bneeds\s(?:.*[\s,])?(?P<plan>[\w.:/-]*)(?:#(?P<task>[\w-]*))?$", re.IGNORECASE)
_DEPENDENCY: Final = re.compile(
    r"^\s*(?:[-*+]\s+)?[*_]*(?:depends[ _-]on|blocked[ _-]by|dependencies|requires|prerequisites?)[*_]*\s*:[*_]*\s*"
    r"(?:.*[\s,\[`\"'])?(?P<plan>[\w.:/-]*)$",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(r"^\s*[-*+]\s+[`\"']?(?P<plan>[\w.:/-]*)$")
_KEY: Final = re.compile(r"^(?P<key>[\w-]+)\s*:")
_LINK: Final = re.compile(r"\]\((?P<path>[^()\s]*)$")
_HIDDEN: Final = (".git",)


def complete_names(documents: OpenDocuments, document: PlanDocument, line: int, prefix: str) -> list[Candidate]:
    """Return plans after the label of a dependency, and plans and their tasks after `needs` in a task."""
    if document.task_on(line) is not None and (need := _NEED.search(prefix)):
        if need["task"] is not None:
            return list(_tasks_of(documents, document, need["plan"], len(need["task"])))
        return [
            candidate._replace(text=f"{candidate.text}#", label=candidate.text, goes_on=True)
            for candidate in _plans(document, len(need["plan"]))
        ]
    match = _DEPENDENCY.match(prefix)
    if match is None and _is_below_dependencies(document, line):
        match = _ITEM.match(prefix)
    return _plans(document, len(match["plan"])) if match is not None else []


def complete_paths(document: PlanDocument, prefix: str) -> list[Candidate]:
    """Return paths within a code span that is open before the cursor, or a link destination."""
    if link := _LINK.search(prefix):
        return list(_entries(os.path.dirname(document.ref.path), link["path"]))
    if prefix.count("`") % 2:
        typed_text = prefix.rpartition("`")[2]
        return list_paths(document, typed_text) if " " not in typed_text else []
    return []


def list_paths(document: PlanDocument, typed_text: str) -> list[Candidate]:
    """Return the files and directories of the repository that begin with a path."""
    return list(_entries(document.project.root, typed_text))


def _entries(base: str, typed_text: str) -> Iterator[Candidate]:
    """Yield the entries of the directory in a path that is being written; directories first."""
    directory, _, name = typed_text.rpartition("/")
    if os.path.isabs(typed_text):
        return
    try:
        entries = sorted(os.scandir(os.path.join(base, directory)), key=lambda entry: (not entry.is_dir(), entry.name))
    except OSError:
        return
    matching = [entry for entry in entries if entry.name.startswith(name) and entry.name not in _HIDDEN]
    for entry in matching[:MAX_ITEMS]:
        if entry.is_dir():
            yield Candidate(f"{entry.name}/", len(name), "", lsp.CompletionItemKind.Folder, goes_on=True)
        else:
            yield Candidate(entry.name, len(name), "", lsp.CompletionItemKind.File)


def _plans(document: PlanDocument, typed_length: int) -> list[Candidate]:
    """Return the other plans that the plan can name; archived ones last."""
    try:
        resolver = PlanResolver(document.project)
        resolver.load_all_facts()
        entries = [entry for entry in resolver.entries if entry.ref.path != document.ref.path]
        return [
            Candidate(entry.ref.id, typed_length, resolver.progress_text(entry), lsp.CompletionItemKind.File)
            for entry in sorted(entries, key=lambda entry: entry.ref.archived)[:MAX_ITEMS]
        ]
    except ExecplanError:
        return []


def _tasks_of(documents: OpenDocuments, document: PlanDocument, plan: str, typed_length: int) -> Iterator[Candidate]:
    try:
        entry = PlanResolver(document.project).resolve(plan).entry
    except ExecplanError:
        return
    other = documents.find(entry.ref.path) if entry is not None else None
    for task_id, task in other.tasks_by_id.items() if other is not None else ():
        label = f"{task_id}  {task.number}. {task.text}"
        yield Candidate(task_id, typed_length, task.state_label, lsp.CompletionItemKind.Event, label)


def _is_below_dependencies(document: PlanDocument, line: int) -> bool:
    """Return whether an item belongs to the key `depends_on` of front matter, or to a section about plan dependencies."""
    assert document.plan is not None
    if line < front_matter_length(document.text.lines):
        for above in range(line - 1, -1, -1):
            if key := _KEY.match(document.lines[above]):
                return normalize_key(key["key"]) == "depends_on"
        return False
    headings = [block for block in document.plan.blocks if block.kind == HEADING and block.start < line]
    return bool(headings) and title_key(headings[-1].text) in DEPENDENCY_TITLES
