"""Output of `lint`: the options that select it, and the answer with the findings."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from shlex import quote
from typing import Any, NamedTuple

import click

from execplan.cli import formats
from execplan.cli.answer import Answer, Call
from execplan.cli.option_rules import join_options
from execplan.cli.output.lint_overview import LintOverview, make_overview, statistics_table
from execplan.cli.output.lint_report import (
    exit_status,
    filter_by_level,
    help_commands,
    next_lines,
    report_lines,
    skip_notices,
    summarize_findings,
)
from execplan.cli.rule_options import selecting_options
from execplan.core.text.message_parts import format_count
from execplan.linter.baseline_filter import unrecorded_findings
from execplan.linter.checking import baseline_file
from execplan.linter.checking.baseline_file import BaselineComparison
from execplan.linter.checking.check_targets import TargetGroup
from execplan.linter.checking.plan_check import CheckedFile, CheckOptions, check_bytes, read_lines
from execplan.linter.finding_summary import count_by_rule, finding_weight
from execplan.linter.rule import LEVELS
from execplan.linter.text_check import CODE_POINTS, UTF_16, convert_columns

HUMAN_FORMATS = (formats.TEXT, formats.CONCISE)


class OutputSettings(NamedTuple):
    """The output options of a `lint` invocation."""

    form: str = formats.TEXT
    columns: str = CODE_POINTS
    statistics: bool = False
    stdin_filename: str | None = None
    baseline: str | None = None
    write_baseline: bool = False
    level: str | None = None
    all: bool = False

    @property
    def is_machine_format(self) -> bool:
        """Whether only a document in another program's format is printed."""
        return self.form not in HUMAN_FORMATS

    @property
    def prints_all_findings(self) -> bool:
        """Whether all findings are printed as text for people."""
        return (
            self.form == formats.TEXT
            and not (self.statistics or self.write_baseline)
            and self.baseline is None
            and self.level is None
        )

    def check_stdin(self, check_options: CheckOptions) -> list[CheckedFile]:
        """Check the plan on standard input; raises ExecplanError."""
        from execplan.core.plan.reader import MAX_BYTES

        return [check_bytes(sys.stdin.buffer.read(MAX_BYTES + 1), self.stdin_filename or "", check_options)]

    def answer(
        self,
        call: Call,
        checked: Sequence[CheckedFile],
        check_options: CheckOptions,
        groups: Sequence[TargetGroup] | None = None,
        *,
        dry_run: bool = False,
    ) -> Answer:
        """Build the answer in the selected format; in a dry run no baseline is written. Raises ExecplanError.

        With `groups`, whose plans are the first results, a long report for people is an overview.
        """
        held_baseline = None
        if self.baseline is not None or self.write_baseline:
            file = self.baseline or os.path.relpath(baseline_file.default_file("."))
            held_baseline = baseline_file.compare_with_baseline(
                checked, file, check_options, may_create=self.write_baseline
            )
            checked = held_baseline.checked_files
            if self.write_baseline:
                return self._baseline_answer(held_baseline, file, dry_run=dry_run)
        checked = filter_by_level(checked, self.level)
        if self.is_machine_format:
            return Answer(
                {}, formats.render(self.form, checked), exit_status(checked), skip_notices(checked), is_raw=True
            )
        if self.columns != CODE_POINTS:
            checked = [_with_columns(checked_file, self.columns) for checked_file in checked]
        data: dict[str, Any] = {
            "findings": _findings_json(checked) if call.as_json else [],
            "plans": _plan_count(checked),
            "skipped": _skipped_paths(checked),
            "older": sum([checked_file.older_count for checked_file in checked]),
        }
        if held_baseline is not None:
            data["baseline"] = {
                "file": held_baseline.file,
                "known": held_baseline.known_count,
                "gone": held_baseline.gone_count,
            }
        lines = []
        overview: LintOverview | None = None
        if self.statistics:
            tallies = count_by_rule([finding for checked_file in checked for finding in checked_file.findings])
            data["statistics"] = [rule_tally._asdict() for rule_tally in tallies]
            lines.append(statistics_table(tallies))
        elif groups is not None and not call.as_json and self.form == formats.TEXT and not self.all:
            overview = make_overview(groups, checked, selecting_options(click.get_current_context().params))
            lines += report_lines(checked) if overview is None else [*report_lines(overview.in_full), overview.table]
        elif not call.as_json:
            lines += report_lines(checked) if self.form == formats.TEXT else [formats.render(self.form, checked)]
        if not call.quiet:
            lines += _summary_lines(checked, held_baseline)
            lines += next_lines(overview.next_commands) if overview is not None else []
        next_commands = () if overview is not None and overview.next_commands else help_commands(checked)
        text = "\n".join([line for line in lines if line])
        return Answer(data, text, exit_status(checked), skip_notices(checked), next_commands=next_commands)

    def _baseline_answer(self, held_baseline: BaselineComparison, file: str, *, dry_run: bool) -> Answer:
        """Write the findings to the baseline; those that can't be recorded are still reported, and what helps comes next."""
        findings = [finding for checked_file in held_baseline.checked_files for finding in checked_file.findings]
        checked = [
            checked_file.with_findings(unrecorded_findings(checked_file.findings))
            for checked_file in held_baseline.checked_files
        ]
        new = sum(map(finding_weight, findings)) - sum([len(checked_file.findings) for checked_file in checked])
        data: dict[str, Any] = {"findings": _findings_json(checked), "plans": _plan_count(checked)}
        data |= {"baseline": {"file": held_baseline.file, "known": held_baseline.known_count + new, "gone": 0}}
        lines = [] if dry_run else report_lines(checked)
        if dry_run:
            from execplan.core.edits.plan_writer import format_diff

            data |= {
                "changed": held_baseline.new_bytes != held_baseline.old_bytes,
                "diff": format_diff(held_baseline.old_bytes, held_baseline.new_bytes, held_baseline.file),
            }
            lines.append(data["diff"] or "no changes")
        else:
            data["changed"] = baseline_file.write_baseline(held_baseline, file)
            known_text = format_count(held_baseline.known_count + new, "finding")
            lines.append(f"{held_baseline.file}: {known_text}, {new} new, {held_baseline.gone_count} gone")
        add = (f"git add {quote(file)}",) if not dry_run and baseline_file.is_uncommitted(file) else ()
        commands = (*help_commands(checked), *add, f"execplan lint --baseline {quote(file)}")
        return Answer(data, "\n".join(lines), exit_status(checked), next_commands=commands)


def _plan_count(checked: Sequence[CheckedFile]) -> int:
    """Return the number of plans; other files of a project don't count."""
    return len([checked_file for checked_file in checked if checked_file.is_plan])


def _skipped_paths(checked: Sequence[CheckedFile]) -> list[str]:
    """Return the files that were skipped because they are not plans."""
    return [checked_file.path for checked_file in checked if checked_file.was_skipped]


def _findings_json(checked: Sequence[CheckedFile]) -> list[dict[str, object]]:
    return [finding.to_json(checked_file.path) for checked_file in checked for finding in checked_file.findings]


def _with_columns(checked: CheckedFile, columns: str) -> CheckedFile:
    """Return a checked plan with the columns of its findings in another unit."""
    return checked.with_findings(convert_columns(checked.findings, read_lines(checked), columns))


def _summary_lines(checked: Sequence[CheckedFile], held_baseline: BaselineComparison | None) -> list[str]:
    """Return the summary of findings, with the number known to the baseline."""
    lines = [summarize_findings(checked)]
    if held_baseline is not None and held_baseline.known_count:
        lines[0] += f"; {held_baseline.known_count} in the baseline"
    if held_baseline is not None and held_baseline.gone_count:
        entries = (
            "baseline entries no longer match" if held_baseline.gone_count > 1 else "baseline entry no longer matches"
        )
        lines.append(f"{held_baseline.gone_count} {entries}; update the baseline with --write-baseline")
    return lines


output_options = join_options(
    click.option(
        "--format",
        "form",
        type=click.Choice(formats.NAMES),
        default=formats.TEXT,
        help="Output format of the findings.",
    ),
    click.option(
        "--columns",
        type=click.Choice([CODE_POINTS, UTF_16]),
        default=CODE_POINTS,
        help="Unit of the columns; editors count UTF-16.",
    ),
    click.option("--statistics", is_flag=True, help="Count the findings of each rule."),
    click.option("--all", is_flag=True, help="List all findings, also if they are many."),
    click.option("--stdin-filename", metavar="PATH", help="Path to assume for the plan on standard input."),
    click.option("--baseline", metavar="FILE", help="Ignore findings recorded in this baseline."),
    click.option(
        "--level", type=click.Choice(LEVELS), help="Report only findings of this level or worse; others don't count."
    ),
    click.option("--write-baseline", is_flag=True, help="Record the current findings in the baseline."),
)
"""The options of OutputSettings."""
