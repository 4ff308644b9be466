"""Benchmark of a hundred agents that edit a hundred plans for a minute: lost edits, and how long they wait for locks."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ != "__main__":
    from bench_inputs import build_plan
    from bench_tools import ENVIRONMENT, ROOT, Installation, Row, Table, run_git, write_plans

AGENTS = 100
SECONDS = 60
_PLAN_BYTES = 20_000


def measure_agents(folder: Path, _runs: int, installation: Installation) -> list[Table]:
    """Let forked processes edit plans at random, then look for each edit in the files, and sort the lock waits."""
    repository = folder / "agents"
    write_plans(repository, [(f"2026-01-02_plan-{at}.md", build_plan(_PLAN_BYTES).encode()) for at in range(AGENTS)])
    run_git(repository, ["add", "-A"], ["commit", "-q", "-m", "First"])
    script = [installation.python, str(ROOT / "scripts" / "bench_agents.py"), str(AGENTS), str(SECONDS)]
    output = subprocess.run(script, cwd=repository, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE).stdout
    agents: list[dict[str, Any]] = json.loads(output)
    texts = [path.read_text(encoding="utf-8") for path in (repository / ".agent" / "execplans").iterdir()]
    text = "\n".join(texts)
    edits = [edit for agent in agents for edit in agent["edits"]]
    lost = [edit for edit in edits if text.count(edit) != 1]
    waits = sorted([wait for agent in agents for wait in agent["waits"]])
    errors = [error for agent in agents for error in agent["errors"]]
    for problem in [*lost[:3], *errors[:3]]:
        print(f"lost or failed: {problem}", file=sys.stderr)
    rows = [
        Row("edits a second", len(edits) / SECONDS, "/s"),
        Row("lost edits", len(lost), "of all"),
        Row("failed edits", len(errors), "of all"),
        Row("edits of the agent with the fewest", min([len(agent["edits"]) for agent in agents]), "edits"),
        *[
            Row(f"lock wait, {name}", waits[min(len(waits) - 1, int(len(waits) * part))], "s")
            for name, part in (("median", 0.5), ("90th percentile", 0.9), ("99th percentile", 0.99), ("longest", 1.0))
        ],
    ]
    title = f"{AGENTS} agents that edit {AGENTS} plans for {SECONDS} s: {len(edits):,} edits, {len(waits):,} locks"
    return [Table("agents", title, rows)]


def _run_agents(count: int, seconds: float) -> list[dict[str, Any]]:
    """Run agents in processes until the time is over; return the markers of their edits, lock waits and errors."""
    import execplan  # a plain import, so that the processes share what it loads
    from execplan.core.files import file_lock

    waits: list[float] = []
    enter = file_lock.FileLock.__enter__

    def timed_enter(lock: file_lock.FileLock) -> file_lock.FileLock:
        begin = time.perf_counter()
        try:
            return enter(lock)
        finally:
            waits.append(time.perf_counter() - begin)

    file_lock.FileLock.__enter__ = timed_enter  # type: ignore[method-assign] # measures what no option shows
    plans = execplan.Project.find(".").plans()
    _edit_plan(plans[0], "Marker of all.")  # loads what edits need
    waits.clear()
    pipes = []
    end = time.monotonic() + seconds
    for number in range(count):
        reader, writer = os.pipe()
        if os.fork():
            os.close(writer)
            pipes.append(reader)
            continue
        os.environ["EXECPLAN_AUTHOR"] = f"agent-{number}"
        edits, errors = _edit_until(end, number, lambda: random.choice(plans))  # noqa: S311 - no secret
        with open(writer, "w", encoding="utf-8") as file:
            json.dump({"edits": edits, "errors": errors, "waits": waits}, file)
        os._exit(0)
    agents = []
    for reader in pipes:
        with open(reader, encoding="utf-8") as file:
            agents.append(json.load(file))
    return agents


def _edit_until(end: float, number: int, choose: Callable[[], Any]) -> tuple[list[str], list[str]]:
    """Edit plans chosen at random, with a marker for each edit, until the time is over."""
    edits: list[str] = []
    errors: list[str] = []
    at = 0
    while time.monotonic() < end:
        try:
            edits += _edit_plan(choose(), f"Marker {number}-{at} of this run.")
        except Exception as error:  # noqa: BLE001 - whatever fails is counted and shown
            errors.append(repr(error))
        at += 1
    return edits, errors


def _edit_plan(plan: Any, marker: str) -> list[str]:
    """Add a task, check it off, and log a decision and a discovery; return the texts that the plan must then have."""
    task, decision, fact = f"Task. {marker}", f"Choice. {marker}", f"Fact. {marker}"
    plan.add(task)
    plan.done(task)
    plan.decide(decision, why="It is one.")
    plan.discover(fact, evidence="It was seen.")
    return [f"Z) {task}", f"Decision: {decision}", f"Observation: {fact}"]


if __name__ == "__main__":
    print(json.dumps(_run_agents(int(sys.argv[1]), float(sys.argv[2]))))
