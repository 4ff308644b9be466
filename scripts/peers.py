"""Other tools that keep plans or tasks in a repository, and execplan: how each is installed and does the jobs of compare_peers.py.

An *item* is what a tool has for a piece of work, and has `TASKS` tasks here. Each tool gets the repository in its own form,
and the way that its own documents recommend.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

ROOT = Path(__file__).resolve().parent.parent
TASKS = 20
"""Tasks of each item."""
RARE = "quixotic"
"""A word of a single item."""
_PURPOSE = "Plans must be read by a program, because people are slow and make errors when they do it by hand."


def purpose(number: int, count: int) -> str:
    """The text of an item; in the middle of all there is one with the rare word."""
    return f"{_PURPOSE} {RARE if number == count // 2 else 'Usual'} item {number}."


class Peer:
    """A tool that is compared with others."""

    name: ClassVar[str]
    package: ClassVar[str]
    """What npm installs."""
    program: ClassVar[str]
    """Path of its program, or the directory of its scripts, in `node_modules`."""
    item: ClassVar[str]
    """What an item is here."""
    commands: ClassVar[dict[str, str]] = {}
    """Command of each job; it can't do the others. `TOOL` is its path, `NUMBER` that of a task of item 1."""
    pattern: ClassVar[str]
    """Where the file of item 1 is."""
    missing: ClassVar[str] = ""
    """Why its package does not install it."""
    box: ClassVar[re.Pattern[str]]
    """A task in the file of an item: its number `n`, and `x` if it is done."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = ""
        self.environment: dict[str, str] = {}

    def install(self) -> str:
        """Install it; return why that was not possible."""
        self.path = str(self.folder / "node_modules" / self.program)
        if Path(self.path).exists():
            return ""
        command = ["npm", "install", "--prefix", str(self.folder), "--no-audit", "--no-fund", self.package]
        process = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        return "" if process.returncode == 0 and Path(self.path).exists() else process.stderr or "no program"

    def version(self) -> str:
        """Return the installed version."""
        manifest = self.folder / "node_modules" / self.package.rpartition("@")[0] / "package.json"
        return str(json.loads(manifest.read_text(encoding="utf-8"))["version"])

    def command(self, job: str, number: int = 0) -> list[str]:
        """Return the command of a job, or nothing."""
        words = shlex.split(self.commands.get(job, ""))
        return [word.replace("TOOL", self.path).replace("NUMBER", str(number)) for word in words]

    def create(self, repo: Path, count: int, run: Callable[[list[str]], object]) -> None:
        """Set up the tool and write items; item 1 is the one that is edited."""
        raise NotImplementedError

    def file(self, repo: Path) -> Path:
        """Return the file of item 1."""
        (path,) = repo.glob(self.pattern)
        return path

    def done(self, text: str) -> set[int] | None:
        """Return the numbers of the tasks that are done in the text of item 1; None if tasks are missing."""
        tasks = {int(match["n"]): bool(match["x"]) for match in self.box.finditer(text)}
        return {number for number, is_done in tasks.items() if is_done} if len(tasks) == TASKS else None

    def check_by_hand(self, text: str, number: int) -> str:
        """Return the text with one more task done, as an editor would write it."""
        return re.sub(rf"- \[ \] (Task {number} |#{number} |1\.{number} )", r"- [x] \1", text)

    def decorate(self, text: str) -> str:
        """Return the text with what people add and programs lose: spaces, another list, a comment."""
        return text + "\n## Notes of mine  \n\n\n*  one\n*  two\t\n<!-- keep -->\n"

    def claim_done(self, repo: Path) -> None:
        """Say that item 1 is done while its tasks are open."""
        raise NotImplementedError


class Execplan(Peer):
    """execplan, from the environment that runs this script."""

    name, package, program, item = "execplan", "", "", "a plan"
    pattern = ".agent/execplans/*_item-1.md"
    commands: ClassVar = {
        "new": "TOOL new Another-NUMBER --task One --task Two --task Three",
        "mark": "TOOL done 'Task NUMBER of item 1.' -p item-1",
        "list": "TOOL list",
        "search": "TOOL search quixotic",
        "lint": "TOOL lint",
        "next": "TOOL next -p item-1",
        "finish": "TOOL outcome 'Plans can be read.' -p item-1",
        "archive": "TOOL archive item-1",
        "undo": "TOOL undo -p item-1",
    }
    box = re.compile(r"^- \[(?: |(?P<x>x))\](?: \([^)]*\))? Task (?P<n>\d+) of", re.MULTILINE)

    def install(self) -> str:
        """Use the installation that runs this script."""
        self.path = str(Path(sys.executable).parent / "execplan")
        return ""

    def version(self) -> str:
        """The version of the checkout."""
        return subprocess.check_output([self.path, "--version"], text=True).split()[1]

    def create(self, repo: Path, count: int, run: Callable[[list[str]], object]) -> None:
        """Copies of a plan that `new` writes, with all sections filled in."""
        run([self.path, "init", "-q"])
        run([self.path, "install", "merge-driver", "-q"])
        tasks = [word for number in range(1, TASKS + 1) for word in ("--task", f"Task {number} of item 1.")]
        run([self.path, "new", "-q", "Item 1", "--purpose", purpose(1, count), *tasks])
        (plan,) = (repo / ".agent/execplans").glob("*.md")
        text = re.sub(r"(\n## [^\n]*\n\n)(?!\n|- \[|Plans)[^#]*(?=\n\n## |\Z)", r"\1Nothing unusual.", plan.read_text())
        plan.write_text(text)
        for number in range(1, count + 1):
            copy = text.replace("Item 1", f"Item {number}").replace("item 1.", f"item {number}.")
            copy = copy.replace(purpose(1, count).replace("item 1.", f"item {number}."), purpose(number, count))
            plan.with_name(f"{plan.stem[:10]}_item-{number}.md").write_text(copy)

    def claim_done(self, repo: Path) -> None:
        """Archive it, or set its status."""
        plan = self.file(repo)
        (plan.parent / "archive").mkdir(exist_ok=True)
        plan.rename(plan.parent / "archive" / plan.name)


class Backlog(Peer):
    """Backlog.md, whose tasks have acceptance criteria."""

    name, package, program, item = "Backlog.md", "backlog.md@1.52.0", ".bin/backlog", "a task with acceptance criteria"
    pattern = "backlog/*/task-1 - *.md"
    commands: ClassVar = {
        "new": "TOOL task create Another-NUMBER --ac One --ac Two --ac Three",
        "mark": "TOOL task edit 1 --check-ac NUMBER",
        "list": "TOOL task list --plain",
        "search": "TOOL search quixotic --plain",
        "lint": "TOOL doctor",
        "next": "TOOL task list --ready --limit 1 --plain",
        "finish": "TOOL task edit 1 -s Done",
        "archive": "TOOL task complete 1",
    }
    box = re.compile(r"^- \[(?: |(?P<x>x))\] #(?P<n>\d+) ", re.MULTILINE)

    def create(self, repo: Path, count: int, run: Callable[[list[str]], object]) -> None:
        """Copies of a task that it creates; without its search of remote and other branches, which takes longer."""
        run([self.path, "init", "demo", "--defaults", "--integration-mode", "none"])
        for setting in ("remoteOperations", "checkActiveBranches"):
            run([self.path, "config", "set", setting, "false"])
        criteria = [word for number in range(1, TASKS + 1) for word in ("--ac", f"Task {number} of item 1.")]
        run([self.path, "task", "create", "Item 1", "--desc", purpose(1, count), *criteria])
        text = self.file(repo).read_text()
        for number in range(2, count + 1):
            copy = text.replace("TASK-1\n", f"TASK-{number}\n").replace("Item 1\n", f"Item {number}\n")
            copy = copy.replace(purpose(1, count), purpose(number, count)).replace("item 1.\n", f"item {number}.\n")
            self.file(repo).with_name(f"task-{number} - Item-{number}.md").write_text(copy)

    def decorate(self, text: str) -> str:
        """Add an unknown key, too."""
        return super().decorate(text.replace("\nlabels:", "\nmine: 'a'   # keep\nlabels:"))

    def claim_done(self, repo: Path) -> None:
        """Archive it, or set its status."""
        self.file(repo).write_text(self.file(repo).read_text().replace("status: To Do", "status: Done"))


class OpenSpec(Peer):
    """OpenSpec, where agents edit the tasks of a change in their file."""

    name, package, program = "OpenSpec", "@fission-ai/openspec@1.13.2", ".bin/openspec"
    item = "a change with tasks"
    pattern = "openspec/changes/item-1/tasks.md"
    commands: ClassVar = {
        "new": "TOOL new change another-NUMBER",
        "list": "TOOL list",
        "lint": "TOOL validate --all --strict --no-interactive",
        "lint again": "TOOL validate --archived --no-interactive",
        "next": "TOOL instructions apply --change item-1",
        "archive": "TOOL archive item-1 --json --yes",
        "archive open": "TOOL archive item-1 --json",
    }
    box = re.compile(r"^- \[(?: |(?P<x>x))\] 1\.(?P<n>\d+) ", re.MULTILINE)

    def create(self, repo: Path, count: int, run: Callable[[list[str]], object]) -> None:
        """Changes as its instructions describe them, each with a proposal, tasks and a specification."""
        run([self.path, "init", ".", "--tools", "none"])
        run([self.path, "new", "change", "item-1"])
        metadata = (repo / "openspec/changes/item-1/.openspec.yaml").read_text()
        for number in range(1, count + 1):
            change = repo / f"openspec/changes/item-{number}"
            (change / f"specs/part-{number}").mkdir(parents=True)
            (change / ".openspec.yaml").write_text(metadata)
            (change / "proposal.md").write_text(
                f"## Why\n\n{purpose(number, count)}\n\n## What Changes\n\n- A parser.\n"
            )
            boxes = "".join([f"- [ ] 1.{task} Task {task} of item {number}.\n" for task in range(1, TASKS + 1)])
            (change / "tasks.md").write_text(f"## 1. Work\n\n{boxes}")
            (change / f"specs/part-{number}/spec.md").write_text(
                "## ADDED Requirements\n\n### Requirement: Reading\n\nThe parser SHALL read lines.\n\n"
                "#### Scenario: A line\n\n- **WHEN** there is a line\n- **THEN** it is read\n"
            )

    def claim_done(self, repo: Path) -> None:
        """Archive it, or set its status."""
        shutil.move(repo / "openspec/changes/item-1", repo / "openspec/changes/archive/2026-01-01-item-1")


class TaskMaster(Peer):
    """task-master, without a model: only the commands that need none."""

    name, package, program = "task-master", "task-master-ai@0.43.1", ".bin/task-master"
    item = "a task with subtasks"
    pattern = ".taskmaster/tasks/tasks.json"
    commands: ClassVar = {
        "new": "TOOL add-task --title Another-NUMBER --description Purpose",
        "mark": "TOOL set-status --id=1.NUMBER --status=done",
        "list": "TOOL list -f compact",
        "lint": "TOOL validate-dependencies",
        "next": "TOOL next",
    }

    def create(self, repo: Path, count: int, run: Callable[[list[str]], object]) -> None:
        """A file of tasks, as it writes one."""
        run([self.path, "init", "-y", "--name", "demo", "--no-git", "--skip-install"])
        tasks = [self._task(number, count) for number in range(1, count + 1)]
        times = {"created": "2026-01-01T00:00:00.000Z", "updated": "2026-01-01T00:00:00.000Z"}
        path = repo / self.pattern
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"master": {"tasks": tasks, "metadata": times}}, indent=2))

    def _task(self, number: int, count: int) -> dict[str, object]:
        common = {"details": "", "testStrategy": "", "status": "pending", "dependencies": []}
        texts = [f"Task {task} of item {number}." for task in range(1, TASKS + 1)]
        subtasks = [
            {"id": task, "title": text, "description": text, **common, "parentTaskId": number}
            for task, text in enumerate(texts, 1)
        ]
        about = {"id": number, "title": f"Item {number}", "description": purpose(number, count), "priority": "medium"}
        return {**about, **common, "subtasks": subtasks}

    def done(self, text: str) -> set[int] | None:
        """Read the file as JSON."""
        try:
            subtasks = json.loads(text)["master"]["tasks"][0]["subtasks"]
        except (ValueError, LookupError):
            return None
        numbers = {int(subtask["id"]) for subtask in subtasks if subtask["status"] == "done"}
        return numbers if len(subtasks) == TASKS else None

    def check_by_hand(self, text: str, number: int) -> str:
        """Change the status of that task or phase."""
        document = json.loads(text)
        document["master"]["tasks"][0]["subtasks"][number - 1]["status"] = "done"
        return json.dumps(document, indent=2)

    def decorate(self, text: str) -> str:
        """Add an unknown key, too."""
        return text.replace('"priority": "medium"', '"mine": {"b": 1, "a": 2}, "priority": "medium"', 1)

    def claim_done(self, repo: Path) -> None:
        """Archive it, or set its status."""
        text = self.file(repo).read_text()
        self.file(repo).write_text(text.replace('"status": "pending"', '"status": "done"', 1))


class PlanningWithFiles(Peer):
    """planning-with-files, whose scripts set the status of phases; agents edit everything else."""

    name, package = "planning-with-files", "planning-with-files@3.20.5"
    program = "planning-with-files/scripts"
    item = "a plan with phases"
    pattern = ".planning/*-item-1/task_plan.md"
    commands: ClassVar = {
        "new": "bash TOOL/init-session.sh Another-NUMBER",
        "mark": "bash TOOL/phase-status.sh NUMBER complete",
        "list": "bash TOOL/set-active-plan.sh --list",
        "lint": "bash TOOL/plan-doctor.sh",
        "next": "bash TOOL/ledger-summary.sh",
    }
    box = re.compile(
        r"^### Phase (?P<n>\d+): .*\n- \*\*Status:\*\* (?:pending|in_progress|(?P<x>complete))$", re.MULTILINE
    )

    def create(self, repo: Path, count: int, run: Callable[[list[str]], object]) -> None:
        """Copies of its template with as many phases as other tools have tasks."""
        run(["bash", f"{self.path}/init-session.sh", "item-1"])
        first = self.file(repo).parent
        self.environment["PLAN_ID"] = first.name
        head, _, rest = self.file(repo).read_text().partition("### Phase 1:")
        tail = rest[rest.index("## Decisions Made") :]
        for number in range(1, count + 1):
            states = ["in_progress", *["pending"] * (TASKS - 1)]
            phases = [
                f"### Phase {task}: Task {task} of item {number}.\n- **Status:** {state}\n\n"
                for task, state in enumerate(states, 1)
            ]
            folder = first.with_name(first.name.replace("item-1", f"item-{number}"))
            folder.mkdir(exist_ok=True)
            text = head.replace("[One sentence describing the end state]", purpose(number, count))
            (folder / "task_plan.md").write_text("".join([text, *phases, tail]))

    def check_by_hand(self, text: str, number: int) -> str:
        """Change the status of that task or phase."""
        return re.sub(rf"(### Phase {number}: .*\n- \*\*Status:\*\* )\w+", r"\1complete", text)

    def claim_done(self, repo: Path) -> None:
        """Archive it, or set its status."""
        text = self.file(repo).read_text()
        text = text.replace("- **Status:**", "- [ ] Open\n- **Status:**").replace("in_progress", "complete")
        self.file(repo).write_text(text.replace("pending", "complete"))


class Beads(Peer):
    """Beads, whose packages contain no program."""

    name, package, program, item = "beads", "@beads/bd@1.3.0", ".bin/bd", "an issue"
    missing = (
        "its npm package downloads the program from another server when it is installed, which is not possible here."
    )


PEERS: tuple[type[Peer], ...] = (Execplan, Backlog, OpenSpec, TaskMaster, PlanningWithFiles, Beads)
