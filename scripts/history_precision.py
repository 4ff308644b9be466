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

from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.project.plan_directories import FINISHED, GIVEN_UP
from execplan.core.project.plan_discovery import is_plan_text
from execplan.linter.rule import RULES, RuleContext
from execplan.linter.rule_facts import GitHistory
from execplan.linter.runner import lint_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan

VERDICTS = Path(__file__).resolve().parent.parent / "tests" / "history_precision.tsv"
CODE = "EP308"
MIN_SHARE = 0.9
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
    log_arguments = [
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
    log = subprocess.run(["git", "-C", str(clone), *log_arguments], capture_output=True, check=True).stdout
    for record in log.split(b"\x01")[1:]:
        commit, *tokens = record.split(b"\0")
        remaining = iter([token.lstrip(b"\n") for token in tokens])
        for token in remaining:
            if token.startswith(b":"):
                _, _, old, new, status = token.split()
                old_path = next(remaining).decode("utf-8", "replace")
                path = next(remaining).decode("utf-8", "replace") if status.startswith(b"R") else old_path
                both = [_blob(clone, digest.decode()) for digest in (old, new)]
                yield Revision(commit.decode().strip(), old_path, path, *both)


def _blob(clone: Path, digest: str) -> bytes:
    return subprocess.run(["git", "-C", str(clone), "cat-file", "blob", digest], capture_output=True, check=True).stdout


def _plan(data: bytes) -> ParsedPlan | None:
    try:
        return reader.read(data) if is_plan_text(data) else None
    except ExecplanError:
        return None


def has_finding(revision: Revision) -> bool | None:
    """Return whether the rule finds something in a revision, or None if it is not one of a plan."""
    before, after = _plan(revision.old), _plan(revision.new)
    if before is None or after is None:
        return None
    is_archived, was_archived = [
        not {*FINISHED, *GIVEN_UP}.isdisjoint(path.lower().split("/")[:-1])
        for path in (revision.path, revision.old_path)
    ]
    context = RuleContext(
        is_archived=is_archived,
        path=revision.path,
        history=GitHistory(before, revision.old_path, was_archived, is_partial=True),
    )
    return bool(lint_plan(after, context, {CODE: RULES[CODE].level}))


def main() -> int:
    """Count the verdicts; return 1 for a finding without a verdict, or if the rule is not precise enough."""
    judged = verdicts()
    missing = 0
    for clone in sorted(
        {head_file.parent for head_file in Path(sys.argv[1]).rglob("HEAD") if (head_file.parent / "objects").is_dir()}
        if sys.argv[1:]
        else ()
    ):
        count = finding_count = 0
        for revision in revisions(clone):
            is_finding = has_finding(revision)
            count += is_finding is not None
            if is_finding:
                finding_count += 1
                if (revision.commit[:8], revision.path) not in judged:
                    missing += 1
                    print(f"no verdict: {clone} {revision.commit[:8]} {revision.path}")
        print(f"{clone}: {count} revisions of plans, {finding_count} findings")
    right = sum(judged.values())
    print(f"{CODE}: {right} of {len(judged)} findings are correct, {right / len(judged):.0%}")
    return 1 if missing or right < MIN_SHARE * len(judged) else 0


if __name__ == "__main__":
    sys.exit(main())
