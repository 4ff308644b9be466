"""Measure the precision of EP308 on the histories of real repositories: find its findings and count their verdicts.

`history_precision.py DIRECTORY` examines every clone below a directory (bare or not) at each commit that changes a
plan, as if the commit were about to be made. It prints the number of revisions and of findings for each repository, and
fails for a finding without a verdict in tests/history_precision.tsv. Without DIRECTORY it only counts the verdicts.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from execplan.errors import ExecplanError
from execplan.linter.rule import RULES, RuleContext
from execplan.linter.rule_facts import GitHistory
from execplan.linter.runner import lint_plan
from execplan.plan import reader
from execplan.project.directory_tree import is_plan_text
from execplan.project.plan_directories import FINISHED, GIVEN_UP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import ParsedPlan

VERDICTS = Path(__file__).resolve().parent.parent / "tests" / "history_precision.tsv"
CODE = "EP308"
LEAST = 0.9
"""Minimum share of correct findings; otherwise the rule must be off by default."""


class Revision(NamedTuple):
    """A plan before and after a commit."""

    commit: str
    old_path: str
    path: str
    old: bytes
    new: bytes


def verdicts() -> dict[tuple[str, str], bool]:
    """Return whether each finding is correct, by the start of the commit ID and the path."""
    rows = [line.split("\t") for line in VERDICTS.read_text(encoding="utf-8").splitlines()[1:]]
    return {(commit, path): right == "right" for _, commit, path, right, _ in rows}


def revisions(clone: Path) -> Iterator[Revision]:
    """Yield every change of a markdown file in a clone's history, without merges."""
    asked = [
        "log",
        "--no-merges",
        "-M",
        "--raw",
        "--no-abbrev",
        "--diff-filter=MR",
        "-z",
        "--format=%x01%H",
        "--",
        "*.md",
    ]
    log = subprocess.run(["git", "-C", str(clone), *asked], capture_output=True, check=True).stdout
    for part in log.split(b"\x01")[1:]:
        commit, *tokens = part.split(b"\0")
        rest = iter([each.lstrip(b"\n") for each in tokens])
        for token in rest:
            if token.startswith(b":"):
                _, _, old, new, status = token.split()
                old_path = next(rest).decode("utf-8", "replace")
                path = next(rest).decode("utf-8", "replace") if status.startswith(b"R") else old_path
                both = [_blob(clone, each.decode()) for each in (old, new)]
                yield Revision(commit.decode().strip(), old_path, path, *both)


def _blob(clone: Path, digest: str) -> bytes:
    return subprocess.run(["git", "-C", str(clone), "cat-file", "blob", digest], capture_output=True, check=True).stdout


def _plan(data: bytes) -> ParsedPlan | None:
    try:
        return reader.read(data) if is_plan_text(data) else None
    except ExecplanError:
        return None


def is_found(revision: Revision) -> bool | None:
    """Return whether the rule finds something in a revision, or None if it is not one of a plan."""
    before, after = _plan(revision.old), _plan(revision.new)
    if before is None or after is None:
        return None
    archived, was = [
        not {*FINISHED, *GIVEN_UP}.isdisjoint(path.lower().split("/")[:-1])
        for path in (revision.path, revision.old_path)
    ]
    given = RuleContext(
        is_archived=archived, path=revision.path, history=GitHistory(before, revision.old_path, was, is_partial=True)
    )
    return bool(lint_plan(after, given, {CODE: RULES[CODE].level}))


def main() -> int:
    """Count the verdicts; return 1 for a finding without a verdict, or if the rule is not precise enough."""
    known = verdicts()
    missing = 0
    for clone in sorted(
        {each.parent for each in Path(sys.argv[1]).rglob("HEAD") if (each.parent / "objects").is_dir()}
        if sys.argv[1:]
        else ()
    ):
        count = found = 0
        for revision in revisions(clone):
            finds = is_found(revision)
            count += finds is not None
            if finds:
                found += 1
                if (revision.commit[:8], revision.path) not in known:
                    missing += 1
                    print(f"no verdict: {clone} {revision.commit[:8]} {revision.path}")
        print(f"{clone}: {count} revisions of plans, {found} findings")
    right = sum(known.values())
    print(f"{CODE}: {right} of {len(known)} findings are right, {right / len(known):.0%}")
    return 1 if missing or right < LEAST * len(known) else 0


if __name__ == "__main__":
    sys.exit(main())
