"""A plan checked that is handed in as bytes; nothing on disk of its name is read."""

from __future__ import annotations

import os

from execplan.lint.runner import lint_bytes, unreadable_finding
from execplan.plan.reader import MAX_BYTES, too_large_error
from execplan.repo import homes, shelf
from execplan.repo.checking.one import CheckedFile, CheckOptions, make_checked_file, make_rule_context
from execplan.repo.checking.selected import active_levels, effective_selection

STDIN_NAME = "-"
"""What standard input is called, as a name and where it has no other."""


def check_bytes(data: bytes, name: str, options: CheckOptions) -> CheckedFile:
    """Check bytes as if they lay in a file of this name; of no name they lie nowhere. Raises ExecplanError.

    More bytes than a plan may have are one finding; a caller need not read more than one beyond them.
    """
    path = os.path.abspath(name or STDIN_NAME)
    project = homes.find(os.path.dirname(path))
    context = make_rule_context(project, shelf.ref_for_path(project, path), options) if name else make_rule_context(project, shelf.PlanRef("", path, False), options)
    display_path = context.path if name else STDIN_NAME
    if not name:
        context = context._replace(path="")
    fail_level = effective_selection(project, options.selection).failure_level
    if len(data) > MAX_BYTES:
        return CheckedFile(display_path, name or STDIN_NAME, [unreadable_finding(too_large_error(len(data)))], b"", fail_level)
    findings = lint_bytes(data, context, active_levels(project, options.selection, context.path))
    return make_checked_file(display_path, name or STDIN_NAME, findings, data, fail_level)
