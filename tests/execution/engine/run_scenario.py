"""A repository whose plan has steps of every type and is approved, set up once and put back as often as wanted."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from execplan.execution.engine.steps.tree_snapshots import MACHINE_START
from tests.conftest import Folder, Result
from tests.crash.crash_scenario import Tree
from tests.crash.crash_scenario import tree as read_files

if TYPE_CHECKING:
    from typing import Any

NAME = "2026-01-01_parser"
HOME = ".agent/execplans"
ARTIFACTS = f"{HOME}/artifacts/{NAME}"
COUNTS = ".counts"
"""Where commands say that they ran: git ignores it, so that no rollback takes it back."""

PLAN = """\
# Build the parser

This ExecPlan is a living document.

## Progress

- [ ] Write the module.
- [ ] Count.
- [ ] See it work.

## Concrete Steps

```python {#make type=create_file target=src/new/deep/module.py task="Write the module"}
X = 1
```

```diff {#wire type=modify_file target=src/other.py needs=make}
--- a/src/other.py
+++ b/src/other.py
@@ -1 +1 @@
-y = 1
+y = 2
```

```text {#drop type=delete_file target=src/old.py}
Nobody calls it.
```

```diff {#rename type=refactor_code}
--- a/src/parser.py
+++ b/src/parser.py
@@ -1,2 +1,2 @@
-def parse(text):
+def read(text):
     return text.split()
--- a/src/main.py
+++ b/src/main.py
@@ -1,2 +1,2 @@
-from parser import parse
-print(parse("a b"))
+from parser import read
+print(read("a b"))
```

```sh {#fetch type=install_package target=env outputs=env}
cp -R package env
```

```sh {#once outputs=made/once.txt task="Count"}
sh count.sh once
```

```sh {#again effect=idempotent outputs=made/again.txt}
sh count.sh again
```

```sh {#left parallel outputs=made/left.txt}
sh count.sh left
```

```sh {#right parallel outputs=made/right.txt}
sh count.sh right
```

```sh {#links outputs="latest tool.sh made/deep"}
sh links.sh
```

```sh {#flaky on-failure=skip}
sh fail.sh
```

```sh {#weak on-failure=alternative:strong}
sh fail.sh
```

```sh {#strong outputs=made/strong.txt}
sh count.sh strong
```

```sh {#see needs=rename cwd=src expect="['a', 'b']" task="See it work"}
python3 main.py
```
"""
FILES = {
    ".gitignore": f"{COUNTS}/\n__pycache__/\nenv/\n",
    # What is counted is done: who finds no count may say that it is to run again.
    "count.sh": f'echo "$1" >"made/$1.txt"\necho "$1" >>"{COUNTS}/$1"\n',
    "fail.sh": "echo half >made/half.txt\necho spoiled >src/other.py\nrm -f package/NAME\nexit 3\n",
    "links.sh": "ln -sfn made latest\nchmod 755 tool.sh\nmkdir -p made/deep/er\necho x >made/deep/er/x\nln -sfn x made/deep/er/y\n",
    "made/keep.txt": "kept\n",
    "package/NAME": "name\n",
    "src/main.py": 'from parser import parse\nprint(parse("a b"))\n',
    "src/old.py": "x = 1\n",
    "src/other.py": "y = 1\n",
    "src/parser.py": "def parse(text):\n    return text.split()\n",
    "tool.sh": "echo tool\n",
}
ONCE = ("once", "left", "right", "strong")
"""Commands that may run once, and count how often they did."""
_RUN = re.compile(rb"\b[0-9]{4}-[0-9a-f]{8}\b")


class RunScenario:
    """A folder with a repository in it, and what lies beside it: the key, and which approvals were used."""

    def __init__(self, folder: Path, plan: str = PLAN, files: dict[str, str] = FILES, settings: str = "") -> None:
        self.folder = folder.resolve()
        self.world = self.folder / "world"
        self.repo = Folder(self.world / "repo")
        self.repo.path.mkdir(parents=True)
        self.repo.git("init", "-q", "-b", "main", "--template=")
        for name, content in files.items():
            self.repo.write(name, content).chmod(0o644)
        (self.repo.path / "src/parser.py").chmod(0o755)
        (self.repo.path / COUNTS).mkdir()
        self.world.joinpath(".config/execplan").mkdir(parents=True)
        self.world.joinpath(".config/execplan/config.toml").write_text(settings)
        self.repo.plan(plan)
        self.repo.git("add", "-A")
        self.repo.git("commit", "-q", "-m", "All")
        self.approve()
        self.save("approved")

    def approve(self) -> None:
        """Approve what would run now."""
        self.repo.ok("approve", "--digest", self.repo.ok("evaluate")["digest"])

    def save(self, name: str) -> None:
        """Remember how all of it is now."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(self.world, self.folder / name, symlinks=True)

    def restore(self, name: str) -> None:
        """Let all of it be as it was."""
        shutil.rmtree(self.world)
        shutil.copytree(self.folder / name, self.world, symlinks=True)

    def run(self, *arguments: str, kill: str = "") -> Result:
        """Run execplan; with `kill` until it dies at an entry."""
        return self.repo.run(*arguments, EXECPLAN_KILL=kill) if kill else self.repo.run(*arguments)

    def tree(self) -> Tree:
        """Every file of the repository that a run may change, but what the run says of itself; ids of runs are one."""
        return {
            path: (mode, _RUN.sub(b"RUN", data))
            for path, (mode, data) in read_files(self.repo.path).items()
            if not path.startswith((f"{ARTIFACTS}/", f"{COUNTS}/")) and "__pycache__/" not in path
        }

    def folders(self) -> set[str]:
        """Every folder of the repository, but git's and those in which runs are kept."""
        all_folders = {os.path.relpath(folder, self.repo.path) for folder, _, _ in os.walk(self.repo.path)}
        own_folders = {
            folder for folder in all_folders if not f"{folder}/".startswith((".git/", f"{ARTIFACTS}/", f"{COUNTS}/"))
        }
        return {folder for folder in own_folders if not folder.endswith("__pycache__")}

    def run_count(self, name: str) -> int:
        """How often a command has run."""
        path = self.repo.path / COUNTS / name
        return len(path.read_text().splitlines()) if path.exists() else 0

    def entries(self) -> list[dict[str, Any]]:
        """The journal of the last run."""
        return [json.loads(line) for line in (self.last_run_folder / "journal.jsonl").read_bytes().splitlines()]

    def record(self) -> dict[str, Any]:
        """The record of the last run."""
        record: dict[str, Any] = json.loads((self.last_run_folder / "record.json").read_bytes())
        return record

    def lose_unsynced(self) -> None:
        """Lose what a stopped machine may lose within a session, such as all records after the anchor."""
        for folder in (self.artifacts / "runs").iterdir():
            for path in folder.glob("*.json*"):
                path.write_bytes(b"")
        (log_copy,) = self.repo.path.glob(".git/execplan/plans/*/ledger.jsonl")
        log_copy.write_bytes(b"")
        anchor = json.loads(self.repo.git("cat-file", "blob", f"refs/execplan/ledger/{NAME}"))
        log = self.artifacts / "ledger.jsonl"
        data = log.read_bytes()
        log.write_bytes(data[: data.index(b"\n", data.index(f'"hash":"{anchor["hash"]}"'.encode())) + 1])
        state = self.repo.path / ".git/execplan/runs"
        for mark in [*state.glob("*/*.begun"), *state.glob("*/*.ended"), *state.glob(f"*/{MACHINE_START}")]:
            mark.unlink()

    @property
    def artifacts(self) -> Path:
        """The folder of the plan's artifacts."""
        return self.repo.path / ARTIFACTS

    @property
    def last_run_folder(self) -> Path:
        """The folder of the last run."""
        return max((self.artifacts / "runs").iterdir())


def survivors(folder: Path, patience: float = 5.0) -> list[str]:
    """What still works in a folder after some patience: programs that outlived a kill."""
    until = time.monotonic() + patience
    while True:
        alive = [f"{pid}: {command_line}" for pid, command_line in processes(folder)]
        if not alive or time.monotonic() > until:
            return alive
        time.sleep(0.01)


def processes(folder: Path) -> list[tuple[int, str]]:
    """Every process that works in a folder, or has a path below it among its words; none where there is no /proc."""
    matches = []
    for pid_name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not pid_name.isdigit() or int(pid_name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            command_line = (
                Path(f"/proc/{pid_name}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            )
            if Path(os.readlink(f"/proc/{pid_name}/cwd")).is_relative_to(folder) or str(folder) in command_line:
                matches.append((int(pid_name), command_line))
    return matches


def wait_for(path: Path, patience: float = 20.0) -> None:
    """Wait until a file is there."""
    until = time.monotonic() + patience
    while not path.exists():
        assert time.monotonic() < until, f"{path} does not come"
        time.sleep(0.01)


class SignalledResult(NamedTuple):
    """How a command that was signalled at work has ended."""

    exit: int
    out: str
    err: str


def run_and_signal(scenario: RunScenario, mark: str, number: signal.Signals, *arguments: str) -> SignalledResult:
    """Start execplan, wait for a file that a step makes, and send a signal to execplan alone."""
    process = scenario.repo.start(*arguments)
    try:
        wait_for(scenario.repo.path / mark)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    return SignalledResult(process.returncode, out.decode(), err.decode())
