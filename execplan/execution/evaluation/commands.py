"""The commands of a step as text, each as a reader of shell takes it."""

from __future__ import annotations

from shlex import join, quote

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.model import Step


class Line(NamedTuple):
    """One of them."""

    text: str
    """With the step's own variables in front."""
    script: bool
    """Whether a shell runs it."""


def lines(step: Step) -> Iterator[Line]:
    """What a step runs: its command or its script, and its test."""
    given = "".join([f"{name}={quote(value)} " for name, value in step.env.items()])
    if step.shell is not None and step.command is not None:
        before = f"export {given}\n" if given else ""
        yield Line(before + step.command, script=True)
    elif step.argv is not None:
        yield Line(given + join(step.argv), script=False)
    elif step.command is not None:
        yield Line(given + step.command, script=False)
    if step.validation.test_after is not None:
        yield Line(join(step.validation.test_after), script=False)
