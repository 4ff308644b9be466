"""Benchmark of one call of the agent guard during an active run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from bench_tools import ENVIRONMENT, EXECPLAN, Command

PLAN = "2026-01-02_work"
STEPS = 10
_CALLS = {"a step": "make target-0", "no step": "make nothing", "only reads": "git status"}


def guard_commands(folder: Path) -> dict[str, tuple[str, Command]]:
    """Return, by kind of tool call, the budget and the guard command for it."""
    repository, user_directory = folder / "guarded", folder / "guarded-user"
    user = (
        ("HOME", str(user_directory)),
        ("XDG_CONFIG_HOME", str(user_directory)),
        ("XDG_STATE_HOME", str(user_directory / "state")),
    )
    code_blocks = "".join([f"\n```sh {{#s{at} max-invocations=1000}}\nmake target-{at}\n```\n" for at in range(STEPS)])
    plans_directory = repository / ".agent" / "execplans"
    plans_directory.mkdir(parents=True)
    text = f"# Do the work\n\n## Progress\n\n- [ ] Do it\n\n## Concrete Steps\n{code_blocks}"
    (plans_directory / f"{PLAN}.md").write_text(text, encoding="utf-8")
    env = ENVIRONMENT | dict(user)
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "First"]):
        subprocess.run(["git", *arguments], cwd=repository, env=env, check=True)
    result = subprocess.run([EXECPLAN, "evaluate", "--json"], cwd=repository, env=env, capture_output=True, check=True)
    digest = json.loads(result.stdout)["data"]["digest"]
    subprocess.run([EXECPLAN, "approve", "--digest", digest, "-q"], cwd=repository, env=env, check=True)
    calls = {
        name: Command([EXECPLAN, "guard"], repository, stdin=_call(repository, line), user=user)
        for name, line in _CALLS.items()
    }
    subprocess.run(
        calls["a step"].argv, cwd=repository, env=env, input=calls["a step"].stdin, check=True, capture_output=True
    )
    return {f"guard, {name}": ("3× (aim 2.5×)", command) for name, command in calls.items()}


def _call(directory: Path, command: str) -> bytes:
    hook_input = {"hook_event_name": "PreToolUse", "session_id": "bench", "cwd": str(directory), "tool_name": "Bash"}
    return json.dumps(hook_input | {"tool_input": {"command": command}}).encode()
