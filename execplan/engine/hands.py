"""What a run does with its steps: each of them is done elsewhere, and a test puts other hands in their place."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.engine.beside import Beside
    from execplan.engine.book import JournalWriter
    from execplan.engine.course import Attempt, RunState
    from execplan.engine.entries import Change, Performed
    from execplan.engine.steps.bench import RunContext
    from execplan.engine.steps.prepare import Prepared
    from execplan.engine.steps.settle import Settled
    from execplan.engine.ticks import Marked
    from execplan.execution.model import Step
    from execplan.execution.world import State


class StepExecutor:
    """Those of the product."""

    def prepare(self, bench: RunContext, step: Step, expected: Mapping[str, State]) -> Prepared:
        """Check what a step finds, and keep what it is about to change; raises ExecplanError."""
        from execplan.engine.mend import remember
        from execplan.engine.steps.prepare import prepare

        prepared = prepare(bench, step, expected)
        if prepared.snapshot:
            remember(bench.home, bench.ref, bench.place)
        return prepared

    def perform(self, bench: RunContext, step: Step, attempt: int, prepared: Prepared) -> Performed:
        """Do a step; raises ExecplanError for what is not the step's own failure."""
        from execplan.engine.steps.perform import perform

        return perform(bench, step, attempt, prepared)

    def mend(self, bench: RunContext, book: JournalWriter) -> list[str]:
        """Put back what a step has removed or altered of the run, with a warning of it; raises ExecplanError."""
        return book.mend(bench.home, bench.ref, bench.place)

    def settle(self, bench: RunContext, step: Step, attempt: Attempt) -> Settled:
        """Find out what has become of an attempt that was cut short; raises ExecplanError."""
        from execplan.engine.steps.settle import settle

        return settle(bench, step, attempt)

    def take_back(self, bench: RunContext, changes: Sequence[Change], folders: Sequence[str]) -> None:
        """Let the files be as they were before an attempt; raises ExecplanError."""
        from execplan.engine.steps.take_back import take_back

        take_back(bench, changes, folders)

    def tick(self, bench: RunContext, course: RunState, step: Step) -> tuple[str, Marked]:
        """Tick the task that is done with a step: the transcript that shows its work, and what became of the task."""
        from execplan.engine import ticks

        by = ticks.completes(bench.document, course, step)
        if by is None:
            return "", ticks.Marked()
        last = course.attempts[by.id][-1].performed if course.attempts.get(by.id) else None
        transcript = last.transcript if last is not None else ""
        return transcript, ticks.tick(bench.home, bench.ref, bench.document, by, transcript)

    def there(self, bench: RunContext, path: str) -> bool:
        """Whether something is at a path."""
        return bench.ground.state(path).kind != "absent"

    def beside(self, bench: RunContext) -> Beside:
        """The look at the tree around steps that run beside each other; raises ExecplanError."""
        from execplan.engine.beside import Beside

        return Beside(bench)
