"""Benchmarks within one process: how much text a core reads and checks, and files that are made to be slow."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path

import mistune
from bench_inputs import INPUTS, build_plan
from bench_lint import corpus_plans
from bench_tools import Installation, Row, Table

from execplan.core.plan import reader
from execplan.core.secrets.all_secrets import find_secret_spans
from execplan.core.text.markdown_blocks import scan_blocks
from execplan.core.text.text_lines import Text
from execplan.linter.runner import lint_bytes

_HOSTILE = 100_000
"""Size of a hostile file in bytes."""
_GROWTH = 50
"""Ratio of the sizes whose times are compared."""


def measure_throughput(_folder: Path, runs: int, _installation: Installation) -> list[Table]:
    """Measure how much text one core processes per second."""
    data = corpus_plans()
    source_name = "real plans" if data else "made plans"
    data = data or [build_plan(size).encode() for size in range(2_000, 60_000, 500)]
    texts = [Text.from_bytes(content) for content in data]
    sources = [content.decode() for content in data]
    blocks = mistune.create_markdown(renderer=None).block

    def parse_blocks(source: str) -> None:
        state = blocks.state_cls()
        state.process(source)
        blocks.parse(state)

    passes = min(runs, 5)
    speeds = {
        "a bare loop over the lines": _speed(lambda: list(map(_strip_lines, data)), data, passes),
        "scan alone": _speed(lambda: [scan_blocks(text.lines, has_tabs=text.tabs) for text in texts], data, passes),
        "read into a plan": _speed(lambda: [reader.read(content) for content in data], data, passes),
        "lint, all rules of text": _speed(lambda: [lint_bytes(content) for content in data], data, passes),
        "secret detection": _speed(lambda: list(map(find_secret_spans, sources)), data, 1),
        "mistune, blocks only": _speed(lambda: list(map(parse_blocks, sources)), data, 2),
    }
    rival = speeds["mistune, blocks only"]
    rows = [Row(name, speed, "MB/s", (f"{speed / rival:.1f}×",)) for name, speed in speeds.items()]
    title = f"Throughput of a core on {source_name} ({sum(map(len, data)) / 1e6:.1f} MB), the best of {passes} passes"
    return [Table("throughput", title, rows, ("of mistune",))]


def _strip_lines(data: bytes) -> None:
    for line in data.decode().split("\n"):
        line.lstrip(" ")


def _speed(work: Callable[[], object], data: list[bytes], runs: int) -> float:
    """Return the speed in megabytes per second."""
    return sum(map(len, data)) / 1e6 / _best_seconds(work, runs)


def _best_seconds(work: Callable[[], object], runs: int) -> float:
    """Return the shortest processor time of several runs in seconds, with garbage collection off."""
    seconds = []
    gc.disable()
    for _ in range(max(runs, 2)):  # the first run imports what it needs
        begin = time.process_time()
        work()
        seconds.append(time.process_time() - begin)
    gc.enable()
    return min(seconds)


def measure_hostile(_folder: Path, runs: int, _installation: Installation) -> list[Table]:
    """Measure files that are made to be slow: the slowest ones, and those whose time grows fastest."""
    seconds, growths = {}, {}
    for name, make in INPUTS.items():
        (small_scan, small_lint), (scan, lint) = (
            _scan_and_lint_seconds(make(size), min(runs, 5)) for size in (_HOSTILE // _GROWTH, _HOSTILE)
        )
        seconds[name] = scan, lint
        growths[name] = max(scan / small_scan, lint / small_lint)
    slowest_scan, slowest_lint = (max(seconds, key=lambda name: seconds[name][at]) for at in (0, 1))
    fastest_growth = max(growths, key=lambda name: growths[name])
    rows = [
        Row("the slowest scan", seconds[slowest_scan][0], "s", (slowest_scan,)),
        Row("the slowest lint", seconds[slowest_lint][1], "s", (slowest_lint,)),
        Row(f"the most time for {_GROWTH}× the input", growths[fastest_growth], "×", (fastest_growth,)),
    ]
    return [Table("hostile", f"{len(INPUTS)} hostile files of {_HOSTILE // 1000} KB", rows, ("file",))]


def _scan_and_lint_seconds(source: str, runs: int) -> tuple[float, float]:
    """Return the seconds for scan and for lint."""
    text = Text.from_str(source)
    data = text.to_bytes()
    return (
        _best_seconds(lambda: scan_blocks(text.lines, has_tabs=text.tabs), runs),
        _best_seconds(lambda: lint_bytes(data), runs),
    )
