"""The check of a single plan: its bytes, the context for the rules, and the findings."""

from __future__ import annotations

import os

from execplan.core.clock import current_minute
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import reader
from execplan.core.plan.reader import MAX_BYTES, too_large_error
from execplan.core.plan_store import plan_store
from execplan.core.project import project_discovery
from execplan.core.project.plan_dialects import dialect_of
from execplan.linter.checking.effective_rules import active_levels, effective_selection
from execplan.linter.checking.repository_trees import RepositoryTrees
from execplan.linter.rule import ERROR, NOTICE, Finding, RuleContext
from execplan.linter.rule_facts import Clock
from execplan.linter.rule_selection import RuleSelection
from execplan.linter.runner import lint_bytes, unreadable_finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.model import ParsedPlan
    from execplan.core.plan_store.plan_store import PlanRef
    from execplan.core.project.project import Project
    from execplan.linter.finding_summary import FindingReport
    from execplan.linter.rule_facts import GitHistory


def read_lines(checked_file: CheckedFile) -> list[str]:
    """Return the lines of the checked plan; none if it can't be read, or no longer."""
    try:
        return reader.decode(_read_checked_bytes(checked_file)).lines
    except ExecplanError:
        return []


def parse_checked_plan(checked_file: CheckedFile) -> ParsedPlan | None:
    """Return the plan that was checked; None if it can't be read, or no longer."""
    try:
        project = project_discovery.find_for_file(os.path.abspath(checked_file.display_name))
        return plan_store.parse(project, _read_checked_bytes(checked_file))
    except ExecplanError:
        return None


def _read_checked_bytes(checked_file: CheckedFile) -> bytes:
    """Return the bytes, read again if only the findings were kept. Raises ExecplanError if they can't be read."""
    if checked_file.data or any([finding.code == "EP001" for finding in checked_file.findings]):
        return checked_file.data
    path = os.path.abspath(checked_file.display_name)
    return plan_store.read_bytes(project_discovery.find_for_file(path), path)


_NO_HISTORIES: dict[str, GitHistory] = {}


class CheckTarget(NamedTuple):
    """A plan to check, with its project and display name."""

    project: Project
    ref: PlanRef
    display_name: str
    """Name shown on the terminal: as the user named it, else relative to the current directory."""
    is_explicit: bool = True
    """Whether the user named it, so that it is checked even if it does not look like a plan."""


class CheckedFile(NamedTuple):
    """A checked plan and its findings."""

    path: str
    """Path from the root, as shown in JSON output."""
    display_name: str
    findings: Sequence[Finding]
    data: bytes
    """Checked bytes; empty if the file could not be read."""
    fail_level: str = ERROR
    """Least severe level at which a finding fails the check."""
    is_plan: bool = True
    """Whether the file is a plan, rather than something else in its project."""
    error: ExecplanError | None = None
    """Error that prevented the file from being read."""
    was_skipped: bool = False
    """Whether the file was not checked because it is not a plan."""
    older_count: int = 0
    """Number of findings left out because the plan had them before this commit."""
    report: FindingReport | None = None
    """Report of the findings, if it was requested."""

    def with_findings(self, findings: Sequence[Finding]) -> CheckedFile:
        """Return the result with other findings, for which there is no report yet."""
        return self._replace(findings=findings, report=None)


class CheckOptions(NamedTuple):
    """Options for checking plans."""

    is_hook: bool = False
    """Whether a draft may have placeholder text and no tasks, and a complete plan no outcome yet."""
    selection: RuleSelection = RuleSelection()
    """Requested rules, which take precedence over the project's settings."""
    trees: RepositoryTrees | None = None
    """File listings that the plans of this run share."""
    histories: dict[str, GitHistory] | None = None
    """Git history of plans by absolute path; None if it was not queried."""
    committed: dict[str, GitHistory] = _NO_HISTORIES
    """Committed versions of the plans that differ from HEAD, used if history was not queried."""


def check_plan(target: CheckTarget, options: CheckOptions) -> CheckedFile:
    """Check a single plan on disk. A read error becomes a finding."""
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


def find_errors(project: Project, ref: PlanRef, ignore: tuple[str, ...]) -> list[Finding]:
    """Return the errors of a plan, also of a draft, without those of some rules."""
    options = CheckOptions(selection=RuleSelection(ignore=ignore))
    findings = check_plan(CheckTarget(project, ref, ref.path), options).findings
    return [finding for finding in findings if finding.level == ERROR]


def may_differ_from_head(target: CheckTarget) -> bool:
    """Return whether a plan may differ from HEAD: it is newer than the Git index, which commits and `git add` write.

    Starts no Git process, so that checking a single file stays fast.
    """
    project, ref = target.project, target.ref
    if project.git is None or ref.archived:
        return False
    try:
        return os.stat(ref.path).st_mtime_ns > os.stat(os.path.join(project.git, "index")).st_mtime_ns
    except OSError:
        return False


def make_checked_file(
    path: str, display_name: str, findings: Sequence[Finding], data: bytes, fail_level: str
) -> CheckedFile:
    """Return the result for a plan with its findings, or for a skipped file that is not a plan."""
    if is_skip_notice(findings):
        return CheckedFile(path, display_name, [], b"", fail_level, is_plan=False, was_skipped=True)
    return CheckedFile(path, display_name, findings, data, fail_level)


def is_skip_notice(findings: Sequence[Finding]) -> bool:
    """Return whether the rules did not run because the file is not a plan."""
    return len(findings) == 1 and findings[0].level == NOTICE


def make_rule_context(
    project: Project, ref: PlanRef, options: CheckOptions, *, is_explicit: bool = True
) -> RuleContext:
    """Return the context of a plan for the rules.

    A file outside any repository and project has no surroundings to query.
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
        titles=project.titles,
        required_lines=dialect_of(project.display_path(ref.path), project.settings.dialects).required_lines,
        id=ref.id,
        name_format=project.settings.name if is_in_plans_directory else "",
        stalled_days=project.settings.stalled_days,
        clock=Clock(current_minute()),
        tree=(options.trees or RepositoryTrees()).tree_for(project) if has_surroundings else None,
        history=(options.histories if options.histories is not None else options.committed).get(ref.path),
    )


STDIN_NAME = "-"
"""Name of standard input, as an argument and in output if no other name is given."""


def check_bytes(data: bytes, name: str, options: CheckOptions) -> CheckedFile:
    """Check bytes as if they were in a file with this name; without a name, they have no place.

    More bytes than a plan may have give a single finding, so a caller need not read more than one beyond the limit.
    Raises ExecplanError if the project's settings are invalid.
    """
    path = os.path.abspath(name or STDIN_NAME)
    project = project_discovery.find_for_file(path)
    if name:
        context = make_rule_context(project, plan_store.ref_for_path(project, path), options)
    else:
        context = make_rule_context(project, plan_store.PlanRef("", path, False), options)
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
