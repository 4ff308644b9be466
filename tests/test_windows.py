"""The command line in Windows' own Python: on Windows, and elsewhere in Wine (`make test-windows`)."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.needs import client, need
from tests.plans import CLEAN

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).resolve().parent.parent
IS_WINDOWS = sys.platform == "win32"
_HOLD = """
from execplan.core.files.file_lock import FileLock, is_held, read_holder, set_timeout
from execplan.core.errors import ExecplanError
import os, subprocess, sys
if len(sys.argv) > 1:
    set_timeout(1)
    try:
        with FileLock("a.lock", "the second"):
            print("locked")
    except ExecplanError as error:
        print(error.code, "held" if is_held("a.lock") else "free")
else:
    again = [sys.executable, __file__, "again"]
    with FileLock("a.lock", "the first"):
        print(subprocess.check_output(again, text=True).strip())
    print(read_holder("a.lock").partition(",")[0])
    print(subprocess.check_output(again, text=True).strip())
"""
_IMPORT = """
import importlib, pathlib
ROOT = pathlib.Path(sys.argv[1])
for path in sorted(ROOT.joinpath("execplan", "core").rglob("*.py")):
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    try:
        importlib.import_module(name)
    except Exception as error:
        print(f"{name}: {error}")
"""
_READER = """
import pathlib, subprocess, time
plan = next(pathlib.Path(".agent/execplans").glob("*.md"))
with plan.open("rb"):  # nobody can replace the file now
    process = subprocess.Popen([sys.executable, "-P", "-m", "execplan", "done", "2"])
    time.sleep(3)
    print("waits" if process.poll() is None else "gave up")
print(process.wait())
"""
_BOARD = """
from execplan.core.files.windows_process import prepare_process
prepare_process()
import asyncio, os
from execplan.cli.board_app.board_app import BoardApp
from execplan.cli.board_app.board_source import BoardSource
from execplan.core.project import project_discovery
from execplan.views.board.board_changes import take_snapshot
project = project_discovery.require(os.getcwd())
source = BoardSource(project, None)
app = BoardApp(source, source.load(everything=False)[0], take_snapshot(project), everything=False)
async def look():
    async with app.run_test() as pilot:
        await pilot.pause()
        print(len(app.screen.query("*")) > 5, app.failure)
asyncio.run(look())
"""


class Machine(NamedTuple):
    """Where Windows' Python runs."""

    python: list[str]
    environment: dict[str, str]

    def start(self, folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start Python, with UTF-8 on its pipes."""
        pipe = subprocess.PIPE
        environment = {**self.environment, **environment}
        return subprocess.Popen(
            [*self.python, *arguments],
            cwd=folder,
            env=environment,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            encoding="utf-8",
        )

    def run(self, folder: Path, *arguments: str, text: str = "", **environment: str) -> tuple[int, str, str]:
        """Run Python, and return its exit status, what it prints and its errors."""
        with self.start(folder, *arguments, **environment) as process:
            out, errors = process.communicate(text, timeout=240)
        return process.returncode, out, errors

    def execplan(self, folder: Path, *arguments: str, exit: int = 0, text: str = "", **environment: str) -> str:
        """Run a command that must end with an exit status; return all that it prints."""
        status, out, errors = self.run(folder, "-P", "-m", "execplan", *arguments, text=text, **environment)
        assert status == exit, (arguments, status, out, errors)
        return out + errors

    def script(self, folder: Path, code: str, *arguments: str) -> str:
        """Run code, and return what it prints."""
        script = folder / "script.py"
        script.write_text(f"import sys\n{code}", encoding="utf-8")
        status, out, errors = self.run(folder, windows_path(script), *arguments)
        assert status == 0, errors
        return out


def windows_path(path: Path) -> str:
    """Return a path as Windows writes it; Wine has the directories of this machine on drive Z."""
    return str(path) if IS_WINDOWS else f"Z:{path}".replace("/", "\\")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Python on Windows, or in Wine, whose files take ten seconds to create."""
    settings = {
        "PYTHONPATH": windows_path(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "EXECPLAN_AUTHOR": "Ann",
        "GIT_AUTHOR_NAME": "Ann",
        "GIT_AUTHOR_EMAIL": "ann@example.org",
        "GIT_COMMITTER_NAME": "Ann",
        "GIT_COMMITTER_EMAIL": "ann@example.org",
    }
    if IS_WINDOWS:
        yield Machine([sys.executable], {**os.environ, **settings})
        return
    need("wine", "python for windows")
    environment = {
        **os.environ,
        **settings,
        "WINEPREFIX": str(tmp_path_factory.mktemp("wine")),
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree=;mshtml=;wbemprox=;winedbg.exe=",
        "WINEPATH": windows_path(Path(client("git for windows")).parent),
    }
    null = subprocess.DEVNULL
    for command in (
        ["wineserver", "-p"],
        ["wine", "wineboot"],
    ):  # a server that stays makes all else five times as fast
        subprocess.run(command, env=environment, stdin=null, stdout=null, stderr=null, timeout=240, check=False)
    yield Machine(["wine", client("python for windows")], environment)
    subprocess.run(["wineserver", "-k"], env=environment, timeout=60, check=False)


def start_repository(machine: Machine, folder: Path) -> None:
    """Create a git repository with Windows' git, or skip the test where that is missing."""
    if not IS_WINDOWS:
        need("git for windows")
    code = "import subprocess\nsubprocess.run(['git', *sys.argv[1:]], check=True)\n"
    for arguments in (("init", "-q", "-b", "main"), ("config", "core.autocrlf", "true")):
        machine.script(folder, code, *arguments)
    (folder / "script.py").unlink()


def test_the_core_can_be_imported(machine: Machine, tmp_path: Path) -> None:
    assert machine.script(tmp_path, _IMPORT, windows_path(ROOT)) == ""


def test_a_lock_excludes_other_processes(machine: Machine, tmp_path: Path) -> None:
    lines = machine.script(tmp_path, _HOLD).splitlines()
    assert lines[0] == "busy held"
    assert lines[1].startswith("the first")
    assert lines[2] == "locked"


_WALK = """
init -> created  .agent/execplans
new 'Read files' --task 'Read lines' --task 'Write → files' -> execplans/
status -> 0/2
next -> 1. Read lines
done 1 -> done: 1. Read lines
add 'Third' -> added: 3. Third
split 2 --done 'Write' --remaining 'files' -> files
reword files 'Write → all files' -> all files
reopen 1 -> reopened: 1
undo -> undone: reopen
redo -> redone: reopen
undo --list -> reopen
decide 'Use ü → only' --why 'It works' -> decided: Use ü → only
discover 'It is slow' --evidence '9 s' -> It is slow
outcome 'Read' -> noted: Read
note 'See there' -> noted: See there
revise 'Now shorter' -> Now shorter
set Purpose 'Files can be read → everywhere.' -> set: Purpose
set Context - -> set: Context
edit -> edited
attach evidence.txt --as 'What was seen' -> evidence.txt
lint -> EP109
lint {plan} -> EP109
lint --fix -> EP109
lint --json -> "kind": "lint"
list -> Read files
list --json -> "kind": "list"
show -> Read files
show -p {plan} --section 'Decision Log' -> Use ü → only
search 'everywhere' -> everywhere
board -> 1. Read lines
graph -> 1 plan
overlaps -> no overlaps
index -> Read files
comment 'Why?' -> commented
review -> Ann
use read-files -> sticky plan
prime -> Read files
context -> Context for Read files
summarize -> Read files
checkpoint -> checkpoint.md
handoff -> third
triage 'fix a typo' -> none
stats -> no records
runs -> no runs
audit -> no records
doctor -> no problems
explain not-on-windows -> Windows
install agents session-hooks stop-gate capture skill -> AGENTS.md
uninstall agents session-hooks stop-gate capture skill -> AGENTS.md
site --out out -> out
rename read-files 'Read all files' -> read-all-files
archive --force --reason 'Not now' -> moved
restore read-all -> moved
"""
"""Commands and a part of what each prints. `{plan}` is the path of the plan."""
_WITHOUT_GIT = 30
"""How many of these commands are also tried without git."""
_WALK_IN_REPOSITORY = """
commit read-all -> committed
log -> Read all files
diff -> no changes
done third --commit -> committed
install git-hooks merge-driver pre-commit -> .git/hooks/pre-commit
lint --staged -> no
changes --since HEAD~1 -> read-all-files
worktree list -> no
"""


def take_walk(machine: Machine, folder: Path, walk: str) -> None:
    """Run commands one after another."""
    (folder / "evidence.txt").write_bytes(b"seen\r\n")
    editor = folder / "editor.py"
    code = "import sys\nfile = open(sys.argv[-1], 'r+b')\ndata = file.read()\nfile.seek(0)\n"
    editor.write_text(f"{code}file.write(data.replace(b'Third', b'third') + b'\\n')\n", encoding="utf-8")
    python = sys.executable if IS_WINDOWS else windows_path(Path(client("python for windows")))
    for line in walk.strip().splitlines():
        command, _, expected = line.partition(" -> ")
        plan = next(folder.glob(".agent/execplans/*.md"), folder)
        arguments = [argument.replace("{plan}", windows_path(plan)) for argument in shlex.split(command)]
        out = machine.execplan(folder, *arguments, text="What ü\r\nis.\r\n", EDITOR=f"{python} {windows_path(editor)}")
        assert expected in out, (command, out)


def test_commands_in_a_directory_without_git(machine: Machine, tmp_path: Path) -> None:
    take_walk(machine, tmp_path, "\n".join(_WALK.strip().splitlines()[:_WITHOUT_GIT]))


def test_commands_in_a_repository(machine: Machine, tmp_path: Path) -> None:
    start_repository(machine, tmp_path)
    take_walk(machine, tmp_path, _WALK + _WALK_IN_REPOSITORY)


def start_plan(machine: Machine, folder: Path) -> Path:
    """Set up a project with a plan, and return the plan's file."""
    machine.execplan(folder, "init")
    path = folder / ".agent/execplans/parser.md"
    path.write_text(CLEAN, encoding="utf-8", newline="\r\n")
    return path


def test_processes_that_edit_one_plan_at_once_lose_nothing(machine: Machine, tmp_path: Path) -> None:
    plan = start_plan(machine, tmp_path)
    names = [f"Task {number} → x" for number in range(6)]
    processes = [machine.start(tmp_path, "-P", "-m", "execplan", "add", name) for name in names]
    for process in processes:
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors
    data = plan.read_bytes()
    assert all([f"] {name}".encode() in data for name in names])
    assert data.count(b"\n") == data.count(b"\r\n")
    assert not list(plan.parent.glob(".execplan-*"))


def test_an_edit_waits_for_a_reader(machine: Machine, tmp_path: Path) -> None:
    start_plan(machine, tmp_path)
    lines = machine.script(tmp_path, _READER).splitlines()
    assert (lines[0], lines[1], lines[-1]) == ("waits", "done: 2. Build the parser.", "0")


def test_output_in_an_older_encoding(machine: Machine, tmp_path: Path) -> None:
    machine.execplan(tmp_path, "init")
    machine.execplan(tmp_path, "new", "Write → x", "--task", "Begin → now")
    for encoding in ("cp437", "cp1252"):
        out = machine.execplan(tmp_path, "list", "--json", PYTHONIOENCODING=encoding)
        assert json.loads(out)["data"]["plans"][0]["title"] == "Write → x"


def test_merges(machine: Machine, tmp_path: Path) -> None:
    versions = {
        "base": CLEAN,
        "ours": CLEAN.replace("- [ ] Build", "- [x] Build"),
        "theirs": CLEAN.replace("tests.", "tests → x."),
    }
    for name, text in versions.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8", newline="\r\n")
    names = [f"{name}.md" for name in versions]
    machine.execplan(tmp_path, "merge", *names, "-o", "merged.md")
    driver = ["merge", "--driver", *names, "7", ".agent/execplans/a.md", "base", "ours", "theirs"]
    assert "merged" in machine.execplan(tmp_path, *driver)
    expected = versions["ours"].replace("tests.", "tests → x.").replace("\n", "\r\n").encode()
    assert (tmp_path / "merged.md").read_bytes() == expected
    assert (tmp_path / "ours.md").read_bytes() == expected


@pytest.mark.parametrize(
    "command",
    [
        "evaluate",
        "approve",
        "run",
        "resume",
        "rollback",
        "export",
        "job x",
        "replan",
        "report",
        "done 2 --verify",
        "install guard",
    ],
)
def test_what_needs_a_sandbox_says_so(machine: Machine, tmp_path: Path, command: str) -> None:
    name = command if command.startswith(("done", "install")) else command.split(maxsplit=1)[0]
    message = f"Windows has no sandbox and no process groups, so `execplan {name.removesuffix(' 2 --verify')}"
    assert message in machine.execplan(tmp_path, *command.split(), exit=6).replace("done --verify", "done")


def test_the_guard_denies_each_call(machine: Machine, tmp_path: Path) -> None:
    out = machine.execplan(tmp_path, "guard", "--program", "claude", exit=2, text="{}")
    assert "Windows has no sandbox" in out


def test_the_board_on_a_terminal(machine: Machine, tmp_path: Path) -> None:
    start_plan(machine, tmp_path)
    assert machine.script(tmp_path, _BOARD) == "True None\n"


def test_the_web_server(machine: Machine, tmp_path: Path) -> None:
    start_plan(machine, tmp_path)
    with machine.start(tmp_path, "-P", "-m", "execplan", "serve", "--port", "0") as process:
        assert process.stdout is not None
        url = next(word for word in process.stdout.readline().split() if word.startswith("http"))
        with urllib.request.urlopen(url, timeout=60) as response:
            page = response.read().decode()
        process.kill()
    assert "Build the parser" in page


def test_the_mcp_server(machine: Machine, tmp_path: Path) -> None:
    start_plan(machine, tmp_path)
    if machine.run(tmp_path, "-c", "import pydantic_core")[0]:
        pytest.skip("this version of Wine lacks a library that pydantic needs")
    client_info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = (
        {"id": 1, "method": "initialize", "params": client_info},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "status", "arguments": {}}},
    )
    with machine.start(tmp_path, "-P", "-m", "execplan", "mcp") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.kill()
    assert "parser" in json.dumps(answers[1]["result"])
