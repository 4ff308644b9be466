"""Tickets for the steps of a run: which steps may run elsewhere, and the files that are sent with them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import uuid4

from execplan.core.documents.document_io import document_bytes
from execplan.core.errors import ExecplanError
from execplan.execution.approvals.disk_world import DiskWorld
from execplan.execution.documents.written_paths import written_paths
from execplan.execution.engine.commands.command_environment import portable_environment
from execplan.execution.engine.executors.ticket import MAX_BYTES, Ticket, pack_ticket
from execplan.execution.engine.executors.worker_workspace import PackedWorkspace
from execplan.execution.engine.steps.run_context import RunContext
from execplan.execution.engine.workspace.file_archive import Entry, entries_below
from execplan.execution.engine.workspace.workspace_files import WorkspaceFiles
from execplan.execution.execution_plan import ExecutionPlan, Step, Type
from execplan.execution.program_lookup import find_lookups
from execplan.execution.world import ABSENT, FILE, FOLDER, LINK, State, normalize_path

if TYPE_CHECKING:
    from execplan.execution.engine.executors.executor import Worker


def reason_to_stay(step: Step, document: ExecutionPlan) -> str:
    """Return why a step runs on this machine whatever the executor, or an empty string if it may run on a worker."""
    if step.type is not Type.COMMAND:
        return "it is not a command"
    if not step.inputs or not step.outputs:
        return f"it declares no {'outputs' if step.inputs else 'inputs'}"
    paths = [normalize_path(path) for path in (*step.inputs, *step.outputs)]
    if None in paths or "." in [normalize_path(path) for path in step.outputs]:
        return "its inputs or outputs are not paths in the repository"
    if step.argv is None and step.shell is None:
        return "it needs a shell but doesn't request one"
    if any([other.service is not None and other.number <= step.number for other in document.steps]):
        return "services run here, and the steps that they serve"
    return ""


def create_ticket(
    context: RunContext,
    step: Step,
    attempt: int,
    worker: Worker,
    packed: PackedWorkspace,
    expected: Mapping[str, State],
) -> tuple[Ticket, bytes]:
    """Create the ticket of an attempt, and its packed form with the files that the worker's copy lacks.

    `expected` has the states of all files that the run knows, as left by its steps. Raises ExecplanError.
    """
    workspace, policy = context.workspace, context.policy
    declared = [normalize_path(path) or path for path in (*step.inputs, *step.outputs)]
    entries = {entry["path"]: entry for path in declared for entry in entries_below(workspace, path)}
    inputs = {path: entry["sha256"] for path, entry in entries.items() if entry["kind"] == FILE}
    for path in _earlier_results(context.document, step, packed, expected):
        entries |= {entry["path"]: entry for entry in entries_below(workspace, path) if entry["path"] not in entries}
    argv = step.argv if step.argv is not None else (step.shell or "", "-c", step.command or "")
    ticket = Ticket(
        f"{context.run_paths.id}-{step.id}-{attempt}-{uuid4().hex}",
        worker.token,
        context.run_paths.id,
        sha256(document_bytes(context.document)).hexdigest(),
        step.id,
        attempt,
        argv,
        normalize_path(step.cwd) or ".",
        portable_environment(step.env, policy.environment, context.traceparent),
        max(min(policy.step_seconds(step.timeout_s), context.deadline - time.monotonic()), 0.0),
        policy.memory_mb,
        policy.processes,
        policy.file_mb,
        policy.output_kb,
        policy.sandbox,
        step.network,
        _approved_programs(context, step),
        packed.id,
        packed.name,
        inputs,
        tuple(declared[len(step.inputs) :]),
        step.effect,
    )
    differing = [entry for entry in entries.values() if _differs(entry, packed.states.get(entry["path"]))]
    _ensure_not_larger(workspace, step, differing)
    return ticket, pack_ticket(ticket, differing, workspace.read)


def _approved_programs(context: RunContext, step: Step) -> dict[str, str]:
    """Return the programs of a step with their paths, unless the policy allows others than the approved ones."""
    if context.policy.programs != "refuse":
        return {}
    world = DiskWorld(context.run_paths.project)
    names = (step.shell, *(step.argv or ())[:1])
    lookups = [lookup for lookup in find_lookups(step, world.state) if lookup.name in names]
    programs = {lookup.name: world.program(lookup.name, lookup.cwd, lookup.path, "") for lookup in lookups}
    return {name: program.path for name, program in programs.items() if program.path}


def _ensure_not_larger(workspace: WorkspaceFiles, step: Step, entries: Sequence[Entry]) -> None:
    size = sum([workspace.state(entry["path"]).size for entry in entries if entry["kind"] == FILE])
    if size > MAX_BYTES:
        raise ExecplanError(
            "too-large-to-send",
            f"step {step.id} needs files of more than {MAX_BYTES >> 20} MB, which can't be sent to a worker",
            hint="declare smaller inputs, or run the plan here, without --executor",
        )


def _earlier_results(
    document: ExecutionPlan, step: Step, packed: PackedWorkspace, expected: Mapping[str, State]
) -> Iterator[str]:
    """Yield the files that steps have changed since the workspace was packed and that this step may use undeclared.

    If the step is parallel, those of steps that it doesn't need are left out: they may be written at this moment.
    """
    other_paths = _paths_of_independent_steps(document, step) if step.parallel else frozenset()
    for path, state in expected.items():
        old = packed.states.get(path)
        if state.kind == FOLDER or (old is not None and state[:4] == old[:4]):
            continue
        parts = path.split("/")
        if not any(["/".join(parts[:end]) in other_paths for end in range(1, len(parts) + 1)]):
            yield path


def _paths_of_independent_steps(document: ExecutionPlan, step: Step) -> frozenset[str | None]:
    """Return what the parallel steps write that this step needs neither directly nor indirectly."""
    steps_by_id = {other.id: other for other in document.steps}
    needed_ids, pending = {step.id}, [step]
    while pending:
        names = [name for name in pending.pop().depends_on if name not in needed_ids]
        needed_ids.update(names)
        pending += [steps_by_id[name] for name in names]
    other_steps = [other for other in document.steps if other.parallel and other.id not in needed_ids]
    fields = [{"target": other.target, "patch": other.patch, "outputs": other.outputs} for other in other_steps]
    return frozenset([normalize_path(path) for step_fields in fields for path in written_paths(step_fields)])


def _differs(entry: Entry, state: State | None) -> bool:
    """Return whether an entry differs from the state in the packed workspace."""
    if entry["kind"] in (ABSENT, FOLDER):
        return True  # costs nothing, and creates or removes an empty directory
    if state is None or state.kind != entry["kind"]:
        return True
    if entry["kind"] == LINK:
        return bool(state.link != entry["link"])
    return (state.sha256, state.mode) != (entry["sha256"], entry["mode"])
