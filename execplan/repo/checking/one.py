"""One plan checked: its bytes, what the rules are told of its place, and what they found."""

from __future__ import annotations

import os

from execplan.clock import this_minute
from execplan.errors import ExecplanError
from execplan.lint.facts import Clock
from execplan.lint.rule import ERROR, NOTICE, Finding, RuleContext
from execplan.lint.runner import lint_bytes, unreadable_finding
from execplan.lint.selection import RuleSelection
from execplan.record import NamedTuple
from execplan.repo import shelf
from execplan.repo.checking.selected import levels, wanted
from execplan.repo.checking.tree import Trees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.lint.facts import GitHistory
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef


_NOTHING: dict[str, GitHistory] = {}


class Target(NamedTuple):
    """A plan to check."""

    home: Project
    ref: PlanRef
    named: str
    """As a terminal shows it: as it was named, else from the current folder."""
    by_name: bool = True
    """Whether somebody named it, so that it is checked even if it does not look like a plan."""


class Checked(NamedTuple):
    """A plan and what was found in it."""

    path: str
    """As documents show it: from the root."""
    named: str
    findings: list[Finding]
    data: bytes
    """What was checked, or nothing when it could not be read."""
    fails: str = ERROR
    """The least level at which a finding makes the answer no."""
    plan: bool = True
    """Whether it is a plan, and not something else in its home."""
    error: ExecplanError | None = None
    """What kept it from being read."""
    skipped: bool = False
    """Whether it was not checked because it is not a plan."""
    older: int = 0
    """Findings that are left out because the plan had them before this commit."""


class Way(NamedTuple):
    """How plans are checked."""

    hook: bool = False
    """Whether a draft may have placeholder text and no task, and a complete plan no outcome yet."""
    selection: RuleSelection = RuleSelection()
    """What was asked for; what the settings of a plan's home say stands under it."""
    trees: Trees | None = None
    """What the plans of this run share of what they ask of the files around them."""
    histories: dict[str, GitHistory] | None = None
    """What git knows of plans, by their absolute paths; None where nobody asked."""
    committed: dict[str, GitHistory] = _NOTHING
    """Where nobody asked: the plans that differ from HEAD, as they were committed."""


def check(target: Target, way: Way) -> Checked:
    """Check one plan as it is on disk; what keeps it from being read is a finding."""
    home, ref, named, by_name = target
    path = home.display_path(ref.path)
    fails = wanted(home, way.selection).failure_level
    try:
        data = shelf.read_bytes(home, ref.path)
    except ExecplanError as error:
        return Checked(path, named, [unreadable_finding(error)], b"", fails, error=error)
    facts = given(home, ref, way, by_name=by_name)
    return checked(path, named, lint_bytes(data, facts, levels(home, way.selection, path)), data, fails)


def differs(target: Target) -> bool:
    """Whether a plan may differ from HEAD: it was written after git's index, which a commit and `git add` write.

    Without a process of git, so that checking a file takes no longer.
    """
    home, ref = target.home, target.ref
    if home.git is None or ref.archived:
        return False
    try:
        return os.stat(ref.path).st_mtime_ns > os.stat(os.path.join(home.git, "index")).st_mtime_ns
    except OSError:
        return False


def checked(path: str, named: str, findings: list[Finding], data: bytes, fails: str) -> Checked:
    """A plan with its findings, or a file that is not a plan and was skipped."""
    if is_skipped(findings):
        return Checked(path, named, [], b"", fails, plan=False, skipped=True)
    return Checked(path, named, findings, data, fails)


def is_skipped(findings: list[Finding]) -> bool:
    """Whether the rules did not run, because the file is not a plan."""
    return len(findings) == 1 and findings[0].level == NOTICE


def given(home: Project, ref: PlanRef, way: Way, *, by_name: bool = True) -> RuleContext:
    """What the rules are told of a plan's place.

    A file that lies neither in a repository nor in a home has nothing around it that could be asked.
    """
    somewhere = home.git is not None or home.exists
    at_home = home.exists and not ref.archived and home.split_plan_path(ref.path)[0] == home.plans
    return RuleContext(
        is_archived=ref.archived and not home.is_in_superseded(ref.path),
        is_superseded=home.is_in_superseded(ref.path),
        in_project=at_home,
        allows_draft=way.hook,
        skips_other_files=not by_name,
        path=home.display_path(ref.path),
        id=ref.id,
        name_format=home.settings.name if at_home else "",
        stalled_days=home.settings.stalled_days,
        clock=Clock(this_minute()),
        tree=(way.trees or Trees()).of(home) if somewhere else None,
        history=(way.histories if way.histories is not None else way.committed).get(ref.path),
    )
