"""What a name in a plan means: a plan, a task, a step or a file, wherever it is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from lsprotocol import types as lsp
from pygls.uris import from_fs_path

from execplan.core.errors import ExecplanError
from execplan.core.plan.plan_lookup import find_task
from execplan.execution.annotations.annotated_fences import find_annotated_fences
from execplan.linter.plan_links import relative_path
from execplan.linter.plan_paths import extract_path
from execplan.team.dependencies.plan_resolver import PlanResolver
from execplan.views.language_server.plan_mentions import LINK, PATH, PLAN, RULE, STEP, TASK, Mention, mention_at

if TYPE_CHECKING:
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.views.language_server.open_documents import OpenDocuments
    from execplan.views.language_server.plan_document import PlanDocument

FILE: Final = "file"


class Target(NamedTuple):
    """What a name means; two names with equal targets mean the same."""

    kind: str
    """`plan`, `task`, `step` or `file`."""
    path: str
    """Absolute path of the plan, or of the file or directory."""
    name: str = ""
    """ID of the task or step."""
    line: int = 0
    """Line in a file, from 0, if the name has one; not part of what is compared."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what makes two targets equal."""
        return self.kind, self.path, self.name


class TargetFinder:
    """Finds the targets of names; plans are listed once for all names."""

    def __init__(self, documents: OpenDocuments, project: Project) -> None:
        self._documents = documents
        self._resolver = PlanResolver(project)

    def target_at(self, document: PlanDocument, line: int, column: int) -> Target | None:
        """Return what is named or defined at a place."""
        mention = mention_at(document, line, column)
        if mention is not None and mention.kind != RULE:
            return self.resolve(document, mention)
        return defined_target(document, line)

    def resolve(self, document: PlanDocument, mention: Mention) -> Target | None:
        """Return what a name in a document means; None if that is not clear."""
        path = document.ref.path
        if mention.kind == STEP:
            return Target(STEP, path, mention.name)
        if mention.kind == PLAN:
            ref = self._find_plan(mention.name)
            return Target(PLAN, ref.path) if ref is not None else None
        if mention.kind == TASK:
            return self._find_task(document, mention)
        if mention.kind in (PATH, LINK):
            return self._find_file(document, mention)
        return None

    def paths_with_dependencies(self) -> set[str]:
        """Return the paths of the plans on disk that depend on others. Raises ExecplanError if plans can't be listed."""
        self._resolver.load_all_facts()
        return {entry.ref.path for entry in self._resolver.entries if self._resolver.facts(entry).dependencies}

    def location_of(self, target: Target) -> lsp.Location | None:
        """Return the place where a target is defined; None if it no longer exists."""
        if target.kind == FILE:
            start = lsp.Position(target.line, 0)
            return lsp.Location(from_fs_path(target.path) or "", lsp.Range(start, start))
        document = self._documents.find(target.path)
        if document is None or document.plan is None:
            return None
        line = max(document.plan.title_line, 0)
        if target.kind == TASK:
            task = document.tasks_by_id.get(target.name)
            if task is None:
                return None
            line = task.box_line
        elif target.kind == STEP:
            lines = [
                fence.line
                for fence in find_annotated_fences(document.plan).steps
                if fence.info.id is not None and fence.info.id.value == target.name
            ]
            if not lines:
                return None
            line = lines[0]
        return lsp.Location(document.uri, document.lines_range(line, line + 1))

    def _find_plan(self, name: str) -> PlanRef | None:
        try:
            entry = self._resolver.resolve(name).entry
        except ExecplanError:
            return None
        return entry.ref if entry is not None else None

    def _find_task(self, document: PlanDocument, mention: Mention) -> Target | None:
        target_document: PlanDocument | None = document
        if mention.plan:
            ref = self._find_plan(mention.plan)
            target_document = self._documents.find(ref.path) if ref is not None else None
        if target_document is None or target_document.plan is None:
            return None
        try:
            task_id, _ = find_task(target_document.plan, mention.name)
        except ExecplanError:
            return None
        return Target(TASK, target_document.ref.path, task_id)

    def _find_file(self, document: PlanDocument, mention: Mention) -> Target | None:
        """Return the file or directory that a path means, from the repository's root or from the plan's directory."""
        is_link = mention.kind == LINK
        path = relative_path(mention.name) if is_link else extract_path(mention.name)
        root, directory = document.project.root, os.path.dirname(document.ref.path)
        for base in (directory,) if is_link else (root, document.project.base, directory):
            full_path = os.path.normpath(os.path.join(base, path))
            if path and os.path.exists(full_path):
                is_plan = any([entry.ref.path == full_path for entry in self._resolver.entries])
                return Target(PLAN if is_plan else FILE, full_path, line=_line_in(mention.name, path))
        return None


def defined_target(document: PlanDocument, line: int) -> Target | None:
    """Return what is defined on a line: the plan on that of its title, a task, or a step."""
    path = document.ref.path
    if document.plan is None:
        return None
    if line == document.plan.title_line:
        return Target(PLAN, path)
    task = document.task_on(line)
    if task is not None:
        return Target(TASK, path, task[0])
    for fence in find_annotated_fences(document.plan).steps:
        if fence.line == line and fence.info.id is not None:
            return Target(STEP, path, fence.info.id.value)
    return None


def _line_in(text: str, path: str) -> int:
    """Return the line, from 0, that follows a path, as in `src/reader.py:12` or `src/reader.py#L12`."""
    number = text.removeprefix("./").removeprefix(path).lstrip(":#L").partition("-")[0].partition(":")[0]
    return int(number) - 1 if number.isascii() and number.isdigit() and int(number[:7]) > 0 else 0
