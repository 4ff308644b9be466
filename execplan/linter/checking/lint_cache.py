"""A cache of lint results in the Git directory; results are used only if nothing that they depend on has changed."""

from __future__ import annotations

import os
from time import time_ns

from execplan import __version__
from execplan.core.files import marshal_cache
from execplan.core.files.file_status import MTIME_MARGIN_NS, package_fingerprint
from execplan.core.text.text_lines import digest
from execplan.linter.rule import BUILTIN_PREFIX, RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.files.file_status import FileStat
    from execplan.core.project.project import Project
    from execplan.linter.checking.plan_check import CheckOptions
    from execplan.linter.rule import RuleContext

    TreeQuery = tuple[str, str, object]
    """A rule's query about the repository tree, with the answer."""
    StoredReport = tuple[tuple[int, ...], str, str, str]
    """A `FindingReport`, as a plain tuple."""
    CacheEntry = tuple[FileStat | None, bytes, bytes, int, int, tuple[int, ...], StoredReport | None]
    """Cache entry: file status (None: never trust), digest, encoded findings, first and last valid minute, query indexes,
    and the report of the findings if one was requested."""

_MAGIC = b"execplan lint 2\n"
_MAX_CACHES = 16
"""Maximum number of caches per repository, one for each project, options, settings and version."""
NO_MINUTE_LIMIT = 1 << 62


class LintCache:
    """The cached findings of one project under one set of options."""

    def __init__(self, path: str, key: bytes) -> None:
        self._path = path
        self._key = key
        self._started_ns = time_ns()
        self._current_minute = 0
        self._is_within_bounds = True
        self._outdated_indexes: set[int] = set()
        self._query_indexes: dict[TreeQuery, int] = {}
        self._new_entries: list[tuple[str, str]] = []
        self._listed_directories: list[tuple[str, list[str]]] = []
        self._queries: list[TreeQuery] = []
        self._directories: dict[str, dict[str, CacheEntry]] = {}
        self._valid_from, self._valid_until, self._queries, self._directories = _load_cache(path, key) or (
            -NO_MINUTE_LIMIT,
            NO_MINUTE_LIMIT,
            [],
            {},
        )

    def refresh_answers(self, context: RuleContext) -> None:
        """Repeat, once each, all recorded queries of the clock and the repository tree."""
        if context.clock is not None:
            self._current_minute = context.clock.now
        self._is_within_bounds = self._valid_from <= self._current_minute < self._valid_until
        for index, (kind, subject, answer) in enumerate(self._queries):
            if context.tree is None or not context.tree.is_unchanged(kind, subject, answer):
                self._outdated_indexes.add(index)

    def directory_entries(self, directory: str, *, archived: bool) -> dict[str, CacheEntry]:
        """Return the cache entries of the files in a directory."""
        return self._directories.get(_directory_key(directory, archived=archived), {})

    def is_valid(self, entry: CacheEntry) -> bool:
        """Return whether clock and tree still give the answers that an entry's findings depend on."""
        if not self._is_within_bounds and not entry[3] <= self._current_minute < entry[4]:
            return False
        return not self._outdated_indexes or self._outdated_indexes.isdisjoint(entry[5])

    def entry_queries(self, entry: CacheEntry) -> tuple[TreeQuery, ...]:
        """Return the queries that an entry depends on."""
        return tuple([self._queries[index] for index in entry[5]])

    def note_names(self, directory: str, names: list[str], *, archived: bool) -> None:
        """Record the names of all plans in a directory, so that entries of others are dropped."""
        self._listed_directories.append((_directory_key(directory, archived=archived), names))

    def store(
        self, directory: str, name: str, entry: CacheEntry, queries: tuple[TreeQuery, ...], *, archived: bool
    ) -> None:
        """Store the result for a file; `queries` are the queries that its entry depends on."""
        if not self._query_indexes:
            self._query_indexes = {query: index for index, query in enumerate(self._queries)}
        indexes = []
        for query in queries:
            if query not in self._query_indexes:
                self._query_indexes[query] = len(self._queries)
                self._queries.append(query)
            indexes.append(self._query_indexes[query])
        directory_key = _directory_key(directory, archived=archived)
        self._directories.setdefault(directory_key, {})[name] = (*entry[:5], tuple(indexes), entry[6])
        self._new_entries.append((directory_key, name))

    def save(self) -> None:
        """Write changes for the next run; on failure, continue without a cache."""
        has_dropped = self._drop_missing()
        if not has_dropped and not self._new_entries:
            return
        if marshal_cache.write_cache(
            self._path, _MAGIC + self._key, self._started_ns, lambda start: self._content(start - MTIME_MARGIN_NS)
        ):
            _prune_caches(os.path.dirname(self._path))

    def _drop_missing(self) -> bool:
        """Drop the entries of missing files in the directories that were listed; return whether any were."""
        has_dropped = False
        for directory_key, names in self._listed_directories:
            cached_entries = self._directories.get(directory_key, {})
            for name in cached_entries.keys() - set(names):
                del cached_entries[name]
                has_dropped = True
        if self._listed_directories:
            for directory_key in [key for key in self._directories if not os.path.isdir(key[1:])]:
                del self._directories[directory_key]
                has_dropped = True
        return has_dropped

    def _content(self, unsafe_since: int) -> tuple[int, int, list[TreeQuery], dict[str, dict[str, CacheEntry]]]:
        """Return what is stored.

        A file changed after `unsafe_since` may change again with the same timestamp, so its status is not trusted.
        """
        for directory_key, name in self._new_entries:
            entry = self._directories[directory_key].get(name)
            if entry is not None and entry[0] is not None and max(entry[0][1:3]) >= unsafe_since:
                self._directories[directory_key][name] = (None, *entry[1:])
        new_indexes: dict[int, int] = {}
        directories: dict[str, dict[str, CacheEntry]] = {}
        valid_from, valid_until = -NO_MINUTE_LIMIT, NO_MINUTE_LIMIT
        for directory_key, cached_entries in self._directories.items():
            directories[directory_key] = {}
            for name, entry in cached_entries.items():
                entry_indexes = tuple([new_indexes.setdefault(index, len(new_indexes)) for index in entry[5]])
                directories[directory_key][name] = (*entry[:5], entry_indexes, entry[6])
                valid_from, valid_until = max(valid_from, entry[3]), min(valid_until, entry[4])
        queries = [self._queries[index] for index in new_indexes]
        return valid_from, valid_until, queries, directories


def open_cache(project: Project, options: CheckOptions) -> LintCache | None:
    """Return the cache for a project.

    Returns None without Git, or with custom rules, whose results may depend on anything.
    """
    if project.git is None or not all([code.startswith(BUILTIN_PREFIX) for code in RULES]):
        return None
    rules = package_fingerprint()
    if rules is None:
        return None
    import sys

    key_parts = (
        __version__,
        rules,
        sys.version,
        getattr(os, "geteuid", int)(),
        project,
        options.is_hook,
        options.selection,
    )
    key = digest(repr(key_parts).encode("utf-8", "surrogatepass")).encode()
    return LintCache(os.path.join(project.caches, "lint", key[:16].decode()), key)


def _directory_key(directory: str, *, archived: bool) -> str:
    return ("a" if archived else "-") + directory


def _load_cache(path: str, key: bytes) -> tuple[int, int, list[TreeQuery], dict[str, dict[str, CacheEntry]]] | None:
    """Load a cache; None if it is missing, damaged, or belongs to another user or key."""
    content = marshal_cache.read_cache(path, _MAGIC + key)
    return content if isinstance(content, tuple) and len(content) == 4 else None


def _prune_caches(directory: str) -> None:
    """Keep only the newest caches. Temporary files of killed runs are also removed in time."""
    try:
        marshal_caches = sorted(
            os.scandir(directory), key=lambda marshal_cache: marshal_cache.stat(follow_symlinks=False).st_mtime_ns
        )
        for marshal_cache in marshal_caches[:-_MAX_CACHES]:
            os.unlink(marshal_cache.path)
    except OSError:
        pass  # another run may prune at the same time
