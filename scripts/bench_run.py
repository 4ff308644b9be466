"""Benchmark of a run with twenty steps next to sh and make, and of the commands before and after a run."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from bench_tools import ENVIRONMENT, EXECPLAN, PYTHON, Command, format_ratio, measure_in_turns, print_table

STEPS = 20
FILES = 1000
PLAN = "2026-01-02_work"
_HEAD = "# Do the work\n\n## Progress\n\n- [ ] Do it\n\n## Concrete Steps\n"


def measure_runs(folder: Path, count: int) -> None:
    """Measure the time of a step, the overhead of a run, and the related commands."""
    boxed, bare = _create_repository(folder / "boxed", "auto"), _create_repository(folder / "bare", "off")
    shell = ["sh", "-ec", "\n".join(["/bin/true"] * STEPS)]
    commands = {
        "python": Command(PYTHON, bare[0]),
        "sh": Command(shell, bare[0]),
        "make": Command(["make", "-s", "-f", "Steps.mk"], bare[0]),
        "run, no sandbox": _run_command(*bare, STEPS),
        "run, in the sandbox": _run_command(*boxed, STEPS),
        "run of one step, no sandbox": _run_command(*bare, 1),
        "run of one step, in the sandbox": _run_command(*boxed, 1),
        "runs": _command(bare, "runs", PLAN),
        "audit --verify": _command(bare, "audit", PLAN, "--verify"),
        "stats --format prometheus": _command(bare, "stats", "--format", "prometheus"),
    }
    seconds_by_name = _measure(commands, count)
    step_seconds = {
        variant: (seconds_by_name[f"run, {variant}"] - seconds_by_name[f"run of one step, {variant}"]) / (STEPS - 1)
        for variant in ("no sandbox", "in the sandbox")
    }
    ratios = [
        (
            name,
            format_ratio(seconds_by_name[name] / seconds_by_name["python"]),
            f"{seconds_by_name[name] * 1000:.0f} ms",
        )
        for name in commands
    ]
    print_table(
        f"{STEPS} steps of `true` among {FILES:,} files, as a multiple of `python -I -c pass`",
        ("what", "ratio", ""),
        ratios,
    )
    shell_step_seconds = seconds_by_name["sh"] / STEPS
    rows = [
        (f"a step, {variant}", format_ratio(seconds / shell_step_seconds), f"{seconds * 1000:.0f} ms")
        for variant, seconds in step_seconds.items()
    ]
    print_table("A step, as a multiple of what a shell takes for it", ("what", "ratio", ""), rows)


def _create_repository(folder: Path, sandbox: str) -> tuple[Path, dict[str, str]]:
    """Create a repository with `FILES` files, and return it with a user's environment that has this sandbox setting."""
    repository, user_directory = folder / "repository", folder / "own"
    (repository / ".agent" / "execplans").mkdir(parents=True)
    for at in range(FILES):
        (repository / f"file-{at}.txt").write_text(f"{at}\n" * 50, encoding="utf-8")
    (repository / "Steps.mk").write_text("all:\n" + "\t@/bin/true\n" * STEPS, encoding="utf-8")
    (user_directory / "execplan").mkdir(parents=True)
    (user_directory / "execplan" / "config.toml").write_text(
        f'[execution]\nsandbox = "{sandbox}"\ncheckpoint_interval = 1000\n', encoding="utf-8"
    )
    env = {
        **ENVIRONMENT,
        "HOME": str(user_directory),
        "XDG_CONFIG_HOME": str(user_directory),
        "XDG_STATE_HOME": str(user_directory / "state"),
    }
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "First"]):
        subprocess.run(["git", *arguments], cwd=repository, env=env, check=True)
    return repository, env


def _run_command(repository: Path, env: dict[str, str], steps: int) -> Command:
    """Return a command that runs a plan with this many steps, written and approved before each run."""

    def prepare() -> None:
        code_blocks = "".join([f"\n```sh {{#s{at}}}\n/bin/true\n```\n" for at in range(steps)])
        (repository / ".agent" / "execplans" / f"{PLAN}.md").write_text(_HEAD + code_blocks, encoding="utf-8")
        result = subprocess.run(
            [EXECPLAN, "evaluate", PLAN, "--json"], cwd=repository, env=env, capture_output=True, check=True
        )
        digest = json.loads(result.stdout)["data"]["digest"]
        subprocess.run([EXECPLAN, "approve", PLAN, "--digest", digest, "-q"], cwd=repository, env=env, check=True)

    return _with_environment([EXECPLAN, "run", PLAN, "-q"], repository, env, prepare)


def _command(world: tuple[Path, dict[str, str]], *arguments: str) -> Command:
    return _with_environment([EXECPLAN, *arguments], *world, None)


def _with_environment(
    argv: list[str], directory: Path, env: dict[str, str], prepare: Callable[[], object] | None
) -> Command:
    """Return a command with an environment of its own."""
    changed = [f"{name}={value}" for name, value in env.items() if ENVIRONMENT.get(name) != value]
    return Command(["env", *changed, *argv], directory, prepare)


def _measure(commands: dict[str, Command], count: int) -> dict[str, float]:
    os.sync()  # so that the first fsync does not wait for files just written
    return measure_in_turns(commands, count)
