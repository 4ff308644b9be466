"""Checks of many plans: unchanged ones come from the cache, the rest run in several processes if that is faster."""

from __future__ import annotations

import os

from execplan import trace
from execplan.errors import ExecplanError
from execplan.files import file_access
from execplan.linter.checking.effective_rules import active_levels, effective_selection
from execplan.linter.checking.lint_cache import NO_MINUTE_LIMIT, LintCache, file_stat, open_cache
from execplan.linter.checking.plan_check import CheckedFile, check_plan, make_checked_file, make_rule_context
from execplan.linter.checking.worker_processes import process_count, run_in_processes
from execplan.linter.plan_recognition import NOT_A_PLAN
from execplan.linter.rule import NOTICE, Finding, Fix
from execplan.linter.runner import lint_bytes, unreadable_finding
from execplan.named_tuple import NamedTuple
from execplan.plan.reader import MAX_BYTES, too_large_error
from execplan.plan_store.plan_store import PlanRef
from execplan.text.line_edit import Edit
from execplan.text.pure_paths import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from execplan.linter.checking.check_targets import TargetGroup
    from execplan.linter.checking.lint_cache import CacheEntry, FindingRow, TreeQuery
    from execplan.linter.checking.plan_check import CheckOptions
    from execplan.project.project import Project

MIN_CACHED_PLANS = 8
"""Number of plans up to which checking is faster than a cache lookup."""


class _PendingPlan(NamedTuple):
    """A plan that must be read, because no usable result is cached."""

    position: int
    """Position among all plans."""
    group: TargetGroup
    name: str
    cache: LintCache | None
    cached_entry: CacheEntry | None
    """Previous cache entry of the plan."""
    is_in_repository: bool
    """Whether the plan's directory is in the repository."""


def check_plans(
    groups: Sequence[TargetGroup],
    options: CheckOptions,
    *,
    use_cache: bool = True,
    with_data: bool = False,
    tick: Callable[[int, int], None] | None = None,
) -> list[CheckedFile]:
    """Check the plans, in order.

    With `with_data`, results with findings include the file's bytes. `tick` is called with the number of plans checked
    and the total. Raises ExecplanError if a project's settings are invalid or a worker process dies.
    """
    use_cache = use_cache and sum([len(group.names) for group in groups]) > MIN_CACHED_PLANS
    caches: dict[tuple[str, str], LintCache | None] = {}
    checked_files: list[CheckedFile] = []
    pending: list[_PendingPlan] = []
    for group in groups:
        project_key = group.project.root, group.project.base
        if project_key not in caches:
            caches[project_key] = _open_fresh_cache(group.project, options) if use_cache else None
        _use_cached_results(group, options, caches[project_key], checked_files, pending, with_data=with_data)
    outcomes = run_in_processes(
        lambda position: _check_pending(pending[position], options, with_data=with_data),
        len(pending),
        process_count(len(pending)),
        lambda finished: tick(finished, len(pending)) if tick is not None else None,
    )
    checked_count = 0
    for pending_plan, (rows, data, entry, queries, was_cached) in zip(pending, outcomes, strict=True):
        checked_count += not was_cached
        if rows:
            placeholder = checked_files[pending_plan.position]
            checked_files[pending_plan.position] = make_checked_file(
                placeholder.path,
                placeholder.display_name,
                [_row_to_finding(row) for row in rows],
                data,
                placeholder.fail_level,
            )
        if pending_plan.cache is not None and entry is not None:
            pending_plan.cache.store(
                pending_plan.group.directory, pending_plan.name, entry, queries, archived=pending_plan.group.archived
            )
    if use_cache:
        trace.log(f"{len(checked_files) - checked_count} of {len(checked_files)} plans from the cache")
    for cache in caches.values():
        if cache is not None:
            cache.save()
    return checked_files


def _open_fresh_cache(project: Project, options: CheckOptions) -> LintCache | None:
    """Return a project's cache with current answers.

    Returns None if rules query history, because file states do not reflect it.
    """
    if options.histories is not None:
        return None
    cache = open_cache(project, options)
    if cache is not None:
        cache.refresh_answers(make_rule_context(project, PlanRef("", project.base, archived=False), options))
    return cache


def _use_cached_results(
    group: TargetGroup,
    options: CheckOptions,
    cache: LintCache | None,
    checked_files: list[CheckedFile],
    pending: list[_PendingPlan],
    *,
    with_data: bool,
) -> None:
    """Add the cached results of a directory's plans; plans without one become pending, with no findings so far."""
    project = group.project
    is_in_repository = is_inside(os.path.realpath(group.directory), project.root)
    cached_entries: dict[str, CacheEntry] = {}
    if cache is not None:
        cached_entries = cache.directory_entries(group.directory, archived=group.archived)
        if group.is_complete:
            cache.note_names(group.directory, group.names, archived=group.archived)
    display_prefix = project.display_path(os.path.join(group.directory, "x"))[:-1]
    fail_level = effective_selection(project, options.selection).failure_level
    directory_fd = _open_directory(group.directory) if cached_entries and is_in_repository else -1
    try:
        for name in group.names:
            entry = cached_entries.get(name)
            findings: list[Finding] = []
            # the cache has no answers to queries that Git answers about a plan
            usable_cache = (
                None if options.committed and os.path.join(group.directory, name) in options.committed else cache
            )
            if (
                usable_cache is None
                or entry is None
                or not _is_cached_result_usable(usable_cache, entry, group, name, directory_fd, with_data=with_data)
            ):
                pending.append(
                    _PendingPlan(
                        len(checked_files),
                        group,
                        name,
                        usable_cache,
                        entry if usable_cache is not None else None,
                        is_in_repository,
                    )
                )
            elif entry[2]:
                findings = [_row_to_finding(row) for row in entry[2]]
            checked_files.append(
                make_checked_file(display_prefix + name, group.display_prefix + name, findings, b"", fail_level)
            )
    finally:
        if directory_fd >= 0:
            os.close(directory_fd)


def _is_cached_result_usable(
    cache: LintCache, entry: CacheEntry, group: TargetGroup, name: str, directory_fd: int, *, with_data: bool
) -> bool:
    """Return whether a cached result contains everything that is requested."""
    if not _is_file_unchanged(name, directory_fd, entry) or not cache.is_valid(entry):
        return False
    return not group.is_explicit if _is_skipped(entry[2]) else not (entry[2] and with_data)


def _open_directory(path: str) -> int:
    """Return a file descriptor of a directory, or -1 if it can't be opened."""
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return -1


def _is_file_unchanged(name: str, directory_fd: int, entry: CacheEntry) -> bool:
    """Return whether a file is unchanged since its check.

    Never true for a symlink, whose status is not that of its target.
    """
    if directory_fd < 0 or entry[0] is None:
        return False
    try:
        return file_stat(os.stat(name, dir_fd=directory_fd, follow_symlinks=False)) == entry[0]
    except OSError:
        return False


def _check_pending(
    pending_plan: _PendingPlan, options: CheckOptions, *, with_data: bool
) -> tuple[tuple[FindingRow, ...], bytes, CacheEntry | None, tuple[TreeQuery, ...], bool]:
    """Check one plan and return its findings as rows, its bytes if requested, and its new cache entry.

    Also returns the queries of its rules, and whether the result was cached.
    """
    target = pending_plan.group.target(pending_plan.name)
    project, ref = target.project, target.ref
    if not pending_plan.is_in_repository or os.path.islink(ref.path):
        checked_file = check_plan(target, options)
        rows = (_to_plain_tuple(NOT_A_PLAN),) if checked_file.was_skipped else _findings_to_rows(checked_file.findings)
        return rows, checked_file.data if with_data and checked_file.findings else b"", None, (), False
    try:
        data, size, status = file_access.read_with_status(ref.path, MAX_BYTES)
        if size > MAX_BYTES:
            raise too_large_error(size)
    except ExecplanError as error:
        return _findings_to_rows([unreadable_finding(error)]), b"", None, (), False
    content_digest = _digest(data) if pending_plan.cache is not None else b""
    cached_entry = pending_plan.cached_entry
    was_cached = (
        pending_plan.cache is not None
        and cached_entry is not None
        and cached_entry[1] == content_digest
        and pending_plan.cache.is_valid(cached_entry)
    )
    path = project.display_path(ref.path)
    if was_cached and pending_plan.cache is not None and cached_entry is not None:
        rows, valid_from, valid_until, queries = (
            cached_entry[2],
            cached_entry[3],
            cached_entry[4],
            pending_plan.cache.entry_queries(cached_entry),
        )
    else:
        context = make_rule_context(project, ref, options, is_explicit=False)
        rows = _findings_to_rows(lint_bytes(data, context, active_levels(project, options.selection, path)))
        valid_from, valid_until = (
            (context.clock.low, context.clock.high)
            if context.clock is not None
            else (-NO_MINUTE_LIMIT, NO_MINUTE_LIMIT)
        )
        queries = (
            tuple([(*question, answer) for question, answer in context.tree.answers.items()]) if context.tree else ()
        )
    new_entry = (file_stat(status) if status is not None else None), content_digest, rows, valid_from, valid_until, ()
    if _is_skipped(rows) and pending_plan.group.is_explicit:  # the cache only records that the file is not a plan
        rows = _findings_to_rows(
            lint_bytes(data, make_rule_context(project, ref, options), active_levels(project, options.selection, path))
        )
    return (
        rows,
        data if with_data and rows else b"",
        new_entry if pending_plan.cache is not None else None,
        queries,
        was_cached,
    )


def _is_skipped(rows: tuple[FindingRow, ...]) -> bool:
    """Return whether these rows report that the file is not a plan."""
    return len(rows) == 1 and rows[0][1] == NOTICE


def _digest(data: bytes) -> bytes:
    from hashlib import sha256  # OpenSSL's, seven times as fast as Python's own

    return sha256(data).digest()


def _findings_to_rows(findings: Sequence[Finding]) -> tuple[FindingRow, ...]:
    """Convert findings to plain tuples, which the cache can store."""
    return tuple([_to_plain_tuple(finding) for finding in findings])


def _to_plain_tuple(value: Any) -> Any:
    return tuple([_to_plain_tuple(part) for part in value]) if isinstance(value, tuple) else value


def _row_to_finding(row: Any) -> Finding:
    """Convert a plain tuple to a finding."""
    finding = Finding._make(row)
    if finding.fix is None:
        return finding
    kind, edits = finding.fix
    return finding._replace(fix=Fix(kind, tuple([Edit(*edit) for edit in edits])))
