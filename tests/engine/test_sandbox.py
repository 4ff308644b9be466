"""What the sandbox guards, claim by claim as docs/sandbox.md makes them, and what happens where there is none."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from execplan.engine.commands import command_sandbox
from execplan.engine.commands.command_sandbox import find_sandbox
from execplan.errors import ExecplanError
from execplan.execution.policy import Policy
from execplan.project import project_discovery
from tests.conftest import Folder
from tests.engine.commanding import DAEMON, Yard, is_alive, until
from tests.engine.test_launch import engine
from tests.needs import need

if TYPE_CHECKING:
    from pathlib import Path

OWN = ".agent/execplans/artifacts/2026-01-01_parser"
EVIDENCE = (
    f"{OWN}/execution-plan.json",
    f"{OWN}/approvals/a.json",
    f"{OWN}/ledger.jsonl",
    f"{OWN}/runs/0001-0123abcd/journal.jsonl",
    ".agent/execplans/archive/artifacts/2025-01-01_old/ledger.jsonl",
    ".agent/execplan.toml",
)
CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5).recv(9); print('heard')"


class Box(Yard):
    """A repository whose commands run in a sandbox, and what lies around it."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(path)
        repo = Folder(self.folder)
        self.git = repo.git
        repo.git("init", "-q", "-b", "main")
        for name in EVIDENCE:
            repo.write(name, "" if name.endswith(".toml") else "evidence\n")
        repo.write("file", "old\n")
        self.user = path / "user"
        for name, value in {"HOME": "", "XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state"}.items():
            monkeypatch.setenv(name, str(self.user / value))
        self.key = self.user / ".config/execplan/key"
        self.used = self.user / ".local/state/execplan/approvals/a.used"
        for file in (self.key, self.used, self.user / "notes"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("words\n")
        self.find()

    def find(self) -> None:
        """Look for the sandbox of the repository."""
        self.sandbox, why = find_sandbox(project_discovery.find(str(self.folder)), Policy())
        assert self.sandbox is not None, why


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    need("bwrap")
    return Box(tmp_path, monkeypatch)


def tree(path: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(each.relative_to(path)): each.read_bytes() for each in sorted(path.rglob("*")) if each.is_file()}


def test_the_repository_can_be_written(box: Box) -> None:
    assert box.sh("echo new > file && mkdir a && echo b > a/b && rm a/b && mv file a/file && pwd").exit == 0
    assert (box.folder / "a/file").read_text() == "new\n"


def test_it_ends_as_it_does_without(box: Box) -> None:
    assert (box.sh("exit 3").exit, box.sh("kill -11 $$").signal) == (3, 11)
    assert (box.run("no-such-program").exit, box.run("./file").exit) == (127, 126)
    result = box.sh(f"echo out; echo err >&2; {DAEMON} sleep 98 &")
    assert (result.exit, result.stdout) == (0, b"out\n")
    assert "! err" in box.told()
    assert "of its processes were still there" in box.transcript()


def test_nothing_is_written_outside_the_repository(box: Box) -> None:
    before = tree(box.user)
    result = box.sh(
        f"echo x > '{box.user}/notes'; echo x > '{box.user}/new'; touch /usr/new /etc/new; touch '{box.path}/new'"
    )
    assert box.transcript().count("Read-only file system") == 4
    assert result.exit == 0, "of a folder that is fresh it sees what lies there, and writes to nobody's"
    assert not (box.path / "new").exists()
    assert tree(box.user) == before


def test_fresh_folders_are_empty_and_gone(box: Box) -> None:
    mine = f"/var/tmp/execplan-test-{os.getpid()}"
    with open(mine, "w", encoding="utf-8"):
        pass
    try:
        told = box.sh("ls /var/tmp; ls /run; touch /tmp/x /run/x /var/tmp/x /dev/shm/x && echo ok; echo $TMPDIR").stdout
    finally:
        os.unlink(mine)
    assert told == b"execplan\nok\n/tmp\n"
    assert not os.path.exists("/run/x")
    assert box.sh("ls /run; ls -A /var/tmp /dev/shm").stdout.split() == [b"execplan", b"/dev/shm:", b"/var/tmp:"]


def test_a_fresh_folder_is_in_memory_and_limited(box: Box) -> None:
    result = box.sh("head -c 30000000 /dev/zero > /tmp/x", memory_mb=20)
    assert result.exit != 0
    assert "No space left" in box.transcript()


def test_caches_can_be_written(box: Box) -> None:
    assert box.sh("mkdir -p $XDG_CACHE_HOME/x $npm_config_cache/y").exit == 0
    assert box.run("env", env={"XDG_CACHE_HOME": "/own"}).stdout.count(b"XDG_CACHE_HOME=/own\n") == 1


def test_git_is_not_touched(box: Box) -> None:
    before = tree(box.folder / ".git")
    box.sh("echo x > .git/hooks/pre-commit; echo x >> .git/config; git config a.b c; rm -rf .git; mv .git other; ls -A")
    assert tree(box.folder / ".git") == before
    assert not (box.folder / "other").exists()
    assert box.sh("git status --short").exit == 0


def test_what_git_runs_by_itself_is_not_touched(box: Box) -> None:
    box.git("config", "core.hooksPath", "tools/hooks")
    box.git("config", "include.path", "../settings")
    box.git("config", "filter.tidy.clean", "sh ./tidy.sh --quick")
    for name in ("tools/hooks/pre-commit", "settings", "tidy.sh"):
        path = box.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    box.find()
    box.sh(
        "echo x | tee tools/hooks/pre-commit tools/hooks/new settings tidy.sh; mv tools gone; rm -rf tools; touch ok"
    )
    assert sorted(tree(box.folder / "tools")) == ["hooks/pre-commit"]
    assert [(box.folder / name).read_text() for name in ("tools/hooks/pre-commit", "settings", "tidy.sh")] == [""] * 3
    assert (box.folder / "ok").exists()


def test_the_git_folder_of_a_submodule_is_not_touched(box: Box) -> None:
    (box.folder / ".gitmodules").write_text('[submodule "sub"]\n\tpath = lib/sub\n\turl = ../sub\n')
    (box.folder / "lib/sub").mkdir(parents=True)
    (box.folder / "lib/sub/.git").write_text("gitdir: ../../.git/modules/sub\n")
    box.find()
    box.sh("echo gitdir: ../../fake > lib/sub/.git; rm -f lib/sub/.git; mv lib other; touch lib/sub/ok")
    assert sorted(tree(box.folder / "lib")) == ["sub/.git", "sub/ok"]
    assert (box.folder / "lib/sub/.git").read_text() == "gitdir: ../../.git/modules/sub\n"


def test_the_git_folders_of_a_worktree_are_not_touched(box: Box) -> None:
    box.git("add", "file")
    box.git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "First")
    box.git("worktree", "add", "-q", "../tree")
    box.folder = box.path / "tree"
    box.find()
    before = tree(box.path / "work/.git")
    box.sh("echo x > .git; rm .git; cd .. && cd work/.git && echo x > config; echo x > worktrees/tree/HEAD")
    assert box.transcript().count("Read-only file system") >= 3
    assert tree(box.path / "work/.git") == before
    assert box.sh("git log --oneline").stdout.endswith(b"First\n")


def test_the_evidence_is_not_touched(box: Box) -> None:
    before = tree(box.folder / ".agent")
    for name in EVIDENCE:
        box.sh(f"echo x >> {name}; rm -f {name}; mv {name} moved; cp file {os.path.dirname(name)}/new")
    box.sh(f"mv .agent a; mv .agent/execplans b; mv .agent/execplans/artifacts c; mv {OWN} d; rm -rf .agent")
    after = tree(box.folder / ".agent")
    assert {name: after.get(name) for name in before} == before
    assert not [name for name in after if "/approvals/new" in name or ("/runs/" in name and name not in before)]


def test_what_else_is_in_the_home_can_be_written(box: Box) -> None:
    assert box.sh(f"echo x > .agent/execplans/plan.md && echo x > {OWN}/shot.png && rm {OWN}/shot.png").exit == 0


def test_the_key_and_the_register_can_not_be_read(box: Box) -> None:
    result = box.sh(
        f"cat '{box.key}'; cat '{box.used}'; ls -A '{box.key.parent}' '{box.used.parent}'; cat '{box.user}/notes'"
    )
    assert box.transcript().count("No such file") == 2
    assert result.stdout.decode() == f"{box.key.parent}:\n\n{box.used.parent}:\nwords\n"
    box.sh(f"echo forged > '{box.key}'")
    assert box.key.read_text() == "words\n"


def test_the_key_is_hidden_behind_a_link_too(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    (box.path / "link").symlink_to(box.user)
    monkeypatch.setenv("HOME", str(box.path / "link"))
    monkeypatch.setenv("VIRTUAL_ENV", str(box.path / "link/.local"))
    assert box.sh("cat ~/notes; cat ~/.config/execplan/key").stdout == b"words\n"


def test_it_sees_no_other_processes(box: Box) -> None:
    pids = box.sh("ls /proc | grep -c '^[0-9]'; kill -0 " + str(os.getpid())).stdout.split()
    assert int(pids[0]) < 8
    assert "No such process" in box.transcript()


def test_it_has_no_rights(box: Box) -> None:
    told = box.sh(
        "grep -hE 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; mount -t tmpfs x /mnt || echo no"
    ).stdout.split()
    assert told == [b"CapEff:", b"0" * 16, b"CapBnd:", b"0" * 16, b"NoNewPrivs:", b"1", b"no"]


def test_it_can_not_set_the_kernel(box: Box) -> None:
    for name in ("kernel/core_pattern", "kernel/modprobe", "vm/drop_caches"):
        told = box.sh(f"cd /proc/sys && test -e {name} && cat {name} > /tmp/x; : >> {name} && echo open")
        assert told.stdout == b"", name


def test_it_can_not_reach_into_the_process_that_reports_on_it(box: Box) -> None:
    code = """
import ctypes, os
for name in ["mem", *[f"fd/{each}" for each in range(9)]]:
    try:
        os.close(os.open(f"/proc/1/{name}", os.O_WRONLY | os.O_NONBLOCK))
        print(name)
    except OSError:
        pass
if not ctypes.CDLL(None).ptrace(16, 1, 0, 0):
    ctypes.CDLL(None).ptrace(17, 1, 0, 0)
    print("held")
"""
    result = box.run(sys.executable, "-I", "-c", code)
    assert (result.exit, result.stdout) == (0, b"")
    assert box.sh("cat /proc/self/oom_score_adj; ls /proc/self/fd > /tmp/x && echo own").stdout == b"500\nown\n"


@pytest.mark.parametrize("network", [False, True])
def test_a_network_only_where_it_was_asked_for(box: Box, network: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1 if not network else 10)
        port = str(server.getsockname()[1])
        server.listen()

        def greet() -> None:
            try:
                server.accept()[0].close()
            except TimeoutError:
                pass

        thread = threading.Thread(target=greet)
        thread.start()
        result = box.run(sys.executable, "-I", "-c", CONNECT, port, network=network)
        thread.join()
    assert (result.stdout == b"heard\n") is network


def test_a_socket_of_the_machine_itself_can_not_be_reached(box: Box) -> None:
    code = "import socket; s = socket.socket(socket.AF_UNIX); s.connect(chr(0) + 'execplan-test'); print('heard')"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0execplan-test")
        server.listen()
        assert box.run(sys.executable, "-I", "-c", code).exit == 1
        assert box.run(sys.executable, "-I", "-c", code, network=True).stdout == b"heard\n", (
            "docs: with a network it can"
        )


def test_time_ends_all_of_it(box: Box) -> None:
    result = box.sh(f"{DAEMON} sleep 91", seconds=4)
    assert (result.signal, result.cause) == (15, "timeout")
    assert sleepers("91") == []


def test_a_word_stops_it(box: Box) -> None:
    box.stop.set("SIGTERM")
    assert box.sh("sleep 92").cause == "interrupted"
    assert sleepers("92") == []


def test_with_execplan_all_of_it_dies(box: Box) -> None:
    pid = engine(box, f"trap '' TERM; {DAEMON} sleep 93")
    until(lambda: len(sleepers("93")) > 0)
    pids = sleepers("93") + sleepers("99")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    until(lambda: not any(map(is_alive, pids)))
    assert box.marked() == "begun"


def test_with_its_supervisor_all_of_it_dies(box: Box) -> None:
    pid = engine(box, f"{DAEMON} sleep 94")
    until(lambda: len(sleepers("94")) > 0)
    pids = sleepers("94") + sleepers("99")
    (supervisor,) = [int(each) for each in children(pid)]
    os.kill(supervisor, signal.SIGKILL)
    os.waitpid(pid, 0)
    until(lambda: not any(map(is_alive, pids)))


def children(pid: int) -> list[str]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return file.read().split()


def sleepers(seconds: str) -> list[int]:
    """The processes that sleep so long."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if file.read() == b"sleep\0%s\0" % seconds.encode():
                    found.append(int(name))
        except OSError:
            continue
    return found


def test_without_git_the_state_is_not_touched(tmp_path: Path, box: Box) -> None:
    box.folder = tmp_path / "plain"
    state = box.folder / ".agent/.state/file"
    state.parent.mkdir(parents=True)
    state.write_text("state\n")
    (box.folder / ".agent/execplans").mkdir()
    box.find()
    assert box.sh("touch ok; echo x > .agent/.state/file; mv .agent/.state x").exit != 0
    assert state.read_text() == "state\n"
    assert (box.folder / "ok").exists()


def test_off_is_off(yard: Yard) -> None:
    assert find_sandbox(project_discovery.find(str(yard.folder)), Policy(sandbox="off")) == (
        None,
        "the settings switch it off",
    )


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("", "bwrap is not installed"),
        ("#!/bin/sh\necho no namespaces here >&2\nexit 1\n", "bwrap does not work here: no namespaces here"),
    ],
)
def test_one_that_is_missing_or_does_not_work(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, program: str, why: str
) -> None:
    folder = yard.path / "bin"
    folder.mkdir()
    if program:
        (folder / "bwrap").write_text(program)
        (folder / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    project = project_discovery.find(str(yard.folder))
    assert find_sandbox(project, Policy()) == (None, why)
    with pytest.raises(ExecplanError) as raised:
        find_sandbox(project, Policy(sandbox="required"))
    assert (raised.value.code, raised.value.exit) == ("sandbox-missing", 6)
    assert why in raised.value.message


def test_one_that_the_repository_brings_along_is_none(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    Folder(yard.folder).git("init", "-q")
    (yard.folder / "bwrap").write_text("#!/bin/sh\nexit 0\n")
    (yard.folder / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(yard.folder), prepend=os.pathsep)
    found, why = find_sandbox(project_discovery.find(str(yard.folder)), Policy())
    assert (found, why) == (None, f"{yard.folder}/bwrap lies in the repository itself")


def test_it_is_tried_once(box: Box) -> None:
    before = command_sandbox._test_bwrap.cache_info().hits
    box.find()
    assert command_sandbox._test_bwrap.cache_info().hits == before + 1


def test_an_older_one_is_good_enough(box: Box) -> None:
    assert box.sandbox is not None
    box.sandbox = box.sandbox._replace(can_limit_size=False)
    assert box.sh("touch /tmp/x").exit == 0
