"""Acceptance checks that a person has approved: one file each in the user's state directory, outside the repository.

An approval is for a command in a directory of one repository. It does not bind files: the files that a check tests
change with every task.
"""

from __future__ import annotations

import json
import os

from execplan.core.clock import format_utc_timestamp, now
from execplan.core.named_tuple import NamedTuple
from execplan.core.project.project import Project
from execplan.core.text.text_lines import digest
from execplan.execution.approvals import user_directories

_SUFFIX = ".check"


class CheckTerms(NamedTuple):
    """What an approval covers: exactly this command, in this way."""

    argv: tuple[str, ...]
    cwd: str
    """Working directory, from the root of the repository."""
    env: tuple[tuple[str, str], ...]
    is_sandboxed: bool
    """Whether the check runs in a sandbox: an approval of that does not cover a run without one."""


def is_approved(project: Project, terms: CheckTerms) -> bool:
    """Return whether a person has approved a check. Raises ExecplanError if the state directory can't be used."""
    return os.path.isfile(_path(project, terms))


def approve(project: Project, terms: CheckTerms, approver: str) -> None:
    """Record that a person approves a check. Raises ExecplanError."""
    from execplan.core.files import atomic_files
    from execplan.execution.approvals import approval_registry

    record = {
        "root": _root(project),
        "argv": list(terms.argv),
        "cwd": terms.cwd,
        "env": dict(terms.env),
        "sandbox": terms.is_sandboxed,
        "approver": approver,
        "approved": format_utc_timestamp(now().timestamp()),
    }
    with approval_registry.lock(project):
        atomic_files.create(_path(project, terms), json.dumps(record, indent=1).encode(), mode=0o600)


def _path(project: Project, terms: CheckTerms) -> str:
    key = json.dumps([_root(project), list(terms.argv), terms.cwd, sorted(terms.env), terms.is_sandboxed])
    return os.path.join(user_directories.state_directory(project), f"{digest(key.encode())}{_SUFFIX}")


def _root(project: Project) -> str:
    return os.path.realpath(project.root)
