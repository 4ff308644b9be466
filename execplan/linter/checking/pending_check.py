"""The check of one plan that has no usable cached result, in this process or in another."""

from __future__ import annotations

import os

from execplan.core.errors import ExecplanError
from execplan.core.files import file_access
from execplan.core.files.file_status import file_stat
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import reader
from execplan.core.plan.reader import MAX_BYTES, too_large_error
from execplan.linter.checking.effective_rules import active_levels
from execplan.linter.checking.lint_cache import NO_MINUTE_LIMIT, LintCache
from execplan.linter.checking.plan_check import check_plan, make_rule_context
from execplan.linter.checking.stored_findings import SKIPPED, StoredFindings, encode_findings
from execplan.linter.runner import lint_plan, unreadable_finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.linter.checking.check_targets import TargetGroup
    from execplan.linter.checking.lint_cache import CacheEntry, StoredReport, TreeQuery
    from execplan.linter.checking.plan_check import CheckOptions
    from execplan.linter.finding_summary import FindingReport
    from execplan.linter.rule import Finding, RuleContext

    MakeReport = Callable[[Sequence[Finding], list[str]], FindingReport]
    """Makes the report of a plan's findings, given its lines."""


class WantedParts(NamedTuple):
    """What a result with findings contains besides them."""

    data: bool
    """The file's bytes."""
    make_report: MakeReport | None


class CheckOutcome(NamedTuple):
    """The result of checking one plan, as values that `marshal` can write."""

    findings: bytes
    report: StoredReport | None = None
    data: bytes = b""
    entry: CacheEntry | None = None
    """New cache entry; None if the result must not be cached."""
    queries: tuple[TreeQuery, ...] = ()
    """Queries of the rules about the repository tree."""
    was_cached: bool = False


class PendingPlan(NamedTuple):
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


def check_pending(pending_plan: PendingPlan, options: CheckOptions, parts: WantedParts) -> tuple[object, ...]:
    """Check one plan and return its `CheckOutcome` as a plain tuple."""
    target = pending_plan.group.target(pending_plan.name)
    project, ref = target.project, target.ref
    if not pending_plan.is_in_repository or os.path.islink(ref.path):
        checked_file = check_plan(target, options)
        if checked_file.was_skipped:
            return tuple(CheckOutcome(SKIPPED))
        return _uncached_outcome(checked_file.findings, checked_file.data, parts)
    try:
        data, size, status = file_access.read_with_status(ref.path, MAX_BYTES)
        if size > MAX_BYTES:
            raise too_large_error(size)
    except ExecplanError as error:
        return _uncached_outcome([unreadable_finding(error)], b"", parts)
    content_digest = _digest(data) if pending_plan.cache is not None else b""
    cached_entry = pending_plan.cached_entry
    path = project.display_path(ref.path)
    was_cached = (
        pending_plan.cache is not None
        and cached_entry is not None
        and cached_entry[1] == content_digest
        and pending_plan.cache.is_valid(cached_entry)
    )
    lines: list[str] | None = None
    if was_cached and pending_plan.cache is not None and cached_entry is not None:
        _, _, encoded, valid_from, valid_until, _, _ = cached_entry
        queries = pending_plan.cache.entry_queries(cached_entry)
        findings: Sequence[Finding] = StoredFindings(encoded) if encoded else ()
    else:
        context = make_rule_context(project, ref, options, is_explicit=False)
        findings, lines = lint_with_lines(data, context, active_levels(project, options.selection, path))
        encoded = encode_findings(findings)
        valid_from, valid_until = (
            (context.clock.low, context.clock.high)
            if context.clock is not None
            else (-NO_MINUTE_LIMIT, NO_MINUTE_LIMIT)
        )
        queries = (
            tuple([(*question, answer) for question, answer in context.tree.answers.items()]) if context.tree else ()
        )
    report = _stored_report(findings, encoded, data, lines, parts)
    new_entry: CacheEntry | None = None
    if pending_plan.cache is not None:
        file_status = file_stat(status) if status is not None else None
        new_entry = file_status, content_digest, encoded, valid_from, valid_until, (), report
    if encoded == SKIPPED and pending_plan.group.is_explicit:  # the cache only records that the file is not a plan
        context = make_rule_context(project, ref, options)
        findings, lines = lint_with_lines(data, context, active_levels(project, options.selection, path))
        encoded = encode_findings(findings)
        report = _stored_report(findings, encoded, data, lines, parts)
    return tuple(CheckOutcome(encoded, report, data if parts.data and encoded else b"", new_entry, queries, was_cached))


def lint_with_lines(data: bytes, context: RuleContext, levels: dict[str, str]) -> tuple[list[Finding], list[str]]:
    """Return the findings for a plan's bytes, and its lines, which are none if the bytes can't be read."""
    try:
        plan = reader.read(data, context.titles)
    except ExecplanError as error:
        return [unreadable_finding(error)], []
    return lint_plan(plan, context, levels), plan.text.lines


def _uncached_outcome(findings: Sequence[Finding], data: bytes, parts: WantedParts) -> tuple[object, ...]:
    """Return the outcome for a plan that is never cached, as a plain tuple."""
    encoded = encode_findings(findings)
    report = _stored_report(findings, encoded, data, None, parts)
    return tuple(CheckOutcome(encoded, report, data if parts.data and encoded else b""))


def _stored_report(
    findings: Sequence[Finding], encoded: bytes, data: bytes, lines: list[str] | None, parts: WantedParts
) -> StoredReport | None:
    """Return the report of findings if one is wanted and there is something to report.

    The lines are those of the data, or None if they were not read yet.
    """
    if parts.make_report is None or not encoded or encoded == SKIPPED:
        return None
    if lines is None:
        try:
            lines = reader.decode(data).lines
        except ExecplanError:
            lines = []
    level_counts, first_error, first_code, text = parts.make_report(findings, lines)
    return level_counts, first_error, first_code, text


def _digest(data: bytes) -> bytes:
    from hashlib import sha256  # OpenSSL's, seven times as fast as Python's own

    return sha256(data).digest()
