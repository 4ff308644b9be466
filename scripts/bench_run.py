"""Benchmarks of commits and runs, next to git, sh and make."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from bench_inputs import build_plan
from bench_start import approve, restorer, user_variables
from bench_tools import Command, Installation, Row, Table, measure_in_turns, run_git, seconds_of, write_plans

STEPS = 20
FILES = 1000
_PLAN = "2026-01-02_work"
_HEAD = "# Do the work\n\n## Progress\n\n- [ ] Do it\n\n## Concrete Steps\n"


def measure_commit(folder: Path, runs: int, installation: Installation) -> list[Table]:
    """Measure what `--commit` adds to `done`, relative to git itself."""
    repository = folder / "commits"
    write_plans(repository, [(f"2026-01-02_plan-{at}.md", build_plan(20_000).encode()) for at in range(5)])
    run_git(repository, ["add", "-A"], ["commit", "-q", "-m", "First"])
    plan = ".agent/execplans/2026-01-02_plan-0.md"
    restore = restorer(repository / plan)
    revision = [0]

    def change() -> None:
        restore()
        revision[0] += 1
        with (repository / plan).open("a", encoding="utf-8") as file:
            file.write(f"\nPlan revision note: 2026-01-02 - {revision[0]}\n")

    git = ["git", "--literal-pathspecs", "commit", "-q", "-m", "Plan", "--only", "--", plan]
    done = [installation.execplan, "done", "-p", "2026-01-02_plan-0", "Write the tests"]
    commands = {
        "git": Command(git, repository, change),
        "done --commit": Command([*done, "--commit"], repository, change),
        "done": Command(done, repository, restore),
        "import": Command([installation.python, "-I", "-c", "import git"], repository),
        "python": Command([installation.python, "-I", "-c", "pass"], repository),
    }
    seconds = seconds_of(measure_in_turns(commands, runs))
    imported = seconds["import"] - seconds["python"]
    limit = seconds["done"] + 1.3 * seconds["git"] + imported
    rows = [
        Row("done --commit, of done + 1.3 × git commit + GitPython's import", seconds["done --commit"] / limit),
        Row("what --commit adds to done, of git commit", (seconds["done --commit"] - seconds["done"]) / seconds["git"]),
        Row("GitPython's import, of git commit", imported / seconds["git"]),
    ]
    return [Table("commit", f"A commit, next to `git commit --only` ({seconds['git'] * 1000:.0f} ms)", rows)]


def measure_runs(folder: Path, runs: int, installation: Installation) -> list[Table]:
    """Measure the time of a step, the overhead of a run, and the related commands."""
    boxed, bare = (_create_world(folder / name, sandbox) for name, sandbox in (("boxed", "auto"), ("bare", "off")))
    repository = bare / "repository"

    def call(world: Path, *arguments: str) -> Command:
        return Command([installation.execplan, *arguments], world / "repository", user=user_variables(world / "user"))

    def run(world: Path, steps: int) -> Command:
        return call(world, "run", _PLAN, "-q")._replace(prepare=_preparer(world, steps, installation))

    commands = {
        "python": Command([installation.python, "-I", "-c", "pass"], repository),
        "sh": Command(["sh", "-ec", "\n".join(["/bin/true"] * STEPS)], repository),
        "make": Command(["make", "-s", "-f", "Steps.mk"], repository),
        "run, no sandbox": run(bare, STEPS),
        "run, in the sandbox": run(boxed, STEPS),
        "run of one step, no sandbox": run(bare, 1),
        "run of one step, in the sandbox": run(boxed, 1),
        "runs": call(bare, "runs", _PLAN),
        "audit --verify": call(bare, "audit", _PLAN, "--verify"),
        "stats --format prometheus": call(bare, "stats", "--format", "prometheus"),
    }
    os.sync()  # so that the first fsync does not wait for files just written
    seconds = seconds_of(measure_in_turns(commands, min(runs, 5)))
    rows = [Row(name, value / seconds["python"], cells=(f"{value * 1000:.0f} ms",)) for name, value in seconds.items()]
    steps = []
    for variant in ("no sandbox", "in the sandbox"):
        step = (seconds[f"run, {variant}"] - seconds[f"run of one step, {variant}"]) / (STEPS - 1)
        steps.append(Row(f"a step, {variant}", step / (seconds["sh"] / STEPS), cells=(f"{step * 1000:.0f} ms",)))
    title = f"{STEPS} steps of `true` among {FILES:,} files, relative to the start of Python"
    return [
        Table("run", title, rows, ("time",)),
        Table("step", "A step, relative to the time that a shell takes for it", steps, ("time",)),
    ]


def _create_world(world: Path, sandbox: str) -> Path:
    """Create a repository with `FILES` files and a user with this sandbox setting."""
    repository = world / "repository"
    write_plans(repository, [])
    for at in range(FILES):
        (repository / f"file-{at}.txt").write_text(f"{at}\n" * 50, encoding="utf-8")
    (repository / "Steps.mk").write_text("all:\n" + "\t@/bin/true\n" * STEPS, encoding="utf-8")
    (world / "user" / "execplan").mkdir(parents=True)
    settings = f'[execution]\nsandbox = "{sandbox}"\ncheckpoint_interval = 1000\n'
    (world / "user" / "execplan" / "config.toml").write_text(settings, encoding="utf-8")
    run_git(repository, ["add", "-A"], ["commit", "-q", "-m", "First"])
    return world


def _preparer(world: Path, steps: int, installation: Installation) -> Callable[[], object]:
    """Return a function that writes and approves a plan with this many steps."""
    plan = world / "repository" / ".agent" / "execplans" / f"{_PLAN}.md"

    def prepare() -> None:
        code_blocks = "".join([f"\n```sh {{#s{at}}}\n/bin/true\n```\n" for at in range(steps)])
        plan.write_text(_HEAD + code_blocks, encoding="utf-8")
        approve(world / "repository", user_variables(world / "user"), installation)

    return prepare
