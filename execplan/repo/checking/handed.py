"""A plan checked that is handed in as bytes; nothing on disk of its name is read."""

from __future__ import annotations

import os

from execplan.lint.runner import lint_bytes, unreadable_finding
from execplan.plan.reader import MAX_BYTES, too_large
from execplan.repo import homes, shelf
from execplan.repo.checking.one import Checked, Way, checked, given
from execplan.repo.checking.selected import levels, wanted

STDIN = "-"
"""What standard input is called, as a name and where it has no other."""


def check_handed(data: bytes, name: str, way: Way) -> Checked:
    """Check bytes as if they lay in a file of this name; of no name they lie nowhere. Raises ExecplanError.

    More bytes than a plan may have are one finding; a caller need not read more than one beyond them.
    """
    path = os.path.abspath(name or STDIN)
    home = homes.find(os.path.dirname(path))
    facts = given(home, shelf.ref_for_path(home, path), way) if name else given(home, shelf.PlanRef("", path, False), way)
    shown = facts.path if name else STDIN
    if not name:
        facts = facts._replace(path="")
    fails = wanted(home, way.selection).failure_level
    if len(data) > MAX_BYTES:
        return Checked(shown, name or STDIN, [unreadable_finding(too_large(len(data)))], b"", fails)
    findings = lint_bytes(data, facts, levels(home, way.selection, facts.path))
    return checked(shown, name or STDIN, findings, data, fails)
