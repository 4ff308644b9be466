"""Lint output as SARIF 2.1.0: one run with the rules that have findings, the findings, and their fixes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from execplan import __version__
from execplan.core.text.text_lines import Edit, Text, apply_edits
from execplan.linter.checking.plan_check import CheckedFile, parse_checked_plan
from execplan.linter.finding_summary import is_overflow
from execplan.linter.fingerprint import compute_fingerprints, unique_fingerprints
from execplan.linter.rule import ERROR, HINT, RULES, SAFE, WARNING, Finding, Fix

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {ERROR: "error", WARNING: "warning", HINT: "note"}
_ROOT = "%SRCROOT%"


def render(checked: Sequence[CheckedFile]) -> str:
    """Return the SARIF log as JSON text."""
    codes = sorted({finding.code for checked_file in checked for finding in checked_file.findings})
    rules = {code: at for at, code in enumerate(codes)}
    run = {
        "tool": {"driver": {"name": "execplan", "version": __version__, "rules": [_rule(code) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "results": [result for file in checked if file.findings for result in _results(file, rules)],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _rule(code: str) -> dict[str, Any]:
    """Return the descriptor of a rule, with the text of its help topic."""
    rule = RULES[code]
    paragraphs = rule.help_text.split("\n\n")
    why = " ".join(paragraphs[1].split()) if len(paragraphs) > 1 else rule.summary
    return {
        "id": code,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": f"{rule.summary} {why}"},
        "help": {"text": rule.help_text},
        "defaultConfiguration": {"level": _LEVELS[rule.level], "enabled": rule.on},
    }


def _results(checked: CheckedFile, rules: dict[str, int]) -> list[dict[str, Any]]:
    """Return the results for a plan's findings."""
    plan = parse_checked_plan(checked)
    fingerprints = unique_fingerprints(compute_fingerprints(checked.findings, plan), checked.path)
    artifact = _artifact(checked.path)
    results = []
    for finding, fingerprint in zip(checked.findings, fingerprints, strict=True):
        location = {"artifactLocation": artifact, "region": _region(finding)}
        result = {
            "ruleId": finding.code,
            "ruleIndex": rules[finding.code],
            "level": _LEVELS[finding.level],
            "message": {"text": finding.message},
            "locations": [{"physicalLocation": location}],
            "partialFingerprints": {"execplanFinding/v1": fingerprint},
        }
        if finding.fix is not None and plan is not None and finding.fix.is_displayable:
            result["fixes"] = [_fix(finding.fix, plan.text, artifact)]
        results.append(result)
    return results


def _artifact(path: str) -> dict[str, str]:
    """Return a file's location, relative to the repository root, or absolute if it is outside."""
    uri = quote(os.fsencode(path))
    return {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": _ROOT}


def _region(finding: Finding) -> dict[str, int]:
    """Return a finding's region, whose end column is exclusive in SARIF; only the line if there is no exact place."""
    if finding.code == "EP001" or is_overflow(finding):
        return {"startLine": finding.line}
    return {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column + 1,
    }


def _fix(fix: Fix, text: Text, artifact: dict[str, str]) -> dict[str, Any]:
    """Return the SARIF form of a fix."""
    about = "Keeps the plan's meaning." if fix.kind == SAFE else "May change the plan's meaning."
    changes = [_replacement(text, edit) for edit in fix.edits]
    return {
        "description": {"text": about},
        "artifactChanges": [{"artifactLocation": artifact, "replacements": changes}],
    }


def _replacement(text: Text, edit: Edit) -> dict[str, Any]:
    """Convert an edit to a replaced region; a region covers whole lines, unless the last line has no line ending."""
    applied = apply_edits(text, [edit])
    count, stop = len(text.lines), edit.end + len(applied.lines) - len(text.lines)
    first, start, end = edit.start, (edit.start + 1, 1), (edit.end + 1, 1)
    open_end = edit.end == count > 0 and not text.ends[-1]
    if open_end:
        end = count, len(text.lines[-1]) + 1
    if open_end and first and (edit.start == count or edit.start == stop):
        first -= 1  # the line ending of the previous line changes, too
        start = edit.start, len(text.lines[first]) + 1
    new = [line + line_end for line, line_end in zip(applied.lines[first:stop], applied.ends[first:stop], strict=True)]
    if first < edit.start:
        new[0] = applied.ends[first]
    region = {"startLine": start[0], "startColumn": start[1], "endLine": end[0], "endColumn": end[1]}
    return {"deletedRegion": region, "insertedContent": {"text": "".join(new)}}
