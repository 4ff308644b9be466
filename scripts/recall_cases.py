"""Cases for `context_recall.py`: commits of public repositories that complete a task of a plan and change code.

A case is the parent of such a commit. The plan is what it was there; if the commit wrote the plan or the task, it is
the commit's plan with the task open again and without what was learned from the work.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from execplan.core.errors import ExecplanError
from execplan.core.plan import outline, reader
from execplan.core.plan.model import DONE
from execplan.core.plan.plan_lookup import normalize_text, task_ids

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeVar

    from execplan.core.plan.model import ParsedPlan

    Member = TypeVar("Member")

MAX_FILES = 12
"""Maximum number of changed files of a case; a larger commit is a mass change, which no pack of this size can contain."""
MAX_COMMITS = 3
"""Maximum number of cases for a plan."""
MAX_PLANS = 8
"""Maximum number of plans of a repository."""
_MIN_SECTIONS = 4
"""Minimum number of sections of a plan; a list of tasks alone is none."""
_NO_CODE = re.compile(
    r"(?i)(?:\.(?:md|mdx|lock|snap|png|jpe?g|gif|svg|pdf|ico|zip|gz|woff2?|min\.js|map|jsonl|csv|log)|(?:^|/)(?:package-lock\.json|go\.sum|pnpm-lock\.yaml|\..*))$"
)
"""Files that nobody edits by hand, or that are documents."""
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? ")


class Change(NamedTuple):
    """A file that a commit changed, with its changed lines before the commit, from 1; an insertion has no lines."""

    path: str
    hunks: tuple[tuple[int, int], ...]
    """First line and number of lines; the lines of an insertion are those after which it was made."""


class Case(NamedTuple):
    """A commit that completed a task of a plan."""

    repository: Path
    commit: str
    plan_path: str
    plan_text: str
    """The plan before the commit."""
    task: str
    """ID of the task."""
    changes: tuple[Change, ...]
    """The changed files that existed before."""


def git(repository: Path, *arguments: str) -> str:
    """Run git and return its output."""
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8", errors="replace").stdout


def find_cases(repository: Path) -> list[Case]:
    """Find the cases of a repository: the first, a middle and the last commit of each plan, for some of its plans."""
    by_plan: dict[str, list[Case]] = {}
    for commit, statuses in _commits(repository):
        changed = [path for path, status in statuses.items() if status in "MD" and not _NO_CODE.search(path)]
        plans = [path for path, status in statuses.items() if status in "AM" and path.endswith(".md")]
        if not 1 <= len(changed) <= MAX_FILES:
            continue
        for path in plans:
            case = _case(repository, commit, path, is_new=statuses[path] == "A")
            if case is not None:
                by_plan.setdefault(path.rpartition("/")[2], []).append(case)
                break
    plans_chosen = _spread([by_plan[name] for name in sorted(by_plan)], MAX_PLANS)
    cases = [case for cases in plans_chosen for case in _spread(cases, MAX_COMMITS)]
    return [case._replace(changes=tuple(_changes(repository, case.commit))) for case in cases]


def _spread(members: list[Member], count: int) -> list[Member]:
    """Return at most `count` members at equal distances, with the first and the last."""
    if len(members) <= count:
        return members
    return [members[round(at * (len(members) - 1) / (count - 1))] for at in range(count)]


def _commits(repository: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the commits that change a markdown file, the oldest first, with the status of each changed file."""
    log = git(repository, "log", "--reverse", "--no-merges", "--no-renames", "--name-status", "-z", "--format=%x01%H")
    for entry in log.split("\x01")[1:]:
        commit, *fields = entry.replace("\n", "").split("\0")
        statuses = (
            dict(zip(fields[2::2], fields[1::2], strict=False))
            if not fields[0]
            else dict(zip(fields[1::2], fields[::2], strict=False))
        )
        if any([path.endswith(".md") for path in statuses]):
            yield commit, statuses


def _read_plan(repository: Path, commit: str, path: str) -> ParsedPlan | None:
    try:
        plan = reader.read(git(repository, "show", f"{commit}:{path}").encode())
    except (ExecplanError, subprocess.CalledProcessError):
        return None
    return plan if plan.tasks and len(plan.sections) >= _MIN_SECTIONS else None


def _case(repository: Path, commit: str, path: str, *, is_new: bool) -> Case | None:
    """Return the case of the first task that a commit completed in a plan; None if there is none."""
    plan = _read_plan(repository, commit, path)
    parent = None if is_new else _read_plan(repository, f"{commit}^", path)
    if plan is None or (parent is None and not is_new):
        return None
    done_before = {normalize_text(task.text) for task in parent.tasks if task.state == DONE} if parent else set()
    completed = [task for task in plan.tasks if task.state == DONE and normalize_text(task.text) not in done_before]
    if not completed:
        return None
    if parent is not None:
        for task in completed:
            for open_task, task_id in zip(parent.tasks, task_ids(parent.tasks), strict=True):
                if open_task.state != DONE and normalize_text(open_task.text) == normalize_text(task.text):
                    return Case(repository, commit, path, "\n".join(parent.text.lines) + "\n", task_id, ())
    return _reopened(repository, commit, path, plan, [task.start for task in completed])


def _reopened(repository: Path, commit: str, path: str, plan: ParsedPlan, completed: list[int]) -> Case | None:
    """Return a case whose plan has the tasks open again, and nothing that was learned from the work."""
    lines = list(plan.text.lines)
    removed: set[int] = set()
    for section in plan.sections:
        if section.name in (outline.OUTCOMES, outline.SURPRISES, outline.ARTIFACTS):
            removed.update(range(section.body_start, section.end))
        removed.update(range(section.notes_start, section.end))
    for task in plan.tasks:
        if task.start in completed and task.status is None:
            lines[task.box_line] = lines[task.box_line].replace("[x]", "[ ]", 1).replace("[X]", "[ ]", 1)
    text = "\n".join([line for at, line in enumerate(lines) if at not in removed]) + "\n"
    past_plan = reader.read(text.encode())
    open_ids = [
        task_id for task, task_id in zip(past_plan.tasks, task_ids(past_plan.tasks), strict=True) if task.state != DONE
    ]
    return Case(repository, commit, path, text, open_ids[0], ()) if open_ids else None


def _changes(repository: Path, commit: str) -> Iterator[Change]:
    """Yield the changed code that existed before, without files that are not text."""
    diff = git(repository, "diff", "-U0", "--no-renames", "--no-color", "--no-ext-diff", f"{commit}^", commit)
    for patch in ("\n" + diff).split("\ndiff --git ")[1:]:
        header = patch.partition("\n@@ ")[0]
        path = re.search(r"(?m)^--- (?:a/)?(.*?)\t?$", header)
        if path and path[1] != "/dev/null" and not _NO_CODE.search(path[1]):
            hunks = [(int(first), int(count or 1)) for first, count in _HUNK.findall(patch)]
            yield Change(path[1], tuple(hunks))
