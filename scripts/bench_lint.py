"""Benchmark of `lint` for many plans and for one, next to other linters in the same run."""

from __future__ import annotations

import shutil
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

from bench_inputs import build_variant
from bench_tools import ENVIRONMENT, EXECPLAN, PYTHON, Command, format_ratio, measure_in_turns, print_table

PLANS = Path(".agent", "execplans")
RUMDL, MARKDOWNLINT = "rumdl", "markdownlint-cli2"
LINTER_EXITS = (0, 1)
"""Allowed exit statuses of a linter."""
WALK = "import os; [each.stat() for each in os.scandir('.agent/execplans')]"


def find_rivals(folder: Path, *, install: bool) -> dict[str, str]:
    """Return the paths of the other linters by name; with `install`, install them from the configured sources."""
    if install:
        tools = folder / "tools"
        venv.create(tools, with_pip=True)
        subprocess.run([tools / "bin" / "python", "-m", "pip", "install", "-q", RUMDL], check=True)
        npm = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(tools), MARKDOWNLINT]
        subprocess.run(npm, check=True)
        return {
            RUMDL: str(tools / "bin" / RUMDL),
            MARKDOWNLINT: str(tools / "node_modules" / ".bin" / MARKDOWNLINT),
        }
    paths_by_name = {name: shutil.which(name) for name in (RUMDL, MARKDOWNLINT)}
    for name, path in paths_by_name.items():
        if path is None:
            print(f"{name} is not on the PATH; use --install to measure it, too")
    return {name: path for name, path in paths_by_name.items() if path is not None}


def measure_lint(folder: Path, runs: int, plans: int, rivals: dict[str, str]) -> None:
    """Measure a repository with this many plans, with a cold and a warm cache, and one plan of it."""
    repository = _repository(folder, plans)
    plan_path = str(PLANS / "2026-01-02_plan-0.md")
    cold = {
        "execplan, --no-cache": Command([EXECPLAN, "lint", "--no-cache"], repository),
        "execplan, writing its cache": Command(
            [EXECPLAN, "lint"], repository, _cache_remover(repository / ".git" / "execplan")
        ),
    }
    warm = {
        "execplan": Command([EXECPLAN, "lint"], repository),
        "execplan, one plan changed": Command([EXECPLAN, "lint"], repository, _plan_changer(repository / plan_path)),
        "walk and stat alone": Command([*PYTHON[:-1], WALK], repository),
    }
    single = {
        "python -I -c pass": Command(PYTHON, repository),
        "execplan": Command([EXECPLAN, "lint", plan_path], repository),
    }
    if RUMDL in rivals:
        check = [rivals[RUMDL], "check", "--silent"]
        cold["rumdl, --no-cache"] = Command([*check, "--no-cache", "."], repository, exits=LINTER_EXITS)
        cold["rumdl"] = Command(
            [*check, "."], repository, _cache_remover(repository / ".rumdl_cache"), exits=LINTER_EXITS
        )
        warm["rumdl"] = Command([*check, "."], repository, exits=LINTER_EXITS)
        single["rumdl"] = Command([*check, "--no-cache", plan_path], repository, exits=LINTER_EXITS)
    if MARKDOWNLINT in rivals:
        lint = [rivals[MARKDOWNLINT]]
        cold["markdownlint-cli2, a tenth of the plans"] = Command(
            [*lint, f"{PLANS}/*0.md"], repository, exits=LINTER_EXITS
        )
        single["markdownlint-cli2"] = Command([*lint, plan_path], repository, exits=LINTER_EXITS)
    seconds_by_name = measure_in_turns({f"cold {name}": command for name, command in cold.items()}, max(1, runs - 1))
    seconds_by_name |= measure_in_turns({f"warm {name}": command for name, command in warm.items()}, 3 * runs)
    seconds_by_name |= measure_in_turns({f"one {name}": command for name, command in single.items()}, 5 * runs)
    size = sum(path.stat().st_size for path in (repository / PLANS).iterdir()) / 1e6
    for kind, title, unit, budget in (
        ("cold", f"lint of {plans:,} plans ({size:.0f} MB)", "rumdl", "1.2× rumdl's default"),
        ("warm", "the same, nothing changed", "walk and stat alone", "0.15 s for 10,000"),
        ("one", "lint of one plan", "python -I -c pass", "2×"),
    ):
        rows = {
            name.removeprefix(f"{kind} "): seconds
            for name, seconds in seconds_by_name.items()
            if name.startswith(f"{kind} ")
        }
        base = rows.get(unit) or rows["execplan, --no-cache"]
        base_name = unit if unit in rows else "execplan, --no-cache"
        print_table(
            f"{title}, as a multiple of {base_name}; budget of execplan: {budget}",
            ("linter", "ratio", "seconds"),
            [(name, format_ratio(seconds / base), f"{seconds:.3f}") for name, seconds in rows.items()],
        )


def _repository(folder: Path, plans: int) -> Path:
    """Create a repository with plans that all differ."""
    repository = folder / "many"
    (repository / PLANS).mkdir(parents=True)
    for at in range(plans):
        (repository / PLANS / f"2026-01-02_plan-{at}.md").write_text(build_variant(at), encoding="utf-8")
    (repository / "src").mkdir()
    (repository / "src" / "reader.py").touch()  # the plans refer to it
    subprocess.run(["git", "init", "-q"], cwd=repository, env=ENVIRONMENT, check=True)
    return repository


def _cache_remover(path: Path) -> Callable[[], object]:
    """Return a function that deletes a cache."""
    return lambda: shutil.rmtree(path, ignore_errors=True)


def _plan_changer(plan: Path) -> Callable[[], object]:
    """Return a function that rewrites a plan with a different text each time."""
    count = [0]

    def change() -> None:
        count[0] += 1
        plan.write_text(build_variant(0) + f"\nA line of run {count[0]}.\n", encoding="utf-8")

    return change
