"""What a step may take: memory and processes of its whole tree, the size of a file; and what it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.core.project import project_discovery
from execplan.execution.engine.commands.command_sandbox import find_sandbox
from execplan.execution.policy import Policy
from tests.execution.engine.command_folder import DAEMON, is_alive
from tests.needs import need

if TYPE_CHECKING:
    from tests.execution.engine.command_folder import CommandFolder

HOLD = "x = b'x' * {}; import time; time.sleep(98)"
BUSY = """
import time
x = b'x' * (60 << 20)
while time.process_time() < 0.2:
    pass
"""


@pytest.fixture(params=["", "bwrap"])
def limited_folder(request: pytest.FixtureRequest, command_folder: CommandFolder) -> CommandFolder:
    """A folder to run commands in, with a sandbox and without."""
    if request.param:
        need("bwrap")
        command_folder.sandbox, why = find_sandbox(project_discovery.find(str(command_folder.folder)), Policy())
        assert command_folder.sandbox is not None, why
    return command_folder


def test_memory(limited_folder: CommandFolder) -> None:
    result = limited_folder.run_python(HOLD.format(120 << 20), memory_mb=100)
    assert (result.cause, result.reason, result.signal) == ("limit", "more than 100 MB of memory", 9)
    assert result.peak_memory_bytes > 100 << 20


def test_memory_of_all_together(limited_folder: CommandFolder) -> None:
    code = "import os; pids = [os.fork() for _ in range(2)]; "  # two times two
    result = limited_folder.run_python(code + HOLD.format(30 << 20), memory_mb=100)
    assert (result.cause, result.reason) == ("limit", "more than 100 MB of memory")


def test_what_is_shared_counts_once(limited_folder: CommandFolder) -> None:
    code = "x = b'x' * (40 << 20); import os, time; pids = [os.fork() for _ in range(2)]; time.sleep(0.3)"
    assert limited_folder.run_python(code, memory_mb=100).cause == ""


def test_what_is_only_reserved_does_not_count(limited_folder: CommandFolder) -> None:
    code = (
        "import mmap; x = mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000); print(len(x))"
    )
    assert limited_folder.run_python(code, memory_mb=100).stdout == b"8589934592\n"


def test_processes(limited_folder: CommandFolder) -> None:
    result = limited_folder.run_shell(
        f"{DAEMON} i=0; while [ $i -lt 40 ]; do sleep 98 & i=$((i+1)); done; wait", processes=20
    )
    assert (result.cause, result.reason) == ("limit", "more than 20 processes")
    if limited_folder.sandbox is None:
        assert not is_alive(limited_folder.pid())


def test_one_that_forks_without_end_is_stopped(limited_folder: CommandFolder) -> None:
    code = "import os, time\nwhile True:\n if not os.fork(): time.sleep(98)"
    result = limited_folder.run_python(code, processes=30)
    assert (result.cause, result.reason) == ("limit", "more than 30 processes")


def test_a_file_of_one_that_does_not_look(limited_folder: CommandFolder) -> None:
    result = limited_folder.run("head", "-c", "3000000", "/dev/zero").stdout
    assert len(result) == 1 << 20, "what is printed is no file"
    for script in ("exec head -c 3000000 /dev/zero > big", "head -c 3000000 /dev/zero > big; exit $?"):
        limited = limited_folder.run_shell(script, file_mb=1)
        assert (limited.cause, limited.reason) == ("limit", "a file larger than 1 MB")
        assert (limited_folder.folder / "big").stat().st_size == 1 << 20


def test_a_file_of_one_that_looks(limited_folder: CommandFolder) -> None:
    result = limited_folder.run_python("open('big', 'wb').write(bytes(3 << 20))", file_mb=1)
    assert (result.exit, result.cause, result.reason) == (1, "limit", "a file larger than 1 MB")


def test_one_that_only_says_so_and_ends_well(limited_folder: CommandFolder) -> None:
    assert limited_folder.run_shell("echo File too large >&2").cause == ""


def test_it_leaves_no_core(limited_folder: CommandFolder) -> None:
    assert limited_folder.run_shell("ulimit -c").stdout == b"0\n"


def test_what_it_took(limited_folder: CommandFolder) -> None:
    result = limited_folder.run_python(BUSY)
    assert 0.2 <= result.cpu_s < 5
    assert 60 << 20 <= result.peak_memory_bytes < 120 << 20
    assert result.seconds >= 0.2
    idle = limited_folder.run_shell("sleep 0.1")
    assert idle.cpu_s < 0.1
    assert idle.peak_memory_bytes < 20 << 20
