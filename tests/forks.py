"""Commands run in a process of their own that is forked from one which has imported execplan: a tenth of a start's time.

`python -m tests.forks FD` serves. A request is a line of JSON with four file descriptors: the command's standard streams, and
a pipe that is told its process and, in the end, how it ended. The server has one thread, so that it may fork.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from execplan.cli import main
from execplan.cli.verbs import VERBS
from tests.engine.killing import KILL, arm

LIMIT = 60
"""Seconds after which a command is killed."""
_ROOT = Path(__file__).resolve().parents[1]
_MOST = 1 << 20
_HEAVY = ("git", "jinja2", "mistune", "pydantic", "rich.progress", "yaml")
"""What verbs import when they need it."""
_server: list[socket.socket] = []


def can_serve(env: dict[str, str], usual: dict[str, str]) -> bool:
    """Whether a command may be forked: what Python reads of its environment when it starts is as usual."""
    fixed = [{name: value for name, value in each.items() if _is_fixed(name)} for each in (env, usual)]
    return fixed[0] == fixed[1]


def _is_fixed(name: str) -> bool:
    return name.startswith(("PYTHON", "LC_", "LANG", "LD_", "GIT_PYTHON")) or name in ("PATH", "COVERAGE_PROCESS_START")


def run(arguments: tuple[str, ...], cwd: Path, env: dict[str, str], stdin: bytes) -> tuple[int, bytes, bytes]:
    """Run execplan: its exit status, below 0 for a signal, and what it printed."""
    ours, theirs = os.pipe()
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        request = json.dumps({"arguments": arguments, "cwd": str(cwd), "env": env}).encode()
        if not _server:
            _start({name: value for name, value in env.items() if _is_fixed(name)})
        socket.send_fds(_server[0], [request], [given.fileno(), out.fileno(), err.fileno(), theirs])
        os.close(theirs)
        with os.fdopen(ours) as told:
            pid = int(told.readline())
            status = told.readline()
        if not status:
            raise AssertionError(f"process {pid} did not end within {LIMIT} seconds: {arguments}")
        out.seek(0)
        err.seek(0)
        return int(status), out.read(), err.read()


def _start(env: dict[str, str]) -> None:
    """Start the server of this process: no child of it, which a test would find, but ended with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _MOST)
    command = [sys.executable, "-m", "tests.forks", str(theirs.fileno())]
    subprocess.run(command, cwd=_ROOT, env=env, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], check=True)
    theirs.close()
    _server.append(ours)
    atexit.register(ours.close)


def _serve(number: int) -> None:
    """Take requests until the other end is closed, in a process that nobody waits for."""
    if os.fork():
        os._exit(0)
    for name in ("execplan.cli.main", *[f"execplan.cli.verbs.{verb}" for verb in VERBS], *_HEAVY):
        import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=number) as requests:
        while True:
            data, handles, _, _ = socket.recv_fds(requests, _MOST, 4)
            if not data:
                return
            if os.fork() == 0:
                requests.close()
                _keep(json.loads(data), handles)
            for handle in handles:
                os.close(handle)


def _keep(request: dict[str, object], handles: list[int]) -> NoReturn:
    """Fork the command, tell its process, wait for it, and tell how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.close(handles[3])
        _become(request, handles)
    os.write(handles[3], f"{pid}\n".encode())
    signal.signal(signal.SIGALRM, lambda *_: _give_up(pid))
    signal.alarm(LIMIT)
    _, status = os.waitpid(pid, 0)
    os.write(handles[3], f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _give_up(pid: int) -> NoReturn:
    os.kill(pid, signal.SIGKILL)
    os._exit(1)


def _become(request: dict[str, object], handles: list[int]) -> NoReturn:
    """Be what `python -m execplan` is, without its start."""
    arguments, cwd, env = request["arguments"], str(request["cwd"]), request["env"]
    assert isinstance(arguments, list)
    assert isinstance(env, dict)
    for number, handle in enumerate(handles[:3]):
        os.dup2(handle, number)
        os.close(handle)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    sys.argv = [str(_ROOT / "execplan" / "__main__.py"), *arguments]
    sys.path[0] = cwd
    if KILL in os.environ:
        arm(os.environ.pop(KILL))
    status: object = 70
    try:
        status = main.run()
    except SystemExit as end:
        status = end.code
    except BaseException:  # noqa: BLE001 - as Python itself does, what nobody caught is told
        sys.excepthook(*sys.exc_info())
        status = 1
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 1 if status else 0)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
