"""Edits from the board: each one goes through the library, with the digest of the plan that the user saw."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.core.edits.digest_check import ensure_digest_matches
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import claims
from execplan.core.plan_store.author import actor
from execplan.core.project.project_discovery import require_existing
from execplan.library.plan_api import Plan

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import EditResult


class SeenPlan(NamedTuple):
    """A plan as the user saw it when they decided to edit it."""

    path: str
    """Absolute path of the file."""
    digest: str

    def reload(self) -> SeenPlan:
        """Return the plan as it is now, or this one if it can't be read."""
        try:
            return self._replace(digest=self._find().digest)
        except ExecplanError:
            return self

    @property
    def _options(self) -> WriteOptions:
        return WriteOptions(if_match=self.digest)

    def complete_task(self, task_id: str) -> str:
        """Check off a task and return a message. Raises ExecplanError, also if the plan has changed."""
        return _message(self._find().done(task_id, options=self._options))

    def reopen_task(self, task_id: str) -> str:
        """Uncheck a task and return a message. Raises ExecplanError, also if the plan has changed."""
        return _message(self._find().reopen(task_id, options=self._options))

    def add_task(self, text: str) -> str:
        """Add a task at the end and return a message. Raises ExecplanError, also if the plan has changed."""
        return _message(self._find().add(text, options=self._options))

    def claim_task(self, task_id: str) -> str:
        """Claim a task for the current author and return a message. Raises ExecplanError, also if the plan has changed."""
        plan = self._find()
        require_existing(plan.project)
        ensure_digest_matches(plan.project, plan.ref, self.digest)
        name = actor(plan.project)
        claims.claim_task(plan.project, plan.ref, name, claims.DEFAULT_HOURS, task_id)
        claim = claims.task_claims(plan.project, plan.ref, plan.read())[task_id]
        return f"claimed by {name} until {claim.format_end()}"

    def _find(self) -> Plan:
        return Plan.find(self.path, ".")


def _message(result: EditResult) -> str:
    """Return what an edit did, and its warnings, one per line."""
    committed = [f"committed {result.commit[:12]}"] if result.commit else []
    return "\n".join([*result.messages, *committed, *[f"warning: {warning}" for warning in result.warnings]])
