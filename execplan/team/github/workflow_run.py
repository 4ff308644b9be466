"""A run of a GitHub workflow: the event that started it, and the files of its runner for outputs and a summary."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Final

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.git.git_directory import is_shallow
from execplan.core.git.git_history import merge_base, resolve_commit
from execplan.core.git.git_query import require_repository
from execplan.core.project.project import Project

OUTPUT: Final = "GITHUB_OUTPUT"
"""Variable that names the file of the step's outputs."""
SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""Variable that names the file of the step's summary."""
WORKSPACE: Final = "GITHUB_WORKSPACE"
"""Variable that names the directory in which the job has its files."""
MAX_SUMMARY_BYTES: Final = 1 << 20
"""GitHub discards the summary of a step if it has more bytes."""
EVENT_PATH: Final = "GITHUB_EVENT_PATH"
"""Variable that names the file with the event."""
_MAX_BYTES: Final = 32 << 20
"""Maximum size of the file; GitHub limits an event to 25 MB."""
_HEX: Final = frozenset("0123456789abcdef")
_ID_LENGTHS: Final = (40, 64)
"""Number of digits of a commit's ID, in SHA-1 and SHA-256."""


def write_outputs(environ: Mapping[str, str], outputs: Mapping[str, object]) -> None:
    """Append outputs as JSON, one on each line; nothing if the runner has no file for them. Raises ExecplanError.

    JSON in ASCII has no line end, so that no value can set another output.
    """
    _append(environ.get(OUTPUT, ""), "".join([f"{name}={json.dumps(value)}\n" for name, value in outputs.items()]))


def free_summary_bytes(environ: Mapping[str, str]) -> int:
    """Return how many bytes the step's summary can still have."""
    try:
        return MAX_SUMMARY_BYTES - os.stat(environ.get(SUMMARY, "")).st_size
    except OSError:
        return MAX_SUMMARY_BYTES


def write_summary(environ: Mapping[str, str], summary: str) -> None:
    """Append to the step's summary; nothing if the runner has no file for it. Raises ExecplanError."""
    _append(environ.get(SUMMARY, ""), summary)


def _append(path: str, text: str) -> None:
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise file_access.file_error(error, path, "write") from None


def find_base_commit(project: Project, environ: Mapping[str, str]) -> str:
    """Return the commit from which a pull request, a push or a merge queue changes plans.

    For a pull request whose merge commit is checked out, that is the first parent of this commit. Otherwise it is the
    commit at which HEAD left the base. Raises ExecplanError if the event has no base, or if the clone lacks its commit.
    """
    require_repository(project)
    event = read_event(environ)
    pull_request = event.get("pull_request")
    if isinstance(pull_request, dict):
        head_id = _commit_id(pull_request.get("head"), "sha")
        if head_id and resolve_commit(project, "HEAD^2") == head_id:
            return _require_commit(project, "HEAD^1")
        return _branch_point(project, _commit_id(pull_request.get("base"), "sha"))
    merge_group_base = _commit_id(event.get("merge_group"), "base_sha")
    if merge_group_base:
        return _branch_point(project, merge_group_base)
    return _push_base(project, event)


def read_event(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the event that started the workflow. Raises ExecplanError if there is none, or its file can't be read."""
    path = environ.get(EVENT_PATH, "")
    if not path:
        message = f"no commit to compare with: {EVENT_PATH} is not set, so this is no GitHub workflow"
        raise ExecplanError("no-base-commit", message, hint="name it: execplan changes --since main")
    try:
        data, size = file_access.read(path, _MAX_BYTES)
        event = json.loads(data) if size <= _MAX_BYTES else None
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        message = f"{path} contains no event of GitHub"
        raise ExecplanError("bad-event", message, hint="name the commit: execplan changes --since REV")
    return event


def _push_base(project: Project, event: Mapping[str, Any]) -> str:
    """Return the commit before a push or, if the clone lacks it or there is none, where HEAD left the default branch."""
    before = _commit_id(event, "before")
    if before and resolve_commit(project, before) is not None:
        return _branch_point(project, before)
    repository = event.get("repository")
    branch = repository.get("default_branch") if isinstance(repository, dict) else None
    if "before" not in event or not isinstance(branch, str):
        message = "this event has no earlier commit to compare with; only pull_request, push and merge_group have one"
        raise ExecplanError("no-base-commit", message, hint="set the input `since` of the action, or --since")
    base = resolve_commit(project, f"refs/remotes/origin/{branch}")
    if base is None:
        raise _missing_commit_error(project, before or f"origin/{branch}")
    return _branch_point(project, base)


def _commit_id(fields: object, name: str) -> str:
    """Return the commit ID in a field of the event; empty if there is none, or only zeros, as for a new branch."""
    value = fields.get(name) if isinstance(fields, dict) else None
    if not isinstance(value, str) or len(value) not in _ID_LENGTHS or not _HEX.issuperset(value):
        return ""
    return value if value.strip("0") else ""


def _branch_point(project: Project, commit: str) -> str:
    """Return the commit at which HEAD left another one."""
    head = resolve_commit(project, "HEAD")
    if not commit or head is None or resolve_commit(project, commit) is None:
        raise _missing_commit_error(project, commit)
    base = merge_base(project, head, commit)
    if base is None:
        raise _missing_commit_error(project, commit)
    return base


def _require_commit(project: Project, revision: str) -> str:
    commit = resolve_commit(project, revision)
    if commit is None:
        raise _missing_commit_error(project, revision)
    return commit


def _missing_commit_error(project: Project, revision: str) -> ExecplanError:
    """Return the error for a commit that is not in the clone, or from which HEAD does not descend."""
    reason = (
        "the clone is shallow" if is_shallow(project) else "the clone lacks it, or HEAD has no commit in common with it"
    )
    message = f"can't compare with the commit {revision[:12] or 'before this event'}: {reason}"
    hint = "fetch the whole history: give actions/checkout the input `fetch-depth: 0`"
    return ExecplanError("missing-base-commit", message, hint=hint)
