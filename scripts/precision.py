"""Measure the precision of each rule: draw findings on real plans for manual review, and count the verdicts.

`precision.py` prints the share of correct findings for each rule. `precision.py draw [CODE…]` prints the drawn findings
without a verdict, with the lines around them. `precision.py check` exits with 1 for a drawn finding without a verdict,
and for a rule that is not precise enough. `STEP` means the steps that are inferred from plans without attributes: one
is correct if its directory and argv are what the plan says to run.
"""

from __future__ import annotations

import argparse
import sys
from binascii import crc32
from pathlib import Path
from typing import NamedTuple

import precision_steps
from corpus_given import locate_plans, rule_context
from corpus_location import CORPUS

from execplan.linter.runner import HINT, RULES, lint_bytes

ROOT = Path(__file__).resolve().parent.parent
VERDICTS = ROOT / "tests" / "precision.tsv"
SEED = 20261122
DRAWN = 30
MIN_SHARE = 0.9
"""Minimum share of correct findings among those drawn; otherwise the rule must be a hint and off by default."""
_AROUND = 4


class Drawn(NamedTuple):
    """A finding drawn for review."""

    code: str
    file: str
    line: int
    message: str


class Verdict(NamedTuple):
    """The reviewed verdict on a finding."""

    right: bool
    reason: str


def findings(folder: Path) -> dict[str, list[Drawn]]:
    """Return the findings of all rules on the corpus, by code."""
    files = sorted(folder.rglob("*.md"))
    names = [path.relative_to(folder).as_posix() for path in files]
    locations = locate_plans(names)
    levels = {code: rule.level for code, rule in RULES.items()}
    findings_by_code: dict[str, list[Drawn]] = {code: [] for code in sorted(RULES)}
    for name, path in zip(names, files, strict=True):
        for finding in lint_bytes(path.read_bytes(), rule_context(name, locations[name]), levels):
            findings_by_code[finding.code].append(Drawn(finding.code, name, finding.line, finding.message))
    findings_by_code[precision_steps.CODE] = [
        Drawn(precision_steps.CODE, *step) for step in precision_steps.inferred(folder)
    ]
    return findings_by_code


def draw(candidates: list[Drawn]) -> list[Drawn]:
    """Draw at most thirty of a rule's findings, or fifty inferred steps, one per line.

    Each is drawn independently of the others, so that most of the selection stays the same after a rule is fixed.
    """
    by_line: dict[tuple[str, int], Drawn] = {}
    for finding in sorted(candidates, key=lambda finding: crc32(f"{SEED} {finding[3]}".encode())):
        by_line.setdefault((finding.file, finding.line), finding)
    ordered = sorted(by_line.values(), key=lambda finding: (crc32(f"{SEED} {finding[:3]}".encode()), finding))
    return sorted(ordered[: precision_steps.DRAWN if ordered and ordered[0].code == precision_steps.CODE else DRAWN])


def verdicts() -> dict[tuple[str, str, int], Verdict]:
    """Return the verdicts by code, file and line."""
    judged = {}
    for row in VERDICTS.read_text(encoding="utf-8").splitlines()[1:] if VERDICTS.exists() else []:
        code, file, line, verdict, reason = row.split("\t")
        assert verdict in ("right", "wrong"), row
        assert reason, row
        judged[code, file, int(line)] = Verdict(verdict == "right", reason)
    return judged


def shares(drawn: dict[str, list[Drawn]]) -> dict[str, tuple[int, int]]:
    """Return, for each rule, how many of the drawn and reviewed findings are correct, and how many were reviewed."""
    judged = verdicts()
    return {
        code: (sum(judged[finding[:3]].right for finding in judged_findings), len(judged_findings))
        for code, drawn_findings in drawn.items()
        for judged_findings in [[finding for finding in drawn_findings if finding[:3] in judged]]
    }


def find_problems(drawn: dict[str, list[Drawn]]) -> list[str]:
    """Return all problems found: findings without a verdict, imprecise rules, and verdicts on findings not drawn."""
    judged = verdicts()
    drawn_keys = {finding[:3] for drawn_findings in drawn.values() for finding in drawn_findings}
    problems = [f"{code} {file}:{line}: not judged" for code, file, line in sorted(drawn_keys - judged.keys())]
    problems += [
        f"{code} {file}:{line}: judged, but not drawn" for code, file, line in sorted(judged.keys() - drawn_keys)
    ]
    for code, (right, count) in shares(drawn).items():
        if code == precision_steps.CODE:
            if count and right < MIN_SHARE * count:
                problems.append(f"{precision_steps.CODE}: {right} of {count} are right: leave out what is not sure")
            continue
        rule = RULES[code]
        if count and right < MIN_SHARE * count and (rule.on or rule.level != HINT):
            problems.append(f"{code}: {right} of {count} are right: mend it, or make it a hint that is off by default")
    return problems


def show(drawn: dict[str, list[Drawn]], folder: Path) -> None:
    """Print the drawn findings without a verdict, with the lines around them."""
    judged = verdicts()
    for code, drawn_findings in drawn.items():
        for finding in drawn_findings:
            if finding[:3] in judged:
                continue
            lines = (folder / finding.file).read_bytes().decode("utf-8", "replace").splitlines()
            print(f"\n=== {code}\t{finding.file}\t{finding.line}\n    {finding.message}")
            lines_above = precision_steps.AROUND if code == precision_steps.CODE else _AROUND
            for at in range(max(finding.line - lines_above, 1), min(finding.line + _AROUND, len(lines)) + 1):
                print(f"{'>' if at == finding.line else ' '}{at:5} {lines[at - 1][:400]}")


def main() -> int:
    """Draw findings, count verdicts or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["count", "draw", "check"], default="count")
    parser.add_argument("codes", nargs="*", help="codes or code prefixes; default: all")
    arguments = parser.parse_args()
    folder = CORPUS
    if not folder.is_dir():
        print(f"no corpus in {folder}: nothing to review")
        return 0
    findings_by_code = findings(folder)
    drawn = {
        code: draw(rule_findings)
        for code, rule_findings in findings_by_code.items()
        if not arguments.codes or code.startswith(tuple(arguments.codes))
    }
    if arguments.what == "draw":
        show(drawn, folder)
        return 0
    if arguments.what == "check":
        problems = find_problems(drawn)
        print(
            "\n".join(problems[:50]) or "every finding that was drawn is judged, and every rule is right often enough"
        )
        return 1 if problems else 0
    for code, (right, count) in shares(drawn).items():
        state = "" if code == precision_steps.CODE or RULES[code].on else "  off by default"
        level = "inferred" if code == precision_steps.CODE else RULES[code].level
        print(
            f"{code} {level:8}{len(findings_by_code[code]):6} found, {len(drawn[code]):3} drawn, {right} of {count} right{state}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
