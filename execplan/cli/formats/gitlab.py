"""Lint output as a GitLab Code Quality report: a JSON array whose fingerprints don't change when lines move."""

from __future__ import annotations

import json
from collections.abc import Sequence

from execplan.linter.checking.plan_check import CheckedFile, parse_checked_plan
from execplan.linter.fingerprint import compute_fingerprints, unique_fingerprints
from execplan.linter.rule import ERROR, HINT, WARNING

_SEVERITIES = {ERROR: "major", WARNING: "minor", HINT: "info"}


def render(checked: Sequence[CheckedFile]) -> str:
    """Return the report as JSON text."""
    report = []
    for checked_file in checked:
        finding_marks = compute_fingerprints(
            checked_file.findings, parse_checked_plan(checked_file) if checked_file.findings else None
        )
        for finding, fingerprint in zip(
            checked_file.findings, unique_fingerprints(finding_marks, checked_file.path), strict=True
        ):
            report.append(
                {
                    "description": f"{finding.code} {finding.message}",
                    "check_name": finding.code,
                    "fingerprint": fingerprint,
                    "severity": _SEVERITIES[finding.level],
                    "location": {"path": checked_file.path, "lines": {"begin": finding.line, "end": finding.end_line}},
                }
            )
    return json.dumps(report, indent=1)
