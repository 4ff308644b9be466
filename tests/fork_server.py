"""Commands run in a process of their own that is forked from one which has imported execplan: a tenth of a start's time.

`python -m tests.fork_server SOCKET` serves, until its standard input ends. Who connects to the socket sends three file
descriptors, the command's standard streams, and then all else with a zero byte behind each: its folder, how many arguments
there are, the arguments, and its environment. The answer is two lines: the command's process, and in the end how it ended.
The server has one thread, so that it may fork.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import io
import os
import pkgutil
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NoReturn, TextIO

import execplan
from execplan.cli import main
from execplan.core.text.text_lines import digest
from tests import tool_lookups
from tests.execution.engine.kill_points import KILL, arm

LIMIT = 60
"""Seconds after which a command is killed."""
STOP = "EXECPLAN_STOP"
"""The variable that lets a command wait for SIGCONT before it begins, until somebody traces it."""
_ROOT = Path(__file__).resolve().parents[1]
_FORK_CLIENT = _ROOT / "tests" / "fork_client.py"
_HEAVY = "_strptime git jinja2.sandbox mistune tomllib yaml".split()
"""What commands import when they need it, in addition to our own modules."""
_LARGE = (
    "execplan.cli.board_app",
    "execplan.execution.engine.executors.dask_executor",
    "execplan.execution.engine.telemetry",
    "execplan.views.server",
    "execplan.agents.toolkit.mcp_server",
)
"""Modules that import large packages, which only their own commands need: a fork copies the tables of all memory."""
_served: list[str] = []
_starting = threading.Lock()


def can_serve(env: dict[str, str], usual: dict[str, str]) -> bool:
    """Whether a command may be forked: what Python reads of its environment when it starts is as usual."""
    fixed = [{name: value for name, value in variables.items() if _is_fixed(name)} for variables in (env, usual)]
    return fixed[0] == fixed[1]


def _is_fixed(name: str) -> bool:
    return name.startswith(("PYTHON", "LC_", "LANG", "LD_", "GIT_PYTHON")) or name in ("PATH", "COVERAGE_PROCESS_START")


def run(
    arguments: tuple[str, ...],
    cwd: Path,
    env: dict[str, str],
    stdin: bytes,
    begun: Callable[[int], None] = lambda pid: None,
) -> tuple[int, bytes, bytes]:
    """Run execplan: its exit status, below 0 for a signal, and what it printed; `begun` is told its process."""
    with (
        tempfile.TemporaryFile() as stdin_file,
        tempfile.TemporaryFile() as stdout_file,
        tempfile.TemporaryFile() as stderr_file,
    ):
        stdin_file.write(stdin)
        stdin_file.seek(0)
        fields = [
            str(cwd),
            str(len(arguments)),
            *arguments,
            *[f"{name}={value}" for name, value in (env | tool_lookups.passed_on()).items()],
        ]
        request = b"".join([os.fsencode(field) + b"\0" for field in fields])
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(path(env))
            sent_count = socket.send_fds(
                server, [request], [stdin_file.fileno(), stdout_file.fileno(), stderr_file.fileno()]
            )
            server.sendall(request[sent_count:])
            server.shutdown(socket.SHUT_WR)
            server.settimeout(LIMIT)
            with server.makefile() as reply:
                pid = int(reply.readline())
                begun(pid)
                try:
                    status = int(reply.readline())
                except TimeoutError:
                    os.kill(pid, signal.SIGKILL)
                    raise AssertionError(f"process {pid} did not end within {LIMIT} seconds: {arguments}") from None
        stdout_file.seek(0)
        stderr_file.seek(0)
        return status, stdout_file.read(), stderr_file.read()


def command(env: dict[str, str]) -> str:
    """What a shell runs execplan by."""
    return f"{sys.executable} -IS {_FORK_CLIENT} {path(env)}"


def path(env: dict[str, str]) -> str:
    """The socket of the server of this process, which is started first: no child of it, which a test would find."""
    with _starting:
        if not _served:
            _served.append(
                _start({name: value for name, value in env.items() if _is_fixed(name)} | tool_lookups.passed_on())
            )
    return _served[0]


def _start(env: dict[str, str]) -> str:
    name = os.path.join(tempfile.mkdtemp(prefix="forks-"), "socket")
    read_end, write_end = os.pipe()
    subprocess.run([sys.executable, "-m", "tests.fork_server", name], cwd=_ROOT, env=env, stdin=read_end, check=True)
    os.close(read_end)
    atexit.register(os.close, write_end)
    return name


def _serve(name: str) -> None:
    """Take requests until standard input ends, in a process that nobody waits for."""
    tool_lookups.watch_lookups()
    with socket.socket(socket.AF_UNIX) as requests:
        requests.bind(name)
        requests.listen(128)
        if os.fork():
            os._exit(0)
        _warm_up()
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        at_work: dict[int, socket.socket] = {}
        watched: list[socket.socket | int] = [requests, woken, 0]
        while True:
            ready = select.select(watched, [], [])[0]
            if 0 in ready:
                shutil.rmtree(os.path.dirname(name))
                return
            if woken in ready:
                os.read(woken, 1024)
                _report_exits(at_work)
            if requests in ready:
                _fork_command(requests, at_work, [woken, wake])


def _warm_up() -> None:
    """Have what a command needs in memory, so that none has to load it."""
    for module_name in (*_HEAVY, *[module.name for module in pkgutil.walk_packages(execplan.__path__, "execplan.")]):
        if not module_name.endswith("__main__") and not module_name.startswith(_LARGE):
            import_module(module_name)
    sys.argv = ["execplan", "--version"]
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        main.main()
    digest(b"")
    gc.collect()
    gc.freeze()


def _fork_command(requests: socket.socket, at_work: dict[int, socket.socket], wakeup_pipe: list[int]) -> None:
    """Fork the command that is asked for, and tell its process."""
    client = requests.accept()[0]
    data, handles, _, _ = socket.recv_fds(client, 1 << 16, 3)
    while chunk := client.recv(1 << 16):
        data += chunk
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for connection in (requests, client, *at_work.values()):
            connection.close()
        for number in wakeup_pipe:
            os.close(number)
        _run_command([os.fsdecode(field) for field in data.split(b"\0")[:-1]], handles)
    for number in handles:
        os.close(number)
    at_work[pid] = client
    _send_number(client, pid)


def _report_exits(at_work: dict[int, socket.socket]) -> None:
    """Tell of each command that has ended how it did."""
    while at_work:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with at_work.pop(pid) as client:
            _send_number(client, os.waitstatus_to_exitcode(status))


def _send_number(client: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # who asked may be gone
        client.sendall(b"%d\n" % number)


def _run_command(fields: list[str], handles: list[int]) -> NoReturn:
    """Be what `python -m execplan` is, without its start."""
    cwd, count, remaining = fields[0], int(fields[1]), fields[2:]
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
        os.close(handle)
    sys.stdin = _stream(0, sys.stdin)
    sys.stdout = _stream(1, sys.stdout)
    sys.stderr = _stream(2, sys.stderr)
    os.chdir(cwd)
    os.environ.clear()
    for variable in remaining[count:]:
        name, _, value = variable.partition("=")
        os.environ[name] = value
    time.tzset()
    sys.argv = [str(_ROOT / "execplan" / "__main__.py"), *remaining[:count]]
    sys.path[0] = cwd
    if KILL in os.environ:
        arm(os.environ.pop(KILL))
    if os.environ.pop(STOP, None):
        ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1))  # PR_SET_PTRACER: some kernels ask who may trace it
        os.kill(os.getpid(), signal.SIGSTOP)
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


def _stream(number: int, old: TextIO) -> TextIO:
    """A standard stream as Python makes them for what they are now: a file, a pipe or a terminal."""
    return open(
        number,
        "r" if number == 0 else "w",
        buffering=1 if number == 2 else -1,
        encoding=old.encoding,
        errors=old.errors,
        newline="\n",
        closefd=False,
    )


if __name__ == "__main__":
    _serve(sys.argv[1])
