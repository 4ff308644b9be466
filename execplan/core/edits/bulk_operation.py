"""An operation on several plans: its steps are undone together, and its files are committed together."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.edits import edit_journal
from execplan.core.plan_store import plan_store
from execplan.core.text.text_lines import digest

if TYPE_CHECKING:
    from typing import Protocol, Self, TypeVar

    from execplan.core.edits.plan_commit import PendingCommit
    from execplan.core.git.git_commit import CommitResult
    from execplan.core.project.project import Project

    class WriteReport(Protocol):
        """The result of a write, such as `EditResult` and `MoveResult`."""

        @property
        def path(self) -> str:
            """Return the path from the repository root."""

        @property
        def changed(self) -> bool:
            """Return whether anything was written."""

        def _replace(self, *, digest: str = ..., commit: str | None = ...) -> Self: ...

    WrittenPlan = TypeVar("WrittenPlan", bound=WriteReport)


class BulkOperation:
    """The writes of one command to several plans: one operation to undo, and one commit.

    Each write gets it in its `WriteOptions`; `commit` follows the last one. After a crash, the steps so far are the
    operation.
    """

    def __init__(self) -> None:
        self._id = edit_journal.new_operation_id()
        self._step_count = 0
        self._deferred: dict[str, list[PendingCommit]] = {}
        self._commits: dict[str, CommitResult] = {}

    def next_id(self) -> str:
        """Return the ID of the next step."""
        self._step_count += 1
        return f"{self._id}{edit_journal.STEP_SEPARATOR}{self._step_count}"

    def defer_commit(self, pending: PendingCommit) -> None:
        """Leave what a step has written to the commit of all steps."""
        self._deferred.setdefault(pending.project.root, []).append(pending)

    def commit(self, command: str, summary: str) -> tuple[str, ...]:
        """Commit what the steps have written, once in each repository, and return warnings.

        Raises ExecplanError if a commit fails; the written files stay.
        """
        from execplan.core.edits.plan_commit import commit_together

        for root, steps in self._deferred.items():
            self._commits[root] = commit_together(steps, command, summary)
        self._deferred = {}
        return tuple([warning for commit in self._commits.values() for warning in commit.warnings])

    def commit_of(self, project: Project) -> str | None:
        """Return the ID of the commit in a project's repository, or None without one."""
        commit = self._commits.get(project.root)
        return commit.digest if commit is not None else None

    def with_commit(self, project: Project, result: WrittenPlan) -> WrittenPlan:
        """Return the result of a step with the commit, and with the digest of what a git hook made of the file."""
        commit = self._commits.get(project.root)
        if commit is None or not result.changed:
            return result
        if result.path in commit.rewritten:
            data = plan_store.read_bytes(project, os.path.join(project.root, result.path))
            result = result._replace(digest=digest(data))
        return result._replace(commit=commit.digest)
