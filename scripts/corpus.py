"""Run the reader and every writer on a directory of real plans and write docs/research/corpus.md; with `--check`, compare it."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from corpus_given import PlanLocation, locate_plans, rule_context
from corpus_location import CORPUS
from corpus_mend import fix_findings
from corpus_page import PAGE, Report, new_report, render_page
from corpus_probe import Probe
from corpus_steps import find_steps
from corpus_writers import add_tasks, fill_bodies, fill_logs, mark_tasks, reword_tasks

from execplan.errors import ExecplanError

ROOT = Path(__file__).resolve().parent.parent


def examine(located_plan: tuple[str, Path, PlanLocation]) -> Report:
    """Run all checks on one plan at its original location, and return the report."""
    name, path, location = located_plan
    try:
        probe = Probe(name, path.read_bytes(), rule_context(name, location))
    except ExecplanError as error:
        return new_report(name)._replace(failures=[f"{name}:{error.line}: not read: {error.message}"])
    for check in (Probe.read, mark_tasks, add_tasks, reword_tasks, fill_logs, fill_bodies, fix_findings, find_steps):
        try:
            check(probe)
        except Exception as error:  # noqa: BLE001 - a crash is a finding about this plan like any other
            probe.fail(0, f"{type(error).__name__}: {error}")
    return probe.report


def plans(folder: Path) -> list[tuple[str, Path, PlanLocation]]:
    """Return the plans below a directory, each with its relative path and its original location."""
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.md"))}
    return [(name, paths[name], location) for name, location in locate_plans(list(paths)).items()]


def main() -> int:
    """Check every plan; return 1 for a failure, or under `--check` if the page would change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="default: $EXECPLAN_CORPUS, else ../shared/corpus")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; report whether docs/research/corpus.md would change"
    )
    arguments = parser.parse_args()
    folder = arguments.folder or CORPUS
    if not folder.is_dir():
        print(f"no corpus in {folder}: nothing to check")
        return 0
    with ProcessPoolExecutor() as pool:  # unlike multiprocessing.Pool, it reports a process that crashed
        reports = list(pool.map(examine, plans(folder), chunksize=4))
    failures = [failure for report in reports for failure in report.failures]
    for failure in failures:
        print(failure, file=sys.stderr)
    text = render_page(reports)
    stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
    if stale and not arguments.check and not failures:
        PAGE.write_text(text, encoding="utf-8")
    outcome = (
        "; docs/research/corpus.md " + ("is stale" if arguments.check else "written") if stale and not failures else ""
    )
    print(f"{len(reports)} plans, {len(failures)} failures{outcome}")
    return 1 if failures or (stale and arguments.check) else 0


if __name__ == "__main__":
    sys.exit(main())
