"""Definitions, references, and the plans and tasks of a project by name."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp
from pygls.uris import from_fs_path

from execplan.core.plan.model import BROKEN, DOCUMENT
from execplan.core.plan_facts.facts_loader import load_listed_plans
from execplan.core.text.message_parts import format_count
from execplan.linter.plan_links import unquote_address
from execplan.views.language_server.mention_targets import FILE, Target, TargetFinder
from execplan.views.language_server.plan_mentions import LINK, PATH, PLAN, STEP, Mention, find_mentions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.project.project import Project
    from execplan.views.language_server.open_documents import OpenDocuments
    from execplan.views.language_server.plan_document import PlanDocument

_MAX_SYMBOLS: Final = 300
_NEED: Final = rb"\b[Nn][Ee][Ee][Dd][Ss][^\s#]*\s+[^\s#]+#"
"""The start of what `read_task_needs` reads, in a file."""


def find_definition(documents: OpenDocuments, document: PlanDocument, position: lsp.Position) -> lsp.Location | None:
    """Return where the plan, task, step or file at a position is defined."""
    if document.plan is None:
        return None
    finder = TargetFinder(documents, document.project)
    target = finder.target_at(document, *document.column_at(position))
    if target is None or (target.kind == FILE and os.path.isdir(target.path)):
        return None
    return finder.location_of(target)


def find_references(
    documents: OpenDocuments, document: PlanDocument, position: lsp.Position, *, with_definition: bool
) -> list[lsp.Location]:
    """Return the places in all plans of the project that name what is at a position."""
    if document.plan is None:
        return []
    finder = TargetFinder(documents, document.project)
    target = finder.target_at(document, *document.column_at(position))
    if target is None:
        return []
    definition = finder.location_of(target) if target.kind != FILE else None
    locations = [definition] if definition is not None and with_definition else []
    for candidate in _candidates(documents, document, target, finder):
        for mention in find_mentions(candidate):
            if not _may_mean(mention, target):
                continue
            resolved = finder.resolve(candidate, mention)
            if resolved is None or resolved.key != target.key:
                continue
            place = candidate.range_at(mention.line, mention.start, mention.line, mention.end)
            if definition is None or not _is_inside(candidate.uri, place, definition):
                locations.append(lsp.Location(candidate.uri, place))
    return locations


def _candidates(
    documents: OpenDocuments, document: PlanDocument, target: Target, finder: TargetFinder
) -> Iterator[PlanDocument]:
    """Yield the documents that may name a target, so that few files must be parsed."""
    if target.kind == STEP:
        yield document
        return
    name = re.escape(os.path.basename(target.path).encode())
    if target.kind == FILE:
        yield from documents.project_plans(document.project, re.compile(name))
    elif target.kind == PLAN:
        dependents = finder.paths_with_dependencies()
        yield from documents.project_plans(document.project, re.compile(b"%s|%s" % (_NEED, name)), dependents)
    else:
        yield from documents.project_plans(document.project, re.compile(_NEED), (target.path,))


def _may_mean(mention: Mention, target: Target) -> bool:
    """Return whether a name can mean a target, which is quick to tell for a path."""
    if mention.kind in (PATH, LINK):
        return target.kind in (PLAN, FILE) and os.path.basename(target.path) in unquote_address(mention.name)
    return mention.kind == target.kind


def workspace_symbols(projects: list[Project], query: str) -> list[lsp.WorkspaceSymbol]:
    """Return the plans and open tasks whose ID or text has all words of a query."""
    words = query.casefold().split()
    symbols = [symbol for project in projects for symbol in _project_symbols(project)]
    matches = [
        symbol
        for symbol in symbols
        if all([word in f"{symbol.name} {symbol.container_name}".casefold() for word in words])
    ]
    return matches[:_MAX_SYMBOLS]


def _project_symbols(project: Project) -> Iterator[lsp.WorkspaceSymbol]:
    for plan in load_listed_plans(project):
        if plan.state in (BROKEN, DOCUMENT):
            continue
        uri = from_fs_path(plan.ref.path) or ""
        counts = plan.facts.counts
        progress = (
            f"{plan.ref.id}, {counts.done} of {format_count(counts.total, 'task')} done" if counts else plan.ref.id
        )
        title = plan.facts.title or plan.ref.id
        yield lsp.WorkspaceSymbol(_at_line(uri, 0), title, lsp.SymbolKind.File, container_name=progress)
        for task in plan.facts.open_tasks:
            location = _at_line(uri, task.box_line)
            yield lsp.WorkspaceSymbol(location, task.text, lsp.SymbolKind.Event, container_name=plan.ref.id)


def _at_line(uri: str, line: int) -> lsp.Location:
    start = lsp.Position(line, 0)
    return lsp.Location(uri, lsp.Range(start, start))


def _is_inside(uri: str, place: lsp.Range, definition: lsp.Location) -> bool:
    return uri == definition.uri and definition.range.start <= place.start and place.end <= definition.range.end
