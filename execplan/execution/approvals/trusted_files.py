"""Files that decide who may approve, as the main branch has them: an edit in the working tree can't change who may.

The remote's main branch counts, which has what others merged; without a remote the local one, and without that HEAD.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, Final

from execplan.core.errors import ExecplanError
from execplan.core.git import git_query
from execplan.core.git.blob_reader import BlobReader
from execplan.core.git.git_directory import LOCAL_REFS, REMOTE_REFS, head_commit
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project
from execplan.core.project.project_settings import (
    PYPROJECT_FILE,
    SETTINGS_FILE,
    has_content,
    may_have_table,
    parse_table,
)
from execplan.execution.approvals.effective_policy import approver_policy

SIGNERS_FILE: Final = os.path.join(".agent", "allowed_signers")
REVOKED_FILE: Final = os.path.join(".agent", "revoked_signers")
TRUSTED_REFS: Final = (*REMOTE_REFS, *LOCAL_REFS, "HEAD")


class TrustedFiles(NamedTuple):
    """What a branch has of the files that decide who may approve."""

    branch: str = ""
    """Name of the branch; empty without Git or before the first commit."""
    policy: dict[str, Any] = {}  # noqa: RUF012 - never changed
    """The values of the policy in its settings."""
    signers: bytes | None = None
    """The allowed signers; None if the branch has none."""
    revoked: bytes | None = None
    """The revoked signers; None if the branch has none."""


def read_trusted_files(project: Project) -> TrustedFiles:
    """Read the files from the main branch. Raises ExecplanError if its settings are invalid or Git can't be used."""
    if project.git is None:
        return TrustedFiles()
    base = os.path.relpath(project.base, project.root)
    paths = [os.path.normpath(os.path.join(base, name)) for name in _NAMES]
    with suppress(FileNotFoundError), BlobReader(project) as reader:
        for ref in TRUSTED_REFS:
            if reader.read(f"{ref}^{{commit}}") is None:
                continue
            contents = [answer and answer[0] for answer in reader.read_batch([f"{ref}:{path}" for path in paths])]
            branch = _branch_name(ref)
            return TrustedFiles(branch, _policy_values(contents, branch), contents[2], contents[3])
    if head_commit(project) is not None:
        git_query.output(project, "rev-parse", "HEAD")  # reports why Git doesn't read a commit that is there
    return TrustedFiles()


_NAMES: Final = (SETTINGS_FILE, PYPROJECT_FILE, SIGNERS_FILE, REVOKED_FILE)


def _branch_name(ref: str) -> str:
    return ref.removeprefix("refs/remotes/").removeprefix("refs/heads/")


def _policy_values(contents: list[bytes | None], branch: str) -> dict[str, Any]:
    """Return the values of the policy in the settings of a branch. Raises ExecplanError if they are invalid."""
    settings, pyproject = contents[:2]
    location = f"{SETTINGS_FILE} in {branch}"
    table = parse_table(settings, location) if settings is not None and has_content(settings) else None
    if table is None and pyproject is not None and may_have_table(pyproject):
        location = f"{PYPROJECT_FILE} in {branch}"
        table = parse_table(pyproject, location, "tool", "execplan")
    execution, approval = [(table or {}).get(name) for name in ("execution", "approval")]
    values: dict[str, Any] = {}
    try:
        if isinstance(execution, dict):
            from execplan.execution.policy_settings import check_execution_table, policy_values

            check_execution_table(execution, location, may_loosen=False)
            values |= policy_values(execution)
        if isinstance(approval, dict):
            values |= approver_policy(approval, location)
    except ExecplanError as error:
        error.hint = f"correct the file in {branch}, which decides who may approve: execplan explain signatures"
        raise
    return values
