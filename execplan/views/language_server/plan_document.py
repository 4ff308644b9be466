"""A markdown document in the editor or on disk, with its plan and findings, which are computed at most once per version."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.plan_recognition import follows_format
from execplan.core.plan_store import plan_store
from execplan.linter.checking.effective_rules import active_levels
from execplan.linter.checking.plan_check import is_skip_notice, make_rule_context
from execplan.linter.plan_source import PlanSource
from execplan.linter.runner import lint_plan, unreadable_finding
from execplan.views.language_server.open_text import OpenText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.model import ParsedPlan, Task
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.linter.rule import Finding, RuleContext
    from execplan.views.language_server.document_surroundings import Surroundings


class PlanDocument(OpenText):
    """A version of a document, and what is known of it."""

    def __init__(
        self, uri: str, surroundings: Surroundings, source: str, encoding: str, version: int | None = None
    ) -> None:
        super().__init__(source, encoding)
        self.uri = uri
        self.surroundings = surroundings
        self.version = version
        """Number that the editor has given to this version; None for a file that is not open."""

    @property
    def project(self) -> Project:
        """The project of the file."""
        return self.surroundings.project

    @property
    def ref(self) -> PlanRef:
        """The plan that the file would be."""
        return self.surroundings.ref

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the text."""
        return self.text.lines

    @cached_property
    def data(self) -> bytes:
        """The bytes that saving the document would write."""
        return self.source.encode("utf-8", "surrogatepass")

    @cached_property
    def plan(self) -> ParsedPlan | None:
        """The plan; None if the document is none, or can't be read."""
        parsed = self._parsed
        if not isinstance(parsed, ExecplanError) and self._is_plan(parsed):
            return parsed
        return None

    @cached_property
    def plan_source(self) -> PlanSource:
        """Code spans and other features of the plan's text."""
        return PlanSource(self.plan)

    @cached_property
    def tasks_by_id(self) -> dict[str, Task]:
        """The plan's tasks by ID."""
        tasks = self.plan.tasks if self.plan is not None else []
        return dict(zip(task_ids(tasks), tasks, strict=True))

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """What `lint` reports about the text; nothing if it is no plan."""
        if isinstance(self._parsed, ExecplanError):
            is_plan_file = self.surroundings.is_in_plans_directory
            return [unreadable_finding(self._parsed)] if is_plan_file else []
        if not self._is_plan(self._parsed):
            return []
        findings = lint_plan(self._parsed, self.rule_context(), self.levels)
        return [] if is_skip_notice(findings) else findings

    @cached_property
    def levels(self) -> dict[str, str]:
        """The rules that apply to the file, each with its level."""
        options = self.surroundings.check_options
        return active_levels(self.project, options.selection, self.project.display_path(self.ref.path))

    def rule_context(self) -> RuleContext:
        """Return what the rules may know besides the text."""
        return make_rule_context(self.project, self.ref, self.surroundings.check_options, is_explicit=False)

    def task_on(self, line: int) -> tuple[str, Task] | None:
        """Return the task with a line of its own text there, and its ID."""
        for task_id, task in self.tasks_by_id.items():
            if task.start <= line < task.end:
                return task_id, task
        return None

    @property
    def is_saved(self) -> bool:
        """Whether the text is that of the file, which an editor may show with other line ends and no byte order mark."""
        try:
            saved = reader.decode(plan_store.read_bytes(self.project, self.ref.path))
        except ExecplanError:
            return not self.source and not os.path.lexists(self.ref.path)
        return saved.lines == self.text.lines

    @cached_property
    def _parsed(self) -> ParsedPlan | ExecplanError:
        try:
            return reader.read(self.data, self.project.titles)
        except ExecplanError as error:
            return error

    def _is_plan(self, parsed: ParsedPlan) -> bool:
        """Return whether a parsed text is a plan: one in a plans directory, or anywhere else an ExecPlan."""
        if self.surroundings.is_in_plans_directory:
            return not parsed.is_document
        return follows_format(parsed)
