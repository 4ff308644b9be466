"""The attestation file of a plan, next to its evidence. What is in it, the features that run plans say."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.files import file_access
from execplan.core.text import fast_json
from execplan.core.text.text_lines import digest

if TYPE_CHECKING:
    from execplan.core.project.project import Project

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
