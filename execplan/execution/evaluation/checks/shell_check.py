"""Check that commands that need a shell declare it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.execution.evaluation.checks.check_registry import ERROR, CheckContext, Finding, check
from execplan.execution.execution_plan import Type

if TYPE_CHECKING:
    from collections.abc import Iterator


@check("shell")
def shell(context: CheckContext) -> Iterator[Finding]:
    """Every line that needs a shell declares it, and every other line can be parsed as a single command."""
    from execplan.execution.shell.command_line import parse_command

    for trial in context.trials:
        step = trial.step
        if step.type not in (Type.COMMAND, Type.INSTALL) or step.argv is not None or step.shell is not None:
            continue
        parsed = parse_command(step.command or "")
        why = (
            f"needs a shell: {parsed.shell_reason}"
            if parsed.shell_reason
            else f"can't be parsed: {parsed.problem or 'it is empty'}"
        )
        fix = "add `shell` to its attributes, or write commands that need none, one per line"
        yield Finding(ERROR, f"its command {why}", fix, step)
