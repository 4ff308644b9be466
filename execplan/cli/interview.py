"""Interview of `execplan new --interactive`, which asks for each section of a new plan on the terminal."""

from __future__ import annotations

import sys
from textwrap import fill

from execplan.cli.output.terminal_text import printable_text
from execplan.cli.text_input import edit_text
from execplan.core.clock import now
from execplan.core.edits.plan_writer import WriteOptions, amend
from execplan.core.errors import ExecplanError
from execplan.core.plan import log_edits, outline, section_edits
from execplan.core.plan.model import ParsedPlan, Section
from execplan.core.plan.placeholder_text import PLACEHOLDER_MARK
from execplan.core.plan.plan_change import ChangeBuilder, require_lines, require_text
from execplan.core.plan_store import plan_store
from execplan.core.plan_store.author import author, can_ask
from execplan.core.plan_store.plan_store import PlanRef
from execplan.core.project.project import Project

_HELP = """\
Answer in one or more lines; an empty line ends the answer.
Press Enter to skip a section; type e to open your editor, q to leave all other sections for later."""
_WIDTH = 100
_EDITOR, _QUIT = "e", "q"
_LABELS = ("…", "...")
"""Endings of a labeled field's placeholder, which is not a question."""
_FOLLOW_UP = {outline.DECISIONS: "Why was this decided?", outline.SURPRISES: "What is the evidence?"}
"""Follow-up questions for sections whose entries need more than their text."""


class _QuitError(Exception):
    """An exception raised when the user ends the interview."""


class _SkipError(Exception):
    """An exception raised when the user skips a section."""


def require_terminal() -> None:
    """Raise ExecplanError unless standard input and output are a terminal."""
    if not can_ask():
        hint = "omit it, then fill in each section: execplan set SECTION 'New text'"
        raise ExecplanError("no-terminal", "--interactive requires a terminal", hint=hint)


def read_line(prompt: str) -> str:
    """Read a line from the user, stripped of surrounding whitespace; raises _QuitError at the end of input."""
    print(prompt, end="", flush=True)
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        print(flush=True)
    if not line:
        raise _QuitError
    return line.strip()


def ask_title() -> str:
    """Ask for the plan's title; return an empty string at the end of input."""
    try:
        return read_line("Title: ")
    except _QuitError:
        return ""


def interview(project: Project, path: str) -> bytes:
    """Ask for each section that still has placeholder text, and write each answer at once; raises ExecplanError.

    Returns the bytes of the resulting plan.
    """
    ref = plan_store.ref_for_path(project, path)
    plan = plan_store.parse(project, plan_store.read_bytes(project, path))
    waiting = [section for section in plan.sections if _question_lines(plan, section)]
    filled = 0
    print(_HELP)
    try:
        for number, section in enumerate(waiting, 1):
            print(f"\n{printable_text(section.title)} ({number} of {len(waiting)})")
            question = _question_lines(plan, section)
            print(
                "\n".join(
                    [
                        fill(printable_text(line), _WIDTH, initial_indent="  ", subsequent_indent="  ")
                        for line in question
                    ]
                )
            )
            filled += _fill(project, ref, section, question)
    except _QuitError:
        pass
    except KeyboardInterrupt:
        if filled:
            message = f"your answers so far are in {project.display_path(path)}"
        else:
            name = plan_store.name_in_commands(project, ref)
            message = f"{name} was created, and has no answers yet\nhint: remove it: execplan drop {name}"
        print(f"\nexecplan: {message}", file=sys.stderr)
        raise
    print(f"\nfilled in {filled} of {len(waiting)} sections")
    return plan_store.read_bytes(project, path)


def _question_lines(plan: ParsedPlan, section: Section) -> list[str]:
    """Return the placeholder lines of a section, without the labels of fields."""
    lines = [plan.text.lines[at] for at in plan.placeholder_lines if section.start < at < section.end]
    bare = [
        line.strip().removesuffix(PLACEHOLDER_MARK).strip().removeprefix("- ").removeprefix("[ ] ") for line in lines
    ]
    return [line for line in bare if line and not line.endswith(_LABELS)]


def _fill(project: Project, ref: PlanRef, section: Section, question: list[str]) -> bool:
    """Ask until the answer can be written, and return whether there was one."""
    answer: list[str] = []
    while True:
        try:
            answer = _read_answer(question, answer)
            amend(project, ref, _changer(project, section, answer), WriteOptions(commit=False), command="set")
        except _SkipError:
            return False
        except ExecplanError as error:
            print(f"execplan: {printable_text(error.message)}\nhint: {printable_text(error.hint)}", file=sys.stderr)
        else:
            return True


def _read_answer(question: list[str], previous_answer: list[str]) -> list[str]:
    """Read an answer from the terminal or the editor; raises _SkipError if it is empty."""
    lines: list[str] = []
    while line := read_line("> " if not lines else "  "):
        if not lines and line == _QUIT:
            raise _QuitError
        if not lines and line == _EDITOR:
            lines = _edit_answer(question, previous_answer)
            break
        lines.append(line)
    if not any(lines):
        raise _SkipError
    return lines


def _edit_answer(question: list[str], previous_answer: list[str]) -> list[str]:
    """Let the user write the answer in an editor, with the question as a comment, and return its lines."""
    comment = "\n".join(["<!--", *question, "-->"])
    text = edit_text("\n".join([*previous_answer, "", comment, ""]))
    return text.replace(comment, "").strip("\n").split("\n")


def _changer(project: Project, section: Section, answer: list[str]) -> ChangeBuilder:
    """Return the change that writes an answer: tasks, a log entry, or a section's body."""
    name, text = section.name, " ".join(answer)
    if name == outline.PROGRESS and not any([line.lstrip().startswith("- [") for line in answer]):
        tasks = [require_text(line.lstrip("-*+ "), "a task") for line in answer if line.strip()]
        return section_edits.set_section_body(section.title, [f"- [ ] {task}" for task in tasks])
    if name == outline.OUTCOMES:
        return log_edits.add_outcome(require_text(text, "the outcome"))
    if name in (outline.DECISIONS, outline.SURPRISES):
        rationale = require_text(read_line(f"{_FOLLOW_UP[name]} "), "the answer")
        if name == outline.DECISIONS:
            return log_edits.add_decision(require_text(text, "the decision"), rationale, author(project), now())
        return log_edits.add_discovery(require_text(text, "the discovery"), rationale)
    return section_edits.set_section_body(section.title, require_lines("\n".join(answer), "the section"))
