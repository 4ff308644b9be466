"""Check for characters that a reader of a plan can't see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.text.invisible_characters import describe_characters, find_hidden
from execplan.execution.evaluation.checks.check_registry import ERROR, WARNING, CheckContext, Finding, check
from execplan.execution.evaluation.trial import target_paths, written_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.execution_plan import Step


@check("hidden")
def hidden(context: CheckContext) -> Iterator[Finding]:
    """No command, path or written text contains an invisible character or one that changes the text direction."""
    for trial in context.trials:
        step = trial.step
        for label, fragments in _reviewed_texts(step):
            for text in fragments:
                for chars in _hidden_runs(text):
                    yield Finding(
                        ERROR, f"{label} contains {describe_characters(chars)}, which is invisible", "remove it", step
                    )
        for change in written_texts(trial):
            before, after = [(data or b"").decode("utf-8", "replace") for data in (change.before, change.after)]
            for chars in dict.fromkeys(_hidden_runs(after)):
                if chars not in before:
                    yield Finding(
                        WARNING,
                        f"{change.path} would contain {describe_characters(chars)}, which is invisible",
                        "remove it",
                        step,
                    )


def _reviewed_texts(step: Step) -> Iterator[tuple[str, list[str]]]:
    """Yield the texts that a person reviews before approval, each with a label."""
    yield "its command", [step.command or "", *(step.argv or ())]
    yield "its test", list(step.validation.test_after or ())
    yield "its environment", [f"{name}={value}" for name, value in step.env.items()]
    yield "a path", [*target_paths(step), *step.inputs, *step.outputs, step.cwd]


def _hidden_runs(text: str) -> list[str]:
    """Return the runs of hidden characters in a text, without duplicates."""
    runs = [line[start:end] for line in text.split("\n") for start, end in find_hidden(line.removesuffix("\r"))]
    return list(dict.fromkeys(runs))
