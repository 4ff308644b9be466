"""Loading of the facts of plans: from the index while their files are unchanged, otherwise from the files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

from execplan.core import trace
from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.files.file_lock import is_held
from execplan.core.files.file_status import MTIME_MARGIN_NS, file_stat
from execplan.core.plan.model import ARCHIVED
from execplan.core.plan_facts.listed_plan import ListedPlan, PlanFacts, broken_facts, decode_facts, encode_facts
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project, ensure_inside
from execplan.core.project.project_discovery import with_nested_projects
from execplan.core.worker_processes import PLANS_PER_PROCESS, process_count, run_in_processes


class StoredFacts(NamedTuple):
    """A row of the table."""

    status: str
    """File status in which the file has these facts; empty if it can't be trusted."""
    checksum: int
    encoded: bytes

    def decode(self) -> PlanFacts | None:
        """Return the facts; None if the row is damaged."""
        if not isinstance(self.encoded, bytes) or crc32(self.encoded) != self.checksum:
            return None
        try:
            return decode_facts(self.encoded)
        except (ValueError, EOFError, TypeError):
            return None


def load_stored(project: Project) -> dict[bytes, StoredFacts] | None:
    """Return the rows by path from the repository root; None if the index can't be used. A damaged one is made again."""
    import sqlite3

    from execplan.core.plan_facts import index_file

    for _ in range(2):
        try:
            with index_file.open_index(project) as database:
                rows = database.execute("select path, status, checksum, facts from facts")
                return {row[0]: StoredFacts._make(row[1:]) for row in rows}
        except (sqlite3.Error, OSError, ExecplanError) as error:
            trace.log(f"can't use {index_file.index_path(project)}: {error}")
            try:
                if not isinstance(error, sqlite3.Error) or not index_file.remove_damaged(project, error):
                    return None
            except (OSError, ExecplanError):
                return None
    return None


def save(project: Project, changed: Mapping[bytes, tuple[str, bytes]], removed: Sequence[bytes]) -> None:
    """Write rows, given as file status and encoded facts by path, and remove others.

    If that is impossible, or if another process is writing the index, it stays as it is.
    """
    import sqlite3

    from execplan.core.plan_facts import index_file

    rows = [(path, status, crc32(encoded), encoded) for path, (status, encoded) in changed.items()]
    lock = index_file.index_lock(project)
    try:
        if is_held(lock.path):
            return
        with index_file.open_index(project) as database, lock, index_file.transaction(database):
            database.executemany("delete from facts where path = ?", [(path,) for path in removed])
            database.executemany("insert or replace into facts values (?, ?, ?, ?)", rows)
        trace.log(f"indexed the facts of {len(changed)} plans")
    except (sqlite3.Error, OSError, ExecplanError) as error:
        trace.log(f"can't write {index_file.index_path(project)}: {error}")


MIN_INDEXED_PLANS = PLANS_PER_PROCESS
"""Number of plans up to which reading them is about as fast as opening the index."""


class _ReadFacts(NamedTuple):
    """The facts of a plan that was read, as values that `marshal` can write."""

    encoded: bytes
    status: str
    """File status in which the file has these facts; empty if it can't be trusted."""
    is_new: bool
    """Whether the index does not have these facts."""


def load_listed_plans(project: Project, *, archive: bool = False) -> list[ListedPlan]:
    """Load the plans of a project and of its nested projects, with or without archived plans, with their facts."""
    plans = [
        (member, ref)
        for member in with_nested_projects(project)
        for ref in (plan_store.all_refs(member) if archive else plan_store.refs(member))
    ]
    return load_facts(project, plans)


def load_archived(project: Project) -> list[ListedPlan]:
    """Load the archived plans of a project and of its nested projects with their facts; other files there don't count."""
    plans = [(member, ref) for member in with_nested_projects(project) for ref in plan_store.refs(member, archive=True)]
    return [plan for plan in load_facts(project, plans) if plan.state == ARCHIVED]


def load_facts(
    project: Project, plans: Sequence[tuple[Project, PlanRef]], *, only_indexed: bool = False
) -> list[ListedPlan]:
    """Load the facts of plans of a project and of its nested projects; many changed ones are read in several processes.

    Plans that were moved away after their directory was listed are left out. A broken plan has facts with its error.
    With `only_indexed`, no plan is read, and those that the index doesn't have are left out.
    """
    stored = load_stored(project) if len(plans) > MIN_INDEXED_PLANS and project.git is not None else None
    facts_by_position: dict[int, PlanFacts] = {}
    pending: list[int] = []
    for position, (member, ref) in enumerate(plans):
        entry = stored.get(_key(member, ref)) if stored else None
        facts = entry.decode() if entry is not None and entry.status and entry.status == _status(ref.path) else None
        if facts is not None:
            facts_by_position[position] = facts
        elif not only_indexed:
            pending.append(position)
    results = [
        _ReadFacts._make(fields)
        for fields in run_in_processes(
            lambda at: tuple(_read_facts(*plans[pending[at]], stored or {})),
            len(pending),
            process_count(len(pending)),
            lambda _: None,
        )
    ]
    for position, result in zip(pending, results, strict=True):
        facts_by_position[position] = decode_facts(result.encoded)
    if stored is not None and not only_indexed:
        read = [(_key(*plans[at]), result) for at, result in zip(pending, results, strict=True)]
        _save(project, stored, read, {_key(*plan) for plan in plans})
    listed = [ListedPlan(*plans[position], facts) for position, facts in sorted(facts_by_position.items())]
    return [plan for plan in listed if not plan.facts.error or os.path.lexists(plan.ref.path)]


def read_plan_facts(project: Project, ref: PlanRef) -> PlanFacts:
    """Read the facts of one plan from its file."""
    return decode_facts(_read_facts(project, ref, {}).encoded)


def _key(project: Project, ref: PlanRef) -> bytes:
    return os.fsencode(project.display_path(ref.path))


def _status(path: str) -> str:
    """Return the status of a file as the index has it; of a link, whose status is not that of its target, none."""
    try:
        status = os.lstat(path)
    except OSError:
        return ""
    return _format_status(status) if status.st_mode & 0o170000 == 0o100000 else ""


def _format_status(status: os.stat_result) -> str:
    return " ".join([str(field) for field in file_stat(status)])


def _read_facts(project: Project, ref: PlanRef, stored: dict[bytes, StoredFacts]) -> _ReadFacts:
    """Read the facts of a plan; from the index if the file has the digest that the index has."""
    from time import time_ns

    from execplan.core.plan import reader
    from execplan.core.plan_facts.facts_extraction import extract_facts
    from execplan.core.text.text_lines import digest

    started_ns = time_ns()
    try:
        ensure_inside(project, ref.path)
        data, size, status = file_access.read_with_status(ref.path, reader.MAX_BYTES)
        if size > reader.MAX_BYTES:
            raise reader.too_large_error(size)
        file_digest = digest(data)
        entry = stored.get(_key(project, ref))
        facts = entry.decode() if entry is not None else None
        is_new = entry is None or facts is None or facts.digest != file_digest
        if entry is None or is_new:
            encoded = encode_facts(extract_facts(project, ref, plan_store.parse(project, data), file_digest))
        else:
            encoded = entry.encoded
    except ExecplanError as error:
        return _ReadFacts(encode_facts(broken_facts(error.message)), "", is_new=False)
    is_settled = status is not None and max(file_stat(status)[1:3]) < started_ns - MTIME_MARGIN_NS
    is_regular = is_settled and not os.path.islink(ref.path)
    return _ReadFacts(encoded, _format_status(status) if is_regular and status is not None else "", is_new)


def _save(
    project: Project, stored: dict[bytes, StoredFacts], results: list[tuple[bytes, _ReadFacts]], listed: set[bytes]
) -> None:
    """Write what differs from the index, without plans that no longer exist; on failure, continue without it."""
    changed = {
        key: (result.status, result.encoded)
        for key, result in results
        if result.is_new or (key in stored and result.status and stored[key].status != result.status)
    }
    root = os.fsencode(project.root)
    removed = [key for key in stored.keys() - listed if not os.path.lexists(os.path.join(root, key))]
    if changed or removed:
        save(project, changed, removed)
