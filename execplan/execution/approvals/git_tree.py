"""The contents of HEAD outside the plan directories, which an approval binds under the policy `pin = "tree"`."""

from __future__ import annotations

import os

from execplan.core.git.git_directory import head_commit
from execplan.core.project import project_discovery
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest

_MAX_PATHS = 20


def tree_digest(project: Project) -> str | None:
    """Return the digest of HEAD outside the plan directories; None without Git or before the first commit.

    Raises ExecplanError.
    """
    head = head_commit(project)
    return None if head is None else digest(b"\0".join(_list_entries(project, head)))


def changed_files(project: Project, old_commit: str | None) -> tuple[str, ...]:
    """Return the files outside the plan directories that differ between HEAD and an earlier commit.

    The result is empty if Git no longer has that commit.
    """
    from execplan.core.git import git_query

    head = head_commit(project)
    if (
        head is None
        or old_commit is None
        or git_query.output_or_none(project, "cat-file", "-e", old_commit, no_status=1) is None
    ):
        return ()
    old_entries, new_entries = [set(_list_entries(project, commit)) for commit in (old_commit, head)]
    paths = sorted({os.fsdecode(entry.partition(b"\t")[2]) for entry in old_entries ^ new_entries})
    remainder = [f"{len(paths) - _MAX_PATHS} more"] if len(paths) > _MAX_PATHS else []
    return (*[f"{path}: changed by a commit" for path in paths[:_MAX_PATHS]], *remainder)


def _list_entries(project: Project, commit: str) -> list[bytes]:
    """List mode, type, ID and path of every entry of a commit outside the plan directories."""
    from execplan.core.git import git_query

    plan_directories = _plan_directories(project)
    entries = git_query.output(project, "ls-tree", "-rz", "--full-tree", commit).split(b"\0")
    return [entry for entry in entries if entry and not entry.partition(b"\t")[2].startswith(plan_directories)]


def _plan_directories(project: Project) -> tuple[bytes, ...]:
    """Return the directories of plans, archives and artifacts, of this project and its nested projects."""
    directories = []
    for related_project in project_discovery.with_nested_projects(project):
        artifact_dirs = [related_project.artifacts_dir("", archived=archived) for archived in (False, True)]
        for directory in (related_project.plans, *related_project.archives, *artifact_dirs):
            directories.append(os.fsencode(os.path.relpath(directory.partition("/{")[0], project.root)) + b"/")
        directories += [os.fsencode(os.path.relpath(file, project.root)) for file in related_project.files]
    return tuple(dict.fromkeys(directories))
