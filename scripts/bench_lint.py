"""Benchmark of `lint` for many plans and for one, next to other linters in the same run."""

from __future__ import annotations

import shutil
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

from bench_inputs import made_variant
from bench_tools import ENVIRONMENT, EXECPLAN, PYTHON, Command, interleaved, show, times

SHELF = Path(".agent", "execplans")
RUMDL, MARKDOWNLINT = "rumdl", "markdownlint-cli2"
FOUND = (0, 1)
"""Allowed exit statuses of a linter."""
WALK = "import os; [each.stat() for each in os.scandir('.agent/execplans')]"


def beside(folder: Path, *, install: bool) -> dict[str, str]:
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
    found = {name: shutil.which(name) for name in (RUMDL, MARKDOWNLINT)}
    for name, path in found.items():
        if path is None:
            print(f"{name} is not on the PATH; with --install it is measured, too")
    return {name: path for name, path in found.items() if path is not None}


def many(folder: Path, runs: int, plans: int, rivals: dict[str, str]) -> None:
    """Measure a repository with this many plans, with a cold and a warm cache, and one plan of it."""
    where = _repository(folder, plans)
    one = str(SHELF / "2026-01-02_plan-0.md")
    cold = {
        "execplan, --no-cache": Command([EXECPLAN, "lint", "--no-cache"], where),
        "execplan, writing its cache": Command([EXECPLAN, "lint"], where, _without(where / ".git" / "execplan")),
    }
    warm = {
        "execplan": Command([EXECPLAN, "lint"], where),
        "execplan, one plan changed": Command([EXECPLAN, "lint"], where, _changed(where / one)),
        "walk and stat alone": Command([*PYTHON[:-1], WALK], where),
    }
    single = {"python -I -c pass": Command(PYTHON, where), "execplan": Command([EXECPLAN, "lint", one], where)}
    if RUMDL in rivals:
        check = [rivals[RUMDL], "check", "--silent"]
        cold["rumdl, --no-cache"] = Command([*check, "--no-cache", "."], where, exits=FOUND)
        cold["rumdl"] = Command([*check, "."], where, _without(where / ".rumdl_cache"), exits=FOUND)
        warm["rumdl"] = Command([*check, "."], where, exits=FOUND)
        single["rumdl"] = Command([*check, "--no-cache", one], where, exits=FOUND)
    if MARKDOWNLINT in rivals:
        lint = [rivals[MARKDOWNLINT]]
        cold["markdownlint-cli2, a tenth of the plans"] = Command([*lint, f"{SHELF}/*0.md"], where, exits=FOUND)
        single["markdownlint-cli2"] = Command([*lint, one], where, exits=FOUND)
    took = interleaved({f"cold {name}": each for name, each in cold.items()}, max(1, runs - 1))
    took |= interleaved({f"warm {name}": each for name, each in warm.items()}, 3 * runs)
    took |= interleaved({f"one {name}": each for name, each in single.items()}, 5 * runs)
    size = sum(each.stat().st_size for each in (where / SHELF).iterdir()) / 1e6
    for kind, title, unit, budget in (
        ("cold", f"lint of {plans:,} plans ({size:.0f} MB)", "rumdl", "1.2× rumdl's default"),
        ("warm", "the same, nothing changed", "walk and stat alone", "0.15 s for 10,000"),
        ("one", "lint of one plan", "python -I -c pass", "2×"),
    ):
        rows = {name.removeprefix(f"{kind} "): each for name, each in took.items() if name.startswith(f"{kind} ")}
        base = rows.get(unit) or rows["execplan, --no-cache"]
        told = unit if unit in rows else "execplan, --no-cache"
        show(
            f"{title}, as a multiple of {told}; budget of execplan: {budget}",
            ("linter", "ratio", "seconds"),
            [(name, times(seconds / base), f"{seconds:.3f}") for name, seconds in rows.items()],
        )


def _repository(folder: Path, plans: int) -> Path:
    """Create a repository with plans that all differ."""
    where = folder / "many"
    (where / SHELF).mkdir(parents=True)
    for at in range(plans):
        (where / SHELF / f"2026-01-02_plan-{at}.md").write_text(made_variant(at), encoding="utf-8")
    (where / "src").mkdir()
    (where / "src" / "reader.py").touch()  # the plans refer to it
    subprocess.run(["git", "init", "-q"], cwd=where, env=ENVIRONMENT, check=True)
    return where


def _without(path: Path) -> Callable[[], object]:
    """Return a function that deletes a cache."""
    return lambda: shutil.rmtree(path, ignore_errors=True)


def _changed(plan: Path) -> Callable[[], object]:
    """Return a function that rewrites a plan with a different text each time."""
    count = [0]

    def change() -> None:
        count[0] += 1
        plan.write_text(made_variant(0) + f"\nA line of run {count[0]}.\n", encoding="utf-8")

    return change
