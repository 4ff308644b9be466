"""Hints on what to do next, such as to resume a run after an error of the environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from shlex import quote
from typing import Final

from execplan.core.errors import ENVIRONMENT, ExecplanError
from execplan.execution.engine.journal.journal_entries import AGAIN, ASK, BY_HAND, UNKNOWN
from execplan.execution.engine.run_questions import answer_arguments
from execplan.execution.engine.run_records.run_directories import RunPaths
from execplan.execution.states import COMPLETED, FAILED, ROLLED_BACK

CORRECT_OR_EDIT: Final = "correct what failed, or edit the steps in the plan if they are wrong"
"""What comes before a command that uses the steps of a failed run again; the cause may be outside the plan."""


@contextmanager
def add_hint_on_error(next_steps: str) -> Iterator[None]:
    """Add the next steps to the hint of environment errors, for the time after the problem is fixed."""
    try:
        yield
    except ExecplanError as error:
        if error.exit == ENVIRONMENT:
            existing_hint = (error.hint or "").removesuffix("nothing was changed").removesuffix("; ")
            error.hint = f"{existing_hint}; {next_steps}" if existing_hint else next_steps
        raise


def format_replan_command(run: int | str, plan: str) -> str:
    """Return the command that continues a failed run after its steps were edited in the plan.

    `run` is the number or the ID of the run, `plan` the name of the plan, quoted for a shell.
    """
    return f"execplan replan {run} -p {plan} --reason 'What was wrong'"


def resume_instead(run: int | str, plan: str, executor: str) -> str:
    """Return how a failed run continues if its steps are right, in place of editing and replanning them."""
    return f"if they are right, correct what failed; then resume the run: {format_resume_command(run, plan, executor)}"


def describe_end(status: str) -> str:
    """Return how a run ended, as in "has failed"."""
    return "was rolled back" if status == ROLLED_BACK else f"has {status}"


def continue_ended_run(status: str, run: int, plan: str, executor: str, ask: str = "") -> str:
    """Return the hint on what is next after a run that has used its approval and ended with a status.

    `ask` comes before what a person does, in a hint for an agent.
    """
    rollback_command = f"execplan rollback {run} -p {plan}"
    if status == FAILED:
        replan = format_replan_command(run, plan)
        if (
            ask
        ):  # an agent can't resume; after a replan, which needs no approval if the steps stay, it may try them again
            return f"edit its steps in the plan if they are wrong, then: {replan}; or {ask}roll it back: {rollback_command}"
        resume = resume_instead(run, plan, executor)
        return f"edit the steps in the plan, then: {replan}; {resume}; or roll it back: {rollback_command}"
    if status == COMPLETED:
        return f"see what is next: execplan next {plan}; or {ask}roll the run back and run it again: {rollback_command}"
    return f"see what is next: execplan next {plan}; a person must approve another run"


def add_resume_hint(run_paths: RunPaths, executor: str) -> AbstractContextManager[None]:
    """Add a hint to environment errors during a run: it can be resumed, on the same executor unless it is empty."""
    ref = run_paths.ref
    return add_hint_on_error(f"then continue: {format_resume_command(run_paths.number, ref.shell_name, executor)}")


def format_resume_command(run: int | str, plan: str, executor: str, arguments: Sequence[str] = ()) -> str:
    """Return the command that resumes a run of a plan, on the same executor unless it is empty.

    `run` is the number or the ID of the run, `plan` the name of the plan, quoted for a shell; `arguments` come last.
    """
    options = ("--executor", quote(executor)) if executor else ()
    return " ".join(["execplan", "resume", str(run), "-p", plan, *options, *arguments])


WORK_BEFORE_ANSWER: Final = {
    ASK: "correct what failed, but nothing that a completed step has written",
    UNKNOWN: "find out what the step has done",
    BY_HAND: "do its work by hand",
}
"""What comes before the first answer to a question, by its kind; nothing for other kinds."""


def answer_otherwise(why: str, run: str, plan: str, executor: str) -> str:
    """Return what to do in place of the first answer, with its command; empty if the other answers need no work."""
    if why == ASK:
        return f"or edit the steps in the plan, then: {format_replan_command(run, plan)}"
    if why == UNKNOWN and (arguments := answer_arguments(why)):
        again = format_resume_command(run, plan, executor, (arguments[0], AGAIN))
        return f"or revert it and run the step again: {again}"
    return ""
