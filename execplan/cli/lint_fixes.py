"""Fixes applied by `lint`: the options that request them, and the report of fixed findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from execplan.errors import OK, ExecplanError
from execplan.linter.checking.effective_rules import active_levels
from execplan.linter.checking.plan_fix import fix_plan
from execplan.linter.rules.project_rules import INDEX_CODE
from execplan.text.invisible_characters import escape_unprintable
from execplan.text.text_lines import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.cli.answer import Answer
    from execplan.edits.plan_writer import WriteOptions
    from execplan.linter.checking.plan_check import CheckOptions, CheckTarget
    from execplan.plan_index.plan_index_file import WrittenIndex
    from execplan.project.project import Project


class FixSettings(NamedTuple):
    """The fix options of a `lint` invocation."""

    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False

    @property
    def is_requested(self) -> bool:
        """Whether any fixes are requested."""
        return self.fix or self.unsafe_fixes

    def fix_plans(self, plans: Sequence[CheckTarget], check_options: CheckOptions, options: WriteOptions) -> FixReport:
        """Fix the plans, or show the changes in a dry run, and collect errors as warnings."""
        options = options._replace(dry_run=options.dry_run or self.diff)
        lines, fixed, warnings = [], [], []
        failed = OK
        for target in plans:
            try:
                fix_result = fix_plan(target, check_options, options, include_unsafe=self.unsafe_fixes)
            except ExecplanError as error:
                warnings.append(f"{target.display_name}: {_describe_failure(error)}")
                failed = failed or error.exit
                continue
            if fix_result is None:
                continue
            if fix_result.edit_result is None:
                warnings.append(f"{target.display_name} is archived and was not fixed")
                continue
            amended = fix_result.edit_result
            if amended.changed:
                lines.append(
                    amended.diff
                    if options.dry_run
                    else escape_unprintable(f"{target.display_name}: {amended.messages[0]}")
                )
            warnings += amended.warnings
            fixed.append(
                {
                    "path": amended.path,
                    "changed": amended.changed,
                    "digest": amended.digest,
                    "commit": amended.commit,
                    "mended": dict(sorted(fix_result.fixed_counts.items())),
                    **({"diff": amended.diff} if options.dry_run else {}),
                }
            )
        return FixReport(tuple(lines), tuple(fixed), tuple(warnings), failed)

    def fix_indexes(self, projects: Sequence[Project], check_options: CheckOptions, options: WriteOptions) -> FixReport:
        """Write the outdated plan indexes of projects, or show the changes in a dry run; errors become warnings."""
        from execplan.plan_store.index_location import find_index

        options = options._replace(dry_run=options.dry_run or self.diff, if_match=None)
        report = FixReport((), (), (), OK)
        for project in projects:
            try:
                if INDEX_CODE in active_levels(project, check_options.selection, "") and find_index(project):
                    from execplan.plan_index.plan_index_file import write_index

                    report = report.add_index(write_index(project, options), is_dry_run=options.dry_run)
            except ExecplanError as error:
                warning = f"the plan index: {_describe_failure(error)}"
                report = report._replace(warnings=(*report.warnings, warning), failed=report.failed or error.exit)
        return report

    def fix_staged_indexes(self, directory: str, check_options: CheckOptions) -> FixReport:
        """Update the plan indexes in the next commit, of a directory's project and its nested ones.

        An index that can't be updated becomes a warning, because it must not stop the commit.
        """
        from execplan.project import project_discovery

        report = FixReport((), (), (), OK)
        project = project_discovery.find(directory)
        for member in project_discovery.with_nested_projects(project) if project.exists and project.git else ():
            if INDEX_CODE not in active_levels(member, check_options.selection, ""):
                continue
            from execplan.plan_index.staged_index import update_staged_index

            try:
                index_result = update_staged_index(member)
            except ExecplanError as error:
                report = report._replace(warnings=(*report.warnings, f"{error.message}; {error.hint}"))
                continue
            if index_result is not None:
                report = report.add_index(index_result, is_dry_run=False)
        return report


def _describe_failure(error: ExecplanError) -> str:
    """Return why a fix was not written, or was written but not committed."""
    from execplan.git.git_commit import UNCOMMITTED_NOTE

    message = error.message.removesuffix(f"; {UNCOMMITTED_NOTE}")
    return f"{'not fixed' if message == error.message else 'fixed, but not committed'}: {message}; {error.hint}"


class FixReport(NamedTuple):
    """The report of fixed plans, as text and as JSON."""

    lines: tuple[str, ...]
    fixed_plans: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...]
    failed: int
    """Exit status of the first plan that could not be fixed."""

    def add_index(self, index_result: WrittenIndex, *, is_dry_run: bool) -> FixReport:
        """Return the report with a plan index that was written, or would be; unchanged if it was current."""
        if not index_result.changed:
            return self
        index = index_result.plan_index
        line = index_result.diff if is_dry_run else escape_unprintable(f"{index.display_path}: updated the plan index")
        fixed_index = {
            "path": index.display_path,
            "changed": True,
            "digest": digest(index.new),
            "commit": index_result.commit,
            "mended": {INDEX_CODE: 1},
            **({"diff": index_result.diff} if is_dry_run else {}),
        }
        return self._replace(
            lines=(*self.lines, line),
            fixed_plans=(*self.fixed_plans, fixed_index),
            warnings=(*self.warnings, *index_result.warnings),
        )

    def join(self, other: FixReport) -> FixReport:
        """Return a report with the content of both."""
        return FixReport(
            self.lines + other.lines,
            self.fixed_plans + other.fixed_plans,
            self.warnings + other.warnings,
            self.failed or other.failed,
        )

    def prepend_to(self, answer: Answer) -> Answer:
        """Return an answer with this report before its own text."""
        text = "\n".join([*self.lines, answer.text])
        return answer._replace(
            data={**answer.data, "fixed": list(self.fixed_plans)},
            text=text,
            warnings=(*self.warnings, *answer.warnings),
            exit=answer.exit or self.failed,
        )


def fix_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """Add the options of FixSettings."""
    for option in (
        click.option("--diff", is_flag=True, help="With --fix: show the changes without writing them, like --dry-run."),
        click.option("--unsafe-fixes", is_flag=True, help="Also apply fixes that may change the plan's meaning."),
        click.option("--fix", is_flag=True, help="Apply fixes that keep the plan's meaning."),
    ):
        function = option(function)
    return function
