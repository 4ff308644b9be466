"""Lint output as a JUnit report: one suite per plan, with a failed test for each error and each warning."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from execplan.cli.error_handler import printable_line
from execplan.cli.formats import concise
from execplan.linter.rule import HINT, RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.linter.checking.plan_check import CheckedFile


def render(checked: Sequence[CheckedFile]) -> str:
    """Return the report as XML; characters that XML does not allow are escaped as on a terminal."""
    root = ET.Element("testsuites", name="execplan lint")
    suites = [_suite(checked_file) for checked_file in checked]
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum([int(suite.get(name, "0")) for suite in suites])))
    root.extend(suites)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(checked: CheckedFile) -> ET.Element:
    """Return the suite of a plan: one test per finding, or one passing test if there is none."""
    path = printable_line(checked.path)
    failures = len([finding for finding in checked.findings if finding.level != HINT])
    tests = str(max(len(checked.findings), 1))
    suite = ET.Element("testsuite", name=path, tests=tests, failures=str(failures), errors="0", skipped="0")
    if not checked.findings:
        ET.SubElement(suite, "testcase", classname=path, name="no findings", file=path)
    name_counts: dict[str, int] = {}
    for finding in checked.findings:
        base_name = printable_line(f"{finding.code} {finding.message}")
        name_counts[base_name] = (
            name_counts.get(base_name, 0) + 1
        )  # programs that compare two reports identify a test by its name
        name = f"{base_name} ({name_counts[base_name]})" if name_counts[base_name] > 1 else base_name
        case = ET.SubElement(suite, "testcase", classname=path, name=name, file=path, line=str(finding.line))
        sentence = RULES[finding.code].summary if finding.code in RULES else ""
        body = f"{concise.finding_line(checked, finding)}\n{printable_line(sentence)}"
        if finding.level == HINT:
            ET.SubElement(case, "system-out").text = body
        else:
            ET.SubElement(case, "failure", type=finding.level, message=printable_line(finding.message)).text = body
    return suite
