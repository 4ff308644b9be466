"""`resume --dry-run`: what a run would go on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.cli.answer import Answer
from execplan.cli.door import shown
from execplan.cli.running.phrases import command, counted

if TYPE_CHECKING:
    from execplan.engine.ahead import ResumePreview


def would_resume(found: ResumePreview, answer: str | None, name: str) -> Answer:
    """The answer of a dry run; the plan as it can be typed."""
    question = found.question
    data = {
        "run": found.run,
        "question": {"why": question.why, "step": question.step or None, "words": question.words} if question else None,
        "answer": found.answer,
        "cut_short": list(found.interrupted_steps),
        "steps": [
            {"number": each.number, "id": each.id, "description": each.description, "argv": list(each.argv or ())}
            for each in found.steps
        ],
        "changed": False,
    }
    lines = [f"would go on with the run {found.run}: {counted(len(found.steps), 'step')} to do"]
    if question is not None:
        what = f"would answer {found.answer}" if found.answer else "would ask"
        lines.append(f"  {what}: {question.words}")
    if found.interrupted_steps:
        lines.append(f"  cut short, and looked at first: {', '.join(found.interrupted_steps)}")
    lines += [f"  {each.number} {each.id}: {each.description}" for each in found.steps]
    follow = command("resume", found.run, name, *(["--answer", answer] if answer else []))
    return Answer(data, "\n".join([shown(line) for line in lines]), next=(follow,))
