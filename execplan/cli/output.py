"""Where the findings of `lint` go: the options that say so, and the answer that comes of them."""

from __future__ import annotations

import os
import sys
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from execplan.cli import formats
from execplan.cli.answer import Answer, Call
from execplan.cli.lint import follow, notices, report, shown_levels, status, summary
from execplan.cli.table import table
from execplan.errors import USAGE, ExecplanError
from execplan.lint.baseline import lasting
from execplan.lint.diagnose import CODE_POINTS, UTF_16, counted
from execplan.lint.rule import LEVELS
from execplan.lint.tally import tally, weight
from execplan.repo.checking import baseline as baselines
from execplan.repo.checking.handed import STDIN, check_handed
from execplan.repo.checking.reading import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from execplan.lint.tally import Tally
    from execplan.repo.checking.baseline import Held
    from execplan.repo.checking.one import Checked, Way

_PEOPLE = (formats.TEXT, formats.CONCISE)


class Output(NamedTuple):
    """What was asked for."""

    form: str = formats.TEXT
    columns: str = CODE_POINTS
    statistics: bool = False
    stdin_filename: str | None = None
    baseline: str | None = None
    write_baseline: bool = False
    level: str | None = None

    @property
    def is_for_machines(self) -> bool:
        """Whether nothing but a document of another program's form is printed."""
        return self.form not in _PEOPLE

    def check(self, call: Call, plans: Sequence[str], *, staged: bool, since: str | None) -> None:
        """Refuse what does not go together; raises ExecplanError."""
        stdin = STDIN in plans
        machine = self.is_for_machines
        for wrong, why in (
            (call.as_json and self.form != formats.TEXT, "--json is a form of its own: it takes no --format"),
            (staged and plans, "--staged takes no PLAN"),
            (since is not None and plans, "--since takes no PLAN"),
            (since is not None and staged, "--since judges files, and --staged git's index"),
            (stdin and len(plans) > 1, "- is standard input: it takes no other PLAN"),
            (self.stdin_filename is not None and not stdin, "--stdin-filename names what - reads"),
            (self.stdin_filename == "", "--stdin-filename takes the path of a file"),
            (self.statistics and machine, f"--statistics takes --json, or --format {' or '.join(_PEOPLE)}"),
            (
                self.columns != CODE_POINTS and not call.as_json and self.form != formats.CONCISE,
                f"--columns {UTF_16} takes --json or --format {formats.CONCISE}",
            ),
            (self.write_baseline and (machine or self.statistics), "--write-baseline prints no findings"),
            (self.write_baseline and (staged or stdin), "--write-baseline takes plans as they are on disk"),
        ):
            if wrong:
                raise ExecplanError("usage", why, exit=USAGE, hint="see execplan lint --help")

    def check_stdin(self, way: Way) -> list[Checked]:
        """Check the plan on standard input; raises ExecplanError."""
        from execplan.plan.reader import MAX_BYTES

        return [check_handed(sys.stdin.buffer.read(MAX_BYTES + 1), self.stdin_filename or "", way)]

    def answer(self, call: Call, checked: Sequence[Checked], way: Way, *, dry_run: bool = False) -> Answer:
        """What was found, as it was asked for; in a dry run no baseline is written. Raises ExecplanError."""
        held = None
        if self.baseline is not None or self.write_baseline:
            file = self.baseline or os.path.relpath(baselines.default_file("."))
            held = baselines.hold(checked, file, way, make=self.write_baseline)
            checked = held.checked
            if self.write_baseline:
                return self._written(held, file, dry_run=dry_run)
        checked = shown_levels(checked, self.level)
        if self.is_for_machines:
            return Answer({}, formats.render(self.form, checked), status(checked), notices(checked), raw=True)
        if self.columns != CODE_POINTS:
            checked = [_counted(each, self.columns) for each in checked]
        findings = [finding for each in checked for finding in each.findings]
        data: dict[str, Any] = {
            "findings": _documents(checked),
            "plans": _plans(checked),
            "skipped": _skipped(checked),
            "older": sum([each.older for each in checked]),
        }
        if held is not None:
            data["baseline"] = {"file": held.file, "known": held.known, "gone": held.gone}
        lines = []
        if self.statistics:
            tallies = tally(findings)
            data["statistics"] = [each._asdict() for each in tallies]
            lines.append(_table(tallies))
        elif not call.as_json:
            lines += report(checked) if self.form == formats.TEXT else [formats.render(self.form, checked)]
        if not call.quiet:
            lines += _said(checked, held)
        text = "\n".join([line for line in lines if line])
        return Answer(data, text, status(checked), notices(checked), next=follow(checked))

    def _written(self, held: Held, file: str, *, dry_run: bool) -> Answer:
        """What is put into the baseline; what never is goes on being found."""
        found = [finding for each in held.checked for finding in each.findings]
        checked = [each._replace(findings=lasting(each.findings)) for each in held.checked]
        new = sum(map(weight, found)) - sum([len(each.findings) for each in checked])
        data: dict[str, Any] = {"findings": _documents(checked), "plans": _plans(checked)}
        data |= {"baseline": {"file": held.file, "known": held.known + new, "gone": 0}}
        lines = [] if dry_run else report(checked)
        if dry_run:
            from execplan.repo.amend import diff

            data |= {"changed": held.new != held.old, "diff": diff(held.old, held.new, held.file)}
            lines.append(data["diff"] or "nothing to change")
        else:
            data["changed"] = baselines.write(held, file)
            known = f"{held.known + new} finding{'s' if held.known + new != 1 else ''}"
            lines.append(f"{held.file}: {known}, {new} new, {held.gone} gone")
        following = f"execplan lint --baseline {quote(file)}"
        return Answer(data, "\n".join(lines), status(checked), next=(following,))


def _plans(checked: Sequence[Checked]) -> int:
    """How many plans there are; what else lies in a home is none."""
    return len([each for each in checked if each.plan])


def _skipped(checked: Sequence[Checked]) -> list[str]:
    """The files that were skipped because they are not plans."""
    return [each.path for each in checked if each.skipped]


def _documents(checked: Sequence[Checked]) -> list[dict[str, object]]:
    return [finding.to_json(each.path) for each in checked for finding in each.findings]


def _counted(checked: Checked, columns: str) -> Checked:
    """A plan whose findings have columns that count so."""
    return checked._replace(findings=counted(checked.findings, lines_of(checked), columns))


def _table(tallies: list[Tally]) -> str:
    """How often each rule found something, and what of it can be mended by itself."""
    width = max([len(str(each.found)) for each in tallies], default=0)
    rows = []
    for each in tallies:
        fixes = [f"{count} {flag}" for count, flag in ((each.safe, "--fix"), (each.unsafe, "--unsafe-fixes")) if count]
        rows.append([f"{each.found:{width}}", each.code, each.level, ", ".join(fixes) or "-", each.sentence])
    return table(("count", "rule", "level", "mended by", "what"), rows) if rows else ""


def _said(checked: Sequence[Checked], held: Held | None) -> list[str]:
    """How many findings there are, and how many are known."""
    lines = [summary(checked)]
    if held is not None and held.known:
        lines[0] += f"; {held.known} known to the baseline"
    if held is not None and held.gone:
        entries = "entries of the baseline are" if held.gone > 1 else "entry of the baseline is"
        lines.append(f"{held.gone} {entries} gone: renew it with --write-baseline")
    return lines


def output_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """The options of Output."""
    for option in (
        click.option("--write-baseline", is_flag=True, help="Write what is found into the baseline; it is known then."),
        click.option(
            "--level", type=click.Choice(LEVELS), help="Only findings of this level, or worse; others do not count."
        ),
        click.option("--baseline", metavar="FILE", help="Do not show what this file knows of, nor count it."),
        click.option("--stdin-filename", metavar="PATH", help="Where the plan on standard input would lie."),
        click.option("--statistics", is_flag=True, help="Count the findings of each rule."),
        click.option(
            "--columns",
            type=click.Choice([CODE_POINTS, UTF_16]),
            default=CODE_POINTS,
            help="What columns count; editors count UTF-16.",
        ),
        click.option(
            "--format", "form", type=click.Choice(formats.NAMES), default=formats.TEXT, help="How findings are printed."
        ),
    ):
        function = option(function)
    return function
