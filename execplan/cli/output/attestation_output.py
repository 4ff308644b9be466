"""Output of `audit --attest`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.cli.answer import Answer
from execplan.cli.output.terminal_text import printable_lines

if TYPE_CHECKING:
    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project


def attestation_answer(project: Project, ref: PlanRef, options: WriteOptions) -> Answer:
    """Write the attestation of a plan's last run."""
    from execplan.execution.engine.audit_log.run_attestation import attest_last_run

    stored = attest_last_run(project, ref, options)
    data: dict[str, Any] = {
        "id": ref.id,
        "path": stored.path,
        "changed": stored.changed and not options.dry_run,
        "digest": stored.digest,
        "commit": stored.commit,
    }
    if options.dry_run:
        line = f"would write {stored.path}" if stored.changed else "nothing to write: the attestation is up to date"
        return Answer({**data, "diff": stored.diff}, printable_lines([line], stored.diff), warnings=stored.warnings)
    lines = [f"attested in {stored.path}" if stored.changed else f"{stored.path} is up to date"]
    lines += [f"committed {stored.commit[:12]}"] if stored.commit else []
    return Answer(data, printable_lines(lines), warnings=stored.warnings, is_requested=False)
