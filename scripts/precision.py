"""Measure the precision of each rule: draw findings on real plans for manual review, and count the verdicts.

`precision.py` prints the share of correct findings for each rule. `precision.py draw [CODE…]` prints the drawn findings
without a verdict, with the lines around them. `precision.py check` exits with 1 for a drawn finding without a verdict,
and for a rule that is not precise enough. `STEP` means the steps that are inferred from plans without attributes: one
is correct if its directory and argv are what the plan says to run.
"""

from __future__ import annotations

import argparse
import os
import sys
from binascii import crc32
from pathlib import Path
from typing import NamedTuple

import precision_steps
from corpus_given import given, places
from precision_steps import CODE as STEP

from execplan.linter.runner import HINT, RULES, lint_bytes

ROOT = Path(__file__).resolve().parent.parent
VERDICTS = ROOT / "tests" / "precision.tsv"
SEED = 20261122
DRAWN = 30
LEAST = 0.9
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


def corpus() -> Path:
    """Return the directory of real plans."""
    return Path(os.environ.get("EXECPLAN_CORPUS") or ROOT.parent / "shared" / "corpus")


def findings(folder: Path) -> dict[str, list[Drawn]]:
    """Return the findings of all rules on the corpus, by code."""
    files = sorted(folder.rglob("*.md"))
    names = [path.relative_to(folder).as_posix() for path in files]
    lay = places(names)
    levels = {code: rule.level for code, rule in RULES.items()}
    found: dict[str, list[Drawn]] = {code: [] for code in sorted(RULES)}
    for name, path in zip(names, files, strict=True):
        for each in lint_bytes(path.read_bytes(), given(name, lay[name]), levels):
            found[each.code].append(Drawn(each.code, name, each.line, each.message))
    found[STEP] = [Drawn(STEP, *each) for each in precision_steps.inferred(folder)]
    return found


def draw(found: list[Drawn]) -> list[Drawn]:
    """Draw at most thirty of a rule's findings, or fifty inferred steps, one per line.

    Each is drawn independently of the others, so that most of the selection stays the same after a rule is fixed.
    """
    places: dict[tuple[str, int], Drawn] = {}
    for each in sorted(found, key=lambda each: crc32(f"{SEED} {each[3]}".encode())):
        places.setdefault((each.file, each.line), each)
    ordered = sorted(places.values(), key=lambda each: (crc32(f"{SEED} {each[:3]}".encode()), each))
    return sorted(ordered[: precision_steps.DRAWN if ordered and ordered[0].code == STEP else DRAWN])


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
        code: (sum(judged[each[:3]].right for each in some), len(some))
        for code, found in drawn.items()
        for some in [[each for each in found if each[:3] in judged]]
    }


def troubles(drawn: dict[str, list[Drawn]]) -> list[str]:
    """Return all problems found: findings without a verdict, imprecise rules, and verdicts on findings not drawn."""
    judged = verdicts()
    every = {each[:3] for found in drawn.values() for each in found}
    said = [f"{code} {file}:{line}: not judged" for code, file, line in sorted(every - judged.keys())]
    said += [f"{code} {file}:{line}: judged, but not drawn" for code, file, line in sorted(judged.keys() - every)]
    for code, (right, count) in shares(drawn).items():
        if code == STEP:
            if count and right < LEAST * count:
                said.append(f"{STEP}: {right} of {count} are right: leave out what is not sure")
            continue
        rule = RULES[code]
        if count and right < LEAST * count and (rule.on or rule.level != HINT):
            said.append(f"{code}: {right} of {count} are right: mend it, or make it a hint that is off by default")
    return said


def show(drawn: dict[str, list[Drawn]], folder: Path) -> None:
    """Print the drawn findings without a verdict, with the lines around them."""
    judged = verdicts()
    for code, found in drawn.items():
        for each in found:
            if each[:3] in judged:
                continue
            lines = (folder / each.file).read_bytes().decode("utf-8", "replace").splitlines()
            print(f"\n=== {code}\t{each.file}\t{each.line}\n    {each.message}")
            above = precision_steps.AROUND if code == STEP else _AROUND
            for at in range(max(each.line - above, 1), min(each.line + _AROUND, len(lines)) + 1):
                print(f"{'>' if at == each.line else ' '}{at:5} {lines[at - 1][:400]}")


def main() -> int:
    """Draw findings, count verdicts or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["count", "draw", "check"], default="count")
    parser.add_argument("codes", nargs="*", help="codes, or how codes begin; default: all")
    asked = parser.parse_args()
    folder = corpus()
    if not folder.is_dir():
        print(f"no corpus in {folder}: nothing was judged")
        return 0
    found = findings(folder)
    drawn = {code: draw(each) for code, each in found.items() if not asked.codes or code.startswith(tuple(asked.codes))}
    if asked.what == "draw":
        show(drawn, folder)
        return 0
    if asked.what == "check":
        said = troubles(drawn)
        print("\n".join(said[:50]) or "every finding that was drawn is judged, and every rule is right often enough")
        return 1 if said else 0
    for code, (right, count) in shares(drawn).items():
        state = "" if code == STEP or RULES[code].on else "  off by default"
        level = "inferred" if code == STEP else RULES[code].level
        print(
            f"{code} {level:8}{len(found[code]):6} found, {len(drawn[code]):3} drawn, {right} of {count} right{state}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
