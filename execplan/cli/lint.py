"""What `lint` does with files: shared by the quick way and the verb."""

from __future__ import annotations

import os
import sys

from execplan.cli.door import shown
from execplan.errors import NO, OK, ExecplanError
from execplan.lint.runner import ERROR, HINT, WARNING, Finding, Given, lint_bytes, unreadable
from execplan.plan.reader import MAX_BYTES, too_large
from execplan.record import NamedTuple
from execplan.repo import homes, shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Linted(NamedTuple):
    """A file and what was found in it."""

    path: str
    """As documents show it."""
    named: str
    """As a terminal shows it: as it was named, else from the current folder."""
    findings: list[Finding]


def quick(paths: list[str], *, hook: bool) -> int:
    """Lint files that exist; the exit status, or -1 when one of the names is no such file."""
    if not all([os.path.lexists(path) and not os.path.isdir(path) for path in paths]):
        return -1
    found: dict[str, Home] = {}
    linted = []
    for path in paths:
        folder = os.path.dirname(os.path.abspath(path))
        if folder not in found:
            found[folder] = homes.find(folder)
        linted.append(lint_ref(found[folder], shelf.by_file(found[folder], path), path, hook=hook))
    lines = [*report(linted), summary(linted), *[f"next: {command}" for command in follow(linted)]]
    sys.stdout.write("".join([line + "\n" for line in lines]))
    return status(linted)


def lint_ref(home: Home, ref: Ref, named: str, *, hook: bool) -> Linted:
    """Lint one plan; what keeps it from being read is a finding."""
    path = home.shown(ref.path)
    try:
        data = shelf.open_bytes(home, ref.path)
    except ExecplanError as error:
        return Linted(path, named, [unreadable(error)])
    return Linted(path, named, lint_bytes(data, _given(home, ref, hook=hook)))


def _given(home: Home, ref: Ref, *, hook: bool) -> Given:
    """What the rules are told of a plan's place; in the folder for plans that were given up open tasks are no wonder."""
    return Given(archived=ref.archived and not home.given_up(ref.path), draft_is_fine=hook)


def lint_staged(start: str, *, hook: bool) -> list[Linted]:
    """Lint the plans that the next commit adds or changes, as they are staged; raises ExecplanError."""
    import re

    from execplan.repo import ask
    from execplan.repo.pattern import plan_paths

    here = homes.find(start)
    found: dict[str, tuple[Home, str]] = {}
    plans = []
    for staged in ask.staged(here, ".md"):
        folder = os.path.dirname(os.path.join(here.root, staged.path))
        if folder not in found:
            home = homes.find(folder)
            found[folder] = home, plan_paths(home)
        if re.search(found[folder][1], staged.path):
            plans.append(staged)
    linted = []
    for staged, (data, size) in zip(plans, ask.contents(here, plans), strict=True):
        path = os.path.join(here.root, staged.path)
        home = found[os.path.dirname(path)][0]
        given = _given(home, shelf.by_file(home, path), hook=hook)
        findings = [unreadable(too_large(size))] if size > MAX_BYTES else lint_bytes(data, given)
        linted.append(Linted(staged.path, os.path.relpath(path), findings))
    return linted


def report(linted: list[Linted]) -> list[str]:
    """`file:line:col CODE message` for each finding."""
    return [
        shown(f"{each.named}:{finding.line}:{finding.column} {finding.code} {finding.message}")
        for each in linted
        for finding in each.findings
    ]


def summary(linted: list[Linted]) -> str:
    """How many findings of which level in how many plans."""
    levels = [finding.level for each in linted for finding in each.findings]
    plans = f"{len(linted)} plan{'s' if len(linted) != 1 else ''}"
    parts = []
    for level in (ERROR, WARNING, HINT):
        count = levels.count(level)
        if count:
            parts.append(f"{count} {level}{'s' if count > 1 else ''}")
    return f"{', '.join(parts)} in {plans}" if parts else f"{plans}, nothing found"


def follow(linted: list[Linted]) -> tuple[str, ...]:
    """The command that says what the first error is about, or the first finding."""
    findings = [finding for each in linted for finding in each.findings]
    codes = [finding.code for finding in findings if finding.level == ERROR] or [finding.code for finding in findings]
    return (f"execplan explain {codes[0]}",) if codes else ()


def status(linted: list[Linted]) -> int:
    """1 when a finding is an error, else 0."""
    return NO if any([finding.level == ERROR for each in linted for finding in each.findings]) else OK
