"""What a finding is known by when lines move and other parts of the plan change."""

from __future__ import annotations

from execplan.lint.rule import Finding
from execplan.plan import outline
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.plan.model import Plan


def marks(findings: Sequence[Finding], plan: Plan | None) -> list[str]:
    """For each finding its code with a digest of the words it is about and of their section; not of where they stand.

    Findings of a rule about the same words in the same section have the same mark. `plan` is None where it can't be read.
    """
    return [f"{each.code}:{digest(_about(each, plan).encode('utf-8', 'surrogatepass'))[:16]}" for each in findings]


def unique(found: Sequence[str], path: str) -> Iterator[str]:
    """The marks of a plan's findings as digests that no other finding of any plan has."""
    seen: dict[str, int] = {}
    for mark in found:
        seen[mark] = seen.get(mark, 0) + 1
        yield digest(f"{path}\0{mark}\0{seen[mark]}".encode("utf-8", "surrogateescape"))[:32]


def _about(finding: Finding, plan: Plan | None) -> str:
    """The section and the words of a finding's place; what is said of the title's line is about the whole plan."""
    if plan is None or finding.line - 1 == plan.title_line:
        return ""
    lines = plan.text.lines[finding.line - 1 : finding.end_line]
    if lines:
        lines[-1] = lines[-1][: finding.end_column if len(lines) == finding.end_line - finding.line + 1 else None]
        lines[0] = lines[0][finding.column - 1 :]
    return f"{_section(plan, finding.line - 1)}\n{_bare(' '.join(lines))}"


def _section(plan: Plan, line: int) -> str:
    """The name of the section that a line stands in, or nothing."""
    for section in plan.sections:
        if section.start <= line < section.end:
            return section.name or outline.key(section.title)
    return ""


def _bare(text: str) -> str:
    """The words, white space folded, without the bullet, the box or the marks of a heading in front."""
    words = " ".join(text.split()).lstrip("-*+#> ")
    if words[:1] == "[" and words[2:3] == "]":
        words = words[3:].lstrip()
    return words
