"""A step is done: its work, the checks behind it, and what it has changed."""

from __future__ import annotations

import os
import time

from execplan.engine.entries import Checks, Performed
from execplan.engine.steps import looks
from execplan.engine.steps.checks import Checked, check
from execplan.engine.steps.execute import execute
from execplan.engine.steps.named import is_command, runs
from execplan.engine.steps.runner_summary import count_tests
from execplan.engine.steps.write import write
from execplan.execution.model import Type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.commands.ended import CommandResult
    from execplan.engine.commands.transcript import Transcript
    from execplan.engine.steps.acted import Acted
    from execplan.engine.steps.bench import RunContext
    from execplan.engine.steps.prepare import Prepared
    from execplan.execution.model import Step


def perform(bench: RunContext, step: Step, attempt: int, prepared: Prepared) -> Performed:
    """Do a step. What is its own failure is told; ExecplanError is raised for what keeps the run from going on."""
    began = time.monotonic()
    opened = Opened(bench, step, attempt)
    with opened as transcript:
        if is_command(step):
            acted = execute(bench, step, attempt, transcript)
        else:
            acted = write(bench, step, prepared.before, transcript)
        performed = finish(bench, step, attempt, acted, transcript)
    return performed._replace(seconds=round(time.monotonic() - began, 3), transcript=opened.shown)


def finish(bench: RunContext, step: Step, attempt: int, acted: Acted, transcript: Transcript) -> Performed:
    """Check what was done, and tell what it has changed."""
    failed = Checked(acted.cause, acted.reason)
    checked = failed if acted.cause else check(bench, step, attempt, acted, transcript)
    if checked.cause:
        transcript.note(f"failed: {checked.reason}")
    own, seen = (acted.changes, acted.folders, ""), runs(step) and (is_command(step) or looks.known(bench, step))
    changes, folders, hidden = looks.changed(bench, step) if seen else own
    ended = acted.ended
    programs = [each for each in (ended, checked.test) if each is not None]
    return Performed(
        not checked.cause,
        checked.cause,
        checked.reason,
        ended.exit if ended is not None else None,
        ended.signal if ended is not None else None,
        sum([each.seconds for each in programs]),
        sum([each.cpu_s for each in programs]),
        max([each.peak_memory_bytes for each in programs], default=0),
        changes,
        folders,
        _counted(Checks("passed") if acted.cause else checked.checks, programs),
        stdout=ended.stdout_sha256 if ended is not None else "",
        outside=outside(bench, step, hidden) if programs else "",
    )


def _counted(checks: Checks, programs: list[CommandResult]) -> Checks:
    """The checks with the tests that the programs ran, as far as their test runners say how many."""
    counts = [found for each in programs if (found := count_tests(each.output_tail.decode("utf-8", "replace"))) is not None]
    if not counts:
        return checks
    return checks._replace(
        tests_run=sum([each.run for each in counts]), tests_passed=sum([each.passed for each in counts])
    )


def outside(bench: RunContext, step: Step, hidden: str) -> str:
    """What of the effects of its programs nobody can take back, in words; nothing of those that are known to read only.

    `hidden` is where in the repository nobody has looked.
    """
    from shlex import join

    from execplan.execution.risk.rate import LOW, highest_risk, rate_command

    table, shell = bench.policy.risk_table, step.shell is not None
    risks = [rate_command(step.command, table, is_script=shell)] if is_command(step) and step.command else []
    if step.validation.test_after is not None:
        risks.append(rate_command(join(step.validation.test_after), table))
    if highest_risk(risks).level == LOW and not step.network and step.type not in (Type.INSTALL, Type.TOOL):
        return ""
    places = [] if bench.sandbox is not None else ["outside the repository"]
    places += [hidden] if hidden else []
    places += ["over the network"] if step.network or bench.sandbox is None else []
    return f"what it did {', '.join(places[:-1])}{' or ' if len(places) > 1 else ''}{places[-1]}" if places else ""


class Opened:
    """The transcript of an attempt, closed behind it; `again`: of what is done when an attempt that was cut short is looked at."""

    def __init__(self, bench: RunContext, step: Step, attempt: int, *, again: bool = False) -> None:
        from execplan.engine.commands.transcript import Transcript
        from execplan.engine.copies import keep_transcript

        name = f"{step.number:02}-{step.id}" + (f"-{attempt}" if attempt > 1 else "")
        title = f"{step.number}. {step.id}" + (f", attempt {attempt}" if attempt > 1 else "")
        first = os.path.join(bench.place.transcripts, f"{name}.md")
        path = os.path.join(bench.place.transcripts, f"{name}-resumed.md") if again else first
        self.shown = bench.home.shown(first if not again or os.path.exists(first) else path)
        """From the root: of an attempt that was cut short what it had printed by then."""
        line = (lambda text, error: bench.watch.line(step.id, text, error=error)) if runs(step) else None
        self.transcript = Transcript(path, title, bench.redaction, bench.policy.output_kb << 10, line)
        keep_transcript(bench.place, path)

    def __enter__(self) -> Transcript:
        return self.transcript

    def __exit__(self, *_: object) -> None:
        self.transcript.close()
