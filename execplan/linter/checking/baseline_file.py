"""The baseline file: reading it, comparing findings with it, and writing a new version."""

from __future__ import annotations

import os
from collections.abc import Sequence

from execplan.core.errors import ExecplanError
from execplan.core.files import atomic_files, file_access
from execplan.core.named_tuple import NamedTuple
from execplan.core.project import project_discovery, project_state
from execplan.core.project.project import Project
from execplan.core.project.project_settings import BASELINE_FILE
from execplan.linter.baseline_filter import BaselineCounts, apply_baseline, count_by_mark, find_moved_plan
from execplan.linter.checking.effective_rules import active_levels, effective_selection
from execplan.linter.checking.plan_check import CheckedFile, CheckOptions, parse_checked_plan
from execplan.linter.fingerprint import compute_fingerprints
from execplan.linter.rule import GIT_NEEDS, RULES

PlanEntries = dict[str, BaselineCounts]
"""Baseline entries of each plan, by its path from the root."""

_SCHEMA_NAME = "execplan-lint-baseline/1"
_MAX_BYTES = 64 << 20


class BaselineComparison(NamedTuple):
    """The result of comparing findings with a baseline."""

    file: str
    """Path of the baseline from the root."""
    checked_files: list[CheckedFile]
    """Checked plans with only their new findings."""
    known_count: int
    gone_count: int
    """Number of entries that no longer occur, in checked plans or in plans that no longer exist."""
    old_bytes: bytes
    new_bytes: bytes
    """Content of the file, old and new; the new content records all current findings."""


def compare_with_baseline(
    checked_files: Sequence[CheckedFile], file: str, options: CheckOptions, *, may_create: bool = False
) -> BaselineComparison:
    """Compare findings with a baseline file, which may be missing if `may_create` is true.

    Raises ExecplanError if the file can't be read or is not a baseline.
    """
    path, project = _resolve_path(file)
    old = _read_file(file, may_be_missing=may_create)
    remaining = _parse_baseline(old, file) if old else {}

    def exists(plan_path: str) -> bool:
        return os.path.lexists(os.path.join(project.root, plan_path))

    updated: PlanEntries = {}
    new_results = []
    known_count = gone_count = 0
    paths = {checked_file.path for checked_file in checked_files}
    projects_by_directory: dict[str, Project] = {}
    for checked_file in checked_files:
        if checked_file.path in remaining:
            name = checked_file.path
        else:
            name = find_moved_plan(checked_file.path, remaining.keys() - paths, exists)
        fingerprints = compute_fingerprints(
            checked_file.findings, parse_checked_plan(checked_file) if checked_file.findings else None
        )
        directory = os.path.dirname(os.path.join(project.root, checked_file.path))
        if directory not in projects_by_directory:
            projects_by_directory[directory] = project_discovery.find(directory)
        baseline_result = apply_baseline(
            remaining.pop(name, {}),
            checked_file.findings,
            fingerprints,
            _active_rule_codes(options, projects_by_directory[directory], checked_file.path),
        )
        new_results.append(checked_file.with_findings(baseline_result.new_findings))
        updated[checked_file.path] = _add_counts(
            baseline_result.unchecked, count_by_mark(checked_file.findings, fingerprints)
        )
        known_count += baseline_result.known_count
        gone_count += sum(baseline_result.resolved.values())
    for name, entries in remaining.items():
        if exists(name):
            updated[name] = entries
        else:
            gone_count += sum(entries.values())
    return BaselineComparison(
        project.display_path(path), new_results, known_count, gone_count, old, _serialize(updated)
    )


def _active_rule_codes(options: CheckOptions, project: Project, path: str) -> set[str]:
    """Return the codes of the rules that ran on a project's plan, whether or not they found anything."""
    asks_history = effective_selection(project, options.selection).needs_history
    return {
        code
        for code in active_levels(project, options.selection, path)
        if RULES[code].needs not in GIT_NEEDS or asks_history
    }


def _add_counts(left: BaselineCounts, right: BaselineCounts) -> BaselineCounts:
    return {mark: left.get(mark, 0) + right.get(mark, 0) for mark in left.keys() | right.keys()}


def write_baseline(comparison: BaselineComparison, file: str) -> bool:
    """Write a baseline that records all current findings; return False if it is up to date.

    Raises ExecplanError if the file can't be written.
    """
    if comparison.new_bytes == comparison.old_bytes:
        return False
    path, project = _resolve_path(file)
    atomic_files.make_directory(os.path.dirname(path))
    with project_state.lock(project, path, f"lint --write-baseline of {comparison.file}"):
        if comparison.old_bytes:
            atomic_files.replace_if_unchanged(path, comparison.old_bytes, comparison.new_bytes)
            return True
        if not atomic_files.create(path, comparison.new_bytes):
            raise file_access.conflict_error(comparison.file)
    return True


def default_file(start: str) -> str:
    """Return the default baseline path of the project that contains a directory.

    Raises ExecplanError if the project's settings are invalid.
    """
    return os.path.join(project_discovery.find(start).base, BASELINE_FILE)


def is_uncommitted(file: str) -> bool:
    """Return whether the last commit lacks a baseline, or has another version of it; False if git can't say."""
    from execplan.core.git.git_commit import uncommitted_files

    path, project = _resolve_path(file)
    try:
        return project.git is not None and bool(uncommitted_files(project, [path]))
    except ExecplanError:
        return False


def _resolve_path(file: str) -> tuple[str, Project]:
    """Return a baseline's absolute path, and its project.

    Raises ExecplanError if it is a link out of the repository.
    """
    path = os.path.abspath(file)
    project = project_discovery.find(os.path.dirname(path))
    project_discovery.ensure_no_link_out(path)
    return path, project


def _read_file(file: str, *, may_be_missing: bool) -> bytes:
    """Return the bytes of the file; empty if it is missing and may be."""
    if may_be_missing and not os.path.lexists(file):
        return b""
    try:
        data, size = file_access.read(file, _MAX_BYTES)
    except ExecplanError as error:
        if error.code == "no-such-file":
            error.hint = f"create it: {_renew_command(file)}"
        raise
    if size > _MAX_BYTES:
        raise _bad_baseline_error(file, f"it has more than {_MAX_BYTES:,} bytes")
    if not data:
        raise _bad_baseline_error(file, "it is empty")
    return data


def _parse_baseline(data: bytes, file: str) -> PlanEntries:
    """Return the entries of a baseline. Raises ExecplanError if the data is not a valid baseline."""
    from execplan.core.text import fast_json

    try:
        document = fast_json.loads(data)
    except (ValueError, RecursionError):
        raise _bad_baseline_error(file, "it is not valid JSON") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != _SCHEMA_NAME:
        newer = isinstance(schema, str) and schema.startswith(_SCHEMA_NAME.rstrip("1"))
        raise _bad_baseline_error(
            file, "it was written by another version of execplan" if newer else f"its schema is not {_SCHEMA_NAME}"
        )
    plans = document.get("plans")
    if document.keys() != {"schema", "plans"} or not isinstance(plans, dict):
        raise _bad_baseline_error(file, "it must have exactly the keys schema and plans")
    for path, entries in plans.items():
        if not isinstance(entries, dict) or not all([type(count) is int and count > 0 for count in entries.values()]):
            raise _bad_baseline_error(file, f"the entry of {path} is not a list of findings with their counts")
    return plans


def _serialize(plans: PlanEntries) -> bytes:
    """Return the baseline as sorted JSON with one line per finding, so that two branches merge."""
    import json

    nonempty_plans = {path: entries for path, entries in plans.items() if entries}
    return (json.dumps({"schema": _SCHEMA_NAME, "plans": nonempty_plans}, indent=1, sort_keys=True) + "\n").encode()


def _bad_baseline_error(file: str, reason: str) -> ExecplanError:
    hint = f"check the name; if the baseline is damaged, move it away, then create it again: {_renew_command(file)}"
    return ExecplanError("bad-baseline", f"{file} is not a valid baseline: {reason}", hint=hint)


def _renew_command(file: str) -> str:
    from shlex import quote

    return f"execplan lint --baseline {quote(file)} --write-baseline"
