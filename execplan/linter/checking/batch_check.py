"""Checks of many plans: unchanged ones come from the cache, the rest run in several processes if that is faster."""

from __future__ import annotations

import os
from itertools import chain

from execplan.core import trace
from execplan.core.files.file_status import file_stat
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.text.pure_paths import is_inside
from execplan.core.worker_processes import iter_parts
from execplan.linter.checking.effective_rules import effective_selection
from execplan.linter.checking.lint_cache import LintCache, open_cache
from execplan.linter.checking.pending_check import CheckOutcome, PendingPlan, WantedParts, check_pending
from execplan.linter.checking.plan_check import CheckedFile, make_rule_context
from execplan.linter.checking.stored_findings import SKIPPED, StoredFindings
from execplan.linter.finding_summary import FindingReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.core.project.project import Project
    from execplan.linter.checking.check_targets import TargetGroup
    from execplan.linter.checking.lint_cache import CacheEntry, StoredReport
    from execplan.linter.checking.plan_check import CheckOptions
    from execplan.linter.rule import Finding

    MakeReport = Callable[[Sequence[Finding], list[str]], FindingReport]
    """Makes the report of a plan's findings, given its lines."""

MIN_CACHED_PLANS = 8
"""Number of plans up to which checking is faster than a cache lookup."""
_PART_SIZE = 1_000
"""Number of plans whose results are in memory twice at the same time: in the processes that check them, and in this one."""


def check_plans(
    groups: Sequence[TargetGroup],
    options: CheckOptions,
    *,
    use_cache: bool = True,
    with_data: bool = False,
    make_report: MakeReport | None = None,
    tick: Callable[[int, int], None] | None = None,
) -> list[CheckedFile]:
    """Check the plans, in order.

    With `with_data`, results with findings include the file's bytes; with `make_report`, a report, which the cache
    keeps. `tick` is called with the number of plans checked and the total. Raises ExecplanError if a project's settings
    are invalid or a worker process dies.
    """
    parts = WantedParts(with_data, make_report)
    use_cache = use_cache and sum([len(group.names) for group in groups]) > MIN_CACHED_PLANS
    caches: dict[tuple[str, str], LintCache | None] = {}
    checked_files: list[CheckedFile] = []
    pending: list[PendingPlan] = []
    for group in groups:
        project_key = group.project.root, group.project.base
        if project_key not in caches:
            caches[project_key] = _open_fresh_cache(group.project, options) if use_cache else None
        _use_cached_results(group, options, caches[project_key], checked_files, pending, parts)
    outcome_parts = iter_parts(
        lambda position: check_pending(pending[position], options, parts),
        len(pending),
        _PART_SIZE,
        lambda finished: tick(finished, len(pending)) if tick is not None else None,
    )
    checked_count = 0
    for pending_plan, values in zip(pending, chain.from_iterable(outcome_parts), strict=True):
        outcome = CheckOutcome(*values)
        checked_count += not outcome.was_cached
        if outcome.findings:
            checked = checked_files[pending_plan.position]
            checked_files[pending_plan.position] = _make_result(
                checked.path, checked.display_name, checked.fail_level, outcome.findings, outcome.report, outcome.data
            )
        if pending_plan.cache is not None and outcome.entry is not None:
            group = pending_plan.group
            pending_plan.cache.store(
                group.directory, pending_plan.name, outcome.entry, outcome.queries, archived=group.archived
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
    pending: list[PendingPlan],
    parts: WantedParts,
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
            names = display_prefix + name, group.display_prefix + name
            findings, report = b"", None
            # the cache has no answers to queries that Git answers about a plan
            usable_cache = (
                None if options.committed and os.path.join(group.directory, name) in options.committed else cache
            )
            if (
                usable_cache is None
                or entry is None
                or not _is_cached_result_usable(usable_cache, entry, group, name, directory_fd, parts)
            ):
                pending.append(
                    PendingPlan(
                        len(checked_files),
                        group,
                        name,
                        usable_cache,
                        entry if usable_cache is not None else None,
                        is_in_repository,
                    )
                )
            else:
                findings, report = entry[2], entry[6]
            checked_files.append(_make_result(*names, fail_level, findings, report))
    finally:
        if directory_fd >= 0:
            os.close(directory_fd)


def _make_result(
    path: str, display_name: str, fail_level: str, findings: bytes, report: StoredReport | None, data: bytes = b""
) -> CheckedFile:
    """Return the result for a plan with encoded findings or none, or for a skipped file that is not a plan.

    With all its fields it is made faster than by `_replace`, which counts for thousands of plans.
    """
    if findings == SKIPPED:
        return CheckedFile(path, display_name, [], b"", fail_level, is_plan=False, was_skipped=True)
    stored_findings = StoredFindings(findings) if findings else []
    stored_report = FindingReport._make(report) if report is not None else None
    return CheckedFile._make(
        (path, display_name, stored_findings, data, fail_level, True, None, False, 0, stored_report)
    )


def _is_cached_result_usable(
    cache: LintCache, entry: CacheEntry, group: TargetGroup, name: str, directory_fd: int, parts: WantedParts
) -> bool:
    """Return whether a cached result contains everything that is requested."""
    if not _is_file_unchanged(name, directory_fd, entry) or not cache.is_valid(entry):
        return False
    if entry[2] == SKIPPED:
        return not group.is_explicit
    return not entry[2] or not (parts.data or (parts.make_report is not None and entry[6] is None))


def _open_directory(path: str) -> int:
    """Return a file descriptor of a directory, or -1 if it can't be opened."""
    try:
        return os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
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
