"""A small program in place of a model: `fake_enhancer.py FOLDER HOW…` keeps what it is given in FOLDER, and answers as it is told.

It is run as a script of its own, and imports nothing of the tests.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any


def main() -> None:
    """Keep what came, then do what is asked for."""
    folder, behavior, *arguments = sys.argv[1:]
    with open(os.path.join(folder, "seen.json"), "w", encoding="utf-8") as file:
        json.dump({"env": dict(os.environ), "cwd": os.getcwd(), "there": os.listdir(), "pid": os.getpid()}, file)
    if behavior == "deaf":
        os.close(0)
        print("{}")
        return
    request_text = sys.stdin.read()
    with open(os.path.join(folder, "request.json"), "w", encoding="utf-8") as file:
        file.write(request_text)
    plan = json.loads(request_text)["data"]["execution_plan"]
    action = ACTS[behavior]
    action(plan, *arguments)


def echo(plan: dict[str, Any]) -> None:
    """The plan as it was."""
    print(json.dumps(plan))


def edit(plan: dict[str, Any], code: str) -> None:
    """The plan after some Python."""
    exec(code, {"plan": plan, "steps": plan["steps"], "json": json})
    print(json.dumps(plan))


def say(plan: dict[str, Any], text: str) -> None:
    """These words."""
    print(text)


def fail(plan: dict[str, Any], status: str) -> None:
    """No answer, and an exit status."""
    print("no credit left", file=sys.stderr)
    print("for ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", file=sys.stderr)
    sys.exit(int(status))


def wait(plan: dict[str, Any]) -> None:
    """Nothing for long, with a child that would stay."""
    if os.fork() == 0:
        os.setsid()
    time.sleep(60)


def die(plan: dict[str, Any]) -> None:
    """An end by a signal."""
    os.kill(os.getpid(), 9)


def flood(plan: dict[str, Any]) -> None:
    """More than anybody reads."""
    for _ in range(100):
        print("x" * 65536)


ACTS = {action.__name__: action for action in (echo, edit, say, fail, wait, die, flood)}

if __name__ == "__main__":
    main()
