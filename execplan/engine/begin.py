"""What must hold before a run begins or goes on, and the folder that it is begun in."""

from __future__ import annotations

import os
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from execplan.engine import copies, programs
from execplan.engine import place as places
from execplan.engine.entries import BEGUN, state_json
from execplan.engine.opened import redaction
from execplan.engine.permit import permit
from execplan.engine.runs import entries_of
from execplan.errors import CHANGED, ENVIRONMENT, INPUT, NO, POLICY, ExecplanError
from execplan.execution import states
from execplan.execution.documents.document import to_bytes
from execplan.execution.evaluate import effective_risk
from execplan.execution.evaluation.scope import expand_step_id
from execplan.execution.permission import find_approver
from execplan.repo import author, belongings, git, state
from execplan.repo.execution import register, store
from execplan.text import disk, files

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from execplan.engine.book import JournalWriter
    from execplan.engine.commands.sandbox import Sandbox
    from execplan.engine.course import RunState
    from execplan.engine.permit import Permit
    from execplan.engine.place import RunPaths
    from execplan.engine.schedule import Schedule
    from execplan.engine.steps.bench import RunContext
    from execplan.engine.watch import RunOptions, RunObserver
    from execplan.execution.approval import Approval
    from execplan.execution.model import ExecutionPlan, Step
    from execplan.execution.policy import Policy
    from execplan.repo.execution.standing import Now, Standing
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def chosen_steps(document: ExecutionPlan, chosen: RunOptions) -> list[str] | None:
    """The ids of the steps that were chosen, None for all of them; raises ExecplanError for one that is none."""
    if chosen.begin:
        first = _named(document, chosen.begin)[0].number
        return [step.id for step in document.steps if step.number >= first]
    named = {step.id for name in chosen.steps for step in _named(document, name)}
    return [step.id for step in document.steps if step.id in named] if named else None


def _named(document: ExecutionPlan, name: str) -> list[Step]:
    """The step that an id or a number names, or those of a fence with several commands; raises ExecplanError."""
    of_fence = expand_step_id([step.id for step in document.steps], name)
    found = [step for step in document.steps if name in (step.id, str(step.number))] or [
        step for step in document.steps if step.id in of_fence
    ]
    if found:
        return found
    from difflib import get_close_matches

    known = [step.id for step in document.steps]
    near = get_close_matches(name, known, n=3, cutoff=0.4) or known
    raise ExecplanError(
        "no-such-step", f"there is no step {name!r}", exit=INPUT, hint="name one of these", candidates=near
    )


def stop_agent(document: ExecutionPlan, ref: Ref) -> None:
    """Refuse a document whose steps an agent carries out; raises ExecplanError."""
    if document.mode == "agent":
        raise ExecplanError(
            "agent-mode",
            f"the execution plan of {ref.id} has the mode `agent`: its steps are calls of an agent's tools, which nobody runs here",
            exit=INPUT,
            hint=f"an agent carries it out, which is told so by: execplan handoff {ref.typed}",
        )


def permit_of(standing: Standing, schedule: Schedule) -> Permit:
    """What may be begun under the approval that holds, of the steps of a schedule."""
    assert standing.now is not None  # what may run compiles to something
    assert standing.approval is not None
    policy = standing.now.policy
    levels = {step.id: effective_risk(step, policy).level for step in schedule.steps}
    terms = standing.approval.terms(policy.person_from)
    return permit(terms, levels, schedule.order, policy.checkpoint_interval, schedule.there)


def stop_unapproved(allowed: Permit, approval: Approval, steps: Iterable[Step]) -> None:
    """Refuse where one of these steps has nobody's approval; raises ExecplanError."""
    levels = allowed.levels
    missing = [
        f"{step.id}: {levels[step.id]}" + (", inferred" if step.inferred else "")
        for step in steps
        if not find_approver(allowed.terms, step.id, levels[step.id], inferred=step.inferred)
    ]
    if missing:
        raise ExecplanError(
            "step-not-approved",
            f"{len(missing)} of the steps that would run are not covered by the approval {approval.digest[:12]}",
            exit=POLICY,
            hint="approve them too, or choose others with --step: execplan approve; what a run that has failed did is not approved "
            "again: go on with that, or take it back: execplan resume, execplan rollback",
            candidates=missing,
        )


def stop_other_programs(
    home: Home, ref: Ref, place: RunPaths, course: RunState, steps: list[Step], policy: Policy
) -> list[str]:
    """Refuse where the steps that are ahead would run other programs than were approved; raises ExecplanError.

    The differences, a line each, where the policy only warns of them.
    """
    others = programs.other_programs(home, course, steps)
    if policy.programs == "refuse":
        way = f"execplan approve {ref.typed}; execplan resume {place.number} -p {ref.typed}"
        programs.stop_other_programs(others, f"the run {place.id} would run other programs than were approved", way)
    return others


def stop_underway(home: Home, ref: Ref, place: RunPaths | None = None) -> None:
    """Refuse while an earlier run of the plan, or another than this one, is neither at its end nor rolled back."""
    for other in places.every(home, ref):
        entries = entries_of(other)
        if other != place and entries:
            status = _status(other, entries)
            if status not in (states.IN_PROGRESS, states.REPLANNING):
                return
            number = f"{other.number} -p {ref.typed}"
            if entries[0].said.get("mode") == "agent":
                raise ExecplanError(
                    "run-under-way",
                    f"an agent carries out {ref.id}: its run {other.id} is not at its end",
                    exit=NO,
                    hint=f"let it go on, or take back what it did: execplan handoff {ref.typed}; execplan rollback {number}",
                )
            raise ExecplanError(
                "run-under-way",
                f"the run {other.id} of {ref.id} is not at its end: it was paused, interrupted or killed",
                exit=NO,
                hint=f"go on with it, or take it back: execplan resume {number}; execplan rollback {number}",
            )


def _status(place: RunPaths, entries: Any) -> str:
    from execplan.engine.runs import brief

    return brief(place, entries).status


def stop_other(ref: Ref, place: RunPaths, course: RunState, found: Standing) -> None:
    """Refuse where what is approved now is not what the run does; raises ExecplanError."""
    assert found.now is not None  # as above
    if found.now.binding.document != course.digest:
        raise ExecplanError(
            "other-document",
            f"what is approved now is not what the run {place.id} does: the steps of {ref.id} have changed since",
            exit=CHANGED,
            hint=f"take it back, and run the new one: execplan rollback {place.number} -p {ref.typed}; "
            f"execplan approve {ref.typed}; execplan run {ref.typed}",
        )


def bench_for(home: Home, ref: Ref, place: RunPaths, now: Now, watch: RunObserver, seconds: int | None) -> RunContext:
    """What the steps of a run are done with; raises ExecplanError."""
    from execplan.engine.commands.sandbox import find_sandbox
    from execplan.engine.commands.stop import StopSignal
    from execplan.engine.files.ground import WorkspaceFiles
    from execplan.engine.files.store import BackupStore
    from execplan.engine.steps.bench import RunContext

    document, policy = now.current.document, now.policy
    sandbox = find_sandbox(home, policy)[0]
    limits = [policy.seconds, document.constraints.max_duration_s, seconds]
    deadline = monotonic() + min([each for each in limits if each is not None])
    ground, store = WorkspaceFiles(home), BackupStore(home)
    own = redaction()
    return RunContext(home, ref, document, policy, place, ground, store, sandbox, own, StopSignal(), watch, deadline)


def warn(bench: RunContext, chosen: Collection[str] | None, others: Iterable[str]) -> list[str]:
    """Show the warnings about the chosen steps (None: all) to whoever watches; those that could not be shown are returned.

    `others` say which programs are not those that were approved.
    """
    from execplan.engine.command_warnings import command_warnings

    steps = [step for step in bench.document.steps if chosen is None or step.id in chosen]
    warnings = [*command_warnings(bench.home, bench.policy, steps), *map(programs.WARNING.format, others)]
    return [each for each in warnings if not bench.watch.warn(each)]


def take(home: Home, ref: Ref, place: RunPaths, standing: Standing) -> None:
    """Set an approval apart for a new run, and make its folders, with what is run and who allowed it; raises ExecplanError."""
    assert standing.now is not None  # what may run compiles to something
    assert standing.approval is not None
    register.take(home, standing.approval.id, place.id)
    with hinting(f"nothing was done, and the approval still holds; begin again: execplan run {ref.typed}"):
        files.make_folder(place.folder, within=home.root)
        files.create(place.shown(store.NAME), standing.now.current.data, within=home.root)
        files.create(place.approval, to_bytes(standing.approval), within=home.root)
        keep_state(home, ref, place)


def keep_state(home: Home, ref: Ref, place: RunPaths) -> None:
    """Make the folder of what is not committed, with a copy of what is, and note whose run it is; raises ExecplanError."""
    state.folder(home, "runs")
    copies.keep(place)
    files.create(os.path.join(belongings.make(home, ref.path), place.id), b"")


def use(home: Home, place: RunPaths, approval: Approval) -> None:
    """Let an approval serve a run from now on; a further one is kept beside the first. Raises ExecplanError."""
    register.use(home, approval.id, place.id)
    data, number, path = to_bytes(approval), 1, place.approval
    while not files.create(path, data, within=home.root):
        with open(disk.open_file(path)[0], "rb") as file:
            if file.read() == data:
                break
        number += 1
        path = place.approval.replace(".json", f"-{number}.json")
    copies.keep(place)


@contextmanager
def hinting(way: str) -> Iterator[None]:
    """Let a refusal that has to do with the machine, once something was done, say what follows when it is mended."""
    try:
        yield
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            known = (error.hint or "").removesuffix("nothing was changed").removesuffix("; ")
            error.hint = f"{known}; {way}" if known else way
        raise


def resumable(place: RunPaths, ref: Ref) -> AbstractContextManager[None]:
    """The same, while a run goes on: it can be resumed."""
    return hinting(f"then go on: execplan resume {place.number} -p {ref.typed}")


def name_of(sandbox: Sandbox | None) -> str:
    """What guards commands, as an entry says it; nothing for nothing."""
    return os.path.basename(sandbox.program) if sandbox is not None else ""


def write_begun(book: JournalWriter, bench: RunContext, standing: Standing, chosen: list[str] | None, said: RunOptions) -> None:
    """The first entry; from then on the approval serves this run alone. Raises ExecplanError."""
    assert standing.now is not None
    first(
        book,
        bench.home,
        bench.place,
        standing,
        sandbox=name_of(bench.sandbox),
        jobs=said.jobs,
        chosen=chosen,
        replays=said.replays or None,
        states={path: state_json(each) for path, each in standing.now.binding.states.items()},
        programs=programs.programs_json(standing.now.binding.programs),
    )


def first(book: JournalWriter, home: Home, place: RunPaths, standing: Standing, **told: Any) -> None:
    """The first entry, with what is told besides; from then on the approval serves this run alone. Raises ExecplanError."""
    assert standing.now is not None
    assert standing.approval is not None
    binding, document = standing.now.binding, standing.now.current.document
    said = {"run": place.id, "plan_id": document.plan_id, "revision": document.revision, "document": binding.document}
    book.write(BEGUN, **{**said, **who(standing), "policy": binding.policy, "head": git.head(home), **told})
    register.use(home, standing.approval.id, place.id)


def who(standing: Standing) -> dict[str, Any]:
    """Who has approved, and who runs, as entries say it."""
    approval = standing.approval
    assert approval is not None
    derived = approval.derived_from
    covered = {"covered_by": {"approval": derived.digest, "revision": derived.revision}} if derived is not None else {}
    return {
        "approval": approval.digest,
        "approval_id": approval.id,
        "approver": approval.approver,
        "how": approval.effective_how,
        **covered,
        "user": author.login(),
        "session": author.session(),
    }
