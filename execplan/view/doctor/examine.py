"""Every check made, and what they found mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from execplan.errors import ExecplanError
from execplan.view.doctor import (
    edits,
    guarded,
    hidden,
    integrations,
    leftovers,
    machine,
    plans,
    runs,
    sessions,
    settings,
)
from execplan.view.doctor.check import CHECKS, ERROR, Check, Finding
from execplan.view.doctor.ground import Ground

if TYPE_CHECKING:
    from collections.abc import Callable

    from execplan.repo.amend import Options

FAMILIES = (machine, settings, plans, hidden, edits, runs, leftovers, integrations, guarded, sessions)
"""The files of checks, in the order in which they are made and mended; importing one registers what it holds."""
for _family in FAMILIES:
    for _name in [name for name, each in CHECKS.items() if each.look.__module__ == _family.__name__]:
        CHECKS[_name] = CHECKS.pop(_name)


class Checked(NamedTuple):
    """What came of a check."""

    name: str
    message: str
    """What holds, or why it was not looked at."""
    findings: tuple[Finding, ...]
    looked: bool = True

    @property
    def ok(self) -> bool:
        """Whether it was looked at and nothing is wrong."""
        return self.looked and not self.findings


class Mended(NamedTuple):
    """Something that was mended, or in a dry run would be."""

    check: str
    path: str
    message: str
    diff: str = ""


def examine(start: str, script: Callable[[str], str]) -> list[Checked]:
    """Make every check on the home of a folder and those that it names; raises ExecplanError where there is none.

    `script` gives the completion script of a shell.
    """
    ground = Ground(start, script)
    told: set[str] = set()
    checked = []
    for check in CHECKS.values():
        found = _made(check, ground, told)
        told |= {finding.message for finding in found.findings}
        checked.append(found)
    return checked


def _made(check: Check, ground: Ground, told: set[str]) -> Checked:
    """Make a check; what keeps it from being made is a finding, unless another check has found it already."""
    if not (check.anywhere or ground.homes):
        return Checked(check.name, "not checked: the settings can't be read", (), looked=False)
    findings: list[Finding] = []
    words = [check.sentence]
    try:
        for found in check.look(ground):
            if isinstance(found, Finding):
                findings.append(found)
            else:
                words.append(found)
    except ExecplanError as error:
        if error.message in told or any([error.message in each for each in told]):
            return Checked(check.name, f"not checked: {error.message}", tuple(findings), looked=False)
        findings.append(Finding(ERROR, "", error.message, error.hint or "mend that, and look again", error.line))
    more = f" ({'; '.join(words[1:])})" if words[1:] else ""
    return Checked(check.name, words[0] + more, tuple(findings))


def would_mend(checked: list[Checked]) -> list[Mended]:
    """What `mend` would do."""
    return [
        Mended(each.name, finding.path, finding.fix.would, finding.fix.diff)
        for each in checked
        for finding in each.findings
        if finding.fix is not None
    ]


def mend(start: str, script: Callable[[str], str], options: Options) -> tuple[list[Mended], list[str]]:
    """Mend what can be, check after check, each looking at what those before it left; and why something could not be."""
    done: list[Mended] = []
    refused: list[str] = []
    ground = Ground(start, script)
    for check in CHECKS.values():
        for finding in _made(check, ground, set()).findings:
            if finding.fix is None:
                continue
            ground = Ground(start, script)
            try:
                done += [Mended(check.name, finding.path, said) for said in finding.fix.make(options)]
            except ExecplanError as error:
                refused.append(f"{finding.path or check.name}: {error.message}")
    return done, refused
