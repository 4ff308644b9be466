"""Runs the commands of scripts/bench.py: reads one as JSON from each line of standard input, and writes what it used.

A process counts the memory of its parent until it starts a program as its own, so the parent must be small: this one.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time


def main() -> None:
    """Run commands until standard input ends."""
    for line in sys.stdin:
        command = json.loads(line)
        begin = time.perf_counter()
        process = subprocess.Popen(
            command["argv"],
            cwd=command["cwd"],
            env=command["env"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is not None
        try:
            process.stdin.write(base64.b64decode(command["stdin"]))
            process.stdin.close()
        except BrokenPipeError:
            pass  # the command didn't read it
        _, status, resources = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        peak_bytes = resources.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        cpu_seconds = resources.ru_utime + resources.ru_stime
        print(json.dumps([process.returncode, seconds, cpu_seconds, peak_bytes]), flush=True)


if __name__ == "__main__":
    main()
