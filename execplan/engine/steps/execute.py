"""A step that runs a command, and the test behind any step: a program, its environment, its folder and its limits."""

from __future__ import annotations

import os
import time
from shlex import join

from execplan.engine.steps.acted import ERROR, Acted
from execplan.engine.steps.named import marks
from execplan.execution.model import Type
from execplan.execution.programs import working_directory, first_path_directory
from execplan.execution.world import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.commands.launch import CommandResult
    from execplan.engine.commands.transcript import Transcript
    from execplan.engine.steps.bench import RunContext
    from execplan.execution.model import Step

TIMEOUT = "timeout"


def execute(bench: RunContext, step: Step, attempt: int, transcript: Transcript) -> Acted:
    """Run the command of a step."""
    if step.type is Type.TOOL:
        return _call(bench, step, attempt, transcript)
    argv = step.argv
    if argv is None and step.shell is not None and step.command is not None:
        argv = (step.shell, "-c", step.command)
    if argv is None:
        return Acted(ERROR, "it needs a shell and does not ask for one")
    transcript.command(step.command if step.shell is not None and step.command else join(argv))
    return judge(step, start(bench, step, argv, marks(bench.place, step, attempt), transcript))


def _call(bench: RunContext, step: Step, attempt: int, transcript: Transcript) -> Acted:
    """Call the tool of a step, in a process of its own."""
    import json

    from execplan.repo.execution import tools

    argv = tools.command(bench.home.root, step.tool)
    if argv is None:
        return Acted(ERROR, f"the tool {step.tool} is not installed beside execplan")
    given = json.dumps(step.parameters or {}, ensure_ascii=False)
    transcript.command(f"{step.tool} {given}")
    where, needs = marks(bench.place, step, attempt), tuple(tools.search_path(bench.home.root))
    return judge(step, start(bench, step, argv, where, transcript, given.encode(), needs))


def judge(step: Step, ended: CommandResult) -> Acted:
    """Whether a command ended as it should, by its exit status alone."""
    if ended.cause:
        return Acted(ended.cause, ended.reason, ended)
    if ended.signal is not None:
        return Acted("exit", f"it was ended by signal {ended.signal}", ended)
    if ended.exit != step.exit:
        return Acted("exit", f"exit status {ended.exit}, not {step.exit}", ended)
    return Acted(ended=ended)


def start(
    bench: RunContext,
    step: Step,
    argv: tuple[str, ...],
    where: str,
    transcript: Transcript,
    given: bytes = b"",
    needs: tuple[str, ...] = (),
) -> CommandResult:
    """Run a program for a step and wait for its end; `where` its marks go, `given` is what it reads, from folders that it `needs`."""
    from execplan.engine.commands.environment import build_environment
    from execplan.engine.commands.launch import CommandResult, Limits, CommandSpec, run_command

    env, cwd = build_environment(step.env, bench.policy.environment), working_directory(step, bench.ground.state)
    env |= _installed(bench, step, env)
    left = bench.deadline - time.monotonic()
    wrong = "" if bench.ground.state(cwd).kind == FOLDER else f"there is no folder {cwd}"
    cause = "interrupted" if bench.stop.is_set() else ERROR if wrong else TIMEOUT if left <= 0 else ""
    if cause:
        reason = wrong or ("the time of the whole run is over" if cause == TIMEOUT else "the run was interrupted")
        return CommandResult(None, None, cause, reason, 0.0, 0.0, 0, b"", "", is_complete=True)
    policy = bench.policy
    limits = Limits(min(step.timeout_s, left), policy.memory_mb, policy.processes, policy.file_mb)
    folder = os.path.normpath(os.path.join(bench.home.root, cwd))
    order = CommandSpec(argv, folder, env, step.network, limits, where, given, needs)
    ended = run_command(order, bench.sandbox, transcript, bench.stop)
    if ended.cause == TIMEOUT and left < step.timeout_s:
        ended = ended._replace(reason="the time of the whole run is over")
    return ended


def _installed(bench: RunContext, step: Step, env: dict[str, str]) -> dict[str, str]:
    """The variables that let packages go into the environment that a step names: a virtual one, or a Node project."""
    first = first_path_directory(step, bench.ground.state)
    if not first:
        return {}
    path = os.path.join(bench.home.root, first)
    told = {"PATH": f"{path}{os.pathsep}{env['PATH']}"}
    return told if first.endswith("node_modules/.bin") else {**told, "VIRTUAL_ENV": os.path.dirname(path)}
