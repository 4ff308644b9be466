"""Location and name of a plan's audit log, its anchor, and the comparison of the two.

The anchor is the last record known when it was moved, stored apart from the log.

With Git, the anchor is a ref of a blob, `refs/execplan/ledger/NAME`. A linked worktree has its own audit log and its
own ref, `refs/worktree/execplan/ledger/NAME`. Without Git, the anchor is a file in the user's state directory.
"""

from __future__ import annotations

import json
import os

from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.git import git_query
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project, common_git_dir, ensure_inside
from execplan.core.text import fast_json
from execplan.execution.engine.audit_log import hash_chain, log_file
from execplan.execution.engine.audit_log.hash_chain import AuditRecord
from execplan.execution.engine.audit_log.log_file import FILE_NAME, LIMIT, LogFile
from execplan.execution.engine.journal.journal import is_merge_marker

_REFS = "refs/execplan/ledger/"
_WORKTREE_REFS = "refs/worktree/execplan/ledger/"
"""Prefix of per-worktree refs: Git shows refs below refs/worktree in no other worktree."""
_SYNCED = ("-c", "core.fsync=loose-object,reference")
"""Git options that sync blob and ref: by default the system decides when a blob is on disk, and a ref to a lost blob
breaks `git log --all`.
"""
_LIMIT = 1 << 12
_LONGEST = 180
"""Maximum length of an encoded name: file systems allow 255 bytes, and Git appends `.lock`."""


class LogAnchor(NamedTuple):
    """The last record that is known for certain."""

    seq: int
    """Number of the record; 0 if the anchor cannot be read."""
    hash: str
    token: str
    """Blob ID or file text that must still be current when the anchor is moved."""


class MovedMeanwhileError(Exception):
    """Raised when another process has moved the anchor since it was read."""


def ref_of(project: Project, name: str) -> str:
    """Return the ref of an audit log's anchor."""
    return _refs(project) + encode_name(name)


def _refs(project: Project) -> str:
    """Return the prefix of anchor refs; those of the main worktree outlive the others."""
    return _REFS if project.git is None or common_git_dir(project.git) == project.git else _WORKTREE_REFS


def list_keys(project: Project) -> set[str]:
    """Return the keys of all anchors. Raises ExecplanError."""
    if project.git is None:
        folder = os.path.dirname(_path(project, ""))
        return {name.removesuffix(".json") for name in os.listdir(folder)} if os.path.isdir(folder) else set()
    output = git_query.output(project, "for-each-ref", "--format=%(refname)", _refs(project))
    return {line.decode().removeprefix(_refs(project)) for line in output.splitlines()}


def encode_name(name: str) -> str:
    """Encode a name for refs and file names: letters, digits, `_` and `-` stay, all else becomes `%` and two digits.

    A long name is cut and ends with its digest.
    """
    characters = [
        chr(byte) if byte < 128 and (chr(byte).isalnum() or byte in b"_-") else f"%{byte:02X}"
        for byte in os.fsencode(name)
    ]
    text = "".join(characters)
    if len(text) <= _LONGEST:
        return text
    from execplan.core.text.text_lines import digest

    return f"{text[:100]}%{digest(os.fsencode(name))[:32]}"


def get(project: Project, name: str) -> LogAnchor | None:
    """Return the anchor of the audit log with this name, or None. Raises ExecplanError."""
    if project.git is None:
        path = _path(project, name)
        if not os.path.lexists(path):
            return None
        data = file_access.read(path, _LIMIT)[0]
        return _parse_anchor(data, data.decode("utf-8", "replace"))
    ref = ref_of(project, name)
    header, _, content = git_query.output(project, "cat-file", "--batch", stdin=ref.encode() + b"\n").partition(b"\n")
    if not header.endswith(b" missing"):
        return _parse_anchor(content, header.split(b" ")[0].decode())
    lost_blob = git_query.output_or_none(project, "rev-parse", "--verify", "--quiet", ref, no_status=1)
    return LogAnchor(0, "", lost_blob.decode().strip()) if lost_blob else None


def move(project: Project, name: str, old_anchor: LogAnchor | None, seq: int, record_hash: str) -> LogAnchor:
    """Move an anchor to a later record.

    Raises MovedMeanwhileError if another process moved it, and ExecplanError with the anchor unchanged.
    """
    text = json.dumps({"ledger": name, "seq": seq, "hash": record_hash}, ensure_ascii=False) + "\n"
    data = text.encode("utf-8", "backslashreplace")
    if project.git is None:
        _write_file(project, name, old_anchor, data)
        return LogAnchor(seq, record_hash, data.decode())
    blob = git_query.output(project, *_SYNCED, "hash-object", "-w", "--stdin", stdin=data).decode().strip()
    expected_token = old_anchor.token if old_anchor is not None else "0" * len(blob)
    try:
        git_query.output(project, *_SYNCED, "update-ref", ref_of(project, name), blob, expected_token)
    except ExecplanError:
        current_anchor = get(project, name)
        if (current_anchor and current_anchor.token) == (old_anchor and old_anchor.token):
            raise
        raise MovedMeanwhileError from None
    return LogAnchor(seq, record_hash, blob)


def _write_file(project: Project, name: str, old_anchor: LogAnchor | None, data: bytes) -> None:
    path = _path(project, name)
    try:
        old = old_anchor.token.encode() if old_anchor is not None else None
        atomic_files.replace_if_unchanged(path, old, data, make_directories=True)
    except file_access.FileChangedError:
        raise MovedMeanwhileError from None


def _parse_anchor(data: bytes, token: str) -> LogAnchor:
    try:
        content = fast_json.loads(data)
        seq, record_hash = content["seq"], content["hash"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return LogAnchor(0, "", token)
    if isinstance(seq, int) and isinstance(record_hash, str):
        return LogAnchor(seq, record_hash, token)
    return LogAnchor(0, "", token)


def _path(project: Project, name: str) -> str:
    from execplan.execution.approvals import approved_plan, user_directories

    return os.path.join(
        user_directories.anchor_directory(project),
        approved_plan.checkout_digest(project)[:32],
        f"{encode_name(name)}.json",
    )


def broken_error(display_path: str, typed: str, why: str) -> ExecplanError:
    """Return the error for an audit log that is not as it was written."""
    return ExecplanError(
        "ledger-broken",
        f"{display_path}: {why}",
        hint=(
            f"see what is wrong: execplan audit {typed} --verify; restore it from git, a backup or its copy: execplan doctor; "
            f"or accept it as it is: execplan audit {typed} --accept 'Why'"
        ),
        data={"reasons": [why]},
    )


def path_of(project: Project, ref: PlanRef) -> str:
    """Return the path of a plan's audit log, existing or not."""
    return os.path.join(project.plan_artifacts_dir(ref.path, archived=ref.archived), FILE_NAME)


def open_log(project: Project, ref: PlanRef) -> LogFile:
    """Return the file of a plan's audit log, to be opened under its lock. Raises ExecplanError."""
    return LogFile(project, path_of(project, ref), f"the audit log of {ref.id}", ref.path)


def copy_path(project: Project, ref: PlanRef) -> str:
    """Return the path of an audit log's copy in the state directory, existing or not."""
    return log_file.copy_path(project, ref.path)


def is_restorable(project: Project, ref: PlanRef) -> bool:
    """Return whether a broken audit log can be restored from its copy. Raises ExecplanError."""
    path = copy_path(project, ref)
    return os.path.lexists(path) and is_damaged_by_step(read(project, ref), file_access.read(path, LIMIT)[0])


def is_damaged_by_step(data: bytes, copy: bytes) -> bool:
    """Return whether a step has damaged an audit log: by cutting off, removing, editing or adding lines.

    A record that is missing from the copy was written elsewhere: then a person has chosen between two branches, or must
    do so.
    """
    known_hashes = {record.hash for record in hash_chain.parse_chain(copy).records}
    has_foreign = any([record.hash not in known_hashes for record in hash_chain.parse_chain(data).records])
    return data != copy and not has_foreign and not any(map(is_merge_marker, data.split(b"\n")))


def read(project: Project, ref: PlanRef) -> bytes:
    """Read the whole audit log, including a torn last line; empty if there is none. Raises ExecplanError."""
    path = path_of(project, ref)
    if not os.path.lexists(path):
        return b""
    ensure_inside(project, path)
    data, size = file_access.read(path, LIMIT)
    if size > LIMIT:
        raise broken_error(
            project.display_path(path), ref.shell_name, f"it has {size:,} bytes, too many for an audit log"
        )
    return data


def read_records(project: Project, ref: PlanRef) -> list[AuditRecord]:
    """Return the readable records of a plan's audit log. Raises ExecplanError."""
    data = read(project, ref)
    return hash_chain.parse_chain(data[: data.rfind(b"\n") + 1]).records


def default_name(project: Project, ref: PlanRef) -> str:
    """Return the name of a new audit log: the plan's ID, below the project directory if that is not the root."""
    return os.path.normpath(os.path.join(os.path.relpath(project.base, project.root), ref.id))


def available_name(project: Project, ref: PlanRef) -> str:
    """Return the default name, with a number appended if the audit log of another, renamed plan has that name."""
    name, number = default_name(project, ref), 1
    while (existing_anchor := get(project, name)) is not None and _is_owned_by_other_plan(
        project, ref, name, existing_anchor
    ):
        number += 1
        name = f"{default_name(project, ref)}-{number}"
    return name


def parse_log(data: bytes, known_anchor: LogAnchor | None) -> hash_chain.ParsedChain:
    """Parse the complete lines of an audit log; only records up to the anchor can accept flaws."""
    return hash_chain.parse_chain(
        data,
        anchored_size=max(hash_chain.offset_after(data, known_anchor.hash), 0) if known_anchor is not None else None,
    )


def find_loss(data: bytes, known_anchor: LogAnchor) -> str:
    """Return why the anchored record is missing from an audit log; empty if it is present."""
    if not known_anchor.seq:
        return "its anchor can't be read"
    if hash_chain.offset_after(data, known_anchor.hash) >= 0:
        return ""
    if not data:
        return f"it is missing, but its anchor refers to record {known_anchor.seq}"
    why = "its end was cut off, it was replaced, or it is from another branch"
    return f"record {known_anchor.seq}, which its anchor refers to, is missing: {why}"


def _is_owned_by_other_plan(project: Project, ref: PlanRef, name: str, known_anchor: LogAnchor) -> bool:
    other_logs = [read(project, other_ref) for other_ref in plan_store.all_refs(project) if other_ref.path != ref.path]
    return any(
        [hash_chain.find_log_name(data) == name and not find_loss(data, known_anchor) for data in other_logs if data]
    )
