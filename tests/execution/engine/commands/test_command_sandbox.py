"""What the sandbox guards, claim by claim as docs/how-to/use-the-sandbox.md makes them, and what happens where there is none."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.project import project_discovery
from execplan.execution.engine.commands import command_sandbox
from execplan.execution.engine.commands.command_sandbox import find_sandbox
from execplan.execution.policy import Policy
from tests.conftest import Folder
from tests.execution.engine.command_folder import DAEMON, CommandFolder, is_alive, until
from tests.execution.engine.commands.test_launcher import engine
from tests.needs import need

if TYPE_CHECKING:
    from pathlib import Path

PLAN_ARTIFACTS = ".agent/execplans/artifacts/2026-01-01_parser"
EVIDENCE = (
    f"{PLAN_ARTIFACTS}/execution-plan.json",
    f"{PLAN_ARTIFACTS}/approvals/a.json",
    f"{PLAN_ARTIFACTS}/ledger.jsonl",
    f"{PLAN_ARTIFACTS}/runs/0001-0123abcd/journal.jsonl",
    ".agent/execplans/archive/artifacts/2025-01-01_old/ledger.jsonl",
    ".agent/execplan.toml",
)
CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5).recv(9); print('heard')"


class SandboxedFolder(CommandFolder):
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
def sandboxed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SandboxedFolder:
    need("bwrap")
    return SandboxedFolder(tmp_path, monkeypatch)


def tree(path: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def test_the_repository_can_be_written(sandboxed: SandboxedFolder) -> None:
    assert (
        sandboxed.run_shell("echo new > file && mkdir a && echo b > a/b && rm a/b && mv file a/file && pwd").exit == 0
    )
    assert (sandboxed.folder / "a/file").read_text() == "new\n"


def test_it_ends_as_it_does_without(sandboxed: SandboxedFolder) -> None:
    assert (sandboxed.run_shell("exit 3").exit, sandboxed.run_shell("kill -11 $$").signal) == (3, 11)
    assert (sandboxed.run("no-such-program").exit, sandboxed.run("./file").exit) == (127, 126)
    result = sandboxed.run_shell(f"echo out; echo err >&2; {DAEMON} sleep 98 &")
    assert (result.exit, result.stdout) == (0, b"out\n")
    assert "! err" in sandboxed.printed_lines()
    assert "of its processes were still running after it ended and were terminated" in sandboxed.transcript()


def test_nothing_is_written_outside_the_repository(sandboxed: SandboxedFolder) -> None:
    before = tree(sandboxed.user)
    result = sandboxed.run_shell(
        f"echo x > '{sandboxed.user}/notes'; echo x > '{sandboxed.user}/new'; touch /usr/new /etc/new; touch '{sandboxed.path}/new'"
    )
    assert sandboxed.transcript().count("Read-only file system") == 4
    assert result.exit == 0, "of a folder that is fresh it sees what lies there, and writes to nobody's"
    assert not (sandboxed.path / "new").exists()
    assert tree(sandboxed.user) == before


def test_fresh_folders_are_empty_and_gone(sandboxed: SandboxedFolder) -> None:
    marker = f"/var/tmp/execplan-test-{os.getpid()}"
    with open(marker, "w", encoding="utf-8"):
        pass
    try:
        output = sandboxed.run_shell(
            "ls /var/tmp; ls /run; touch /tmp/x /run/x /var/tmp/x /dev/shm/x && echo ok; echo $TMPDIR"
        ).stdout
    finally:
        os.unlink(marker)
    assert output == b"execplan\nok\n/tmp\n"
    assert not os.path.exists("/run/x")
    assert sandboxed.run_shell("ls /run; ls -A /var/tmp /dev/shm").stdout.split() == [
        b"execplan",
        b"/dev/shm:",
        b"/var/tmp:",
    ]


def test_a_fresh_folder_is_in_memory_and_limited(sandboxed: SandboxedFolder) -> None:
    result = sandboxed.run_shell("head -c 30000000 /dev/zero > /tmp/x", memory_mb=20)
    assert result.exit != 0
    assert "No space left" in sandboxed.transcript()


def test_caches_can_be_written(sandboxed: SandboxedFolder) -> None:
    assert sandboxed.run_shell("mkdir -p $XDG_CACHE_HOME/x $npm_config_cache/y").exit == 0
    assert sandboxed.run("env", env={"XDG_CACHE_HOME": "/own"}).stdout.count(b"XDG_CACHE_HOME=/own\n") == 1


def test_git_is_not_touched(sandboxed: SandboxedFolder) -> None:
    before = tree(sandboxed.folder / ".git")
    sandboxed.run_shell(
        "echo x > .git/hooks/pre-commit; echo x >> .git/config; git config a.b c; rm -rf .git; mv .git other; ls -A"
    )
    assert tree(sandboxed.folder / ".git") == before
    assert not (sandboxed.folder / "other").exists()
    assert sandboxed.run_shell("git status --short").exit == 0


def test_what_git_runs_by_itself_is_not_touched(sandboxed: SandboxedFolder) -> None:
    sandboxed.git("config", "core.hooksPath", "tools/hooks")
    sandboxed.git("config", "include.path", "../settings")
    sandboxed.git("config", "filter.tidy.clean", "sh ./tidy.sh --quick")
    for name in ("tools/hooks/pre-commit", "settings", "tidy.sh"):
        path = sandboxed.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    sandboxed.find()
    sandboxed.run_shell(
        "echo x | tee tools/hooks/pre-commit tools/hooks/new settings tidy.sh; mv tools gone; rm -rf tools; touch ok"
    )
    assert sorted(tree(sandboxed.folder / "tools")) == ["hooks/pre-commit"]
    assert [(sandboxed.folder / name).read_text() for name in ("tools/hooks/pre-commit", "settings", "tidy.sh")] == [
        ""
    ] * 3
    assert (sandboxed.folder / "ok").exists()


def test_the_git_folder_of_a_submodule_is_not_touched(sandboxed: SandboxedFolder) -> None:
    (sandboxed.folder / ".gitmodules").write_text('[submodule "sub"]\n\tpath = lib/sub\n\turl = ../sub\n')
    (sandboxed.folder / "lib/sub").mkdir(parents=True)
    (sandboxed.folder / "lib/sub/.git").write_text("gitdir: ../../.git/modules/sub\n")
    sandboxed.find()
    sandboxed.run_shell("echo gitdir: ../../fake > lib/sub/.git; rm -f lib/sub/.git; mv lib other; touch lib/sub/ok")
    assert sorted(tree(sandboxed.folder / "lib")) == ["sub/.git", "sub/ok"]
    assert (sandboxed.folder / "lib/sub/.git").read_text() == "gitdir: ../../.git/modules/sub\n"


def test_the_git_folders_of_a_worktree_are_not_touched(sandboxed: SandboxedFolder) -> None:
    sandboxed.git("add", "file")
    sandboxed.git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "First")
    sandboxed.git("worktree", "add", "-q", "../tree")
    sandboxed.folder = sandboxed.path / "tree"
    sandboxed.find()
    before = tree(sandboxed.path / "work/.git")
    sandboxed.run_shell(
        "echo x > .git; rm .git; cd .. && cd work/.git && echo x > config; echo x > worktrees/tree/HEAD"
    )
    assert sandboxed.transcript().count("Read-only file system") >= 3
    assert tree(sandboxed.path / "work/.git") == before
    assert sandboxed.run_shell("git log --oneline").stdout.endswith(b"First\n")


def test_the_evidence_is_not_touched(sandboxed: SandboxedFolder) -> None:
    before = tree(sandboxed.folder / ".agent")
    for name in EVIDENCE:
        sandboxed.run_shell(f"echo x >> {name}; rm -f {name}; mv {name} moved; cp file {os.path.dirname(name)}/new")
    sandboxed.run_shell(
        f"mv .agent a; mv .agent/execplans b; mv .agent/execplans/artifacts c; mv {PLAN_ARTIFACTS} d; rm -rf .agent"
    )
    after = tree(sandboxed.folder / ".agent")
    assert {name: after.get(name) for name in before} == before
    assert not [name for name in after if "/approvals/new" in name or ("/runs/" in name and name not in before)]


def test_what_else_is_in_the_home_can_be_written(sandboxed: SandboxedFolder) -> None:
    assert (
        sandboxed.run_shell(
            f"echo x > .agent/execplans/plan.md && echo x > {PLAN_ARTIFACTS}/shot.png && rm {PLAN_ARTIFACTS}/shot.png"
        ).exit
        == 0
    )


def test_the_key_and_the_register_can_not_be_read(sandboxed: SandboxedFolder) -> None:
    result = sandboxed.run_shell(
        f"cat '{sandboxed.key}'; cat '{sandboxed.used}'; ls -A '{sandboxed.key.parent}' '{sandboxed.used.parent}'; cat '{sandboxed.user}/notes'"
    )
    assert sandboxed.transcript().count("No such file") == 2
    assert result.stdout.decode() == f"{sandboxed.key.parent}:\n\n{sandboxed.used.parent}:\nwords\n"
    sandboxed.run_shell(f"echo forged > '{sandboxed.key}'")
    assert sandboxed.key.read_text() == "words\n"


def test_the_key_is_hidden_behind_a_link_too(sandboxed: SandboxedFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    (sandboxed.path / "link").symlink_to(sandboxed.user)
    monkeypatch.setenv("HOME", str(sandboxed.path / "link"))
    monkeypatch.setenv("VIRTUAL_ENV", str(sandboxed.path / "link/.local"))
    assert sandboxed.run_shell("cat ~/notes; cat ~/.config/execplan/key").stdout == b"words\n"


def test_it_sees_no_other_processes(sandboxed: SandboxedFolder) -> None:
    pids = sandboxed.run_shell("ls /proc | grep -c '^[0-9]'; kill -0 " + str(os.getpid())).stdout.split()
    assert int(pids[0]) < 8
    assert "No such process" in sandboxed.transcript()


def test_it_has_no_rights(sandboxed: SandboxedFolder) -> None:
    fields = sandboxed.run_shell(
        "grep -hE 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; mount -t tmpfs x /mnt || echo no"
    ).stdout.split()
    assert fields == [b"CapEff:", b"0" * 16, b"CapBnd:", b"0" * 16, b"NoNewPrivs:", b"1", b"no"]


def test_it_can_not_set_the_kernel(sandboxed: SandboxedFolder) -> None:
    for name in ("kernel/core_pattern", "kernel/modprobe", "vm/drop_caches"):
        result = sandboxed.run_shell(f"cd /proc/sys && test -e {name} && cat {name} > /tmp/x; : >> {name} && echo open")
        assert result.stdout == b"", name


def test_it_can_not_reach_into_the_process_that_reports_on_it(sandboxed: SandboxedFolder) -> None:
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
    result = sandboxed.run(sys.executable, "-I", "-c", code)
    assert (result.exit, result.stdout) == (0, b"")
    assert (
        sandboxed.run_shell("cat /proc/self/oom_score_adj; ls /proc/self/fd > /tmp/x && echo own").stdout
        == b"500\nown\n"
    )


@pytest.mark.parametrize("network", [False, True])
def test_a_network_only_where_it_was_asked_for(sandboxed: SandboxedFolder, network: bool) -> None:
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
        result = sandboxed.run(sys.executable, "-I", "-c", CONNECT, port, network=network)
        thread.join()
    assert (result.stdout == b"heard\n") is network


def test_a_socket_of_the_machine_itself_can_not_be_reached(sandboxed: SandboxedFolder) -> None:
    code = "import socket; s = socket.socket(socket.AF_UNIX); s.connect(chr(0) + 'execplan-test'); print('heard')"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0execplan-test")
        server.listen()
        assert sandboxed.run(sys.executable, "-I", "-c", code).exit == 1
        assert sandboxed.run(sys.executable, "-I", "-c", code, network=True).stdout == b"heard\n", (
            "docs: with a network it can"
        )


def test_time_ends_all_of_it(sandboxed: SandboxedFolder) -> None:
    result = sandboxed.run_shell(f"{DAEMON} sleep 91", seconds=4)
    assert (result.signal, result.cause) == (15, "timeout")
    assert sleepers("91") == []


def test_a_word_stops_it(sandboxed: SandboxedFolder) -> None:
    sandboxed.stop.set("SIGTERM")
    assert sandboxed.run_shell("sleep 92").cause == "interrupted"
    assert sleepers("92") == []


def test_with_execplan_all_of_it_dies(sandboxed: SandboxedFolder) -> None:
    pid = engine(sandboxed, f"trap '' TERM; {DAEMON} sleep 93")
    until(lambda: len(sleepers("93")) > 0)
    pids = sleepers("93") + sleepers("99")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    until(lambda: not any(map(is_alive, pids)))
    assert sandboxed.marked() == "begun"


def test_with_its_supervisor_all_of_it_dies(sandboxed: SandboxedFolder) -> None:
    pid = engine(sandboxed, f"{DAEMON} sleep 94")
    until(lambda: len(sleepers("94")) > 0)
    pids = sleepers("94") + sleepers("99")
    (supervisor,) = [int(child) for child in children(pid)]
    os.kill(supervisor, signal.SIGKILL)
    os.waitpid(pid, 0)
    until(lambda: not any(map(is_alive, pids)))


def children(pid: int) -> list[str]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return file.read().split()


def sleepers(seconds: str) -> list[int]:
    """The processes that sleep so long."""
    pids = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if file.read() == b"sleep\0%s\0" % seconds.encode():
                    pids.append(int(name))
        except OSError:
            continue
    return pids


def test_without_git_the_state_is_not_touched(tmp_path: Path, sandboxed: SandboxedFolder) -> None:
    sandboxed.folder = tmp_path / "plain"
    state = sandboxed.folder / ".agent/.state/file"
    state.parent.mkdir(parents=True)
    state.write_text("state\n")
    (sandboxed.folder / ".agent/execplans").mkdir()
    sandboxed.find()
    assert sandboxed.run_shell("touch ok; echo x > .agent/.state/file; mv .agent/.state x").exit != 0
    assert state.read_text() == "state\n"
    assert (sandboxed.folder / "ok").exists()


def test_off_is_off(command_folder: CommandFolder) -> None:
    assert find_sandbox(project_discovery.find(str(command_folder.folder)), Policy(sandbox="off")) == (
        None,
        "the settings disable it",
    )


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("", "bwrap is not installed"),
        ("#!/bin/sh\necho no namespaces here >&2\nexit 1\n", "bwrap does not work here: no namespaces here"),
    ],
)
def test_one_that_is_missing_or_does_not_work(
    command_folder: CommandFolder, monkeypatch: pytest.MonkeyPatch, program: str, why: str
) -> None:
    folder = command_folder.path / "bin"
    folder.mkdir()
    if program:
        (folder / "bwrap").write_text(program)
        (folder / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    project = project_discovery.find(str(command_folder.folder))
    assert find_sandbox(project, Policy()) == (None, why)
    with pytest.raises(ExecplanError) as raised:
        find_sandbox(project, Policy(sandbox="required"))
    assert (raised.value.code, raised.value.exit) == ("sandbox-missing", 6)
    assert why in raised.value.message


def test_one_that_the_repository_brings_along_is_none(
    command_folder: CommandFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    Folder(command_folder.folder).git("init", "-q")
    (command_folder.folder / "bwrap").write_text("#!/bin/sh\nexit 0\n")
    (command_folder.folder / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(command_folder.folder), prepend=os.pathsep)
    sandbox, why = find_sandbox(project_discovery.find(str(command_folder.folder)), Policy())
    assert (sandbox, why) == (None, f"{command_folder.folder}/bwrap is in the repository itself")


def test_it_is_tried_once(sandboxed: SandboxedFolder) -> None:
    before = command_sandbox._test_bwrap.cache_info().hits
    sandboxed.find()
    assert command_sandbox._test_bwrap.cache_info().hits == before + 1


def test_an_older_one_is_good_enough(sandboxed: SandboxedFolder) -> None:
    assert sandboxed.sandbox is not None
    sandboxed.sandbox = sandboxed.sandbox._replace(can_limit_size=False)
    assert sandboxed.run_shell("touch /tmp/x").exit == 0
