"""The facts of plans, from a cache in the Git directory while their files are unchanged: parsing takes seconds."""

from __future__ import annotations

import os
import sys
from time import time_ns
from typing import TYPE_CHECKING, Any

from execplan import __version__
from execplan.board.card_facts import CardFacts, OpenTask, TaskCounts, extract_facts
from execplan.errors import ExecplanError
from execplan.files import file_access, marshal_cache
from execplan.linter.checking.lint_cache import MTIME_MARGIN_NS, file_stat, package_fingerprint
from execplan.plan import reader
from execplan.plan.model import BROKEN
from execplan.plan.plan_dependencies import PlanMention
from execplan.project.project import ensure_inside
from execplan.text.text_lines import digest
from execplan.worker_processes import process_count, run_in_processes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.linter.checking.lint_cache import FileStat
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project

    CacheEntry = tuple[FileStat, tuple[Any, ...]]
    """Status of the file when it was read, and its facts as plain tuples."""

_MAGIC = b"execplan board 2\n"


class FactsCache:
    """The cached facts of the plans of one project, by absolute path."""

    def __init__(self, path: str, header: bytes) -> None:
        self._path = path
        self._header = header
        self._started_ns = time_ns()
        content = marshal_cache.read_cache(path, header)
        self._entries: dict[str, CacheEntry] = content if isinstance(content, dict) else {}
        self._used: set[str] = set()
        self._new: set[str] = set()

    def find(self, path: str) -> CardFacts | None:
        """Return the facts of the plan in a file, or None if they are unknown or the file has changed.

        Never facts of a symbolic link, whose status is not that of its target.
        """
        entry = self._entries.get(path)
        if entry is None:
            return None
        try:
            status = os.lstat(path)
        except OSError:
            return None
        if file_stat(status) != entry[0]:
            return None
        self._used.add(path)
        return _make_facts(entry[1])

    def store(self, path: str, status: FileStat, facts: CardFacts) -> None:
        """Remember the facts of a regular file that had this status when it was read."""
        self._entries[path] = status, _plain_tuple(facts)
        self._new.add(path)
        self._used.add(path)

    def save(self) -> None:
        """Write changes for the next run, without the plans that no longer exist; on failure, continue without a cache."""
        missing = [path for path in self._entries.keys() - self._used if not os.path.lexists(path)]
        if not self._new and not missing:
            return
        for path in missing:
            del self._entries[path]
        marshal_cache.write_cache(self._path, self._header, self._started_ns, self._trusted_entries)

    def _trusted_entries(self, start: int) -> dict[str, CacheEntry]:
        """Return the entries without those of files that may have changed again with the same timestamp."""
        unsafe_since = start - MTIME_MARGIN_NS
        return {
            path: entry
            for path, entry in self._entries.items()
            if path not in self._new or max(entry[0][1:3]) < unsafe_since
        }


def open_facts_cache(project: Project) -> FactsCache | None:
    """Return the cache for a project; None without Git, or if this package was just changed."""
    fingerprint = package_fingerprint() if project.git is not None else None
    if fingerprint is None:
        return None
    key_parts = (__version__, fingerprint, sys.version, os.geteuid(), project.root, project.base)
    key = digest(repr(key_parts).encode("utf-8", "surrogatepass")).encode()
    name = digest(os.fsencode(project.base))[:16]
    return FactsCache(os.path.join(project.caches, "board", name), _MAGIC + key)


def load_facts(project: Project, refs: Sequence[PlanRef], cache: FactsCache | None) -> list[tuple[PlanRef, CardFacts]]:
    """Load the facts of plans, from the cache where their files are unchanged; many are read in several processes.

    Plans that were moved away after their directory was listed are left out.
    """
    facts_by_path = {ref.path: cache.find(ref.path) if cache is not None else None for ref in refs}
    pending = [ref for ref in refs if facts_by_path[ref.path] is None]
    results = run_in_processes(
        lambda at: _read_facts(project, pending[at]), len(pending), process_count(len(pending)), lambda _: None
    )
    for ref, (fields, status) in zip(pending, results, strict=True):
        facts_by_path[ref.path] = facts = _make_facts(fields)
        if cache is not None and status is not None:
            cache.store(ref.path, status, facts)
    loaded = [(ref, facts) for ref in refs for facts in [facts_by_path[ref.path]] if facts is not None]
    return [(ref, facts) for ref, facts in loaded if not facts.error or os.path.lexists(ref.path)]


def _read_facts(project: Project, ref: PlanRef) -> tuple[tuple[Any, ...], FileStat | None]:
    """Read the facts of a plan, in plain tuples, and the status of its file; None if they must not be cached."""
    try:
        ensure_inside(project, ref.path)
        data, size, status = file_access.read_with_status(ref.path, reader.MAX_BYTES)
        if size > reader.MAX_BYTES:
            raise reader.too_large_error(size)
        facts = extract_facts(reader.read(data), data, project.display_path(ref.path))
    except ExecplanError as error:
        return _plain_tuple(
            CardFacts("", "", BROKEN, None, (), (), "", False, 0, "", file_access.read_failure(error, ref.path))
        ), None
    is_cacheable = status is not None and not os.path.islink(ref.path)  # a link's status is not that of its target
    return _plain_tuple(facts), file_stat(status) if is_cacheable and status is not None else None


def _plain_tuple(facts: CardFacts) -> tuple[Any, ...]:
    """Return facts in plain tuples, the only ones that `marshal` writes."""
    return tuple([_to_plain(field) for field in facts])


def _to_plain(value: Any) -> Any:
    return tuple([_to_plain(part) for part in value]) if isinstance(value, tuple) else value


def _make_facts(fields: tuple[Any, ...]) -> CardFacts:
    facts = CardFacts._make(fields)
    return facts._replace(
        counts=TaskCounts._make(facts.counts) if facts.counts is not None else None,
        open_tasks=tuple([OpenTask._make(task) for task in facts.open_tasks]),
        dependencies=tuple([PlanMention._make(mention) for mention in facts.dependencies]),
    )
