"""Evidence files of archived plans: a record of the plan and the digest of every artifact."""

from __future__ import annotations

import os
from typing import Any

from execplan.core import features
from execplan.core.clock import now
from execplan.core.files import file_access
from execplan.core.files.tree_walk import walk_tree
from execplan.core.plan import reader
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project
from execplan.core.text import fast_json
from execplan.core.text.text_lines import digest
from execplan.core.timestamps import DEFAULT_TIMESTAMP, write_timestamp

EVIDENCE_FILE = "execplan-evidence.json"
ATTESTATION_FILE = "execplan-attestation.json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
_MAX_BYTES = 64 << 20


def attestation_of_evidence(project: Project, data: bytes | None, folder: str) -> bytes | None:
    """Return the Statement that belongs to an evidence file with content `data`; None if the plan never ran."""
    if data is None:
        return None
    try:
        evidence = fast_json.loads(data)
    except (ValueError, RecursionError):  # an altered evidence file moves with its plan, and proves nothing
        return None
    if not isinstance(evidence, dict) or not evidence.get("run"):
        return None
    statement: bytes = features.load(features.ATTESTATION)(project, evidence, folder, digest(data))
    return statement


def read_attestation(folder: str) -> bytes | None:
    """Return the Statement in a directory of artifacts; None if there is none, or only a file of someone else."""
    path = os.path.join(folder, ATTESTATION_FILE)
    if not os.path.isfile(path):
        return None
    data = file_access.read(path, _MAX_BYTES)[0]
    return data if data.startswith(b'{\n  "_type": "' + STATEMENT_TYPE.encode()) else None


SCHEMA = "execplan/evidence/1"


def build_evidence(
    project: Project, ref: PlanRef, origin: str, path: str, outcome: str, successor_id: str | None, data: bytes
) -> bytes:
    """Build the evidence of a plan with content `data` to be archived at `path` as `outcome`; raises ExecplanError.

    The commit is the one that is checked out now, before the archive's own commit. The artifacts are at the plan's
    current place, at the archive path, or at their place before someone moved the plan's file from `origin`.
    """
    import json

    folders = [
        project.plan_artifacts_dir(ref.path, archived=ref.archived),
        project.plan_artifacts_dir(path, archived=True),
    ]
    folders += [project.plan_artifacts_dir(origin, archived=False)] if origin else []
    facts = collect_facts(project, ref, path, data, next(filter(os.path.isdir, folders), folders[0]))
    plan, manifest, run = plan_store.parse(project, data), facts.pop("manifest"), facts.pop("run")
    record = {
        "schema": SCHEMA,
        **facts,
        "archived": write_timestamp(now(), DEFAULT_TIMESTAMP).strip("()"),
        "as": outcome,
        "by": successor_id,
        "title": plan.title,
        "counts": plan.counts(),
        "run": run,
        "manifest": manifest,
    }
    return (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def collect_facts(project: Project, ref: PlanRef, path: str, data: bytes, folder: str) -> dict[str, Any]:
    """Collect what an attestation says of a plan with content `data` at `path`; raises ExecplanError.

    That is its ID, path and digest, the commit that is checked out, the last run, and the digests of the artifacts in
    `folder`.
    """
    from execplan.core.git.git_directory import head_commit
    from execplan.core.text.text_lines import digest

    return {
        "id": ref.id,
        "path": project.display_path(path),
        "digest": digest(data),
        "commit": head_commit(project),
        "run": features.load(features.LAST_RUN)(folder),
        "manifest": _manifest(folder, ref.path),
    }


def is_evidence(path: str) -> bool:
    """Return whether a file is evidence written by an archive."""
    return (
        os.path.isfile(path) and f'"schema": "{SCHEMA}"'.encode() in file_access.read(path, reader.MAX_BYTES)[0][:200]
    )


def recorded_digest(project: Project, path: str) -> str:
    """Return the digest of a plan at the time of its archive, or an empty string if no evidence records it."""
    from execplan.core.errors import ExecplanError

    file = os.path.join(project.plan_artifacts_dir(path, archived=True), EVIDENCE_FILE)
    try:
        if not is_evidence(file):
            return ""
        record = fast_json.loads(file_access.read(file, reader.MAX_BYTES)[0])
    except (ExecplanError, ValueError, RecursionError):
        return ""
    if not isinstance(record, dict):
        return ""
    return str(record.get("digest", "")) if record.get("id") == project.split_plan_path(path)[1] else ""


def _manifest(folder: str, plan: str) -> list[dict[str, Any]]:
    """List the files under a directory by path, except the plan; links are recorded with their targets, not followed.

    Raises ExecplanError, also if a part of the directory can't be read.
    """
    files: list[dict[str, Any]] = []
    if not os.path.isdir(folder):
        return files
    try:
        for directory, folders, names in walk_tree(folder, onerror=_raise_error):
            folders.sort()
            links = [name for name in folders if os.path.islink(os.path.join(directory, name))]
            for name in sorted([*names, *links]):
                path = os.path.join(directory, name)
                relative = os.path.relpath(path, folder)
                if os.path.islink(path):
                    files.append({"path": relative, "link": os.readlink(path)})
                elif os.path.isfile(path) and relative not in (EVIDENCE_FILE, ATTESTATION_FILE) and path != plan:
                    files.append({"path": relative, **_digest_entry(path)})
    except OSError as error:
        raise file_access.file_error(error, error.filename or folder, "read") from None
    return sorted(files, key=lambda file: str(file["path"]))


def _raise_error(error: OSError) -> None:
    raise error


def _digest_entry(path: str) -> dict[str, Any]:
    from hashlib import file_digest

    handle, size = file_access.open_file(path)
    with open(handle, "rb") as file:
        return {"bytes": size, "sha256": file_digest(file, "sha256").hexdigest()}
