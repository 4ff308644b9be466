"""Under `--hook`: findings that a plan had before this commit do not count, so that old trouble blocks no new work."""

from __future__ import annotations

import os

from execplan.errors import ExecplanError
from execplan.lint.fingerprint import compute_fingerprints
from execplan.lint.rule import LEVELS
from execplan.lint.runner import lint_plan
from execplan.lint.tally import is_overflow, finding_weight
from execplan.plan import reader
from execplan.repo import past, shelf
from execplan.repo.checking.history import Asked, committed_plans
from execplan.repo.checking.one import given
from execplan.repo.checking.reading import plan_of
from execplan.repo.checking.selected import levels
from execplan.repo.shelf import PlanRef

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.lint.rule import Finding
    from execplan.plan.model import Plan
    from execplan.repo.checking.history import Before
    from execplan.repo.checking.one import Checked, Target, Way
    from execplan.repo.home import Project

FROM = "PRE_COMMIT_FROM_REF"
"""Where the pre-commit program says which commit it compares with, if it checks a range of commits."""
_ALL = 1 << 30


def without_older(targets: Sequence[Target], checked: Sequence[Checked], way: Way) -> list[Checked]:
    """The plans with the findings that this commit adds; `targets` are those of `checked`, in order.

    A plan is compared with HEAD, or with the commit in PRE_COMMIT_FROM_REF. One that is as it was there is not part of
    the commit, and keeps all its findings, and so does a new one. Raises ExecplanError.
    """
    asked: dict[str, list[Asked]] = {}
    for target, each in zip(targets, checked, strict=True):
        if each.findings and target.home.git is not None:
            data = each.data or _read(target)
            if data:
                asked.setdefault(target.home.root, []).append(Asked(target.home, target.ref, data))
    held: dict[str, tuple[Asked, Before]] = {}
    for among in asked.values():
        base = _base(among[0].home)
        known = committed_plans(among, base) if base is not None else {}
        held |= {each.ref.path: (each, known[each.ref.path]) for each in among if each.ref.path in known}
    result = []
    for target, each in zip(targets, checked, strict=True):
        if target.ref.path not in held:
            result.append(each)
            continue
        now, before = held[target.ref.path]
        same = (before.data, before.path) == (now.data, target.home.display_path(target.ref.path))
        was = None if same else _plan(before.data)
        result.append(each if was is None else _sifted(target, each, now, before, was, way))
    return result


def _sifted(target: Target, checked: Checked, now: Asked, before: Before, was: Plan, way: Way) -> Checked:
    """A plan without the findings that it had before."""
    home = target.home
    ref = shelf.ref_for_path(home, os.path.join(home.root, before.path))
    facts = given(home, PlanRef(ref.id, ref.path, before.archived), way._replace(histories={}))
    old = lint_plan(was, facts, levels(home, way.selection, checked.path), max_findings=_ALL)
    new = _added(checked.findings, plan_of(checked._replace(data=now.data)), old, was)
    count = sum(map(finding_weight, checked.findings)) - sum(map(finding_weight, new))
    return checked._replace(findings=new, older=count)


def _added(findings: Sequence[Finding], plan: Plan | None, old: Sequence[Finding], was: Plan) -> list[Finding]:
    """The findings that are not among the old ones, or are worse now."""
    left: dict[str, list[Finding]] = {}
    totals: dict[str, int] = {}
    for finding, mark in zip(old, compute_fingerprints(old, was), strict=True):
        left.setdefault(mark, []).append(finding)
        totals[finding.code] = totals.get(finding.code, 0) + 1
    for finding in findings:
        totals[finding.code] = totals.get(finding.code, 0) - finding_weight(finding)
    title = plan.title_line + 1 if plan is not None else 0
    added = []
    for finding, mark in zip(findings, compute_fingerprints(findings, plan), strict=True):
        if is_overflow(finding):
            is_old = totals[finding.code] >= 0
        else:
            is_old = _take(left.get(mark, []), finding, of_all=finding.line == title)
        if not is_old:
            added.append(finding)
    return added


def _take(old: list[Finding], finding: Finding, *, of_all: bool) -> bool:
    """Take one of the old findings of a mark that covers a finding, if one does: it was as bad, or worse.

    Findings about the whole plan have one mark, so that their messages must be the same, but for the lines they name.
    """
    for each in old:
        as_bad = LEVELS.index(each.level) <= LEVELS.index(finding.level)
        if as_bad and (not of_all or _without_digits(each.message) == _without_digits(finding.message)):
            old.remove(each)
            return True
    return False


def _without_digits(message: str) -> str:
    return "".join([char for char in message if not char.isdigit()])


def _base(home: Project) -> str | None:
    """The commit to compare with, None before the first one."""
    named = os.environ.get(FROM, "")
    if named and past.resolve_commit(home, named) is not None:
        try:
            return past.branch_point(home, named)
        except ExecplanError:
            pass  # no common history: HEAD it is
    return past.resolve_commit(home, "HEAD")


def _read(target: Target) -> bytes:
    """The bytes of a plan that the check did not hand over; none where it can't be read, which is a finding of its own."""
    try:
        return shelf.read_bytes(target.home, target.ref.path)
    except ExecplanError:
        return b""


def _plan(data: bytes) -> Plan | None:
    """The plan as it was; None where it could not be read, so that there is nothing to compare with."""
    try:
        return reader.read(data)
    except ExecplanError:
        return None
