"""A command runs as its arguments say, is taken whole, and leaves nothing behind, however it ends."""

from __future__ import annotations

import os
import resource
import signal
import threading
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import ExecplanError
from execplan.execution.engine.commands import launcher, processes
from execplan.execution.engine.commands.launcher import CommandResult
from execplan.execution.engine.commands.stop_signal import StopSignal
from execplan.execution.engine.commands.supervisor import _SupervisedCommand
from execplan.execution.engine.commands.supervisor_parent import SupervisorParent
from tests.execution.engine.command_folder import DAEMON, CommandFolder, is_alive, until

if TYPE_CHECKING:
    from pathlib import Path


def ended(of: str | CommandResult) -> CommandResult:
    assert isinstance(of, CommandResult)
    return of


def test_what_it_prints_and_how_it_ends(command_folder: CommandFolder) -> None:
    result = command_folder.run_shell("echo one; echo two >&2; exit 3")
    assert (result.exit, result.signal, result.cause, result.stdout, result.is_complete) == (
        3,
        None,
        "",
        b"one\n",
        True,
    )
    assert result.stdout_sha256 == sha256(b"one\n").hexdigest()
    error_line, end_line = sorted(command_folder.printed_lines())[:2]
    assert error_line == "! two"
    assert end_line.startswith("= exit 3, after 0.")
    assert "| one" in command_folder.printed_lines()


def test_arguments_are_no_shell(command_folder: CommandFolder) -> None:
    assert (
        command_folder.run("printf", "%s.", "$HOME", "a b", "*", "'", "; exit 3", "é\udcff").stdout
        == b"$HOME.a b.*.'.; exit 3.\xc3\xa9\xff."
    )


def test_it_gets_its_environment_and_no_other(command_folder: CommandFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "yellow-canary")
    monkeypatch.setenv("LD_PRELOAD", "")
    env = command_folder.run("env", env={"OWN": "1"}).stdout.decode()
    assert "OWN=1" in env.splitlines()
    assert "TERM=dumb" in env.splitlines()
    assert "CANARY" not in env
    assert "LD_" not in env


def test_it_reads_nothing_and_has_no_terminal_and_nothing_of_ours(command_folder: CommandFolder) -> None:
    assert command_folder.run_shell(
        "cat; ls /proc/self/fd | wc -l; (: < /dev/tty) 2>/dev/null || echo none"
    ).stdout.split() == [
        b"4",
        b"none",
    ]


def test_signals_are_as_they_are_by_default(command_folder: CommandFolder) -> None:
    fields = command_folder.run_shell("grep -E 'Sig(Ign|Blk)' /proc/self/status").stdout.split()
    of_threads = 0b11 << 31  # 32 and 33, which the C library keeps for itself: no program can set them
    assert [int(mask, 16) & ~of_threads for mask in fields[1::2]] == [0, 0]


@pytest.mark.parametrize(
    ("argv", "exit", "why"),
    [
        (("no-such-program",), 127, "program not found: no-such-program"),
        (("./no-such-program",), 127, "program not found: ./no-such-program"),
        (("./script",), 127, "./script can't be started: the interpreter on its first line is not found"),
        (("./plain",), 126, "./plain can't be started: permission denied"),
        (("./nothing",), 126, "./nothing can't be started: exec format error"),
        (("./work",), 126, "./work can't be started: permission denied"),
    ],
)
def test_what_can_not_be_started(command_folder: CommandFolder, argv: tuple[str, ...], exit: int, why: str) -> None:
    (command_folder.folder / "plain").write_text("x")
    (command_folder.folder / "work").mkdir()
    for name, text in (("script", "#!/no/such/interpreter\n"), ("nothing", "x")):
        (command_folder.folder / name).write_text(text)
        (command_folder.folder / name).chmod(0o755)
    result = command_folder.run(*argv)
    assert (result.exit, result.cause, result.reason) == (exit, "error", why)
    assert ended(command_folder.marked()).reason == why


def test_a_folder_that_is_not_there(command_folder: CommandFolder) -> None:
    command_folder.folder.rmdir()
    result = command_folder.run("true")
    assert (result.exit, result.cause, result.reason[:12]) == (126, "error", "it can't run")


def test_a_signal(command_folder: CommandFolder) -> None:
    result = command_folder.run_shell("kill -9 $$")
    assert (result.exit, result.signal, result.cause) == (None, 9, "")


def test_marks_tell_how_far_it_came(command_folder: CommandFolder) -> None:
    assert command_folder.marked() == "never"
    result = command_folder.run_shell(
        f"test -e '{command_folder.marks}.begun' && ! test -e '{command_folder.marks}.ended' && echo begun; exit 4"
    )
    assert result.stdout == b"begun\n"
    recorded = ended(command_folder.marked())
    assert recorded == result._replace(stdout=b"", stdout_sha256="", is_complete=False, output_tail=b"")
    command_folder.run_shell(f"cat '{command_folder.marks}.ended'; kill -9 $PPID")
    assert "such file" in command_folder.transcript(), "an older mark must not stand for this one"
    assert command_folder.marked() == "begun"


def test_without_its_mark_it_is_not_run(command_folder: CommandFolder) -> None:
    command_folder.marks = str(command_folder.path / "gone" / "marks")
    result = command_folder.run_shell("touch ran")
    assert (result.exit, result.cause) == (None, "error")
    assert "it could not be started" in result.reason
    assert not (command_folder.folder / "ran").exists()


@pytest.mark.parametrize("data", [b"x", b"[]", b"{}", b"{'left': []}", b"\xff", b"(" * 5000])
def test_a_mark_that_somebody_else_wrote(command_folder: CommandFolder, data: bytes) -> None:
    command_folder.run_shell("exit 0")
    (command_folder.path / "marks.ended").write_bytes(data)
    with pytest.raises(ExecplanError) as raised:
        command_folder.marked()
    assert (raised.value.code, raised.value.exit) == ("journal-altered", 6)
    assert "marks.ended" in raised.value.message


def test_a_mark_whose_bytes_were_lost_with_the_machine(command_folder: CommandFolder) -> None:
    command_folder.run_shell("exit 0")
    (command_folder.path / "marks.ended").write_bytes(b"")
    assert command_folder.marked() == "begun"


def test_what_it_leaves_behind_is_ended_and_told(command_folder: CommandFolder) -> None:
    result = command_folder.run_shell(f"{DAEMON} sleep 98 & echo done")
    assert (result.exit, result.stdout) == (0, b"done\n")
    assert not is_alive(command_folder.pid())
    assert "2 of its processes were still running after it ended and were terminated: " in command_folder.transcript()


def test_time_ends_all_of_it(command_folder: CommandFolder) -> None:
    result = command_folder.run_shell(f"trap '' TERM; {DAEMON} sleep 98", seconds=0.4)
    assert (result.exit, result.signal, result.cause) == (None, 9, "timeout")
    assert result.reason == "it took longer than 0.4 s"
    assert not is_alive(command_folder.pid())
    assert ended(command_folder.marked()).cause == "timeout"


def test_a_shell_is_asked_to_end_before_the_command_it_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    running = [processes.Process(pid, "sh", 0) for pid in (9, 1, 8)]
    asked: list[int] = []
    monkeypatch.setattr(processes, "descendants", lambda pid: running)
    monkeypatch.setattr(processes, "send_signal", lambda pid, signal: asked.append(pid))
    monkeypatch.setattr(processes, "wait_for_children", lambda on_exit, seconds: False)
    _SupervisedCommand({"wrap": []})._request_exit(0.01)
    assert asked == [9, 1, 8], "parents first, each once"


def test_it_may_tidy_up_before_it_is_killed(command_folder: CommandFolder) -> None:
    result = command_folder.run_shell("trap 'echo bye; exit 5' TERM; while :; do sleep 0.02; done", seconds=0.4)
    assert (result.exit, result.cause, result.stdout) == (5, "timeout", b"bye\n")
    assert result.seconds < 2


def test_a_word_stops_it(command_folder: CommandFolder) -> None:
    def say() -> None:
        command_folder.pid()
        command_folder.stop.set("SIGINT")

    thread = threading.Thread(target=say)
    thread.start()
    result = command_folder.run_shell(f"{DAEMON} sleep 98")
    thread.join()
    assert (result.cause, result.reason, result.signal) == ("interrupted", "it was stopped", signal.SIGTERM)
    assert not is_alive(command_folder.pid())
    assert command_folder.stop.signal == "SIGINT"


def test_what_was_stopped_before_does_not_go_on(command_folder: CommandFolder) -> None:
    command_folder.stop.set("SIGTERM")
    assert command_folder.run_shell("sleep 98").cause == "interrupted"


def test_a_stop_is_seen_by_all_and_the_first_one_counts() -> None:
    stop = StopSignal()
    assert not stop.is_set()
    assert not stop.wait(0)
    stop.set("SIGINT")
    stop.set("SIGTERM")
    assert stop.wait(60)
    assert stop.wait(60)
    assert (stop.is_set(), stop.signal) == (True, "SIGINT")


def engine(command_folder: CommandFolder, script: str) -> int:
    """Another process that runs a command."""
    pid = os.fork()
    if not pid:
        with suppress(BaseException):
            command_folder.run_shell(script)
        os._exit(0)
    return pid


def test_with_execplan_all_of_it_dies(command_folder: CommandFolder) -> None:
    pid = engine(command_folder, f"trap '' TERM; {DAEMON} echo $$ > shell; sleep 98")
    pids = [command_folder.pid(), command_folder.pid("shell")]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    until(lambda: not any(map(is_alive, pids)))
    assert command_folder.marked() == "begun", "nobody knows how far it came"


def test_with_its_supervisor_the_program_dies(command_folder: CommandFolder) -> None:
    result = command_folder.run_shell("echo $$ > shell; kill -9 $PPID; exec sleep 98")
    assert (result.cause, result.reason) == ("error", "its supervisor was killed")
    until(lambda: not is_alive(command_folder.pid("shell")))
    assert command_folder.marked() == "begun"


def test_the_supervisors_of_a_run_have_one_parent(command_folder: CommandFolder) -> None:
    parents = "sed -n 's/^PPid:.//p' /proc/$PPID/status"
    with SupervisorParent() as command_folder.parent:
        first, second = [command_folder.run_shell(parents).stdout for _ in range(2)]
        assert first == second != command_folder.run_shell("echo $PPID").stdout
        os.kill(int(first), signal.SIGKILL)
        until(lambda: not is_alive(int(first)))
        third = command_folder.run_shell(parents).stdout
        assert third not in (b"", first)
    until(lambda: not is_alive(int(third)))


def test_with_the_parent_of_its_supervisor_the_program_dies(command_folder: CommandFolder) -> None:
    script = "echo $$ > shell; kill -9 $(sed -n 's/^PPid:.//p' /proc/$PPID/status); exec sleep 96"
    with SupervisorParent() as command_folder.parent:
        result = command_folder.run_shell(script)
        assert (result.cause, result.reason) == ("error", "its supervisor was killed")
        until(lambda: not is_alive(command_folder.pid("shell")))
        assert command_folder.run_shell("exit 3").exit == 3


def test_what_the_commands_of_a_run_use_is_counted_for_each(command_folder: CommandFolder) -> None:
    with SupervisorParent() as command_folder.parent:
        large = command_folder.run_python("x = bytearray(100 << 20); [n for n in range(2_000_000)]")
        small = command_folder.run_shell("true")
    assert large.peak_memory_bytes > 100 << 20 > 2 * small.peak_memory_bytes
    assert large.cpu_s > 2 * small.cpu_s


def test_a_supervisor_that_was_stopped_is_given_up(
    command_folder: CommandFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "_GIVE_UP_AFTER", 0.0)
    result = command_folder.run_shell(f"{DAEMON} kill -STOP $PPID; sleep 98", seconds=0.4)
    assert result.cause == "error"
    until(lambda: not is_alive(command_folder.pid()))


def test_much_of_it_takes_no_memory(command_folder: CommandFolder) -> None:
    size = 60_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = command_folder.run_shell(f"yes | head -c {size}")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000
    assert (len(result.stdout), result.is_complete) == (1 << 20, False)
    block = b"y\n" * 500_000
    digest = sha256()
    for _ in range(size // len(block)):
        digest.update(block)
    assert result.stdout_sha256 == digest.hexdigest()
    assert os.path.getsize(command_folder.path / "transcript.md") < 8 << 20
    assert f"… about {(size - (1 << 20)) // 1_000_000:,}," in command_folder.transcript()


def test_what_can_not_be_kept_ends_it(command_folder: CommandFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise ExecplanError("io-error", "can't write it")

    monkeypatch.setattr(launcher._SupervisorOutput, "_take_stdout", full)
    with pytest.raises(ExecplanError, match="can't write it"):
        command_folder.run_shell(f"{DAEMON} echo; sleep 98")
    assert not is_alive(command_folder.pid())


def test_many_at_once(tmp_path: Path) -> None:
    yards = []
    for number in range(4):
        (tmp_path / str(number)).mkdir()
        yards.append(CommandFolder(tmp_path / str(number)))
    results: dict[int, CommandResult] = {}

    def work(number: int) -> None:
        results[number] = yards[number].run_shell(f"echo {number}; exit {number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(results[number].exit, results[number].stdout) for number in range(4)] == [
        (n, b"%d\n" % n) for n in range(4)
    ]


def test_no_descriptor_is_left_open(command_folder: CommandFolder) -> None:
    command_folder.run_shell("true")
    before = len(os.listdir("/proc/self/fd"))
    command_folder.run_shell("true")
    command_folder.run("no-such-program")
    assert len(os.listdir("/proc/self/fd")) == before


def test_ps_tells_the_same_where_the_kernel_does_not(command_folder: CommandFolder) -> None:
    pid = engine(command_folder, f"{DAEMON} echo > ready; exec sleep 97")
    until((command_folder.folder / "ready").exists)
    until(lambda: sorted(process.name for process in processes.descendants(pid))[2:] == ["sleep", "sleep"])
    command_folder.pid()
    expected = {(process.pid, process.name) for process in processes.descendants(pid)}
    assert {(process.pid, process.name) for process in processes._descendants_by_ps(pid)} == expected
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
