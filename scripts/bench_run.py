"""Benchmark of a run with twenty steps next to sh and make, and of the commands before and after a run."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from bench_tools import ENVIRONMENT, EXECPLAN, PYTHON, Command, interleaved, show, times

STEPS = 20
FILES = 1000
PLAN = "2026-01-02_work"
_HEAD = "# Do the work\n\n## Progress\n\n- [ ] Do it\n\n## Concrete Steps\n"


def runs(folder: Path, count: int) -> None:
    """Measure the time of a step, the overhead of a run, and the related commands."""
    boxed, bare = _world(folder / "boxed", "auto"), _world(folder / "bare", "off")
    shell = ["sh", "-ec", "\n".join(["/bin/true"] * STEPS)]
    commands = {
        "python": Command(PYTHON, bare[0]),
        "sh": Command(shell, bare[0]),
        "make": Command(["make", "-s", "-f", "Steps.mk"], bare[0]),
        "run, no sandbox": _run(*bare, STEPS),
        "run, in the sandbox": _run(*boxed, STEPS),
        "run of one step, no sandbox": _run(*bare, 1),
        "run of one step, in the sandbox": _run(*boxed, 1),
        "runs": _typed(bare, "runs", PLAN),
        "audit --verify": _typed(bare, "audit", PLAN, "--verify"),
        "stats --format prometheus": _typed(bare, "stats", "--format", "prometheus"),
    }
    took = _timed(commands, count)
    each = {
        what: (took[f"run, {what}"] - took[f"run of one step, {what}"]) / (STEPS - 1)
        for what in ("no sandbox", "in the sandbox")
    }
    ratios = [(name, times(took[name] / took["python"]), f"{took[name] * 1000:.0f} ms") for name in commands]
    show(
        f"{STEPS} steps of `true` among {FILES:,} files, as a multiple of `python -I -c pass`",
        ("what", "ratio", ""),
        ratios,
    )
    alone = took["sh"] / STEPS
    rows = [(f"a step, {what}", times(seconds / alone), f"{seconds * 1000:.0f} ms") for what, seconds in each.items()]
    show("A step, as a multiple of what a shell takes for it", ("what", "ratio", ""), rows)


def _world(folder: Path, sandbox: str) -> tuple[Path, dict[str, str]]:
    """Create a repository with `FILES` files, and return it with a user's environment that has this sandbox setting."""
    where, own = folder / "repository", folder / "own"
    (where / ".agent" / "execplans").mkdir(parents=True)
    for at in range(FILES):
        (where / f"file-{at}.txt").write_text(f"{at}\n" * 50, encoding="utf-8")
    (where / "Steps.mk").write_text("all:\n" + "\t@/bin/true\n" * STEPS, encoding="utf-8")
    (own / "execplan").mkdir(parents=True)
    (own / "execplan" / "config.toml").write_text(
        f'[execution]\nsandbox = "{sandbox}"\ncheckpoint_interval = 1000\n', encoding="utf-8"
    )
    env = {**ENVIRONMENT, "HOME": str(own), "XDG_CONFIG_HOME": str(own), "XDG_STATE_HOME": str(own / "state")}
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "First"]):
        subprocess.run(["git", *arguments], cwd=where, env=env, check=True)
    return where, env


def _run(where: Path, env: dict[str, str], steps: int) -> Command:
    """Return a command that runs a plan with this many steps, written and approved before each run."""

    def before() -> None:
        fences = "".join([f"\n```sh {{#s{at}}}\n/bin/true\n```\n" for at in range(steps)])
        (where / ".agent" / "execplans" / f"{PLAN}.md").write_text(_HEAD + fences, encoding="utf-8")
        told = subprocess.run(
            [EXECPLAN, "evaluate", PLAN, "--json"], cwd=where, env=env, capture_output=True, check=True
        )
        digest = json.loads(told.stdout)["data"]["digest"]
        subprocess.run([EXECPLAN, "approve", PLAN, "--digest", digest, "-q"], cwd=where, env=env, check=True)

    return _with([EXECPLAN, "run", PLAN, "-q"], where, env, before)


def _typed(world: tuple[Path, dict[str, str]], *arguments: str) -> Command:
    return _with([EXECPLAN, *arguments], *world, None)


def _with(argv: list[str], where: Path, env: dict[str, str], before: Callable[[], object] | None) -> Command:
    """Return a command with an environment of its own."""
    changed = [f"{name}={value}" for name, value in env.items() if ENVIRONMENT.get(name) != value]
    return Command(["env", *changed, *argv], where, before)


def _timed(commands: dict[str, Command], count: int) -> dict[str, float]:
    os.sync()  # so that the first fsync does not wait for files just written
    return interleaved(commands, count)
