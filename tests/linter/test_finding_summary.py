"""Equal findings of one plan as a single one."""

from __future__ import annotations

from execplan.linter.finding_summary import merge_findings
from execplan.linter.rule import SAFE, Finding, Fix
from execplan.linter.runner import lint_bytes
from tests.plans import CLEAN, from_template


def _finding(line: int, message: str, code: str = "EP207", level: str = "hint", fix: Fix | None = None) -> Finding:
    return Finding(code, level, line, 1, line, 5, message, fix)


def test_sections_with_placeholder_text() -> None:
    findings = lint_bytes(from_template("plan").encode())
    placeholder_findings = [finding for finding in findings if finding.code == "EP109"]
    merged = merge_findings(findings)
    assert len(placeholder_findings) == 9
    assert [finding.code for finding in merged].count("EP109") == 1
    message = next(finding.message for finding in merged if finding.code == "EP109")
    assert message.startswith(
        "9 sections still contain placeholder text: Purpose / Big Picture, Progress, Context and Orientation, "
    )
    assert message.endswith("Interfaces and Dependencies")
    assert next(finding for finding in merged if finding.code == "EP109")[:6] == placeholder_findings[0][:6]


def test_one_section_keeps_its_message() -> None:
    finding = _finding(7, "Plan of Work still contains placeholder text (3 lines)", "EP109")
    assert merge_findings([finding]) == [finding]


def test_findings_about_tasks_that_differ_in_nothing_else_name_the_tasks() -> None:
    findings = [_finding(10 + number, f"task {number} has no timestamp") for number in (1, 2, 7)]
    others = [_finding(14, "task 4 has no text"), _finding(15, "task list ends here"), _finding(16, "task")]
    assert [finding.message for finding in merge_findings([*findings, *others])] == [
        "task 1 has no timestamp (also tasks 2, 7)",
        *[finding.message for finding in others],
    ]
    assert merge_findings(findings[:2])[0].message == "task 1 has no timestamp (also task 2)"


def test_equal_messages_name_their_lines() -> None:
    findings = [_finding(line, "a box outside Progress") for line in (3, 9, 12)]
    assert [(finding.line, finding.message) for finding in merge_findings(findings)] == [
        (3, "a box outside Progress (also lines 9, 12)")
    ]
    assert merge_findings([_finding(3, "x"), _finding(3, "x")])[0].message == "x (2 times)"
    merged = merge_findings([_finding(line, "x") for line in range(1, 15)])
    assert merged[0].message == "x (also lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more)"


def test_other_findings_stay_apart() -> None:
    fix = Fix(SAFE, ())
    findings = [
        _finding(1, "x"),
        _finding(2, "y"),
        _finding(3, "x", level="error"),
        _finding(4, "x", code="EP208"),
        _finding(5, "x", fix=fix),
        _finding(6, "and 3 more"),
        _finding(7, "and 3 more", code="EP208"),
    ]
    assert merge_findings(findings) == findings


def test_between_conflict_markers_only_the_markers_are_found() -> None:
    entry = "<<<<<<< ours\n- Decision: A1\n=======\n- Decision: A2\n>>>>>>> theirs\n  Date/Author: 2026-11-30 / Ann\n"
    data = CLEAN.replace("## Decision Log\n\n", f"## Decision Log\n\n{entry}\n", 1).encode()
    assert {finding.code for finding in lint_bytes(data)} == {"EP002"}
