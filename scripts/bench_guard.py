"""Benchmark of one call of the agent guard during an active run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from bench_tools import ENVIRONMENT, EXECPLAN, Command

PLAN = "2026-01-02_work"
STEPS = 10
_CALLS = {"a step": "make target-0", "no step": "make nothing", "only reads": "git status"}


def guarded(folder: Path) -> dict[str, tuple[str, Command]]:
    """Return, by kind of tool call, the budget and the guard command for it."""
    where, own = folder / "guarded", folder / "guarded-user"
    user = (("HOME", str(own)), ("XDG_CONFIG_HOME", str(own)), ("XDG_STATE_HOME", str(own / "state")))
    fences = "".join([f"\n```sh {{#s{at} max-invocations=1000}}\nmake target-{at}\n```\n" for at in range(STEPS)])
    shelf = where / ".agent" / "execplans"
    shelf.mkdir(parents=True)
    text = f"# Do the work\n\n## Progress\n\n- [ ] Do it\n\n## Concrete Steps\n{fences}"
    (shelf / f"{PLAN}.md").write_text(text, encoding="utf-8")
    env = ENVIRONMENT | dict(user)
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "First"]):
        subprocess.run(["git", *arguments], cwd=where, env=env, check=True)
    told = subprocess.run([EXECPLAN, "evaluate", "--json"], cwd=where, env=env, capture_output=True, check=True)
    digest = json.loads(told.stdout)["data"]["digest"]
    subprocess.run([EXECPLAN, "approve", "--digest", digest, "-q"], cwd=where, env=env, check=True)
    calls = {
        name: Command([EXECPLAN, "guard"], where, given=_call(where, line), user=user) for name, line in _CALLS.items()
    }
    subprocess.run(
        calls["a step"].argv, cwd=where, env=env, input=calls["a step"].given, check=True, capture_output=True
    )
    return {f"guard, {name}": ("3× (aim 2.5×)", command) for name, command in calls.items()}


def _call(where: Path, command: str) -> bytes:
    said = {"hook_event_name": "PreToolUse", "session_id": "bench", "cwd": str(where), "tool_name": "Bash"}
    return json.dumps(said | {"tool_input": {"command": command}}).encode()
