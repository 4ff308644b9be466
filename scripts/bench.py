"""Measure the rows of the design's speed table relative to a reference in the same run: `bench.py [PART…] [-n N]`."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import mistune
from bench_guard import guard_commands
from bench_inputs import INPUTS, build_plan
from bench_lint import find_rivals, measure_lint
from bench_run import measure_runs
from bench_tools import EXECPLAN, PYTHON, Command, create_project, format_ratio, measure_in_turns, print_table

from execplan.linter.runner import lint_bytes
from execplan.plan import reader
from execplan.text.markdown_blocks import scan_blocks
from execplan.text.text_lines import Text

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = 100_000
GROWTH = 50


def make_restorer(repository: Path) -> Callable[[], object]:
    """Return a function that restores the original text of a project's first plan."""
    plan = repository / ".agent" / "execplans" / "2026-01-02_plan-0.md"
    data = plan.read_bytes()
    return lambda: plan.write_bytes(data)


def done_command(repository: Path, *flags: str) -> Command:
    """Return the command that completes the last open task of a project's first plan."""
    return Command(
        [EXECPLAN, "done", "-p", "2026-01-02_plan-0", "Write the tests", *flags], repository, make_restorer(repository)
    )


def measure_start(folder: Path, runs: int) -> None:
    """Measure the total time of commands."""
    ten, thousand = create_project(folder, 10), create_project(folder, 1000)
    plan = ".agent/execplans/2026-01-02_plan-0.md"
    budgets = {
        "lint FILE, 20 KB, no findings": ("2× (aim 1.5×)", Command([EXECPLAN, "lint", plan], ten)),
        "list, 10 plans": ("6×", Command([EXECPLAN, "list"], ten)),
        "status, 10 plans": ("6×", Command([EXECPLAN, "status"], ten)),
        "show PLAN": ("6×", Command([EXECPLAN, "show", "2026-01-02_plan-0"], ten)),
        "prime PLAN": ("6×", Command([EXECPLAN, "prime", "2026-01-02_plan-0"], ten)),
        "--help": ("5.5×", Command([EXECPLAN, "--help"], ten)),
        "done with its write, 10 plans": ("6.5×", done_command(ten)),
        **guard_commands(folder),
        "done with its write, 1,000 plans": ("6.5×", done_command(thousand)),
    }
    commands = {"python": Command(PYTHON, ten), **{name: command for name, (_, command) in budgets.items()}}
    seconds_by_name = measure_in_turns(commands, runs)
    print_table(
        f"Start, as a multiple of `python -I -c pass` ({seconds_by_name['python'] * 1000:.0f} ms), medians of {runs} runs in turns",
        ("verb", "ratio", "budget"),
        [
            (name, format_ratio(seconds_by_name[name] / seconds_by_name["python"]), budget)
            for name, (budget, _) in budgets.items()
        ],
    )


def measure_throughput(folder: Path, runs: int) -> None:
    """Measure how much text one core processes per second."""
    corpus_setting = os.environ.get("EXECPLAN_CORPUS")
    corpus = Path(corpus_setting) if corpus_setting else ROOT.parent / "shared" / "corpus"
    data = [path.read_bytes() for path in sorted(corpus.rglob("*.md"))]
    source_name = "the corpus" if data else "made plans"
    data = data or [build_plan(size).encode() for size in range(2_000, 60_000, 500)]
    texts = [Text.from_bytes(content) for content in data]
    sources = [content.decode() for content in data]
    blocks = mistune.create_markdown(renderer=None).block

    def block_parse(source: str) -> None:
        state = blocks.state_cls()
        state.process(source)
        blocks.parse(state)

    speeds = {
        "a bare loop over the lines": _speed(lambda: list(map(_lines, data)), data, runs),
        "scan alone": _speed(lambda: [scan_blocks(text.lines, has_tabs=text.tabs) for text in texts], data, runs),
        "read into a Plan": _speed(lambda: [reader.read(content) for content in data], data, runs),
        "lint, all rules": _speed(lambda: [lint_bytes(content) for content in data], data, runs),
        "mistune, blocks only": _speed(lambda: list(map(block_parse, sources)), data, 2),
    }
    budgets = {"scan alone": "45 MB/s", "read into a Plan": "30 MB/s", "lint, all rules": "10 MB/s (aim 15)"}
    loop, rival = speeds["a bare loop over the lines"], speeds["mistune, blocks only"]
    print_table(
        f"Throughput of a core on {source_name} ({sum(map(len, data)) / 1e6:.1f} MB), the best of {runs} passes",
        ("what", "of mistune", "of the loop", "MB/s", "budget"),
        [
            (name, format_ratio(speed / rival), format_ratio(speed / loop), f"{speed:.1f}", budgets.get(name, ""))
            for name, speed in speeds.items()
        ],
    )


def _lines(data: bytes) -> None:
    for line in data.decode().split("\n"):
        line.lstrip(" ")


def _speed(work: Callable[[], object], data: list[bytes], runs: int) -> float:
    """Return the speed in megabytes per second."""
    return sum(map(len, data)) / 1e6 / best(work, runs)


def best(work: Callable[[], object], runs: int) -> float:
    """Return the shortest time of several runs in seconds, with garbage collection off."""
    seconds = []
    gc.disable()
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    gc.enable()
    return min(seconds)


def measure_hostile(folder: Path, runs: int) -> None:
    """Measure files that are made to be slow."""
    rows = []
    for name, make in INPUTS.items():
        for _ in range(3):  # a result over budget is measured again: the machine may be the cause
            (scan_small, lint_small), (scan_large, lint_large) = (
                _scan_and_lint_seconds(make(HOSTILE // GROWTH)),
                _scan_and_lint_seconds(make(HOSTILE)),
            )
            growth = scan_large / scan_small, lint_large / lint_small
            over = scan_large > 0.2 or lint_large > 0.5 or max(growth) > 55
            if not over:
                break
        cells = (f"{growth[0]:.0f}×", f"{growth[1]:.0f}×", f"{scan_large:.3f} s", f"{lint_large:.3f} s")
        rows.append((name, *cells, "over" if over else ""))
    print_table(
        f"Hostile files of {HOSTILE // 1000} KB; budgets: {GROWTH}× the input in 55× the time, scan 0.2 s, lint 0.5 s",
        ("file", "scan grows", "lint grows", "scan", "lint", ""),
        rows,
    )


def _scan_and_lint_seconds(source: str) -> tuple[float, float]:
    """Return the seconds for scan and for lint."""
    text = Text.from_str(source)
    data = text.to_bytes()
    return best(lambda: scan_blocks(text.lines, has_tabs=text.tabs), 15), best(lambda: lint_bytes(data), 15)


def measure_commit(folder: Path, runs: int) -> None:
    """Measure what `--commit` adds to `done`, relative to Git itself."""
    repository = create_project(folder, 5)
    plan = ".agent/execplans/2026-01-02_plan-0.md"
    restore = make_restorer(repository)
    revision = [0]

    def changed() -> None:
        restore()
        revision[0] += 1
        with (repository / plan).open("a", encoding="utf-8") as file:
            file.write(f"\nPlan revision note: 2026-01-02 - {revision[0]}\n")

    git = ["git", "--literal-pathspecs", "commit", "-q", "-m", "Plan", "--only", "--", plan]
    once_more = done_command(repository, "--commit")._replace(prepare=changed)
    seconds_by_name = measure_in_turns(
        {
            "git": Command(git, repository, changed),
            "done --commit": once_more,
            "done": done_command(repository),
            "import": Command([sys.executable, "-I", "-c", "import git"], repository),
            "python": Command(PYTHON, repository),
        },
        runs,
    )
    added = seconds_by_name["done --commit"] - seconds_by_name["done"]
    imported = seconds_by_name["import"] - seconds_by_name["python"]
    limit = seconds_by_name["done"] + 1.3 * seconds_by_name["git"] + imported
    print_table(
        f"A commit, beside `git commit --only` itself ({seconds_by_name['git'] * 1000:.0f} ms) and GitPython's import",
        ("what", "ratio", "budget"),
        [
            (
                "done --commit, of done + 1.3 × git commit + GitPython's import",
                format_ratio(seconds_by_name["done --commit"] / limit),
                "1×",
            ),
            ("what --commit adds to done, of git commit", format_ratio(added / seconds_by_name["git"]), ""),
            ("GitPython's import, of git commit", format_ratio(imported / seconds_by_name["git"]), ""),
        ],
    )


MEASUREMENTS = {
    "start": measure_start,
    "throughput": measure_throughput,
    "hostile": measure_hostile,
    "commit": measure_commit,
    "run": measure_runs,
}


def main() -> int:
    """Measure the given parts, or all except `lint`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", help=f"of {', '.join([*MEASUREMENTS, 'lint'])}; default: all but lint")
    parser.add_argument("-n", "--runs", type=int, default=15, help="number of runs of each benchmark (default: 15)")
    parser.add_argument("--plans", type=int, default=10_000, help="number of plans in the repository for `lint`")
    parser.add_argument(
        "--install", action="store_true", help="install the other linters for `lint` in a scratch directory"
    )
    arguments = parser.parse_args()
    for name in arguments.part or MEASUREMENTS:
        if name != "lint" and name not in MEASUREMENTS:
            parser.error(f"there is no part {name!r}: {', '.join([*MEASUREMENTS, 'lint'])}")
        with tempfile.TemporaryDirectory() as folder:
            if name == "lint":
                rivals = find_rivals(Path(folder), install=arguments.install)
                measure_lint(Path(folder), min(arguments.runs, 3), arguments.plans, rivals)
            else:
                MEASUREMENTS[name](Path(folder), arguments.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
