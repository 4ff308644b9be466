"""Benchmarks of single calls: lint of a file, commands that read or edit, and the guard, as multiples of Python's start."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from bench_inputs import build_plan
from bench_lint import REAL_PLANS_CLOCK, corpus_plans
from bench_tools import (
    ENVIRONMENT,
    Command,
    Installation,
    Row,
    Table,
    measure_in_turns,
    run_command,
    run_git,
    seconds_of,
    write_plans,
)

_PLAN = ".agent/execplans/2026-01-02_plan-0.md"
_NAME = "2026-01-02_plan-0"
_STEP = "\n```sh {#check}\nmake test\n```\n"
_STEPS = 10
_GUARDED = "2026-01-02_work"
_HEAD = "# Do the work\n\n## Progress\n\n- [ ] Do it\n\n## Concrete Steps\n"


def measure_start(folder: Path, runs: int, installation: Installation) -> list[Table]:
    """Measure the total time of calls."""
    commands = {
        "python -I -c pass": Command([installation.python, "-I", "-c", "pass"], folder),
        "Python and click alone": Command([installation.python, "-I", "-c", "import click"], folder),
        **_lint_calls(folder, installation),
        **_command_calls(folder, installation),
        **_guard_calls(folder, installation),
    }
    seconds = seconds_of(measure_in_turns(commands, runs))
    base = seconds["python -I -c pass"]
    rows = [Row(name, value / base, cells=(f"{value * 1000:.0f} ms",)) for name, value in seconds.items()]
    return [Table("start", f"One call, relative to the start of Python ({base * 1000:.1f} ms)", rows, ("time",))]


def _lint_calls(folder: Path, installation: Installation) -> dict[str, Command]:
    """Return calls of lint for one plan, alone in its repository."""
    clean = build_plan(20_000).encode()
    with_step = clean.replace(b"## Validation and Acceptance", _STEP.encode() + b"\n## Validation and Acceptance")
    real = sorted(corpus_plans(), key=len)
    plans = {
        "lint FILE, 20 KB, no findings": clean,
        "lint FILE with a step": with_step,
        "lint FILE with [execution] in the user's settings": clean,
        **({"lint FILE, a real plan with findings": real[len(real) // 2]} if real else {}),
    }
    settings = folder / "settings"
    (settings / "execplan").mkdir(parents=True)
    (settings / "execplan" / "config.toml").write_text('[execution]\nsandbox = "off"\n', encoding="utf-8")
    commands = {}
    for at, (name, content) in enumerate(plans.items()):
        repository = folder / f"lint-{at}"
        write_plans(repository, [(_PLAN.rpartition("/")[2], content)])
        user = (("XDG_CONFIG_HOME", str(settings)),) if "settings" in name else ()
        user = (REAL_PLANS_CLOCK,) if "real" in name else user
        commands[name] = Command([installation.execplan, "lint", _PLAN], repository, exits=(0, 1), user=user)
    return commands


def _command_calls(folder: Path, installation: Installation) -> dict[str, Command]:
    """Return calls of commands that read plans, edit one, or process an execution plan."""
    ten, thousand = folder / "plans-10", folder / "plans-1000"
    for repository, count in ((ten, 10), (thousand, 1000)):
        plan = build_plan(20_000).encode()
        write_plans(repository, [(f"2026-01-02_plan-{at}.md", plan) for at in range(count)])
        run_git(repository, ["add", "-A"], ["commit", "-q", "-m", "First"])
    steps = folder / "steps"
    write_plans(steps, [(f"{_GUARDED}.md", _plan_with_steps(_STEPS).encode())])
    run_git(steps, ["add", "-A"], ["commit", "-q", "-m", "First"])
    user = user_variables(folder / "steps-user")
    run_command(Command([installation.execplan, "compile", "-q"], steps, user=user))

    def call(repository: Path, *arguments: str) -> Command:
        return Command([installation.execplan, *arguments], repository, user=user if repository == steps else ())

    def done(repository: Path) -> Command:
        return call(repository, "done", "-p", _NAME, "Write the tests")._replace(prepare=restorer(repository / _PLAN))

    return {
        "--help": call(ten, "--help"),
        **{f"{name}, 10 plans": call(ten, name) for name in ("list", "status")},
        **{f"{name} PLAN": call(ten, name, _NAME) for name in ("next", "show", "prime")},
        "done with its write, 10 plans": done(ten),
        "done with its write, 1,000 plans": done(thousand),
        "compile": call(steps, "compile"),
        "evaluate": call(steps, "evaluate"),
        "approve --list": call(steps, "approve", "--list"),
        "schema": call(steps, "schema", "execution-plan"),
    }


def _guard_calls(folder: Path, installation: Installation) -> dict[str, Command]:
    """Return calls of the guard before, in and after a run."""
    calls = {"a step": "make target-0", "no step": "make nothing", "only reads": "git status"}

    def guard(world: Path, line: str) -> Command:
        hook_input = {"hook_event_name": "PreToolUse", "session_id": "bench", "tool_name": "Bash"}
        hook_input |= {"cwd": str(world / "repository")}
        stdin = json.dumps(hook_input | {"tool_input": {"command": line}}).encode()
        user = user_variables(world / "user")
        return Command([installation.execplan, "guard"], world / "repository", exits=(0, 2), stdin=stdin, user=user)

    unapproved, first, begun, ended = (folder / name for name in ("unapproved", "first", "begun", "ended"))
    for world in (unapproved, first, begun, ended):
        write_plans(
            world / "repository", [(f"{_GUARDED}.md", _plan_with_steps(1 if world == ended else _STEPS).encode())]
        )
        run_git(world / "repository", ["add", "-A"], ["commit", "-q", "-m", "First"])
        if world != unapproved:
            approve(world / "repository", user_variables(world / "user"), installation)
    for world in (begun, ended):
        run_command(guard(world, calls["a step"]))
    report = ["report", "s0", "--status", "completed", "--result", "Done."]
    run_command(Command([installation.execplan, *report], ended / "repository", user=user_variables(ended / "user")))
    shutil.copytree(first, folder / "first-kept", symlinks=True)

    def restore_first() -> None:
        shutil.rmtree(first)
        shutil.copytree(folder / "first-kept", first, symlinks=True)

    return {
        "guard, before an approval": guard(unapproved, calls["a step"]),
        "guard, first allowed call": guard(first, calls["a step"])._replace(prepare=restore_first),
        **{f"guard, {name}": guard(begun, line) for name, line in calls.items()},
        "guard, after the run": guard(ended, calls["a step"]),
    }


def _plan_with_steps(count: int) -> str:
    limit = " max-invocations=1000" if count > 1 else ""
    return _HEAD + "".join([f"\n```sh {{#s{at}{limit}}}\nmake target-{at}\n```\n" for at in range(count)])


def approve(repository: Path, user: tuple[tuple[str, str], ...], installation: Installation) -> None:
    """Evaluate and approve the only plan of a repository."""
    env = ENVIRONMENT | dict(user)
    evaluate = [installation.execplan, "evaluate", "--json"]
    result = subprocess.run(evaluate, cwd=repository, env=env, capture_output=True, check=True)
    digest = json.loads(result.stdout)["data"]["digest"]
    run_command(Command([installation.execplan, "approve", "--digest", digest, "-q"], repository, user=user))


def user_variables(directory: Path) -> tuple[tuple[str, str], ...]:
    """Return variables that give a user this directory for settings and state."""
    names = {"HOME": directory, "XDG_CONFIG_HOME": directory, "XDG_STATE_HOME": directory / "state"}
    return tuple([(name, str(path)) for name, path in names.items()])


def restorer(path: Path) -> Callable[[], object]:
    """Return a function that restores a file's content."""
    data = path.read_bytes()
    return lambda: path.write_bytes(data)
