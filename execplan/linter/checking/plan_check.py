"""One plan checked: its bytes, what the rules are told of its place, and what they found."""

from __future__ import annotations

import os

from execplan.clock import current_minute
from execplan.errors import ExecplanError
from execplan.linter.checking.effective_rules import active_levels, effective_selection
from execplan.linter.checking.repository_trees import RepositoryTrees
from execplan.linter.rule import ERROR, NOTICE, Finding, RuleContext
from execplan.linter.rule_facts import Clock
from execplan.linter.rule_selection import RuleSelection
from execplan.linter.runner import lint_bytes, unreadable_finding
from execplan.named_tuple import NamedTuple
from execplan.plan import reader
from execplan.plan.reader import MAX_BYTES, too_large_error
from execplan.plan_store import plan_store
from execplan.project import project_discovery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.linter.rule_facts import GitHistory
    from execplan.plan.model import ParsedPlan
    from execplan.plan_store.plan_store import PlanRef
    from execplan.project.project import Project


def read_lines(checked_file: CheckedFile) -> list[str]:
    """The lines of the plan; none where it can't be read, or no longer."""
    try:
        return reader.decode(_read_checked_bytes(checked_file)).lines
    except ExecplanError:
        return []


def parse_checked_plan(checked_file: CheckedFile) -> ParsedPlan | None:
    """The plan as it was checked; None where it can't be read, or no longer."""
    try:
        return reader.read(_read_checked_bytes(checked_file))
    except ExecplanError:
        return None


def _read_checked_bytes(checked_file: CheckedFile) -> bytes:
    """The bytes, read again where only the findings were kept; raises ExecplanError."""
    if checked_file.data or any([finding.code == "EP001" for finding in checked_file.findings]):
        return checked_file.data
    path = os.path.abspath(checked_file.display_name)
    return plan_store.read_bytes(project_discovery.find(os.path.dirname(path)), path)


_NO_HISTORIES: dict[str, GitHistory] = {}


class CheckTarget(NamedTuple):
    """A plan to check."""

    project: Project
    ref: PlanRef
    display_name: str
    """As a terminal shows it: as it was named, else from the current folder."""
    is_explicit: bool = True
    """Whether somebody named it, so that it is checked even if it does not look like a plan."""


class CheckedFile(NamedTuple):
    """A plan and what was found in it."""

    path: str
    """As documents show it: from the root."""
    display_name: str
    findings: list[Finding]
    data: bytes
    """What was checked, or nothing when it could not be read."""
    fail_level: str = ERROR
    """The least level at which a finding makes the answer no."""
    is_plan: bool = True
    """Whether it is a plan, and not something else in its home."""
    error: ExecplanError | None = None
    """What kept it from being read."""
    was_skipped: bool = False
    """Whether it was not checked because it is not a plan."""
    older_count: int = 0
    """Findings that are left out because the plan had them before this commit."""


class CheckOptions(NamedTuple):
    """How plans are checked."""

    is_hook: bool = False
    """Whether a draft may have placeholder text and no task, and a complete plan no outcome yet."""
    selection: RuleSelection = RuleSelection()
    """What was asked for; what the settings of a plan's home say stands under it."""
    trees: RepositoryTrees | None = None
    """What the plans of this run share of what they ask of the files around them."""
    histories: dict[str, GitHistory] | None = None
    """What git knows of plans, by their absolute paths; None where nobody asked."""
    committed: dict[str, GitHistory] = _NO_HISTORIES
    """Where nobody asked: the plans that differ from HEAD, as they were committed."""


def check_plan(target: CheckTarget, options: CheckOptions) -> CheckedFile:
    """Check one plan as it is on disk; what keeps it from being read is a finding."""
    project, ref, display_name, is_explicit = target
    path = project.display_path(ref.path)
    fail_level = effective_selection(project, options.selection).failure_level
    try:
        data = plan_store.read_bytes(project, ref.path)
    except ExecplanError as error:
        return CheckedFile(path, display_name, [unreadable_finding(error)], b"", fail_level, error=error)
    context = make_rule_context(project, ref, options, is_explicit=is_explicit)
    return make_checked_file(
        path, display_name, lint_bytes(data, context, active_levels(project, options.selection, path)), data, fail_level
    )


def may_differ_from_head(target: CheckTarget) -> bool:
    """Whether a plan may differ from HEAD: it was written after git's index, which a commit and `git add` write.

    Without a process of git, so that checking a file takes no longer.
    """
    project, ref = target.project, target.ref
    if project.git is None or ref.archived:
        return False
    try:
        return os.stat(ref.path).st_mtime_ns > os.stat(os.path.join(project.git, "index")).st_mtime_ns
    except OSError:
        return False


def make_checked_file(
    path: str, display_name: str, findings: list[Finding], data: bytes, fail_level: str
) -> CheckedFile:
    """A plan with its findings, or a file that is not a plan and was skipped."""
    if is_skip_notice(findings):
        return CheckedFile(path, display_name, [], b"", fail_level, is_plan=False, was_skipped=True)
    return CheckedFile(path, display_name, findings, data, fail_level)


def is_skip_notice(findings: list[Finding]) -> bool:
    """Whether the rules did not run, because the file is not a plan."""
    return len(findings) == 1 and findings[0].level == NOTICE


def make_rule_context(
    project: Project, ref: PlanRef, options: CheckOptions, *, is_explicit: bool = True
) -> RuleContext:
    """What the rules are told of a plan's place.

    A file that lies neither in a repository nor in a home has nothing around it that could be asked.
    """
    has_surroundings = project.git is not None or project.exists
    is_in_plans_directory = (
        project.exists and not ref.archived and project.split_plan_path(ref.path)[0] == project.plans
    )
    return RuleContext(
        is_archived=ref.archived and not project.is_in_superseded(ref.path),
        is_superseded=project.is_in_superseded(ref.path),
        in_project=is_in_plans_directory,
        allows_draft=options.is_hook,
        skips_other_files=not is_explicit,
        path=project.display_path(ref.path),
        id=ref.id,
        name_format=project.settings.name if is_in_plans_directory else "",
        stalled_days=project.settings.stalled_days,
        clock=Clock(current_minute()),
        tree=(options.trees or RepositoryTrees()).tree_for(project) if has_surroundings else None,
        history=(options.histories if options.histories is not None else options.committed).get(ref.path),
    )


STDIN_NAME = "-"
"""What standard input is called, as a name and where it has no other."""


def check_bytes(data: bytes, name: str, options: CheckOptions) -> CheckedFile:
    """Check bytes as if they lay in a file of this name; of no name they lie nowhere. Raises ExecplanError.

    More bytes than a plan may have are one finding; a caller need not read more than one beyond them.
    """
    path = os.path.abspath(name or STDIN_NAME)
    project = project_discovery.find(os.path.dirname(path))
    context = (
        make_rule_context(project, plan_store.ref_for_path(project, path), options)
        if name
        else make_rule_context(project, plan_store.PlanRef("", path, False), options)
    )
    display_path = context.path if name else STDIN_NAME
    if not name:
        context = context._replace(path="")
    fail_level = effective_selection(project, options.selection).failure_level
    if len(data) > MAX_BYTES:
        return CheckedFile(
            display_path, name or STDIN_NAME, [unreadable_finding(too_large_error(len(data)))], b"", fail_level
        )
    findings = lint_bytes(data, context, active_levels(project, options.selection, context.path))
    return make_checked_file(display_path, name or STDIN_NAME, findings, data, fail_level)
