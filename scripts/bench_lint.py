"""Benchmarks of `lint`: real plans and made ones, few and many, small and large, next to other linters in the same run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from bench_inputs import build_plan, build_variant
from bench_tools import ROOT, Command, Installation, Row, Table, Usage, measure_in_turns, write_plans

PLANS = Path(".agent", "execplans")
COUNTS = (1, 10, 100, 1_000, 10_000)
SIZES = (1_000, 10_000, 100_000, 1_000_000, 4_900_000)
"""Sizes of one plan in bytes; a plan may have at most 5 MB."""
REAL_PLANS_CLOCK = ("SOURCE_DATE_EPOCH", "1795000000")
"""A time after the dates in the real plans, so that none of them is in the future."""
_FINDINGS = (0, 1)
"""Exit statuses of a linter that worked."""


def corpus_plans() -> list[bytes]:
    """Return the real plans beside this repository, or those named by EXECPLAN_CORPUS; none if there are none."""
    setting = os.environ.get("EXECPLAN_CORPUS")
    folder = Path(setting) if setting else ROOT.parent / "shared" / "corpus"
    return [path.read_bytes() for path in sorted(folder.rglob("*.md"))]


def real_plans(count: int) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of real plans, each copy with a last line of its own."""
    corpus = corpus_plans()
    for at in range(count):
        yield f"2026-01-02_plan-{at}.md", corpus[at % len(corpus)].rstrip(b"\n") + f"\n\nCopy {at}.\n".encode()


def clean_plans(count: int) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of made plans without findings."""
    for at in range(count):
        yield f"2026-01-02_plan-{at}.md", build_variant(at).encode()


def measure_lint(folder: Path, runs: int, installation: Installation) -> list[Table]:
    """Measure the largest number of real plans and of clean ones, with a cold and a warm cache."""
    kinds = {"real": real_plans, "clean": clean_plans} if corpus_plans() else {"clean": clean_plans}
    return [
        table
        for kind, plans in kinds.items()
        for table in _measure_many(folder / kind, kind, plans(COUNTS[-1]), min(runs, 2), installation)
    ]


def _measure_many(
    repository: Path, kind: str, plans: Iterator[tuple[str, bytes]], runs: int, installation: Installation
) -> list[Table]:
    write_plans(repository, plans)
    exits, user = _FINDINGS, ((REAL_PLANS_CLOCK,) if kind == "real" else ())
    lint, rumdl = [installation.execplan, "lint"], [installation.rivals.get("rumdl", ""), "check", "--silent"]
    own_cache, rumdl_cache = repository / ".git" / "execplan", repository / ".rumdl_cache"
    read_all = "import os; [open(each.path, 'rb').read() for each in os.scandir('.agent/execplans')]"
    cold = {
        "execplan, cold": Command(lint, repository, _remover(own_cache), exits, user=user),
        "execplan, --no-cache": Command([*lint, "--no-cache"], repository, exits=exits, user=user),
    }
    warm = {
        "execplan, nothing changed": Command(lint, repository, exits=exits, user=user),
        "execplan, one plan changed": Command(lint, repository, _plan_changer(repository), exits, user=user),
        "cat": Command(["sh", "-c", "cat .agent/execplans/*.md"], repository),
        "Python reading all": Command([installation.python, "-I", "-c", read_all], repository),
    }
    if rumdl[0]:
        cold["rumdl, cold"] = Command([*rumdl, "."], repository, _remover(rumdl_cache), exits)
        cold["rumdl, --no-cache"] = Command([*rumdl, "--no-cache", "."], repository, exits=exits)
        warm["rumdl, nothing changed"] = Command([*rumdl, "."], repository, exits=exits)
    if "markdownlint-cli2" in installation.rivals:
        tenth = [installation.rivals["markdownlint-cli2"], f"{PLANS}/*0.md"]
        cold["markdownlint-cli2, a tenth of the plans"] = Command(tenth, repository, exits=exits)
    cold_usages, warm_usages = measure_in_turns(cold, runs), measure_in_turns(warm, 3 * runs)
    size = sum([path.stat().st_size for path in (repository / PLANS).iterdir()]) / 1e6
    title = f"Lint of {COUNTS[-1]:,} {kind} plans ({size:.0f} MB)"
    base = "rumdl, cold" if rumdl[0] else "execplan, --no-cache"
    return [
        _relative_table(f"lint-{kind}-cold", f"{title}, nothing cached, relative to {base}", cold_usages, base),
        _relative_table(f"lint-{kind}-warm", f"{title}, everything cached, relative to cat", warm_usages, "cat"),
    ]


def _relative_table(key: str, title: str, usages: dict[str, Usage], base: str) -> Table:
    rows = [
        Row(
            name,
            usage.seconds / usages[base].seconds,
            cells=(f"{usage.seconds:.2f} s", f"{usage.peak_bytes / 1e6:.0f} MB"),
        )
        for name, usage in usages.items()
    ]
    return Table(key, title, rows, ("time", "peak memory"))


def measure_growth(folder: Path, runs: int, installation: Installation) -> list[Table]:
    """Measure how time and memory grow with the number of plans and with the size of one."""
    make_plans, user = (real_plans, (REAL_PLANS_CLOCK,)) if corpus_plans() else (clean_plans, ())
    rows = []
    for count in COUNTS:
        repository = folder / f"plans-{count}"
        write_plans(repository, make_plans(count))
        lint = Command([installation.execplan, "lint", "--no-cache"], repository, exits=_FINDINGS, user=user)
        cached = lint._replace(argv=lint.argv[:2])
        usages = measure_in_turns({"cold": lint, "warm": cached}, min(runs, 2 if count > 1000 else 9))
        megabytes = sum([path.stat().st_size for path in (repository / PLANS).iterdir()]) / 1e6
        cells = (
            f"{usages['cold'].seconds:.3f} s",
            f"{usages['warm'].seconds:.3f} s",
            f"{usages['cold'].peak_bytes / 1e6:.0f} MB",
        )
        rows.append(
            Row(f"{count:,} plans, {megabytes:.2f} MB", usages["cold"].seconds / count * 1000, "ms a plan", cells)
        )
        shutil.rmtree(repository)
    sizes = []
    for size in SIZES:
        repository = folder / f"size-{size}"
        write_plans(repository, [("2026-01-02_plan-0.md", build_plan(size).encode())])
        lint = Command([installation.execplan, "lint", f"{PLANS}/2026-01-02_plan-0.md"], repository)
        usage = measure_in_turns({"lint": lint}, min(runs, 9))["lint"]
        size_cells = f"{usage.seconds:.3f} s", f"{usage.peak_bytes / 1e6:.0f} MB"
        sizes.append(Row(f"{size:,} bytes", usage.seconds / size * 1e6, "s a MB", size_cells))
    return [
        Table("growth-count", "Lint of more and more plans", rows, ("cold", "warm", "peak memory")),
        Table(
            "growth-size",
            "Lint of one larger and larger plan, with the start of Python",
            sizes,
            ("time", "peak memory"),
        ),
    ]


def _remover(path: Path) -> Callable[[], object]:
    """Return a function that deletes a cache."""
    return lambda: shutil.rmtree(path, ignore_errors=True)


def _plan_changer(repository: Path) -> Callable[[], object]:
    """Return a function that changes a plan with a different text each time."""
    plan = repository / PLANS / "2026-01-02_plan-0.md"
    original, count = plan.read_bytes(), [0]

    def change() -> None:
        count[0] += 1
        plan.write_bytes(original + f"\nA line of run {count[0]}.\n".encode())

    return change
