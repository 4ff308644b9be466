"""Plans, tasks and entries as JSON shows them: lines from 1, ends inclusive, the same names in every document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execplan.plan.seek import task_ids
from execplan.repo import homes, shelf
from execplan.text.lines import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.model import Entry, Plan, Section, Task
    from execplan.repo.amend import Amended
    from execplan.repo.home import Home
    from execplan.repo.shelf import Shelved


def plan_json(shelved: Shelved) -> dict[str, Any]:
    """A plan in a list; one that can't be read says why."""
    plan = shelved.plan
    told: dict[str, Any] = {
        "id": shelved.ref.id,
        "path": shelved.home.shown(shelved.ref.path),
        "title": plan.title if plan is not None else None,
        "state": shelved.state,
        "counts": plan.counts() if plan is not None else None,
        "digest": digest(shelved.data) if plan is not None else None,
    }
    if shelved.error is not None:
        told["error"] = shelved.error.message
    return told


def whole_json(shelved: Shelved, plan: Plan) -> dict[str, Any]:
    """All that a plan says."""
    return {
        **plan_json(shelved),
        "sections": [section_json(section) for section in plan.sections],
        "tasks": tasks_json(plan.tasks),
        "checklists": [{**task_json(task), "section": section} for section, task in plan.checklists],
        "decisions": [entry_json(each, "rationale", "date", "author", "supersedes") for each in plan.decisions],
        "discoveries": [entry_json(each, "evidence") for each in plan.discoveries],
        "outcomes": [entry_json(each, "date") for each in plan.outcomes],
        "revisions": [entry_json(each, "date") for each in plan.revisions],
    }


def none_open(home: Home) -> str:
    """That a project has no plan outside its archive, and how many are in it."""
    count = _archived(home)
    return f"no open plans, {count} archived" if count else "no plans yet"


def follow_none(home: Home) -> tuple[str, ...]:
    """The commands that make sense where no plan is outside the archive."""
    new = "execplan new 'Its title'"
    return ("execplan list --all", new) if _archived(home) else (new,)


def _archived(home: Home) -> int:
    return sum([len(shelf.refs(each, archive=True)) for each in homes.together(home)])


def conflict_warnings(shelved: Sequence[Shelved]) -> tuple[str, ...]:
    """A warning for each plan that is shown although it holds conflict markers."""
    held = [
        (each.home.shown(each.ref.path), each.plan.conflicts)
        for each in shelved
        if each.plan is not None and each.plan.conflicts
    ]
    what = "holds a conflict marker of git: both sides are shown"
    return tuple([f"{path}: line {lines[0] + 1} {what}" for path, lines in held])


def section_json(section: Section) -> dict[str, Any]:
    """A section; revision notes at its end are not part of it."""
    return {
        "name": section.name,
        "title": section.title,
        "living": section.living,
        "line_start": section.start + 1,
        "line_end": section.notes,
    }


def tasks_json(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """Tasks with their ids."""
    return [{"id": name, **task_json(task)} for task, name in zip(tasks, task_ids(tasks), strict=True)]


def task_line(task: dict[str, Any]) -> str:
    """A task on a line, with its number and its id."""
    return f"{task['number']}. {task['text']}  [{task['id']}]"


def task_json(task: Task) -> dict[str, Any]:
    """A box in Progress or elsewhere."""
    return {
        "number": task.number,
        "state": task.state,
        "mark": task.mark,
        "text": task.text,
        "stamp": task.stamp.text if task.stamp is not None else None,
        "depth": task.depth,
        "line_start": task.start + 1,
        "line_end": task.end,
    }


def entry_json(entry: Entry, *fields: str) -> dict[str, Any]:
    """One entry with the fields of its kind."""
    told: dict[str, Any] = {"text": entry.text}
    told.update({field: getattr(entry, field) for field in fields})
    return {**told, "line_start": entry.start + 1, "line_end": entry.end}


def amended_json(amended: Amended, *, dry_run: bool) -> dict[str, Any]:
    """What became of an edit; with the diff in a dry run."""
    told: dict[str, Any] = {
        "path": amended.path,
        "changed": amended.changed,
        "digest": amended.digest,
        "commit": amended.commit,
        "said": list(amended.said),
    }
    if amended.tasks:
        told["tasks"] = [each._asdict() for each in amended.tasks]
    return {**told, "diff": amended.diff} if dry_run else told
