"""Execution of a step's command and of any step's test: program, environment, working directory and limits."""

from __future__ import annotations

import os
import time
from shlex import join
from typing import TYPE_CHECKING

from execplan.core import features
from execplan.core.named_tuple import NamedTuple
from execplan.execution import rare_features
from execplan.execution.engine.steps.step_paths import program_marks_path
from execplan.execution.execution_plan import Type
from execplan.execution.program_lookup import first_path_directory, working_directory
from execplan.execution.world import FOLDER

if TYPE_CHECKING:
    from execplan.execution.engine.commands.command_result import CommandResult
    from execplan.execution.engine.commands.command_spec import CommandSpec
    from execplan.execution.engine.commands.command_transcript import Transcript
    from execplan.execution.engine.executors.remote_command import Placement
    from execplan.execution.engine.journal.journal_entries import StateChange
    from execplan.execution.engine.steps.run_context import RunContext
    from execplan.execution.execution_plan import Step


ERROR = "error"
"""Cause of failure for a step that could not be executed at all."""


class ActionResult(NamedTuple):
    """The result of running a program, or of writing files."""

    cause: str = ""
    reason: str = ""
    ended: CommandResult | None = None
    """The result of the program; None if none was run."""
    changes: tuple[StateChange, ...] = ()
    """Changes to files that the step writes itself; the changes of a program are found by comparing snapshots."""
    folders: tuple[str, ...] = ()


TIMEOUT = "timeout"


def execute_command(
    context: RunContext, step: Step, attempt: int, transcript: Transcript, placement: Placement | None = None
) -> ActionResult:
    """Run the command of a step, here or on the worker that is reserved for it, and evaluate its exit status."""
    if step.type is Type.TOOL:
        return _call_tool(context, step, attempt, transcript)
    argv = program_argv(step)
    if argv is None:
        return ActionResult(ERROR, "it needs a shell but doesn't request one")
    transcript.command(step.command if step.shell is not None and step.command else join(argv))
    if placement is not None:
        from execplan.execution.engine.executors.remote_command import run_on_worker

        return evaluate_exit(step, run_on_worker(context, step, attempt, placement, transcript))
    return evaluate_exit(
        step, run_program(context, step, argv, program_marks_path(context.run_paths, step, attempt), transcript)
    )


def program_argv(step: Step) -> tuple[str, ...] | None:
    """Return what a step runs: its program, or its shell; None if it needs a shell and does not request one."""
    if step.argv is None and step.shell is not None and step.command is not None:
        return step.shell, "-c", step.command
    return step.argv


def _call_tool(context: RunContext, step: Step, attempt: int, transcript: Transcript) -> ActionResult:
    """Call the tool of a step in a separate process."""
    import json

    from execplan.execution.approvals import tool_discovery

    argv = tool_discovery.tool_command(context.run_paths.project.root, step.tool)
    if argv is None:
        return ActionResult(ERROR, f"the tool {step.tool} is not installed in execplan's environment")
    parameters_json = json.dumps(step.parameters or {}, ensure_ascii=False)
    transcript.command(f"{step.tool} {parameters_json}")
    marks_path, read_paths = (
        program_marks_path(context.run_paths, step, attempt),
        tuple(tool_discovery.search_path(context.run_paths.project.root)),
    )
    return evaluate_exit(
        step, run_program(context, step, argv, marks_path, transcript, parameters_json.encode(), read_paths)
    )


def evaluate_exit(step: Step, ended: CommandResult) -> ActionResult:
    """Evaluate the end of a command by its exit status alone."""
    if ended.cause:
        return ActionResult(ended.cause, ended.reason, ended)
    if ended.signal is not None:
        return ActionResult("exit", f"it was ended by signal {ended.signal}", ended)
    if ended.exit != step.exit:
        return ActionResult("exit", f"exit status {ended.exit}, not {step.exit}", ended)
    return ActionResult(ended=ended)


def run_program(
    context: RunContext,
    step: Step,
    argv: tuple[str, ...],
    marks_path: str,
    transcript: Transcript,
    stdin: bytes = b"",
    read_paths: tuple[str, ...] = (),
) -> CommandResult:
    """Run a program for a step and wait for its end.

    The supervisor writes its marks to `marks_path`. The program reads `stdin`, and may read the directories
    `read_paths`.
    """
    from execplan.execution.engine.commands.command_result import CommandResult

    spec = command_spec(context, step, argv, marks_path, stdin, read_paths)
    if isinstance(spec, CommandResult):
        return spec
    run_command = features.load(rare_features.RUN_COMMAND)
    ended: CommandResult = run_command(spec, context.sandbox, transcript, context.stop, context.supervisor_parent)
    if ended.cause == TIMEOUT and spec.limits.seconds < context.policy.step_seconds(step.timeout_s):
        ended = ended._replace(reason="the run exceeded its time limit")
    return ended


def command_spec(
    context: RunContext,
    step: Step,
    argv: tuple[str, ...],
    marks_path: str,
    stdin: bytes = b"",
    read_paths: tuple[str, ...] = (),
) -> CommandSpec | CommandResult:
    """Return the specification of a program of a step, or its result if it can't be started."""
    from execplan.execution.engine.commands.command_environment import build_environment
    from execplan.execution.engine.commands.command_result import not_run
    from execplan.execution.engine.commands.command_spec import CommandSpec, Limits

    env = build_environment(step.env, context.policy.environment, context.traceparent)
    cwd = working_directory(step, context.workspace.state)
    env |= _environment_variables(context, step, env)
    seconds_left = context.deadline - time.monotonic()
    problem = "" if context.workspace.state(cwd).kind == FOLDER else f"directory not found: {cwd}"
    if context.stop.is_set():
        cause = "interrupted"
    elif problem:
        cause = ERROR
    elif seconds_left <= 0:
        cause = TIMEOUT
    else:
        cause = ""
    if cause:
        reason = problem or ("the run exceeded its time limit" if cause == TIMEOUT else "the run was interrupted")
        return not_run(cause, reason)
    policy = context.policy
    seconds = min(policy.step_seconds(step.timeout_s), seconds_left)
    limits = Limits(seconds, policy.memory_mb, policy.processes, policy.file_mb)
    folder = os.path.normpath(os.path.join(context.run_paths.project.root, cwd))
    network = context.running_services.network if context.running_services is not None else ()
    return CommandSpec(argv, folder, env, step.network, limits, marks_path, stdin, read_paths, network)


def _environment_variables(context: RunContext, step: Step, env: dict[str, str]) -> dict[str, str]:
    """Return the variables that make packages go into the environment of a step: a virtual one, or a Node project."""
    bin_directory = first_path_directory(step, context.workspace.state)
    if not bin_directory:
        return {}
    path = os.path.join(context.run_paths.project.root, bin_directory)
    variables = {"PATH": f"{path}{os.pathsep}{env['PATH']}"}
    if bin_directory.endswith("node_modules/.bin"):
        return variables
    return {**variables, "VIRTUAL_ENV": os.path.dirname(path)}
