"""The commands of a step as text, each as a reader of shell takes it."""

from __future__ import annotations

from shlex import join, quote

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.model import Step


class StepCommand(NamedTuple):
    """One of them."""

    text: str
    """With the step's own variables in front."""
    is_script: bool
    """Whether a shell runs it."""


def step_commands(step: Step) -> Iterator[StepCommand]:
    """What a step runs: its command or its script, and its test."""
    assignments = "".join([f"{name}={quote(value)} " for name, value in step.env.items()])
    if step.shell is not None and step.command is not None:
        prefix = f"export {assignments}\n" if assignments else ""
        yield StepCommand(prefix + step.command, is_script=True)
    elif step.argv is not None:
        yield StepCommand(assignments + join(step.argv), is_script=False)
    elif step.command is not None:
        yield StepCommand(assignments + step.command, is_script=False)
    if step.validation.test_after is not None:
        yield StepCommand(join(step.validation.test_after), is_script=False)
