"""Storage of the execution plan among the artifacts of its plan, so that archiving the plan moves both."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from execplan.core.edits.plan_preconditions import ensure_not_archived, ensure_plan_exists
from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_store
from execplan.core.project import project_state
from execplan.core.project.project import ensure_inside
from execplan.core.project.project_discovery import require_existing
from execplan.core.text.text_lines import digest

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from execplan.core.edits.plan_writer import WriteOptions
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project

PLAN_FILE_NAME: Final = "execution-plan.json"
MAX_BYTES = 5 * 1024 * 1024


class StoredArtifact(NamedTuple):
    """The result of storing an artifact of a plan."""

    path: str
    """Path from the repository root."""
    changed: bool
    digest: str
    """SHA-256 of the document's bytes."""
    diff: str
    """Unified diff of the change; only in a dry run."""
    commit: str | None
    warnings: tuple[str, ...]


def path_of(project: Project, ref: PlanRef, name: str = PLAN_FILE_NAME) -> str:
    """Return the path of the execution plan or another artifact, existing or not."""
    return os.path.join(project.plan_artifacts_dir(ref.path, archived=ref.archived), name)


def read(project: Project, ref: PlanRef, name: str = PLAN_FILE_NAME) -> bytes | None:
    """Read the execution plan or another artifact; None if it does not exist. Raises ExecplanError."""
    return _read_file(project, path_of(project, ref, name))


def _read_file(project: Project, path: str) -> bytes | None:
    if not os.path.lexists(path):
        return None
    ensure_inside(project, path)
    data, size = file_access.read(path, MAX_BYTES)
    if size > MAX_BYTES:
        from execplan.core.plan import reader

        with ErrorContext(project.display_path(path)):
            raise reader.too_large_error(size)
    return data


def save(
    project: Project,
    ref: PlanRef,
    build_bytes: Callable[[], bytes],
    options: WriteOptions,
    *,
    command: str,
    summary: str,
    name: str = PLAN_FILE_NAME,
) -> StoredArtifact:
    """Store the result of `build_bytes` under the plan's lock, and commit it if requested. Raises ExecplanError.

    A file that already has these bytes is not written again.
    """
    from execplan.core.edits.plan_writer import format_diff

    require_existing(project)
    ensure_not_archived(project, ref)
    path = path_of(project, ref, name)
    display_path = project.display_path(path)
    if options.dry_run:
        old_bytes, new_bytes = _read_file(project, path), build_bytes()
        _ensure_readable_size(project, path, new_bytes)
        diff_text = format_diff(old_bytes or b"", new_bytes, display_path) if new_bytes != old_bytes else ""
        return StoredArtifact(display_path, new_bytes != old_bytes, digest(new_bytes), diff_text, None, ())
    options.prepare_commit(project)
    with project_state.lock(project, ref.real_path, f"{command} of {ref.id}"):
        ensure_plan_exists(project, ref)
        new_bytes = build_bytes()
        old_bytes = atomic_files.retry_on_change(lambda: write_artifact(project, path, new_bytes), display_path)
        stored = StoredArtifact(display_path, old_bytes != new_bytes, digest(new_bytes), "", None, ())
        if not stored.changed or not options.should_commit(project):
            return stored
        from execplan.core.edits.plan_commit import commit_paths

        old_contents = {} if old_bytes is None else {path: old_bytes}
        title = plan_store.parse(project, plan_store.read_bytes(project, ref.path)).title
        commit_result = commit_paths(project, ref.id, [path], command, summary, old_contents, title)
        return stored._replace(commit=commit_result.digest, warnings=commit_result.warnings)


def write_artifact(project: Project, path: str, new_bytes: bytes) -> bytes | None:
    """Write an artifact and return its previous bytes, None if it did not exist.

    The caller holds the plan's lock. Raises FileChangedError, ExecplanError.
    """
    _ensure_readable_size(project, path, new_bytes)
    old_bytes = _read_file(project, path)
    if old_bytes != new_bytes:
        atomic_files.replace_if_unchanged(path, old_bytes, new_bytes, within=project.root, make_directories=True)
    else:
        atomic_files.remove_leftover(path, (old_bytes,), within=project.root)
    return old_bytes


def _ensure_readable_size(project: Project, path: str, new_bytes: bytes) -> None:
    """Raise ExecplanError if the bytes are too many to be read again."""
    if len(new_bytes) > MAX_BYTES:
        message = (
            f"{project.display_path(path)} would have {len(new_bytes):,} bytes; at most {MAX_BYTES:,} can be read back"
        )
        raise ExecplanError("too-large", message, hint="write long files with a command, not with a step's content")
