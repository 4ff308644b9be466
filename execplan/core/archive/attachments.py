"""Evidence for a plan: files copied into its artifacts directory, each content once, and listed in the plan."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from execplan.core.archive.move_record import MoveDetails, pack_details
from execplan.core.edits.edit_journal import Operation
from execplan.core.edits.plan_preconditions import ensure_plan_exists
from execplan.core.edits.plan_writer import EditResult, WriteOptions, amend
from execplan.core.files import atomic_files, file_access
from execplan.core.files.open_directory import OpenDirectory
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.outline import ARTIFACTS
from execplan.core.plan.plan_change import ChangeBuilder, PlanChange, plan_content
from execplan.core.plan.section_edits import add_note
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project import project_state
from execplan.core.project.project import Project

_COPY_PREFIX = ".execplan-copy-"
_CHUNK_SIZE = 1 << 20


class Attachment(NamedTuple):
    """A file attached to a plan, with its path, digest and size."""

    path: str
    """Absolute path of the file in the artifacts directory."""
    digest: str
    """SHA-256 digest of the file's content."""
    size: int
    copied: bool
    """False if a file with this content already exists there."""


def attach_files(
    project: Project,
    ref: PlanRef,
    sources: Sequence[str],
    description: str,
    options: WriteOptions,
    *,
    create: bool,
    extend: Callable[[ChangeBuilder], ChangeBuilder] = lambda change: change,
    command: str = "attach",
) -> tuple[EditResult, list[Attachment]]:
    """Copy files into a plan's artifacts and list them in Artifacts and Notes, all or none; raises ExecplanError.

    `description` may be empty; `extend` adds what else the command changes in the plan, in the same write.
    """

    def mention_change(attachments: Sequence[Attachment]) -> ChangeBuilder:
        return extend(_mention_change(project, attachments, description, create=create))

    folder = project.plan_artifacts_dir(ref.path, archived=ref.archived)
    attachments = _place_files(folder, sources)
    preview = amend(project, ref, mention_change(attachments), options._replace(dry_run=True), command=command)
    if options.dry_run:
        return preview, attachments
    added_paths: list[str] = []
    created_dirs: list[str] = []
    try:
        with OpenDirectory(os.path.dirname(folder), within=project.root, make=True) as parent:
            created_dirs += parent.created_paths
            copies: list[str] = []
            _remove_stale_copies(parent)
            try:
                for source, file in zip(sources, attachments, strict=True):
                    copies.append(_copy_to_temporary(source, file, parent, len(copies)))
                with project_state.lock(project, "project", f"attach to {ref.id}"):
                    ensure_plan_exists(project, ref)
                    with OpenDirectory(folder, within=project.root, make=True) as target:
                        created_dirs += target.created_paths
                        attachments = _place_files(folder, sources)
                        for file, copy in zip(attachments, copies, strict=True):
                            if file.copied:
                                _link_copy(parent, copy, target, file.path)
                                added_paths.append(file.path)
                    operation = _attach_operation(project, ref, folder, attachments, created_dirs)
                    edit = amend(
                        project,
                        ref,
                        mention_change(attachments),
                        options,
                        command=command,
                        extra_paths=tuple([attachment.path for attachment in attachments]),
                        make_operation=lambda: operation,
                    )
                    return edit, attachments
            finally:
                for copy in copies:
                    parent.unlink(copy)
    except BaseException:
        _remove_unmentioned(project, ref, added_paths)
        for directory in reversed(created_dirs):
            atomic_files.remove_empty_directory(directory)
        raise


def attached_paths(plan: ParsedPlan, description: str) -> list[str]:
    """Return the paths of the files that a plan lists with a description that begins like this, the oldest first."""
    section = plan.section(ARTIFACTS)
    lines = plan.text.lines[section.body_start : section.content_end] if section is not None else []
    parts = [line.partition("`")[2].partition("`") for line in lines]
    return [path for path, quote, about in parts if quote and about.startswith(f": {description}")]


def _attach_operation(
    project: Project, ref: PlanRef, folder: str, attachments: Sequence[Attachment], created_dirs: Sequence[str]
) -> Operation:
    """Build the operation for the journal, which allows the attachment to be undone."""
    copied = [attachment for attachment in attachments if attachment.copied]
    if not copied:
        return Operation()
    pairs = tuple([(attachment.path, attachment.path) for attachment in copied])
    digests = {attachment.path: attachment.digest for attachment in copied}
    details = MoveDetails(
        (ref.id, ref.id), ref.path, ref.path, (folder, folder), pairs, tuple(created_dirs), None, None, digests
    )
    return Operation(details=pack_details(project, details))


def _mention_change(
    project: Project, attachments: Sequence[Attachment], description: str, *, create: bool
) -> ChangeBuilder:
    """Return a change that lists the attached files that the plan does not mention yet."""
    names = ", ".join([os.path.basename(attachment.path) for attachment in attachments])
    lines = {project.display_path(file.path): _attachment_line(project, file, description) for file in attachments}

    def change(plan: ParsedPlan) -> PlanChange:
        text = "\n".join(plan.text.lines)
        new_lines = [line for path, line in lines.items() if f"`{path}`" not in text]
        if not new_lines:
            return PlanChange((), plan_content(plan), "", tuple([f"already in the plan: {path}" for path in lines]))
        return add_note(new_lines, as_items=True, create=create)(plan)._replace(summary=f"attach, {names}")

    return change


def _place_files(folder: str, sources: Sequence[str]) -> list[Attachment]:
    """Return each file's path in the artifacts directory, existing or planned; raises ExecplanError."""
    existing_paths = sorted([entry.path for entry in os.scandir(folder)]) if os.path.isdir(folder) else []
    taken_ids = {plan_store.normalize_id(os.path.basename(path)) for path in existing_paths}
    by_digest: dict[str, Attachment] = {}
    attachments = []
    for source in sources:
        digest, size = digest_file(source)
        if digest in by_digest:
            attachments.append(by_digest[digest]._replace(copied=False))
            continue
        same_size = [path for path in existing_paths if os.path.isfile(path) and os.path.getsize(path) == size]
        existing_path = next((path for path in same_size if digest_file(path)[0] == digest), None)
        stem, extension = os.path.splitext(os.path.basename(os.path.abspath(source)))
        name = plan_store.free_name(stem, taken_ids, extension)
        by_digest[digest] = Attachment(
            existing_path or os.path.join(folder, name), digest, size, copied=existing_path is None
        )
        taken_ids.add(plan_store.normalize_id(name))
        attachments.append(by_digest[digest])
    return attachments


def digest_file(path: str) -> tuple[str, int]:
    """Return the SHA-256 digest and the size of a regular file of any size; raises ExecplanError."""
    from hashlib import file_digest

    handle, size = file_access.open_file(path)
    with open(handle, "rb") as file:
        return file_digest(file, "sha256").hexdigest(), size


def _copy_to_temporary(source: str, file: Attachment, parent: OpenDirectory, number: int) -> str:
    """Write a synced and verified temporary copy of a file, and return its name; raises ExecplanError.

    It is placed in the parent of the artifacts directory, because the artifacts may be moved meanwhile.
    """
    name = f"{_COPY_PREFIX}{os.getpid()}-{number}.tmp"
    try:
        with open(file_access.open_file(source)[0], "rb") as source_file:
            parent.write(name, iter(lambda: source_file.read(_CHUNK_SIZE), b""), 0o666)
        if digest_file(parent.join(name))[0] != file.digest:
            raise file_access.conflict_error(source)
    except BaseException as error:
        parent.unlink(name)
        if isinstance(error, OSError):
            raise file_access.file_error(error, parent.join(name), "write") from None
        raise
    return name


def _remove_stale_copies(parent: OpenDirectory) -> None:
    """Remove temporary copies left by killed processes."""
    for name in os.listdir(parent.handle):
        pid = name.removeprefix(_COPY_PREFIX).partition("-")[0]
        if name.startswith(_COPY_PREFIX) and name.endswith(".tmp") and pid.isdecimal() and not _is_running(int(pid)):
            parent.unlink(name)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _link_copy(parent: OpenDirectory, copy: str, target: OpenDirectory, path: str) -> None:
    """Link a temporary copy under its final name; raises ExecplanError."""
    try:
        parent.link(copy, target, os.path.basename(path))
        target.sync()
    except OSError as error:
        raise file_access.file_error(error, path, "write") from None


def _remove_unmentioned(project: Project, ref: PlanRef, paths: Sequence[str]) -> None:
    """Remove the added files, except those that the plan mentions: for them only the commit failed."""
    text = plan_store.read_bytes(project, ref.path) if os.path.lexists(ref.path) else b""
    for path in paths:
        if os.fsencode(project.display_path(path)) not in text and os.path.lexists(path):
            os.unlink(path)


def _attachment_line(project: Project, file: Attachment, description: str) -> str:
    facts = f"({file.size:,} bytes, sha256 {file.digest[:16]})"
    return f"`{project.display_path(file.path)}`{': ' * bool(description)}{description} {facts}"
