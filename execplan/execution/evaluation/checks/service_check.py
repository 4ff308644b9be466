"""Check that commands end, and that steps can reach the services that they need."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from execplan.core.errors import ExecplanError
from execplan.execution.evaluation.checks.check_registry import ERROR, WARNING, CheckContext, EvaluationFinding, check
from execplan.execution.shell.command_line import parse_command
from execplan.execution.shell.endless_commands import describe_endless, find_endless_command
from execplan.execution.world import FILE, normalize_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.execution_plan import Step
    from execplan.execution.world import World

_SCRIPT_RUNNERS = ("npm", "pnpm", "yarn", "bun")


@check("services")
def services(context: CheckContext) -> Iterator[EvaluationFinding]:
    """Every command ends or is a service, and the sandbox lets steps reach the services above them."""
    service_networks: dict[bool, str] = {}
    for trial in context.trials:
        step = trial.step
        if step.service is not None:
            service_networks[step.network] = step.id
        elif step.command is not None and (endless_command := _find_endless(context.world, step)):
            yield EvaluationFinding(ERROR, describe_endless(endless_command), "add the attribute service", step)
        if step.command is None or context.policy.sandbox == "off":
            continue
        if (service := service_networks.get(not step.network)) and step.network not in service_networks:
            users = (service, step.id) if step.network else (step.id, service)
            message = f"in the sandbox it can't reach the service {service}: only {users[1]} has `network`"
            yield EvaluationFinding(WARNING, message, f"if it needs {service}, give both `network`, or neither", step)


def _find_endless(world: World, step: Step) -> str:
    """Return the command of a step that never ends, also as a script of package.json, or an empty string."""
    command = step.command or ""
    return find_endless_command(command) or (command if find_endless_command(_package_script(world, step)) else "")


def _package_script(world: World, step: Step) -> str:
    """Return the script in package.json that a step runs alone, as with `npm start`, or an empty string."""
    words = [word for word in step.argv or () if word != "run"]
    simple_commands = parse_command(step.command or "").simple_commands
    if len(words) != 2 or words[0] not in _SCRIPT_RUNNERS or len(simple_commands) != 1:
        return ""
    path = normalize_path(f"{step.cwd}/package.json")
    try:
        text = world.read(path) if path is not None and world.state(path).kind == FILE else b""
        script = json.loads(text)["scripts"][words[1]]
    except (ExecplanError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return script if isinstance(script, str) else ""
