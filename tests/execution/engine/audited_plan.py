"""A plan with a ledger, in a real repository."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from execplan.execution.engine.audit_log import hash_chain, log_reader
from execplan.execution.engine.audit_log.log_writer import AuditLog
from execplan.execution.engine.journal.journal import Journal
from execplan.execution.engine.run_records import run_directories
from tests.in_process_repository import NAME, InProcessRepository

if TYPE_CHECKING:
    from execplan.execution.engine.run_records.run_directories import RunPaths

DOCUMENT = '{"steps": [{"id": "api", "type": "execute_command", "argv": ["make"], "command": "make", "target": null}]}'

BEGUN: dict[str, Any] = {
    "plan_id": NAME,
    "revision": 1,
    "document": "d" * 64,
    "approval": "a" * 64,
    "approval_id": "b" * 32,
    "approver": "Ann",
    "how": "digest",
    "user": "ann",
    "session": None,
    "policy": "1",
    "sandbox": "",
    "jobs": 1,
    "chosen": None,
    "replays": None,
    "head": None,
    "states": {},
}
"""What the first entry of a journal says."""


class AuditedPlan:
    """A plan, and its ledger."""

    def __init__(self, repo: InProcessRepository) -> None:
        self.repo = repo
        self.project, self.ref = repo.project()
        self.audit_log = AuditLog(self.project, self.ref)
        self.path = Path(log_reader.path_of(self.project, self.ref))

    def later(self, seconds: int) -> None:
        """Set the clock."""
        self.repo.later(seconds)

    def records(self) -> list[hash_chain.AuditRecord]:
        """What is in the ledger, which is whole."""
        walked = hash_chain.parse_chain(self.path.read_bytes())
        assert walked.flaw is None
        return walked.records

    def run(self, document: str = DOCUMENT) -> tuple[RunPaths, Journal]:
        """A run that is about to begin, with a document of one step."""
        run_paths = run_directories.next_run(self.project, self.ref)
        Path(run_paths.folder).mkdir(parents=True)
        Path(run_paths.document).write_text(document)
        return run_paths, Journal(run_paths.journal)


def change(path: str) -> dict[str, Any]:
    """A file that was made, as a journal says it."""
    after = ["file", "b" * 64, 0o644, "", 3]
    return {
        "path": path,
        "before": ["absent", "", 0, "", 0],
        "after": after,
        "added": 1,
        "removed": 0,
        "declared": True,
    }
