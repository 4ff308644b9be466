"""Output of commands that write several plans: one summary, and one command that commits them all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from execplan.cli.answer import NOTHING_TO_COMMIT, Answer
from execplan.cli.output.terminal_text import printable_lines
from execplan.core.edits.plan_commit import commit_arguments
from execplan.core.errors import OK, ExecplanError
from execplan.core.git.git_commit import uncommitted_files
from execplan.core.plan_store import plan_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.project.project import Project


class PlanAnswer(NamedTuple):
    """The answer about one of several plans."""

    project: Project
    answer: Answer

    @property
    def changed_files(self) -> list[tuple[Project, str]]:
        """The plan if it was changed, and the files that name it, as absolute paths."""
        data = self.answer.data
        paths = [data["path"], *data.get("followed", ())] if data["changed"] else []
        return [(self.project, os.path.join(self.project.root, path)) for path in paths]


def join_answers(
    answers: Sequence[PlanAnswer],
    headline: str,
    left: Mapping[str, Sequence[str]],
    left_label: str,
    options: WriteOptions,
    *,
    failed: int = OK,
) -> Answer:
    """Combine the answers about several plans into one, with the plans that were left and the reasons.

    `failed` is the exit status if plans were left.
    """
    commits = [answer.data["commit"] for _, answer in answers if answer.data["commit"]]
    data: dict[str, Any] = {
        "plans": [answer.data for _, answer in answers],
        "left": [{"id": name, "reasons": list(reasons)} for name, reasons in left.items()],
        "changed": any([answer.data["changed"] for _, answer in answers]),
        "commit": commits[0] if commits else None,
    }
    if options.dry_run:
        lines = [answer.text for _, answer in answers]
    else:
        plans = [answer.data["path"] for _, answer in answers if answer.data["changed"]]
        followed = [path for _, answer in answers for path in answer.data.get("followed", ())]
        documents = [path for _, answer in answers for path in answer.data.get("rewritten", ())]
        by_user = "" if commits else "; to commit that, use git"
        lines = [headline, *[printable_lines([f"  {path}"]) for path in plans]] if answers else []
        lines += [
            printable_lines([f"rewrote paths in {path}"]) for path in dict.fromkeys(followed) if path not in plans
        ]
        lines += [printable_lines([f"rewrote paths in {path}{by_user}"]) for path in dict.fromkeys(documents)]
        lines += [f"committed {commit[:12]}" for commit in dict.fromkeys(commits)]
        lines += [NOTHING_TO_COMMIT] if options.commit and data["changed"] and not commits else []
    lines += [printable_lines([f"{left_label}: {name}: {'; '.join(reasons)}"]) for name, reasons in left.items()]
    warnings = tuple(dict.fromkeys([line for _, answer in answers for line in answer.warnings]))
    next_commands = (
        () if options.dry_run or commits else commit_commands([file for plan in answers for file in plan.changed_files])
    )
    is_requested = bool(left) or any([answer.is_requested for _, answer in answers])
    return Answer(data, "\n".join(lines), failed if left else OK, warnings, next_commands, is_requested=is_requested)


def commit_commands(files: Sequence[tuple[Project, str]]) -> tuple[str, ...]:
    """Return the command that commits the plans among some files, given by absolute path; none if all are as git has them."""
    names: list[str] = []
    for project in {project.plans: project for project, _ in files if project.git is not None}.values():
        plans = [
            path
            for owner, path in files
            if owner.plans == project.plans and project.split_plan_path(path)[0] in (project.plans, *project.archives)
        ]
        uncommitted = _find_uncommitted(project, plans) if plans else set()
        names += [
            plan_store.name_in_commands(project, plan_store.ref_for_path(project, path))
            for path in plans
            if project.display_path(path) in uncommitted
        ]
    return (f"execplan commit {commit_arguments(list(dict.fromkeys(names)))}",) if names else ()


def _find_uncommitted(project: Project, paths: Sequence[str]) -> set[str]:
    """Return the paths from the root of those files that git does not have like this; all if git can't tell."""
    names = [project.display_path(path) for path in paths]
    try:
        return set(uncommitted_files(project, names))
    except ExecplanError:
        return set(names)
