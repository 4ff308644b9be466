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

from execplan.engine.commands import launcher, processes
from execplan.engine.commands.launcher import CommandResult
from execplan.engine.commands.stop_signal import StopSignal
from execplan.errors import ExecplanError
from tests.engine.commanding import DAEMON, Yard, is_alive, until

if TYPE_CHECKING:
    from pathlib import Path


def ended(of: str | CommandResult) -> CommandResult:
    assert isinstance(of, CommandResult)
    return of


def test_what_it_prints_and_how_it_ends(yard: Yard) -> None:
    result = yard.sh("echo one; echo two >&2; exit 3")
    assert (result.exit, result.signal, result.cause, result.stdout, result.is_complete) == (
        3,
        None,
        "",
        b"one\n",
        True,
    )
    assert result.stdout_sha256 == sha256(b"one\n").hexdigest()
    assert sorted(yard.told())[:2] == ["! two", "= exit 3, after 0.0 s"]
    assert "| one" in yard.told()


def test_arguments_are_no_shell(yard: Yard) -> None:
    assert (
        yard.run("printf", "%s.", "$HOME", "a b", "*", "'", "; exit 3", "é\udcff").stdout
        == b"$HOME.a b.*.'.; exit 3.\xc3\xa9\xff."
    )


def test_it_gets_its_environment_and_no_other(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "yellow-canary")
    monkeypatch.setenv("LD_PRELOAD", "")
    env = yard.run("env", env={"OWN": "1"}).stdout.decode()
    assert "OWN=1" in env.splitlines()
    assert "TERM=dumb" in env.splitlines()
    assert "CANARY" not in env
    assert "LD_" not in env


def test_it_reads_nothing_and_has_no_terminal_and_nothing_of_ours(yard: Yard) -> None:
    assert yard.sh("cat; ls /proc/self/fd | wc -l; (: < /dev/tty) 2>/dev/null || echo none").stdout.split() == [
        b"4",
        b"none",
    ]


def test_signals_are_as_they_are_by_default(yard: Yard) -> None:
    told = yard.sh("grep -E 'Sig(Ign|Blk)' /proc/self/status").stdout.split()
    of_threads = 0b11 << 31  # 32 and 33, which the C library keeps for itself: no program can set them
    assert [int(each, 16) & ~of_threads for each in told[1::2]] == [0, 0]


@pytest.mark.parametrize(
    ("argv", "exit", "why"),
    [
        (("no-such-program",), 127, "there is no program no-such-program"),
        (("./no-such-program",), 127, "there is no program ./no-such-program, or none that its first line names"),
        (("./script",), 127, "there is no program ./script, or none that its first line names"),
        (("./plain",), 126, "./plain can't be started: permission denied"),
        (("./nothing",), 126, "./nothing can't be started: exec format error"),
        (("./work",), 126, "./work can't be started: permission denied"),
    ],
)
def test_what_can_not_be_started(yard: Yard, argv: tuple[str, ...], exit: int, why: str) -> None:
    (yard.folder / "plain").write_text("x")
    (yard.folder / "work").mkdir()
    for name, text in (("script", "#!/no/such/interpreter\n"), ("nothing", "x")):
        (yard.folder / name).write_text(text)
        (yard.folder / name).chmod(0o755)
    result = yard.run(*argv)
    assert (result.exit, result.cause, result.reason) == (exit, "error", why)
    assert ended(yard.marked()).reason == why


def test_a_folder_that_is_not_there(yard: Yard) -> None:
    yard.folder.rmdir()
    result = yard.run("true")
    assert (result.exit, result.cause, result.reason[:12]) == (126, "error", "it can't run")


def test_a_signal(yard: Yard) -> None:
    result = yard.sh("kill -9 $$")
    assert (result.exit, result.signal, result.cause) == (None, 9, "")


def test_marks_tell_how_far_it_came(yard: Yard) -> None:
    assert yard.marked() == "never"
    result = yard.sh(f"test -e '{yard.marks}.begun' && ! test -e '{yard.marks}.ended' && echo begun; exit 4")
    assert result.stdout == b"begun\n"
    kept = ended(yard.marked())
    assert kept == result._replace(stdout=b"", stdout_sha256="", is_complete=False, output_tail=b"")
    yard.sh(f"cat '{yard.marks}.ended'; kill -9 $PPID")
    assert "such file" in yard.transcript(), "an older mark must not stand for this one"
    assert yard.marked() == "begun"


def test_without_its_mark_it_is_not_run(yard: Yard) -> None:
    yard.marks = str(yard.path / "gone" / "marks")
    result = yard.sh("touch ran")
    assert (result.exit, result.cause) == (None, "error")
    assert "could not be begun" in result.reason
    assert not (yard.folder / "ran").exists()


@pytest.mark.parametrize("data", [b"", b"x", b"[]", b"{}", b"{'left': []}", b"\xff", b"(" * 5000])
def test_a_mark_that_somebody_else_wrote(yard: Yard, data: bytes) -> None:
    yard.sh("exit 0")
    (yard.path / "marks.ended").write_bytes(data)
    with pytest.raises(ExecplanError) as raised:
        yard.marked()
    assert (raised.value.code, raised.value.exit) == ("journal-altered", 6)
    assert "marks.ended" in raised.value.message


def test_what_it_leaves_behind_is_ended_and_told(yard: Yard) -> None:
    result = yard.sh(f"{DAEMON} sleep 98 & echo done")
    assert (result.exit, result.stdout) == (0, b"done\n")
    assert not is_alive(yard.pid())
    assert "2 of its processes were still there when it had ended, and were ended: " in yard.transcript()


def test_time_ends_all_of_it(yard: Yard) -> None:
    result = yard.sh(f"trap '' TERM; {DAEMON} sleep 98", seconds=0.4)
    assert (result.exit, result.signal, result.cause) == (None, 9, "timeout")
    assert result.reason == "it took longer than 0.4 s"
    assert not is_alive(yard.pid())
    assert ended(yard.marked()).cause == "timeout"


def test_it_may_tidy_up_before_it_is_killed(yard: Yard) -> None:
    result = yard.sh("trap 'echo bye; exit 5' TERM; while :; do sleep 0.02; done", seconds=0.4)
    assert (result.exit, result.cause, result.stdout) == (5, "timeout", b"bye\n")
    assert result.seconds < 2


def test_a_word_stops_it(yard: Yard) -> None:
    def say() -> None:
        yard.pid()
        yard.stop.set("SIGINT")

    thread = threading.Thread(target=say)
    thread.start()
    result = yard.sh(f"{DAEMON} sleep 98")
    thread.join()
    assert (result.cause, result.reason, result.signal) == ("interrupted", "it was stopped", signal.SIGTERM)
    assert not is_alive(yard.pid())
    assert yard.stop.signal == "SIGINT"


def test_what_was_stopped_before_does_not_go_on(yard: Yard) -> None:
    yard.stop.set("SIGTERM")
    assert yard.sh("sleep 98").cause == "interrupted"


def test_a_stop_is_seen_by_all_and_the_first_one_counts() -> None:
    stop = StopSignal()
    assert not stop.is_set()
    assert not stop.wait(0)
    stop.set("SIGINT")
    stop.set("SIGTERM")
    assert stop.wait(60)
    assert stop.wait(60)
    assert (stop.is_set(), stop.signal) == (True, "SIGINT")


def engine(yard: Yard, script: str) -> int:
    """Another process that runs a command."""
    pid = os.fork()
    if not pid:
        with suppress(BaseException):
            yard.sh(script)
        os._exit(0)
    return pid


def test_with_execplan_all_of_it_dies(yard: Yard) -> None:
    pid = engine(yard, f"trap '' TERM; {DAEMON} echo $$ > shell; sleep 98")
    pids = [yard.pid(), yard.pid("shell")]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    until(lambda: not any(map(is_alive, pids)))
    assert yard.marked() == "begun", "nobody knows how far it came"


def test_with_its_supervisor_the_program_dies(yard: Yard) -> None:
    result = yard.sh("echo $$ > shell; kill -9 $PPID; exec sleep 98")
    assert (result.cause, result.reason) == ("error", "its supervisor was killed")
    until(lambda: not is_alive(yard.pid("shell")))
    assert yard.marked() == "begun"


def test_a_supervisor_that_was_stopped_is_given_up(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "_GIVE_UP_AFTER", 0.0)
    result = yard.sh(f"{DAEMON} kill -STOP $PPID; sleep 98", seconds=0.4)
    assert result.cause == "error"
    until(lambda: not is_alive(yard.pid()))


def test_much_of_it_takes_no_memory(yard: Yard) -> None:
    size = 60_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = yard.sh(f"yes | head -c {size}")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000
    assert (len(result.stdout), result.is_complete) == (1 << 20, False)
    block = b"y\n" * 500_000
    digest = sha256()
    for _ in range(size // len(block)):
        digest.update(block)
    assert result.stdout_sha256 == digest.hexdigest()
    assert os.path.getsize(yard.path / "transcript.md") < 8 << 20
    assert f"… about {(size - (1 << 20)) // 1_000_000:,}," in yard.transcript()


def test_what_can_not_be_kept_ends_it(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise ExecplanError("io-error", "can't write it", exit=6)

    monkeypatch.setattr(launcher._SupervisorOutput, "_take_stdout", full)
    with pytest.raises(ExecplanError, match="can't write it"):
        yard.sh(f"{DAEMON} echo; sleep 98")
    assert not is_alive(yard.pid())


def test_many_at_once(tmp_path: Path) -> None:
    yards = []
    for number in range(4):
        (tmp_path / str(number)).mkdir()
        yards.append(Yard(tmp_path / str(number)))
    results: dict[int, CommandResult] = {}

    def work(number: int) -> None:
        results[number] = yards[number].sh(f"echo {number}; exit {number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(results[each].exit, results[each].stdout) for each in range(4)] == [(n, b"%d\n" % n) for n in range(4)]


def test_no_descriptor_is_left_open(yard: Yard) -> None:
    yard.sh("true")
    before = len(os.listdir("/proc/self/fd"))
    yard.sh("true")
    yard.run("no-such-program")
    assert len(os.listdir("/proc/self/fd")) == before


def test_ps_tells_the_same_where_the_kernel_does_not(yard: Yard) -> None:
    pid = engine(yard, f"{DAEMON} echo > ready; exec sleep 97")
    until((yard.folder / "ready").exists)
    until(lambda: sorted(each.name for each in processes.descendants(pid))[1:] == ["sleep", "sleep"])
    yard.pid()
    own = {(each.pid, each.name) for each in processes.descendants(pid)}
    assert {(each.pid, each.name) for each in processes._descendants_by_ps(pid)} == own
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
