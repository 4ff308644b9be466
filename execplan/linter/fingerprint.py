"""Fingerprints that identify findings when lines move and other parts of the plan change."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.text.text_lines import digest
from execplan.linter.rule import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.core.plan.model import ParsedPlan


def compute_fingerprints(findings: Sequence[Finding], plan: ParsedPlan | None) -> list[str]:
    """Return a fingerprint per finding: its code, and a digest of its text and section but not its position.

    Findings of a rule about the same text in the same section have the same fingerprint. `plan` is None if it can't be
    read.
    """
    return [
        f"{finding.code}:{digest(_finding_context(finding, plan).encode('utf-8', 'surrogatepass'))[:16]}"
        for finding in findings
    ]


def unique_fingerprints(fingerprints: Sequence[str], path: str) -> Iterator[str]:
    """Yield a digest for each of a plan's fingerprints that is unique among all findings of all plans."""
    counts: dict[str, int] = {}
    for fingerprint in fingerprints:
        counts[fingerprint] = counts.get(fingerprint, 0) + 1
        yield digest(f"{path}\0{fingerprint}\0{counts[fingerprint]}".encode("utf-8", "surrogateescape"))[:32]


def _finding_context(finding: Finding, plan: ParsedPlan | None) -> str:
    """Return the section and text of a finding's place; empty for the title line, which is about the whole plan."""
    if plan is None or finding.line - 1 == plan.title_line:
        return ""
    lines = plan.text.lines[finding.line - 1 : finding.end_line]
    if lines:
        lines[-1] = lines[-1][: finding.end_column if len(lines) == finding.end_line - finding.line + 1 else None]
        lines[0] = lines[0][finding.column - 1 :]
    return f"{_section_name(plan, finding.line - 1)}\n{_normalize(' '.join(lines))}"


def _section_name(plan: ParsedPlan, line: int) -> str:
    """Return the name of the section that contains a line; empty if there is none."""
    for section in plan.sections:
        if section.start <= line < section.end:
            return section.name or outline.title_key(section.title)
    return ""


def _normalize(text: str) -> str:
    """Return text with white space collapsed, without its leading bullet, check box or heading marks."""
    normalized = " ".join(text.split()).lstrip("-*+#> ")
    if normalized[:1] == "[" and normalized[2:3] == "]":
        normalized = normalized[3:].lstrip()
    return normalized
