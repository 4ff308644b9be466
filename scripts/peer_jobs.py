"""The twelve jobs of compare_peers.py, each done with one tool in a repository of its own; the results are cells of a table."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from peers import TASKS, Peer

CANNOT = "can't"
_TIMEOUT = 300
_LONG = 20_000
"""Milliseconds after which a command is not repeated."""


class Result(NamedTuple):
    """What a command did."""

    exit: int
    output: str
    milliseconds: float


class Jobs:
    """A tool at work; `home` is a home directory for it, `count` how many items a large repository has."""

    def __init__(self, peer: Peer, scratch: Path, count: int, runs: int) -> None:
        self.peer = peer
        self.scratch = scratch
        self.count = count
        self.runs = runs
        self.repo = scratch
        self.environment = {
            "PATH": os.pathsep.join([str(Path(peer.path).parent), os.environ["PATH"]]),
            "HOME": str(scratch / "home"),
            "GIT_CONFIG_GLOBAL": str(scratch / "home" / "gitconfig"),
            "EXECPLAN_AUTHOR": "Ann",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "CI": "1",
            "NO_COLOR": "1",
            "DO_NOT_TRACK": "1",
            "OPENSPEC_TELEMETRY": "0",
        }
        self._number = 0

    def all(self) -> dict[str, str]:
        """Do all twelve jobs and return their results."""
        self.use_repository(10)
        small = {
            "new item": self.create(),
            "complete a task": self.complete(),
            f"{TASKS} edits at once": self.edit_at_once(),
            "edit killed in the middle": self.edit_and_kill(),
            "edit keeps other lines": self.keep_lines(),
            "undo an edit": self.undo(),
            "merge two branches": self.merge(),
            "check damaged items": self.check_damage(),
            "archive": self.archive(),
        }
        self.use_repository(self.count)
        large = {
            f"list {self.count:,}": self.time("list", "tem"),
            f"search {self.count:,}": self.time("search", f"tem.{self.count // 2}"),
            f"next task among {self.count:,}": self.time("next", "ask.*1|hase 1|tem"),
        }
        return small | large

    def use_repository(self, count: int) -> None:
        """Continue in a new repository with that many items, which are committed."""
        self._number += 1
        self.repo = self.scratch / f"repo-{self._number}"
        self.repo.mkdir(parents=True)
        (self.scratch / "home").mkdir(exist_ok=True)
        configuration = "[user]\n\tname = Ann\n\temail = ann@example.org\n"
        (self.scratch / "home" / "gitconfig").write_text(configuration, encoding="utf-8")
        self.run(["git", "init", "-q", "-b", "main"])
        self.peer.create(self.repo, count, self._prepare)
        self.commit()

    def run(self, command: list[str]) -> Result:
        """Run a command until it ends."""
        start = time.perf_counter()
        process = subprocess.run(
            command,
            cwd=self.repo,
            env=self.environment | self.peer.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
        )
        seconds = time.perf_counter() - start
        return Result(process.returncode, process.stdout + process.stderr, seconds * 1000)

    def _prepare(self, command: list[str]) -> None:
        """Run a command that must succeed."""
        result = self.run(command)
        if result.exit:
            raise SystemExit(f"{' '.join(command)}: {result.output}")

    def commit(self) -> None:
        """Commit everything in the repository."""
        self.run(["git", "add", "-A"])
        self.run(["git", "commit", "-q", "-m", "Work"])

    def text(self) -> str:
        """Return the text of item 1."""
        try:
            return self.peer.file(self.repo).read_bytes().decode("utf-8", "replace")
        except (OSError, ValueError):
            return ""

    def time(self, job: str, pattern: str) -> str:
        """Return the best time of a command whose output has the pattern."""
        if not self.peer.command(job):
            return CANNOT
        results: list[Result] = []
        while len(results) < self.runs and sum([result.milliseconds for result in results]) < _LONG:
            results.append(self.run(self.peer.command(job, len(results) + 1)))
        is_answer = results[-1].exit == 0 and re.search(pattern, results[-1].output)
        return f"{min([result.milliseconds for result in results]):,.0f} ms" if is_answer else "fails"

    def create(self) -> str:
        """Create an item with three tasks, where a command can."""
        return self.time("new", "")

    def complete(self) -> str:
        """Complete five tasks, one after the other."""
        if not self.peer.command("mark"):
            return CANNOT
        results = [self.run(self.peer.command("mark", number)) for number in range(1, self.runs + 1)]
        marked = self.peer.done(self.text()) == set(range(1, self.runs + 1))
        return f"{min([result.milliseconds for result in results]):,.0f} ms" if marked else "fails"

    def edit_at_once(self) -> str:
        """Complete all tasks of an item by as many processes at once, and count what was done and which losses were reported."""
        if not self.peer.command("mark"):
            return CANNOT
        self.use_repository(1)
        processes = [self._start(self.peer.command("mark", number)) for number in range(1, TASKS + 1)]
        exits = {number: process.wait(_TIMEOUT) for number, process in enumerate(processes, 1)}
        done = self.peer.done(self.text())
        if done is None:
            return "file damaged"
        silent = len([number for number, code in exits.items() if code == 0 and number not in done])
        return f"{len(done)} kept" + (f", {silent} lost with exit 0" if silent else "")

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            command,
            cwd=self.repo,
            env=self.environment | self.peer.environment,
            stdin=quiet,
            stdout=quiet,
            stderr=quiet,
            start_new_session=True,
        )

    def edit_and_kill(self) -> str:
        """Kill an edit at a different time in each round; then the file is as before or after it, and the next edit works."""
        if not self.peer.command("mark"):
            return CANNOT
        self.use_repository(1)
        seconds = self.run(self.peer.command("mark", TASKS)).milliseconds / 1000
        intact = 0
        rounds = TASKS - 2
        for number in range(1, rounds + 1):
            before = self.peer.done(self.text())
            process = self._start(self.peer.command("mark", number))
            time.sleep(seconds * (number / rounds))
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            after = self.peer.done(self.text())
            intact += before is not None and after in (before, before | {number})
        works = self.run(self.peer.command("mark", TASKS - 1)).exit == 0
        goes_on = works and (TASKS - 1) in (self.peer.done(self.text()) or ())
        return f"{intact} of {rounds} intact" + ("" if goes_on else ", then edits fail")

    def keep_lines(self) -> str:
        """Complete a task of an item that people have edited by hand, and count the other lines that change."""
        if not self.peer.command("mark"):
            return CANNOT
        self.use_repository(1)
        path = self.peer.file(self.repo)
        path.write_text(self.peer.decorate(self.text()), encoding="utf-8")
        before = self.text()
        self.run(self.peer.command("mark", 5))
        changes = [line for line in difflib.ndiff(before.splitlines(), self.text().splitlines()) if line[0] in "-+"]
        removed = len([line for line in changes if line[0] == "-"]) - 1
        added = len([line for line in changes if line[0] == "+"]) - 1
        if 5 not in (self.peer.done(self.text()) or ()):
            return "fails"
        return "yes" if max(removed, added) <= 0 else f"other lines change: {max(removed, added)}"

    def undo(self) -> str:
        """Undo the completion of a task."""
        if not self.peer.command("undo"):
            return CANNOT
        self.use_repository(1)
        before = self.text()
        self.run(self.peer.command("mark", 1))
        result = self.run(self.peer.command("undo"))
        return f"{result.milliseconds:,.0f} ms" if result.exit == 0 and self.text() == before else "fails"

    def merge(self) -> str:
        """Complete different tasks of an item on two branches and merge them: far from each other, then side by side."""
        merged = [self._merge(3, 15), self._merge(3, 4)]
        return f"{sum(merged)} of 2" + ("" if all(merged) else ", else a conflict")

    def _merge(self, ours: int, theirs: int) -> bool:
        self.use_repository(1)
        self.run(["git", "checkout", "-q", "-b", "other"])
        self._mark(theirs)
        self.commit()
        self.run(["git", "checkout", "-q", "main"])
        self._mark(ours)
        self.commit()
        return self.run(["git", "merge", "-q", "other"]).exit == 0 and self.peer.done(self.text()) == {ours, theirs}

    def _mark(self, number: int) -> None:
        """Complete a task by the tool's command, or as an editor would."""
        if command := self.peer.command("mark", number):
            self.run(command)
        else:
            self.peer.file(self.repo).write_text(self.peer.check_by_hand(self.text(), number), encoding="utf-8")

    def check_damage(self) -> str:
        """Damage an item in four ways, and count how often the check says something else than for intact items."""
        reported = []
        for name in ("emptied", "conflict markers", "cut in the middle", "done with open tasks"):
            self.use_repository(2)
            self._check()  # the first call may print a hint
            healthy = self._check()
            path = self.peer.file(self.repo)
            text = self.text()
            if name == "emptied":
                path.write_text("".join(text.splitlines(keepends=True)[:1]), encoding="utf-8")
            elif name == "conflict markers":
                lines = text.splitlines(keepends=True)
                middle = len(lines) // 2
                both = ["<<<<<<< HEAD\n", lines[middle], "=======\n", lines[middle], ">>>>>>> other\n"]
                path.write_text("".join([*lines[:middle], *both, *lines[middle + 1 :]]), encoding="utf-8")
            elif name == "cut in the middle":
                path.write_text(text[: len(text) // 2], encoding="utf-8")
            else:
                self.peer.claim_done(self.repo)
            if self._check() != healthy:
                reported.append(name)
        return f"{len(reported)} of 4" + (f": {', '.join(reported)}" if 0 < len(reported) < 4 else "")

    def _check(self) -> list[tuple[int, str]]:
        """Return what the tool's checks say, without the numbers."""
        commands = filter(None, [self.peer.command("lint"), self.peer.command("lint again")])
        return [(result.exit, re.sub(r"\d+", "N", result.output)) for result in map(self.run, commands)]

    def archive(self) -> str:
        """Archive an item whose tasks are done, and try it with one whose tasks are not."""
        if not self.peer.command("archive"):
            return CANNOT
        self.use_repository(1)
        if finish := self.peer.command("finish"):
            self.run(finish)
        is_open = self.run(self.peer.command("archive open") or self.peer.command("archive")).exit != 0
        shutil.rmtree(self.repo)
        self.use_repository(1)
        for number in range(1, TASKS + 1):
            self._mark(number)
        if finish:
            self.run(finish)
        result = self.run(self.peer.command("archive"))
        if result.exit:
            return "fails"
        return f"{result.milliseconds:,.0f} ms, " + ("not with open tasks" if is_open else "also with open tasks")
