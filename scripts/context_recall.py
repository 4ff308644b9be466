"""Measure how many of the files that a commit changed are in a context pack that is made before the commit.

The arguments are git directories of public repositories with plans. A case is a commit that completes a task of a plan
and changes code. The pack is made at its parent, with the task open, and compared with what the commit changed.
`recall_cases.py` finds the cases. Two other methods fill the same budget: the newest files first, and with --repomix
what repomix prints of the files that the plan names, and then of the others.

The figures in docs/research/context-recall.md are from here.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from recall_cases import Case, find_cases, git

from execplan.cli.output.context_decision import ContextOptions, decide_pack
from execplan.context.context_pack import FILE, KEEP, PRUNE
from execplan.context.context_settings import ContextSettings, allocate_budget
from execplan.context.gathering.file_units import FileListing
from execplan.context.gathering.pack_gathering import GatherOptions, gather_pack
from execplan.context.shortening.code_definitions import read_definitions
from execplan.context.token_counter import make_counter
from execplan.core.plan_store import plan_selection, plan_store

BUDGET = 8000
OURS, NEWEST, PEER = "execplan context", "newest files first", "repomix"
ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "EXECPLAN_AUTHOR": "Ann Example"}
_NUMBER = re.compile(r"^ *\d+  |^      ")


class Printed(NamedTuple):
    """What a pack has of a file."""

    text: str
    is_complete: bool
    tokens: int


class Result(NamedTuple):
    """A pack, compared with the files that were needed."""

    needed: int
    present: int
    whole_count: int
    complete: int
    file_tokens: int
    unneeded_tokens: int
    """Tokens of files that were not needed."""
    total_tokens: int
    seconds: float
    missed: tuple[str, ...]
    """Needed files that are not in the pack."""
    partial: tuple[str, ...]
    """Needed files that are in the pack without the changed definitions."""


def evaluate(case: Case, sources: dict[str, str], files: dict[str, Printed], total: int, seconds: float) -> Result:
    """Compare the files in a pack with those that the commit changed."""
    present = [change for change in case.changes if change.path in files]
    complete = [change.path for change in present if files[change.path].is_complete]
    whole_files = [
        change.path
        for change in present
        if files[change.path].is_complete
        or has_changed_definitions(sources[change.path], change.path, change.hunks, files[change.path].text)
    ]
    needed = {change.path for change in case.changes}
    return Result(
        len(needed),
        len(present),
        len(whole_files),
        len(complete),
        sum([printed.tokens for printed in files.values()]),
        sum([printed.tokens for path, printed in files.items() if path not in needed]),
        total,
        seconds,
        tuple(sorted(needed - files.keys())),
        tuple([change.path for change in present if change.path not in whole_files]),
    )


def has_changed_definitions(source: str, path: str, hunks: tuple[tuple[int, int], ...], text: str) -> bool:
    """Return whether an excerpt of a file has all changed functions whole, and all other changed lines.

    Of a class, only the changed lines are required. Lines outside of definitions, such as imports, are required only if
    nothing else changed. What is only added requires nothing.
    """
    lines = source.split("\n")
    definitions = read_definitions(lines, is_python=path.endswith((".py", ".pyi")))
    required: set[int] = set()
    outside: set[int] = set()
    for first, count in hunks:
        for at in range(first - 1, first - 1 + max(count, 1)):
            around = [
                definition
                for definition in definitions
                if definition.start <= at < definition.end and (count or at < definition.end - 1)
            ]
            functions = [definition for definition in around if not definition.is_container]
            if functions:
                required.update(range(functions[0].start, functions[0].end))
            elif count:
                (required if around else outside).add(at)
    required = required or outside
    printed_lines = iter([_NUMBER.sub("", line).strip() for line in text.split("\n")])
    return all([lines[at].strip() in printed_lines for at in sorted(required) if at < len(lines) and lines[at].strip()])


def run_case(case: Case, checkout: Path, peer: str | None) -> dict[str, Result]:
    """Return the results of all methods for a case."""
    git(checkout, "checkout", "-qf", f"{case.commit}^")
    git(checkout, "clean", "-qfdx")
    plan = checkout / case.plan_path
    plan.parent.mkdir(parents=True, exist_ok=True)
    plan.write_text(case.plan_text, encoding="utf-8")
    sources = {
        change.path: (checkout / change.path).read_text(encoding="utf-8", errors="replace") for change in case.changes
    }
    os.chdir(checkout)
    start = time.perf_counter()
    project, ref = plan_selection.select_plan(str(checkout), f"./{case.plan_path}")
    parsed = plan_store.load(project, ref).require_plan()
    gathered = gather_pack(project, ref, parsed, GatherOptions(case.task))
    options = ContextOptions(BUDGET, None, None, "markdown", False, None, None, False, False, False, ())
    packed = decide_pack(gathered, ContextSettings(), options)
    seconds = time.perf_counter() - start
    files = {
        item.unit.path: Printed(item.text, item.action == KEEP, item.tokens)
        for item in packed.items
        if item.unit.type == FILE and item.action != PRUNE
    }
    total = make_counter(exact=False).count(packed.text)
    results = {OURS: evaluate(case, sources, files, total, seconds)}
    head = sum([item.tokens for item in packed.items if item.unit.pinned])
    results[NEWEST] = evaluate(case, sources, *newest_first(checkout, head), 0.0)
    if peer:
        results[PEER] = evaluate(case, sources, *peer_pack(checkout, peer, case, head), 0.0)
    return results


def newest_first(checkout: Path, head: int) -> tuple[dict[str, Printed], int]:
    """Return a pack of the purpose, the task, and complete files, those first that the newest commits changed."""
    log = git(checkout, "log", "-n", "400", "--name-only", "--no-renames", "-z", "--format=")
    return _fill(checkout, [path.lstrip("\n") for path in log.split("\0")], head)


def _fill(checkout: Path, paths: list[str], head: int) -> tuple[dict[str, Printed], int]:
    count = make_counter(exact=False).count
    remaining = allocate_budget(BUDGET).context - head
    files: dict[str, Printed] = {}
    for path in dict.fromkeys(paths):
        if (checkout / path).is_file() and not path.endswith(".md"):
            text = (checkout / path).read_text(encoding="utf-8", errors="replace")
            tokens = count(f"## file: {path}\n\n```\n{text}\n```\n")
            if tokens <= remaining:
                files[path] = Printed(text, is_complete=True, tokens=tokens)
                remaining -= tokens
    return files, allocate_budget(BUDGET).context - remaining


_PEER_FILE = re.compile(r'<file path="([^"]+)">\n(.*?)\n</file>', re.DOTALL)


def peer_pack(checkout: Path, peer: str, case: Case, head: int) -> tuple[dict[str, Printed], int]:
    """Return a pack of the purpose, the task, and of files as repomix compresses them: those that the plan names first."""
    command = [
        peer,
        "--stdout",
        "--style",
        "xml",
        "--compress",
        "--no-file-summary",
        "--no-directory-structure",
        "--quiet",
        "--no-security-check",
    ]
    output = subprocess.run(
        command, cwd=checkout, check=True, capture_output=True, encoding="utf-8", errors="replace"
    ).stdout
    texts = {path: text for path, text in _PEER_FILE.findall(output) if not path.endswith(".md")}
    named_files = FileListing(texts.keys()).referenced_files(case.plan_text)
    count = make_counter(exact=False).count
    remaining = allocate_budget(BUDGET).context - head
    files: dict[str, Printed] = {}
    for path in [*named_files, *reversed(texts)]:
        tokens = count(f'<file path="{path}">\n{texts[path]}\n</file>\n')
        if path not in files and tokens <= remaining:
            source = (checkout / path).read_text(encoding="utf-8", errors="replace")
            files[path] = Printed(texts[path], texts[path].strip() == source.strip(), tokens)
            remaining -= tokens
    return files, allocate_budget(BUDGET).context - remaining


def run_repository(repository: Path, peer: str | None, *, verbose: bool) -> list[dict[str, Result]]:
    """Return the results for all cases of a repository."""
    os.environ.update(ENVIRONMENT)
    results = []
    with tempfile.TemporaryDirectory() as directory:
        checkout = Path(directory).resolve() / "checkout"
        subprocess.run(["git", "clone", "-qns", str(repository), str(checkout)], check=True)
        for case in find_cases(repository):
            try:
                result = run_case(case, checkout, peer)
            except subprocess.CalledProcessError as error:  # the snapshot lacks objects
                print(f"left out: {case.commit}: {error}", file=sys.stderr)
                continue
            results.append(result)
            if verbose:
                ours = result[OURS]
                print(
                    f"{repository.parent.name} {case.commit[:8]} {case.plan_path} {case.task}: {ours.present}/{ours.whole_count}/{ours.needed} {ours.total_tokens} {ours.seconds:.2f}s missed={ours.missed} partial={ours.partial}"
                )
        os.chdir("/")
    return results


def table(results: list[dict[str, Result]]) -> str:
    """Return a table of the sums over all cases."""
    needed = sum([result[OURS].needed for result in results])
    rows = [
        f"{len(results)} packs, {needed} needed files:",
        "",
        "| method | in the pack | changed definitions whole | complete | tokens of files that were not needed |",
        "|---|---|---|---|---|",
    ]
    for name in results[0]:
        own = [result[name] for result in results]
        counts = [
            sum([result.present for result in own]),
            sum([result.whole_count for result in own]),
            sum([result.complete for result in own]),
        ]
        unneeded = sum([result.unneeded_tokens for result in own]) / max(sum([result.file_tokens for result in own]), 1)
        rows.append(
            f"| {name} | "
            + " | ".join([f"{count} ({count / needed:.0%})" for count in counts])
            + f" | {unneeded:.0%} |"
        )
    return "\n".join(rows)


def main() -> int:
    """Print the tables for the given repositories, or the cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path, metavar="GIT_DIRECTORY")
    parser.add_argument(
        "--unseen",
        nargs="*",
        type=Path,
        default=[],
        metavar="GIT_DIRECTORY",
        help="repositories of a table of their own",
    )
    parser.add_argument("--repomix", metavar="PROGRAM", help="the program of the peer")
    parser.add_argument("--list", action="store_true", help="print a line for each case")
    arguments = parser.parse_args()
    for title, repositories in (("Development", arguments.repositories), ("Unseen", arguments.unseen)):
        with ProcessPoolExecutor(2) as pool:
            jobs = [
                pool.submit(run_repository, path.resolve(), arguments.repomix, verbose=arguments.list)
                for path in repositories
            ]
            results = [result for job in jobs for result in job.result()]
        if results:
            print(f"\n{title}: {table(results)}")
            print(
                f"seconds: mean {sum(r[OURS].seconds for r in results) / len(results):.2f}, max {max(r[OURS].seconds for r in results):.2f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
