"""Steps and skipped lines of a plan as they are inferred, with the state that later passages depend on."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from execplan.execution.inference.cwd_inference import CwdTracker, uncertainty_reason
from execplan.execution.inference.directory_mentions import ROOT
from execplan.execution.inference.prose_cues import ELSEWHERE, KEEPS_RUNNING
from execplan.execution.parsed_steps import INFERRED, WORK, SkippedLine, StepDraft
from execplan.execution.shell.command_line import parse_command

if TYPE_CHECKING:
    from collections.abc import Iterable

    from execplan.core.plan.model import ParsedPlan
    from execplan.execution.inference.block_commands import BlockLine, OutputTracker
    from execplan.execution.inference.cwd_inference import CwdEstimate, LocatedCommand


class StepCollector:
    """Collects the steps and the skipped lines of a plan while its passages are read in order."""

    def __init__(self, plan: ParsedPlan, annotated_lines: frozenset[int]) -> None:
        self.plan = plan
        self.annotated_lines = annotated_lines
        self.cwd_tracker = CwdTracker(plan)
        self.drafts: list[StepDraft] = []
        self.skipped: list[SkippedLine] = []
        self.phase = WORK
        self.shell_change = ""
        """Reason why later commands may behave differently: a skipped block or item changes the shell for them."""
        self.skipped_long_running = False
        """Whether something was skipped that would have to keep running."""

    @cached_property
    def output_tracker(self) -> OutputTracker:
        """The expected output that passages show."""
        from execplan.execution.inference.block_commands import OutputTracker

        return OutputTracker()

    def skip(self, line: int, text: str, why: str) -> None:
        """Record a line that looks like a step, and why it is none."""
        from execplan.execution.inference.long_running import IN_BACKGROUND, NEVER_ENDS, UNTIL_STOPPED

        self.skipped.append(SkippedLine(line, text, why))
        self.skipped_long_running = self.skipped_long_running or why in (
            UNTIL_STOPPED,
            NEVER_ENDS,
            KEEPS_RUNNING,
            IN_BACKGROUND,
            ELSEWHERE,
        )

    def skip_all(self, lines: Iterable[BlockLine], why: str) -> None:
        """Record all lines of a block for the same reason."""
        for line in lines:
            self.skip(line.start, line.text, why)

    def add_draft(self, start: int, end: int, located: LocatedCommand, needs: tuple[str, ...], item: int) -> str:
        """Record a command as a step and return its ID."""
        command, directory = located.command, located.directory or ROOT
        last_draft = self.drafts[-1] if self.drafts else None
        if (
            last_draft is not None
            and item >= 0
            and last_draft.start >= item
            and (last_draft.command, last_draft.cwd) == (command, directory)
        ):
            return last_draft.id  # an item names what the block after it shows
        step_id = f"inferred-{len(self.drafts) + 1}"
        self.drafts.append(
            StepDraft(INFERRED, self.phase, start, end, step_id, {}, (command,), command, needs, directory)
        )
        return step_id

    def attach_expectation(self, expectation: tuple[int, str] | None) -> bool:
        """Set the expected output of a step, if found; return whether it was."""
        if expectation is not None:
            self.drafts[expectation[0]] = self.drafts[expectation[0]]._replace(expect=expectation[1])
        return expectation is not None

    def skip_reason(self, located: LocatedCommand, cwd: CwdEstimate) -> str:
        """Return why a command is skipped although the text says to run it, or an empty string."""
        from execplan.execution.inference.long_running import uses_local_server
        from execplan.execution.inference.not_runnable import not_runnable_reason

        why = not_runnable_reason(located.command)
        problem = "" if why else parse_command(located.command).problem
        if problem and not problem.startswith("a character"):  # an invisible character is rejected, not skipped
            why = f"can't be parsed: {problem}"
        if not why and located.directory is None:
            why = uncertainty_reason(cwd)
        if not why and self.skipped_long_running and uses_local_server(located.command):
            why = "needs a service whose start is not a step"
        return why
