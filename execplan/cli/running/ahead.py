"""`resume --dry-run`: what a run would go on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.cli.answer import Answer
from execplan.cli.door import printable_line
from execplan.cli.running.phrases import format_run_command, pluralize

if TYPE_CHECKING:
    from execplan.engine.ahead import ResumePreview


def resume_preview_answer(preview: ResumePreview, answer: str | None, name: str) -> Answer:
    """The answer of a dry run; the plan as it can be typed."""
    question = preview.question
    data = {
        "run": preview.run,
        "question": {"why": question.why, "step": question.step or None, "words": question.words} if question else None,
        "answer": preview.answer,
        "cut_short": list(preview.interrupted_steps),
        "steps": [
            {"number": step.number, "id": step.id, "description": step.description, "argv": list(step.argv or ())}
            for step in preview.steps
        ],
        "changed": False,
    }
    lines = [f"would go on with the run {preview.run}: {pluralize(len(preview.steps), 'step')} to do"]
    if question is not None:
        action = f"would answer {preview.answer}" if preview.answer else "would ask"
        lines.append(f"  {action}: {question.words}")
    if preview.interrupted_steps:
        lines.append(f"  cut short, and looked at first: {', '.join(preview.interrupted_steps)}")
    lines += [f"  {step.number} {step.id}: {step.description}" for step in preview.steps]
    next_commands = format_run_command("resume", preview.run, name, *(["--answer", answer] if answer else []))
    return Answer(data, "\n".join([printable_line(line) for line in lines]), next_commands=(next_commands,))
