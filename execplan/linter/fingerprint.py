"""What a finding is known by when lines move and other parts of the plan change."""

from __future__ import annotations

from execplan.linter.rule import Finding
from execplan.plan import outline
from execplan.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.plan.model import ParsedPlan


def compute_fingerprints(findings: Sequence[Finding], plan: ParsedPlan | None) -> list[str]:
    """For each finding its code with a digest of the words it is about and of their section; not of where they stand.

    Findings of a rule about the same words in the same section have the same mark. `plan` is None where it can't be read.
    """
    return [
        f"{finding.code}:{digest(_finding_context(finding, plan).encode('utf-8', 'surrogatepass'))[:16]}"
        for finding in findings
    ]


def unique_fingerprints(fingerprints: Sequence[str], path: str) -> Iterator[str]:
    """The marks of a plan's findings as digests that no other finding of any plan has."""
    counts: dict[str, int] = {}
    for fingerprint in fingerprints:
        counts[fingerprint] = counts.get(fingerprint, 0) + 1
        yield digest(f"{path}\0{fingerprint}\0{counts[fingerprint]}".encode("utf-8", "surrogateescape"))[:32]


def _finding_context(finding: Finding, plan: ParsedPlan | None) -> str:
    """The section and the words of a finding's place; what is said of the title's line is about the whole plan."""
    if plan is None or finding.line - 1 == plan.title_line:
        return ""
    lines = plan.text.lines[finding.line - 1 : finding.end_line]
    if lines:
        lines[-1] = lines[-1][: finding.end_column if len(lines) == finding.end_line - finding.line + 1 else None]
        lines[0] = lines[0][finding.column - 1 :]
    return f"{_section_name(plan, finding.line - 1)}\n{_normalize(' '.join(lines))}"


def _section_name(plan: ParsedPlan, line: int) -> str:
    """The name of the section that a line stands in, or nothing."""
    for section in plan.sections:
        if section.start <= line < section.end:
            return section.name or outline.title_key(section.title)
    return ""


def _normalize(text: str) -> str:
    """The words, white space folded, without the bullet, the box or the marks of a heading in front."""
    normalized = " ".join(text.split()).lstrip("-*+#> ")
    if normalized[:1] == "[" and normalized[2:3] == "]":
        normalized = normalized[3:].lstrip()
    return normalized
