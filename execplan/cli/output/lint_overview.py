"""The report of `lint` on whole projects: changed and open plans in full, and a table of the findings in the others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from shlex import quote
from typing import NamedTuple

from execplan.cli.formats import text
from execplan.cli.output.text_table import format_table
from execplan.core.errors import ExecplanError
from execplan.core.git import git_history
from execplan.core.plan.model import ACTIVE, BROKEN, DRAFT
from execplan.core.plan_facts.facts_loader import MIN_INDEXED_PLANS, load_facts
from execplan.core.project import project_discovery
from execplan.core.project.project_settings import BASELINE_FILE
from execplan.core.text.message_parts import format_count
from execplan.linter.checking.check_targets import TargetGroup, iter_targets
from execplan.linter.checking.plan_check import CheckedFile, CheckTarget
from execplan.linter.finding_summary import RuleStatistics, count_by_rule
from execplan.linter.rule import CONFLICT_CODE

_MAX_LINES = 60
"""Maximum number of lines for findings in full; a report that fits has no table."""


class LintOverview(NamedTuple):
    """The parts of a report that is too long for people and agents."""

    in_full: list[CheckedFile]
    """The plans whose findings are reported in full."""
    table: str
    """The findings of the others, by rule; empty if there are no others."""
    next_commands: tuple[str, ...]
    """Commands that help, each with what it does; empty while conflict markers must be resolved before anything else."""


def make_overview(
    groups: Sequence[TargetGroup], checked: Sequence[CheckedFile], options: str = ""
) -> LintOverview | None:
    """Return the overview of the results for all plans of the groups, which are the first ones; None for a short report.

    `options` are those that selected the findings, for the next commands. Plans that differ from HEAD come first, then open ones, until the lines are used up.
    """
    reported = [position for position, checked_file in enumerate(checked) if checked_file.findings]
    line_counts = accumulate(map(_count_lines, [checked[position] for position in reported]))
    if all(count <= _MAX_LINES for count in line_counts):
        return None
    targets = list(iter_targets(groups))
    changed = _changed_paths(groups)
    important = [at for at in reported if at >= len(targets) or os.path.realpath(targets[at].ref.path) in changed]
    less_important = [(at, targets[at]) for at in reported if at not in important]
    full_positions: list[int] = []
    room = _MAX_LINES
    for position in chain(important, _open_positions(less_important)):
        room -= _count_lines(checked[position])
        if room < 0 and position not in important[:1]:
            break
        full_positions.append(position)
    rest = [checked[position] for position in reported if position not in full_positions]
    tallies = count_by_rule([finding for checked_file in rest for finding in checked_file.findings])
    all_tallies = count_by_rule([finding for position in reported for finding in checked[position].findings])
    safe, unsafe = sum([tally.safe for tally in all_tallies]), sum([tally.unsafe for tally in all_tallies])
    commands = [f"--fix  # fixes {format_count(safe, 'finding')}"] if safe else []
    commands += [f"--fix --unsafe-fixes  # fixes {format_count(safe + unsafe, 'finding')}"] if unsafe else []
    commands += [_baseline_option(groups), "--all  # lists all findings"]
    if CONFLICT_CODE in [tally.code for tally in all_tallies]:
        commands = []
    title = f"{format_count(len(rest), 'other plan' if full_positions else 'plan')} with findings:"
    return LintOverview(
        [checked[position] for position in full_positions],
        f"{title}\n{statistics_table(tallies)}" if rest else "",
        tuple([f"execplan lint{options} {command}" for command in commands]),
    )


def _baseline_option(groups: Sequence[TargetGroup]) -> str:
    """Return the option that ignores known findings: it writes the baseline, or uses the one that exists."""
    project = groups[0].project
    path = os.path.join(project.base, BASELINE_FILE)
    if os.path.isfile(path):
        return f"--baseline {quote(os.path.relpath(path))}  # ignores the findings in the baseline"
    return "--write-baseline  # records these findings, for lint --baseline FILE"


def statistics_table(tallies: Sequence[RuleStatistics]) -> str:
    """Return a table with the number of findings per rule and the number of fixable ones."""
    width = max([len(str(tally.found)) for tally in tallies], default=0)
    rows = []
    for tally in tallies:
        counts = ((tally.safe, "--fix"), (tally.unsafe, "--unsafe-fixes"))
        fixes = ", ".join([f"{count} {flag}" for count, flag in counts if count])
        rows.append([f"{tally.found:{width}}", tally.code, tally.level, fixes or "-", tally.sentence])
    return format_table(("count", "rule", "level", "fixable with", "what"), rows) if rows else ""


def _count_lines(checked_file: CheckedFile) -> int:
    return text.render([checked_file]).count("\n") + 1


def _changed_paths(groups: Sequence[TargetGroup]) -> set[str]:
    """Return the real paths of tracked files that differ from HEAD; none if Git fails."""
    projects = {group.project.root: group.project for group in groups if group.project.git is not None}
    paths: set[str] = set()
    for root, project in projects.items():
        try:
            directories = sorted(
                {os.path.relpath(group.directory, root) for group in groups if group.project.root == root}
            )
            paths.update([os.path.join(root, path) for path in git_history.modified_files(project, directories)])
        except ExecplanError:
            continue
    return paths


def _open_positions(targets: Sequence[tuple[int, CheckTarget]]) -> Iterator[int]:
    """Yield the positions of the plans that are neither complete nor archived.

    Most reports have room for a few plans only, so the facts of the first plans are loaded first.
    """
    project = project_discovery.require(os.getcwd())
    plans = {target.ref.path: (at, target) for at, target in targets if not target.ref.archived}
    paths, size = list(plans), MIN_INDEXED_PLANS
    while paths:
        loaded = [(plans[path][1].project, plans[path][1].ref) for path in paths[:size]]
        open_paths = {plan.ref.path for plan in load_facts(project, loaded) if plan.state in (ACTIVE, DRAFT, BROKEN)}
        yield from [plans[path][0] for path in paths[:size] if path in open_paths]
        paths, size = paths[size:], 2 * size
