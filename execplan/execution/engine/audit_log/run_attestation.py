"""Attestations of plans: in-toto Statements about the last run, which tools other than execplan can verify.

A Statement names the plan, its artifacts and the commit by digest. Its predicate is a Test Result with the steps of the
run. It is not signed: the key of approvals is a shared secret, so its signatures prove nothing to others. Sign the file
with a tool such as those of Sigstore.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from execplan.core.archive import archive_evidence
from execplan.core.archive.archive_evidence import EVIDENCE_FILE, STATEMENT_TYPE
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import ExecplanError
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.execution import states
from execplan.execution.approvals import artifact_store
from execplan.execution.approvals.artifact_store import StoredArtifact
from execplan.execution.engine.audit_log import log_reader, log_verification
from execplan.execution.engine.run_preconditions import ensure_no_unfinished_run
from execplan.execution.engine.run_records.run_summary import find_last_begun_run, load_run_state

PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
PASSED, WARNED, FAILED = "PASSED", "WARNED", "FAILED"


def build_attestation(project: Project, evidence: Mapping[str, Any], folder: str, evidence_digest: str = "") -> bytes:
    """Build the Statement for a plan's evidence; the same evidence gives the same bytes.

    `evidence` is a record of `archive_evidence` with a run, `folder` the directory of its artifacts. The evidence file
    becomes a subject too if its SHA-256 is given as `evidence_digest`. Secrets in names are redacted.
    """
    import json

    names = _SubjectNames(project, folder)
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": list(_subjects(names, evidence, evidence_digest)),
        "predicateType": PREDICATE_TYPE,
        "predicate": _test_result(names, evidence),
    }
    return (json.dumps(statement, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")


class _SubjectNames:
    """Names of files in a Statement: paths from the root of the repository, without secrets."""

    def __init__(self, project: Project, folder: str) -> None:
        from execplan.core.secrets.redaction import Redactor

        self._project, self._folder = project, folder
        self._redactor = Redactor({}, ())

    def artifact(self, path: str) -> str:
        """Return the name of an artifact, readable even if its path is not UTF-8."""
        return self.clean(self._project.display_path(os.path.join(self._folder, path)))

    def clean(self, name: str) -> str:
        """Return a name without secrets."""
        return self._redactor.redact_text(name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _subjects(names: _SubjectNames, evidence: Mapping[str, Any], evidence_digest: str) -> Iterator[dict[str, Any]]:
    yield {"name": names.clean(evidence["path"]), "digest": {"sha256": evidence["digest"]}}
    if evidence["commit"]:
        yield {"name": "commit", "digest": {"gitCommit": evidence["commit"]}}
    if evidence_digest:
        yield {"name": names.artifact(EVIDENCE_FILE), "digest": {"sha256": evidence_digest}}
    for entry in evidence["manifest"]:
        if "sha256" in entry:  # a link has no content of its own
            yield {"name": names.artifact(entry["path"]), "digest": {"sha256": entry["sha256"]}}


def _test_result(names: _SubjectNames, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the predicate: the steps of the run by result.

    Steps that did not run are not listed. Of a run that was rolled back, only the failed steps are: nothing is left of
    the others.
    """
    run = evidence["run"]
    steps = [step for step in run["steps"] if run["status"] != states.ROLLED_BACK or step["status"] == states.FAILED]
    ids = {
        status: [step["id"] for step in steps if step["status"] == status]
        for status in (states.COMPLETED, states.RECOVERED, states.FAILED)
    }
    if run["status"] != states.COMPLETED:
        result = FAILED
    elif ids[states.RECOVERED]:
        result = WARNED
    else:
        result = PASSED
    annotations = {"plan": evidence["id"], "run": run["id"], "runStatus": run["status"], "approval": run["approval"]}
    return {
        "result": result,
        "configuration": [
            {
                "name": names.artifact(_document_path(evidence)),
                "digest": {"sha256": run["document"]},
                "annotations": {name: value for name, value in annotations.items() if value},
            }
        ],
        "passedTests": ids[states.COMPLETED],
        "warnedTests": ids[states.RECOVERED],
        "failedTests": ids[states.FAILED],
    }


def _document_path(evidence: Mapping[str, Any]) -> str:
    """Return the artifact with the last execution plan of the run; a replanned run has several."""
    run = evidence["run"]
    stem = f"runs/{run['id']}/execution-plan"
    paths = [entry["path"] for entry in evidence["manifest"] if entry.get("sha256") == run["document"]]
    return next((path for path in paths if path.startswith(stem)), f"{stem}.json")


def attest_last_run(project: Project, ref: PlanRef, options: WriteOptions) -> StoredArtifact:
    """Write the in-toto Statement of a plan's last run to its artifacts. Raises ExecplanError.

    The audit log must be intact, because the Statement relies on what it records.
    """
    folder = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    _ensure_log_intact(project, ref)
    _ensure_path_free(project, folder)
    return artifact_store.save(
        project,
        ref,
        lambda: _build_statement(project, ref, folder),
        options,
        command="audit",
        summary="attest the last run",
        name=archive_evidence.ATTESTATION_FILE,
    )


def _build_statement(project: Project, ref: PlanRef, folder: str) -> bytes:
    facts = archive_evidence.collect_facts(project, ref, ref.path, plan_store.read_bytes(project, ref.path), folder)
    if facts["run"] is None:
        ensure_no_unfinished_run(project, ref)
        _ensure_record_not_missing(project, ref)
        raise ExecplanError(
            "nothing-to-attest",
            f"{ref.id} has no run that has ended, so there is no result to attest",
            hint=f"see its runs: execplan runs {ref.shell_name}",
        )
    return build_attestation(project, facts, folder)


def _ensure_record_not_missing(project: Project, ref: PlanRef) -> None:
    """Raise ExecplanError if the last run has ended but its record is missing or damaged, as after a kill at its end."""
    run_paths, entries = find_last_begun_run(project, ref)
    if run_paths is None:
        return
    number = f"{run_paths.number} -p {ref.shell_name}"
    hint = f"write it again from the journal: execplan resume {number}"
    if load_run_state(run_paths, entries).status == states.FAILED:
        hint = f"resume the run: execplan resume {number}; or roll it back: execplan rollback {number}"
    message = f"the record of run {run_paths.id} of {ref.id} is missing or damaged"
    raise ExecplanError("nothing-to-attest", message, hint=hint)


def _ensure_log_intact(project: Project, ref: PlanRef) -> None:
    if reasons := log_verification.verify_log(project, ref).reasons:
        raise log_reader.broken_error(
            project.display_path(log_reader.path_of(project, ref)), ref.shell_name, reasons[0]
        )


def _ensure_path_free(project: Project, folder: str) -> None:
    """Raise ExecplanError if the name of the attestation is taken by a file of someone else."""
    path = os.path.join(folder, archive_evidence.ATTESTATION_FILE)
    if os.path.lexists(path) and archive_evidence.read_attestation(folder) is None:
        raise ExecplanError(
            "target-taken",
            f"{project.display_path(path)} already exists and is not an attestation",
            hint="move it away, then try again",
        )
