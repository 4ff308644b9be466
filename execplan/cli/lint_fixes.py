"""Fixes applied by `lint`: the options that request them, and the report of fixed findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from execplan.cli.answer import json_fields
from execplan.cli.option_rules import join_options
from execplan.core import features
from execplan.core.edits.bulk_operation import BulkOperation
from execplan.core.errors import OK, ExecplanError
from execplan.core.text.invisible_characters import escape_unprintable
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import digest
from execplan.linter.checking.effective_rules import active_levels
from execplan.linter.checking.plan_fix import fix_plan
from execplan.linter.rules.project_rules import INDEX_CODE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.cli.answer import Answer
    from execplan.core.edits.plan_writer import EditResult, WriteOptions
    from execplan.core.project.project import Project
    from execplan.linter.checking.plan_check import CheckOptions, CheckTarget
    from execplan.linter.checking.plan_fix import FixOutcome
    from execplan.team.plan_index.plan_index_file import WrittenIndex

_SCREEN_LINES = 24
"""Number of lines after which what was printed first is out of sight."""


class FixSettings(NamedTuple):
    """The fix options of a `lint` invocation."""

    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False

    @property
    def is_requested(self) -> bool:
        """Whether any fixes are requested."""
        return self.fix or self.unsafe_fixes

    def fix_all(
        self,
        targets: Sequence[CheckTarget],
        projects: Sequence[Project],
        check_options: CheckOptions,
        options: WriteOptions,
    ) -> FixReport:
        """Fix plans, and then the indexes of projects, as one operation and with one commit; errors become warnings.

        In a dry run, the report shows the changes.
        """
        bulk = BulkOperation()
        options = options._replace(dry_run=options.dry_run or self.diff, bulk=bulk)
        report = FixReport((), (), (), OK)
        outcomes: list[FixOutcome] = []
        indexes: list[tuple[Project, WrittenIndex]] = []
        for target in targets:
            try:
                outcome = fix_plan(target, check_options, options, include_unsafe=self.unsafe_fixes)
            except ExecplanError as error:
                report = report.add_failure(target.display_name, error)
                continue
            outcomes += [outcome] if outcome is not None else []
        for project in projects:
            try:
                indexes += [(project, index) for index in _write_index(project, check_options, options)]
            except ExecplanError as error:
                report = report.add_failure("the plan index", error)
        try:
            report = report.add_warnings(bulk.commit("lint", "lint --fix"))
        except ExecplanError as error:
            report = report.add_failure("the fixes", error)
        for outcome in outcomes:
            report = report.add_plan(outcome, bulk, is_dry_run=options.dry_run)
        for project, index in indexes:
            commit = bulk.commit_of(project) if index.changed else None
            report = report.add_index(index._replace(commit=commit), is_dry_run=options.dry_run)
        return report if options.dry_run else report.add_summary(outcomes, bulk)

    def fix_staged_indexes(self, directory: str, check_options: CheckOptions) -> FixReport:
        """Update the plan indexes in the next commit, of a directory's project and its nested ones.

        An index that can't be updated becomes a warning, because it must not stop the commit.
        """
        from execplan.core.project import project_discovery

        report = FixReport((), (), (), OK)
        project = project_discovery.find(directory)
        for member in project_discovery.with_nested_projects(project) if project.exists and project.git else ():
            if INDEX_CODE not in active_levels(member, check_options.selection, ""):
                continue
            try:
                index_result: WrittenIndex | None = features.load(features.STAGED_INDEX_WRITER)(member)
            except ExecplanError as error:
                report = report._replace(warnings=(*report.warnings, f"{error.message}; {error.hint}"))
                continue
            if index_result is not None:
                report = report.add_index(index_result, is_dry_run=False)
        return report


def _write_index(project: Project, check_options: CheckOptions, options: WriteOptions) -> list[WrittenIndex]:
    """Write the plan index of a project if it has one and its rule is on. Raises ExecplanError."""
    from execplan.core.plan_store.index_location import find_index

    if INDEX_CODE not in active_levels(project, check_options.selection, "") or not find_index(project):
        return []
    return [features.load(features.INDEX_WRITER)(project, options._replace(if_match=None))]


def _describe_failure(error: ExecplanError) -> str:
    """Return why a fix was not written, or was written but not committed."""
    from execplan.core.git.git_commit import UNCOMMITTED_NOTE

    message = error.message.removesuffix(f"; {UNCOMMITTED_NOTE}")
    return f"{'not fixed' if message == error.message else 'fixed, but not committed'}: {message}; {error.hint}"


class FixReport(NamedTuple):
    """The report of fixed plans, as text and as JSON."""

    lines: tuple[str, ...]
    fixed_plans: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...]
    failed: int
    """Exit status of the first plan that could not be fixed."""
    next_commands: tuple[str, ...] = ()

    def add_warnings(self, warnings: Sequence[str]) -> FixReport:
        """Return the report with more warnings."""
        return self._replace(warnings=(*self.warnings, *warnings))

    def add_failure(self, subject: str, error: ExecplanError) -> FixReport:
        """Return the report with an error as a warning, and its exit status."""
        report = self.add_warnings([f"{subject}: {_describe_failure(error)}"])
        return report._replace(failed=self.failed or error.exit)

    def add_plan(self, outcome: FixOutcome, bulk: BulkOperation, *, is_dry_run: bool) -> FixReport:
        """Return the report with a plan that was fixed, or would be."""
        target = outcome.target
        amended = bulk.with_commit(target.project, outcome.edit_result)
        line = f"{target.display_name}: {amended.messages[0]}"
        fields = json_fields(amended, "path changed digest commit")
        return self._add_fixed(amended, fields, outcome.fixed_counts, line, is_dry_run=is_dry_run)

    def _add_fixed(
        self,
        result: EditResult | WrittenIndex,
        fields: dict[str, Any],
        counts: Mapping[str, int],
        line: str,
        *,
        is_dry_run: bool,
    ) -> FixReport:
        """Return the report with a file that was fixed, or would be; `counts` are its fixed findings by rule."""
        fixed = {**fields, "mended": dict(sorted(counts.items())), **({"diff": result.diff} if is_dry_run else {})}
        new_lines = []
        if result.changed:
            new_lines = [result.diff if is_dry_run else escape_unprintable(line)]
        report = self._replace(lines=(*self.lines, *new_lines), fixed_plans=(*self.fixed_plans, fixed))
        return report.add_warnings(result.warnings)

    def add_summary(self, outcomes: Sequence[FixOutcome], bulk: BulkOperation) -> FixReport:
        """Return the report with the number of fixed plans and their commit, or the command that commits them."""
        from execplan.cli.output.move_output import commit_commands

        targets = [outcome.target for outcome in outcomes if outcome.edit_result.changed]
        lines = [f"fixed {format_count(len(targets), 'plan')}"] if len(targets) > 1 else []
        commits = {bulk.commit_of(target.project) for target in targets} - {None}
        lines += [f"committed {commit[:12]}" for commit in commits if commit]
        next_commands = () if commits else commit_commands([(target.project, target.ref.path) for target in targets])
        return self._replace(lines=(*self.lines, *lines), next_commands=next_commands)

    def _summary(self) -> str:
        """Return how many findings were fixed, or would be."""
        changed = [plan for plan in self.fixed_plans if plan["changed"]]
        count = sum([sum(plan["mended"].values()) for plan in changed])
        verb = "would fix" if any(["diff" in plan for plan in changed]) else "fixed"
        return f"{verb} {format_count(count, 'finding')} in {format_count(len(changed), 'plan')}, see above"

    def add_index(self, index_result: WrittenIndex, *, is_dry_run: bool) -> FixReport:
        """Return the report with a plan index that was written, or would be; unchanged if it was current."""
        if not index_result.changed:
            return self
        index = index_result.plan_index
        names = {
            "path": index.display_path,
            "changed": True,
            "digest": digest(index.new),
            "commit": index_result.commit,
        }
        line = f"{index.display_path}: updated the plan index"
        return self._add_fixed(index_result, names, {INDEX_CODE: 1}, line, is_dry_run=is_dry_run)

    def prepend_to(self, answer: Answer) -> Answer:
        """Return an answer with this report before its own text; after a long one, a summary."""
        summary = [self._summary()] if self.lines and answer.text.count("\n") >= _SCREEN_LINES else []
        text = "\n".join([*self.lines, answer.text, *summary])
        return answer._replace(
            data={**answer.data, "fixed": list(self.fixed_plans)},
            text=text,
            warnings=(*self.warnings, *answer.warnings),
            exit=answer.exit or self.failed,
            next_commands=(*self.next_commands, *answer.next_commands),
        )


fix_options = join_options(
    click.option("--fix", is_flag=True, help="Apply fixes that keep the plan's meaning."),
    click.option("--unsafe-fixes", is_flag=True, help="Also apply fixes that may change the plan's meaning."),
    click.option("--diff", is_flag=True, help="With --fix: show the changes without writing them, like --dry-run."),
)
"""The options of FixSettings."""
