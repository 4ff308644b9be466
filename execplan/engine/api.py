"""What a Python program uses to have plans run: compiled, evaluated, run, resumed, revised, rolled back; docs/api.md shows it.

Nobody approves from here: that is done by a person at a terminal, by the policy, or by `execplan approve --digest`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.engine import place as places
from execplan.engine import replan as replans
from execplan.engine import resume as resumes
from execplan.engine import rollback as rollbacks
from execplan.engine import run as running
from execplan.engine.agent.handoff import Handoff, handoff
from execplan.engine.agent.report import ReportOutcome, StepReport, report
from execplan.engine.place import RunPaths
from execplan.engine.record import read
from execplan.engine.replan import Replanned
from execplan.engine.runs import Summary, runs
from execplan.engine.underway import underway
from execplan.engine.watch import RunOptions, FinishedRun, RolledBack, RunObserver
from execplan.execution.record import Record
from execplan.repo import pick
from execplan.repo.amend import Options
from execplan.repo.execution import store
from execplan.repo.execution.current import current
from execplan.repo.execution.evaluated import Evaluated, evaluated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.model import ExecutionPlan
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

__all__ = [
    "RunOptions",
    "Evaluated",
    "FinishedRun",
    "Handoff",
    "Options",
    "RunPaths",
    "Record",
    "Replanned",
    "ReportOutcome",
    "RolledBack",
    "StepReport",
    "Summary",
    "RunObserver",
    "compile_plan",
    "evaluate",
    "handoff",
    "open_plan",
    "record",
    "replan",
    "report",
    "resume",
    "rollback",
    "run",
    "runs",
]


def open_plan(folder: str = ".", name: str | None = None) -> tuple[Home, Ref]:
    """The home of a folder and a plan in it, named as on the command line; raises ExecplanError."""
    return pick.open_plan(folder, name)


def compile_plan(home: Home, ref: Ref, options: Options | None = None) -> ExecutionPlan:
    """The execution plan that a plan has now, stored among its artifacts as `compile` does; raises ExecplanError."""
    options = options or Options()
    store.save(home, ref, lambda: current(home, ref).data, options, verb="compile", summary="compile")
    return current(home, ref).document


def evaluate(home: Home, ref: Ref) -> Evaluated:
    """What a plan would do, and whether it must not run; nothing is written. Raises ExecplanError."""
    return evaluated(home, ref, underway(home, ref))


def run(
    home: Home, ref: Ref, chosen: RunOptions | None = None, watch: RunObserver | None = None, options: Options | None = None
) -> FinishedRun:
    """Run what was approved, and see it to its end; raises ExecplanError where nothing is begun.

    How it ended is told by `status`; a run that waits has a `question`, and goes on by `resume`.
    """
    return running.run(home, ref, chosen or RunOptions(), watch or RunObserver(), options or Options())


def resume(
    home: Home,
    ref: Ref,
    run: str | None = None,
    *,
    answer: str | None = None,
    watch: RunObserver | None = None,
    options: Options | None = None,
) -> FinishedRun:
    """Go on with a run, the last one if none is named; raises ExecplanError where it can't go on."""
    return resumes.resume(home, ref, places.named(home, ref, run), answer, watch or RunObserver(), options or Options())


def replan(
    home: Home,
    ref: Ref,
    run: str | None = None,
    *,
    reason: str,
    failed: Sequence[str] = (),
    information: str | None = None,
    options: Options | None = None,
) -> Replanned:
    """Revise what a run is still to do, the last one if none is named; raises ExecplanError with nothing changed."""
    return replans.replan_run(
        home,
        ref,
        places.named(home, ref, run),
        reason=reason,
        failed=failed,
        information=information,
        watch=RunObserver(),
        options=options or Options(),
    )


def rollback(
    home: Home,
    ref: Ref,
    run: str | None = None,
    *,
    step: str | None = None,
    watch: RunObserver | None = None,
    options: Options | None = None,
) -> RolledBack:
    """Take back what a run has changed, or one of its steps; the last run if none is named. Raises ExecplanError."""
    place = places.named(home, ref, run)
    return rollbacks.rollback(
        home, ref, place, step=step, automatic="", watch=watch or RunObserver(), options=options or Options()
    )


def record(home: Home, ref: Ref, run: str | None = None) -> Record | None:
    """What became of a run, the last one if none is named, None where it was killed before that was written.

    Raises ExecplanError.
    """
    return read(places.named(home, ref, run))
