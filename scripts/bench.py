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
from bench_guard import guarded
from bench_inputs import INPUTS, made_plan
from bench_lint import beside, many
from bench_run import runs
from bench_tools import EXECPLAN, PYTHON, Command, interleaved, project, show, times

from execplan.linter.runner import lint_bytes
from execplan.plan import reader
from execplan.text.markdown_blocks import scan_blocks
from execplan.text.text_lines import Text

ROOT = Path(__file__).resolve().parent.parent
HOSTILE = 100_000
GROWTH = 50


def fresh(where: Path) -> Callable[[], object]:
    """Return a function that restores the original text of a project's first plan."""
    plan = where / ".agent" / "execplans" / "2026-01-02_plan-0.md"
    data = plan.read_bytes()
    return lambda: plan.write_bytes(data)


def done(where: Path, *flags: str) -> Command:
    """Return the command that completes the last open task of a project's first plan."""
    return Command([EXECPLAN, "done", "-p", "2026-01-02_plan-0", "Write the tests", *flags], where, fresh(where))


def start(folder: Path, runs: int) -> None:
    """Measure the total time of commands."""
    ten, thousand = project(folder, 10), project(folder, 1000)
    plan = ".agent/execplans/2026-01-02_plan-0.md"
    budgets = {
        "lint FILE, 20 KB, no findings": ("2× (aim 1.5×)", Command([EXECPLAN, "lint", plan], ten)),
        "list, 10 plans": ("6×", Command([EXECPLAN, "list"], ten)),
        "status, 10 plans": ("6×", Command([EXECPLAN, "status"], ten)),
        "show PLAN": ("6×", Command([EXECPLAN, "show", "2026-01-02_plan-0"], ten)),
        "prime PLAN": ("6×", Command([EXECPLAN, "prime", "2026-01-02_plan-0"], ten)),
        "--help": ("5.5×", Command([EXECPLAN, "--help"], ten)),
        "done with its write, 10 plans": ("6.5×", done(ten)),
        **guarded(folder),
        "done with its write, 1,000 plans": ("6.5×", done(thousand)),
    }
    commands = {"python": Command(PYTHON, ten), **{name: command for name, (_, command) in budgets.items()}}
    took = interleaved(commands, runs)
    show(
        f"Start, as a multiple of `python -I -c pass` ({took['python'] * 1000:.0f} ms), medians of {runs} runs in turns",
        ("verb", "ratio", "budget"),
        [(name, times(took[name] / took["python"]), budget) for name, (budget, _) in budgets.items()],
    )


def throughput(folder: Path, runs: int) -> None:
    """Measure how much text one core processes per second."""
    named = os.environ.get("EXECPLAN_CORPUS")
    corpus = Path(named) if named else ROOT.parent / "shared" / "corpus"
    data = [path.read_bytes() for path in sorted(corpus.rglob("*.md"))]
    what = "the corpus" if data else "made plans"
    data = data or [made_plan(size).encode() for size in range(2_000, 60_000, 500)]
    texts = [Text.from_bytes(each) for each in data]
    sources = [each.decode() for each in data]
    blocks = mistune.create_markdown(renderer=None).block

    def block_parse(source: str) -> None:
        state = blocks.state_cls()
        state.process(source)
        blocks.parse(state)

    speeds = {
        "a bare loop over the lines": _speed(lambda: list(map(_lines, data)), data, runs),
        "scan alone": _speed(lambda: [scan_blocks(text.lines, has_tabs=text.tabs) for text in texts], data, runs),
        "read into a Plan": _speed(lambda: [reader.read(each) for each in data], data, runs),
        "lint, all rules": _speed(lambda: [lint_bytes(each) for each in data], data, runs),
        "mistune, blocks only": _speed(lambda: list(map(block_parse, sources)), data, 2),
    }
    budgets = {"scan alone": "45 MB/s", "read into a Plan": "30 MB/s", "lint, all rules": "10 MB/s (aim 15)"}
    loop, rival = speeds["a bare loop over the lines"], speeds["mistune, blocks only"]
    show(
        f"Throughput of a core on {what} ({sum(map(len, data)) / 1e6:.1f} MB), the best of {runs} passes",
        ("what", "of mistune", "of the loop", "MB/s", "budget"),
        [
            (name, times(speed / rival), times(speed / loop), f"{speed:.1f}", budgets.get(name, ""))
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


def hostile(folder: Path, runs: int) -> None:
    """Measure files that are made to be slow."""
    rows = []
    for name, make in INPUTS.items():
        for _ in range(3):  # a result over budget is measured again: the machine may be the cause
            (scan_small, lint_small), (scan_large, lint_large) = _both(make(HOSTILE // GROWTH)), _both(make(HOSTILE))
            growth = scan_large / scan_small, lint_large / lint_small
            over = scan_large > 0.2 or lint_large > 0.5 or max(growth) > 55
            if not over:
                break
        shown = (f"{growth[0]:.0f}×", f"{growth[1]:.0f}×", f"{scan_large:.3f} s", f"{lint_large:.3f} s")
        rows.append((name, *shown, "over" if over else ""))
    show(
        f"Hostile files of {HOSTILE // 1000} KB; budgets: {GROWTH}× the input in 55× the time, scan 0.2 s, lint 0.5 s",
        ("file", "scan grows", "lint grows", "scan", "lint", ""),
        rows,
    )


def _both(source: str) -> tuple[float, float]:
    """Return the seconds for scan and for lint."""
    text = Text.from_str(source)
    data = text.to_bytes()
    return best(lambda: scan_blocks(text.lines, has_tabs=text.tabs), 15), best(lambda: lint_bytes(data), 15)


def commit(folder: Path, runs: int) -> None:
    """Measure what `--commit` adds to `done`, relative to Git itself."""
    where = project(folder, 5)
    plan = ".agent/execplans/2026-01-02_plan-0.md"
    put_back = fresh(where)
    words = [0]

    def changed() -> None:
        put_back()
        words[0] += 1
        with (where / plan).open("a", encoding="utf-8") as file:
            file.write(f"\nPlan revision note: 2026-01-02 - {words[0]}\n")

    git = ["git", "--literal-pathspecs", "commit", "-q", "-m", "Plan", "--only", "--", plan]
    once_more = done(where, "--commit")._replace(before=changed)
    took = interleaved(
        {
            "git": Command(git, where, changed),
            "done --commit": once_more,
            "done": done(where),
            "import": Command([sys.executable, "-I", "-c", "import git"], where),
            "python": Command(PYTHON, where),
        },
        runs,
    )
    added = took["done --commit"] - took["done"]
    imported = took["import"] - took["python"]
    limit = took["done"] + 1.3 * took["git"] + imported
    show(
        f"A commit, beside `git commit --only` itself ({took['git'] * 1000:.0f} ms) and GitPython's import",
        ("what", "ratio", "budget"),
        [
            (
                "done --commit, of done + 1.3 × git commit + GitPython's import",
                times(took["done --commit"] / limit),
                "1×",
            ),
            ("what --commit adds to done, of git commit", times(added / took["git"]), ""),
            ("GitPython's import, of git commit", times(imported / took["git"]), ""),
        ],
    )


PARTS = {"start": start, "throughput": throughput, "hostile": hostile, "commit": commit, "run": runs}


def main() -> int:
    """Measure the given parts, or all except `lint`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="*", help=f"of {', '.join([*PARTS, 'lint'])}; default: all but lint")
    parser.add_argument("-n", "--runs", type=int, default=15, help="how often each is run (default: 15)")
    parser.add_argument("--plans", type=int, default=10_000, help="of how many plans `lint` has a repository made")
    parser.add_argument(
        "--install", action="store_true", help="let `lint` install the other linters in a scratch folder"
    )
    given = parser.parse_args()
    for part in given.part or PARTS:
        if part != "lint" and part not in PARTS:
            parser.error(f"there is no part {part!r}: {', '.join([*PARTS, 'lint'])}")
        with tempfile.TemporaryDirectory() as folder:
            if part == "lint":
                rivals = beside(Path(folder), install=given.install)
                many(Path(folder), min(given.runs, 3), given.plans, rivals)
            else:
                PARTS[part](Path(folder), given.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
