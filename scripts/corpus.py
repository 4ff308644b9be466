"""Run the reader and every writer on real plans and write docs/research/corpus.md; with `--check`, compare it."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from corpus_given import PlanLocation, locate_plans, rule_context
from corpus_location import CORPUS, WILD
from corpus_memory import keep_results
from corpus_mend import fix_findings
from corpus_page import OTHER_FORMS_TITLE, PAGE, Report, new_report, render_other_forms, render_page
from corpus_probe import Probe
from corpus_steps import find_steps
from corpus_wild import examine_repository, repositories
from corpus_writers import add_tasks, fill_bodies, fill_logs, mark_tasks, reword_tasks

from execplan.core.errors import ExecplanError

CHECKS = (Probe.read, mark_tasks, add_tasks, reword_tasks, fill_logs, fill_bodies, fix_findings, find_steps)


def examine(located_plan: tuple[str, Path, PlanLocation]) -> Report:
    """Run all checks on one plan at its original location, and return the report."""
    name, path, location = located_plan
    try:
        probe = Probe(name, path.read_bytes(), rule_context(name, location))
    except ExecplanError as error:
        return new_report(name)._replace(failures=[f"{name}:{error.line}: not read: {error.message}"])
    return probe.run(CHECKS)


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
    has_other_forms = WILD.is_dir()
    with ProcessPoolExecutor(
        initializer=keep_results
    ) as pool:  # unlike multiprocessing.Pool, it reports a process that crashed
        results = pool.map(examine_repository, repositories(WILD) if has_other_forms else [])
        reports = list(pool.map(examine, plans(folder), chunksize=4))
        examined = list(results)
    failures = [failure for report in reports for failure in report.failures]
    failures += [failure for repository in examined for failure in repository.failures]
    for failure in failures:
        print(failure, file=sys.stderr)
    old_text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    files = [file for repository in examined for file in repository.files]
    text = render_page(reports)
    if has_other_forms:
        text += render_other_forms(files)
    else:
        print(f"no plans in other forms in {WILD}: that part is not checked")
        text += "".join(old_text.partition(f"\n{OTHER_FORMS_TITLE}")[1:])
    stale = old_text != text
    if stale and not arguments.check and not failures:
        PAGE.write_text(text, encoding="utf-8")
    outcome = (
        "; docs/research/corpus.md " + ("is stale" if arguments.check else "written") if stale and not failures else ""
    )
    print(f"{len(reports)} plans, {len(files)} files in other forms, {len(failures)} failures{outcome}")
    return 1 if failures or (stale and arguments.check) else 0


if __name__ == "__main__":
    sys.exit(main())
