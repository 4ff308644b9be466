"""Check of repositories that write plans in other forms: what is seen of them after `init`, and every kind of edit.

Each repository is copied to a scratch directory and committed there. Its files are never quoted.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from corpus_given import PlanLocation, context_at
from corpus_kinds import classify
from corpus_mend import fix_findings
from corpus_page import Report, WildFile
from corpus_probe import Probe, counted_again
from corpus_statuses import statuses_again
from corpus_writers import LONG_TEXT, WHY, add_tasks, fill_bodies, fill_logs, mark_tasks, reword_tasks

from execplan import ExecplanError, Plan, Project
from execplan.core.plan.model import ARCHIVED, BROKEN, DOCUMENT, OTHER
from execplan.core.plan_facts.facts_loader import load_listed_plans
from execplan.core.plan_facts.listed_plan import ListedPlan

ENVIRONMENT = {
    "EXECPLAN_AUTHOR": "Ann Example",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{role}_{field}": "ann@example.org" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")},
}
_CHECKS = (Probe.read, mark_tasks, add_tasks, reword_tasks, fill_logs, fill_bodies, fix_findings)
_DIRECTORY = re.compile(rb"[\w.-]*/")
"""A directory in a path or a link; `archive` adapts them."""


class WildRepository(NamedTuple):
    """The results of all checks on one repository."""

    files: list[WildFile]
    failures: list[str]


class Repository(NamedTuple):
    """A scratch copy of a repository."""

    name: str
    folder: Path
    failures: list[str]

    def fail(self, path: str, why: str) -> None:
        """Record a failure about a path of the repository."""
        self.failures.append(f"{self.name}/{path}: {why}")

    def git(self, *arguments: str) -> str:
        """Run git and return what it prints."""
        command = ["git", "-C", str(self.folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout

    def changed_paths(self) -> set[str]:
        """Return the paths that differ from the commit, also new ones."""
        lines = self.git("status", "--porcelain", "-uall", "--no-renames", "-z").split("\0")
        return {line[3:] for line in lines if line}

    def commit(self) -> None:
        """Commit everything that is there."""
        self.git("add", "-A")
        self.git("commit", "-qm", "The plans")


def repositories(folder: Path) -> list[tuple[str, dict[str, Path]]]:
    """Return the name and the files of each repository in the manifest, by their path there; the largest first."""
    files: dict[str, dict[str, Path]] = {}
    for line in (folder / "MANIFEST.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        name, _, path, *_, file = line.split("\t")
        files.setdefault(name, {})[path] = folder / file
    return sorted(files.items(), key=lambda repository: (-len(repository[1]), repository[0]))


def examine_repository(source: tuple[str, dict[str, Path]]) -> WildRepository:
    """Run all checks on a scratch copy of a repository."""
    name, paths = source
    os.environ.update(ENVIRONMENT)
    with tempfile.TemporaryDirectory() as scratch:
        repository = Repository(name, Path(scratch).resolve() / "repository", [])
        for path, original in paths.items():
            copy = repository.folder / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(original.read_bytes())
        files: list[WildFile] = []
        try:
            files = _examine(repository, sorted(paths))
        except Exception as error:  # noqa: BLE001 - a crash is a finding about this repository like any other
            repository.fail("", f"{type(error).__name__}: {error}")
        failures = [failure for file in files if file.report is not None for failure in file.report.failures]
        return WildRepository(files, repository.failures + failures)


def _examine(repository: Repository, paths: list[str]) -> list[WildFile]:
    repository.git("init", "-q")
    repository.commit()
    Project.init(repository.folder)
    for path in repository.changed_paths().intersection(paths):
        repository.fail(path, "init changed it")
    repository.commit()
    record = Project.find(repository.folder).record
    listed = {plan.display_path: plan for plan in load_listed_plans(record, archive=True)}
    files = [_examine_file(repository, path, listed.get(path)) for path in paths]
    unknown = listed.keys() - set(paths)
    if unknown:
        repository.fail(min(unknown), "it is no file of the repository, but listed as a plan")
    plans = [plan for path, plan in sorted(listed.items()) if plan.state not in (ARCHIVED, BROKEN, DOCUMENT)]
    _edit_by_commands(repository, plans)
    reports = {file.path.removeprefix(f"{repository.name}/"): file.report for file in files}
    for plan in plans:
        report = reports.get(plan.display_path)
        if report is not None:
            _archive(repository, Plan(plan.project, plan.ref), report)
    return files


def _examine_file(repository: Repository, path: str, listed: ListedPlan | None) -> WildFile:
    """Count a file's checkboxes, and apply every writer to it if it is a plan."""
    kind, reason = classify(path)
    name = f"{repository.name}/{path}"
    data = (repository.folder / path).read_bytes()
    boxes = len(counted_again(data, anywhere=True)) if path.endswith(".md") else 0
    state = listed.state if listed is not None else ""
    if listed is None or state in (BROKEN, DOCUMENT):
        return WildFile(name, kind, reason, boxes, state, None)
    context = context_at(path, PlanLocation("", listed.ref.archived, in_project=True))
    probe = Probe(name, data, context, anywhere=True)
    if probe.plan.counts() != dict(zip(("open", "done", "other", "total"), listed.facts.counts or (), strict=False)):
        probe.fail(0, "list counts other tasks than the reader")
    statuses = [(task.start, task.state) for task in probe.plan.tasks if task.status is not None]
    if not boxes and statuses != [(line, state or OTHER) for line, state in statuses_again(data)]:
        probe.fail(0, f"{len(statuses)} tasks with a status, but a second count has others")
    probe.run(_CHECKS)
    return WildFile(name, kind, reason, boxes, state, probe.report)


def _edit_by_commands(repository: Repository, plans: list[ListedPlan]) -> None:
    """Edit the first plan that has an open task with a checkbox by commands, and check which files change."""
    for plan in plans:
        path = plan.display_path
        before = (repository.folder / path).read_bytes()
        if plan.facts.open_tasks and counted_again(before, anywhere=True):
            break
    else:
        return
    task = str(plan.facts.open_tasks[0].number)
    commands = (
        ("done", task),
        ("reopen", task),
        ("add", LONG_TEXT),
        ("decide", LONG_TEXT, "--why", WHY, "--create"),
    )
    for command in commands:
        _run(repository, path, *command, "--plan", path)
        if repository.changed_paths() - {path}:
            repository.fail(path, f"{command[0]} changed other files")
    for _ in commands:
        _run(repository, path, "undo", path)
    if (repository.folder / path).read_bytes() != before or repository.changed_paths():
        repository.fail(path, "undo does not give back the bytes from before the commands")


def _run(repository: Repository, path: str, *arguments: str) -> None:
    """Run a command in a process of its own; an exit status other than 0 is a failure."""
    command = [sys.executable, "-m", "execplan", "-C", str(repository.folder), *arguments]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if result.returncode:
        repository.fail(path, f"{arguments[0]} exits with {result.returncode}: {result.stderr.strip()}")


def _archive(repository: Repository, plan: Plan, report: Report) -> None:
    """Archive a plan as abandoned, check what changed, and undo it."""
    path = plan.project.display_path(plan.path)
    before = _read_tree(repository, path)
    try:
        moved = plan.archive(abandoned=True, reason="No longer wanted.")
    except ExecplanError as error:
        report.refused[error.code, "archive"] += 1
        return
    report.edits["archive"] += 1
    changed = repository.changed_paths()
    after = _read_tree(repository, moved.path)
    if not _has_one_insertion(before.pop(path), after.pop(moved.path)):
        repository.fail(path, "archive changed lines that are not its own")
    if not plan.project.is_flat:  # the other files in the plan's directory move with it
        folder, target = os.path.dirname(path), os.path.dirname(moved.path)
        for other, data in before.items():
            if after.get(target + other.removeprefix(folder)) != data:
                repository.fail(path, f"archive lost {other}, or changed it")
        changed -= {*before, *after}
    own_paths = {path, moved.path, moved.evidence, *moved.followed, *[new for _, new in moved.moves]}
    if changed - own_paths:
        repository.fail(path, f"archive changed {min(changed - own_paths)}")
    plan.undo()
    if repository.changed_paths():
        repository.fail(path, "undo does not give back what was archived")


def _read_tree(repository: Repository, path: str) -> dict[str, bytes]:
    """Return the content of a plan and of all other files in its directory and below."""
    folder = (repository.folder / path).parent
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {file.relative_to(repository.folder).as_posix(): file.read_bytes() for file in files}


def _has_one_insertion(before: bytes, after: bytes) -> bool:
    """Return whether lines were inserted at one place, and nothing else changed except directories in paths."""
    old, new = [_DIRECTORY.sub(b"", data.rstrip()).splitlines() for data in (before, after)]
    start = next((at for at, lines in enumerate(zip(old, new, strict=False)) if lines[0] != lines[1]), len(old))
    return old[start:] == new[len(new) - len(old) + start :]
