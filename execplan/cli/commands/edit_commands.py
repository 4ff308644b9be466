"""The commands that change a plan in one way each: a table of what is different about them.

Each calls the function of its name in `plan_updates` with the values of its parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import create_option, define_command, writer_options
from execplan.cli.option_rules import exclusive, join_options, option_rules
from execplan.cli.plan_arguments import plan_option
from execplan.cli.plan_editing import edit_plan
from execplan.cli.text_input import read_blocks, read_lines, read_text
from execplan.core.edits import plan_updates
from execplan.core.edits.plan_writer import WriteOptions
from execplan.core.errors import usage_error


class EditCommand(NamedTuple):
    """What is different about a command that changes a plan."""

    description: str
    writes: str
    examples: tuple[str, ...]
    parameters: tuple[Callable[[Any], Any], ...]
    """Arguments and options, named like the parameters of the function; those of all these commands follow."""
    texts: dict[str, Callable[[str], Any]] = {}  # noqa: RUF012 - a named tuple
    """For each parameter with a text, the function that reads it, in this order."""
    creates_section: bool = False
    """Whether the command has `--create`."""
    next_command: str = "execplan next {id}"
    finishes: bool = False
    """Whether the commands that finish the plan come next if no task is open."""
    reads: str = "the plan."


def _line(label: str) -> Callable[[str], str]:
    return partial(read_text, label=label)


def _blocks(label: str) -> Callable[[str], str]:
    return partial(read_blocks, label=label)


def _required_text(name: str, subject: str) -> Callable[[Any], Any]:
    return click.option(name, metavar="TEXT", required=True, help=f"{subject}: text, @FILE, or - for standard input.")


def _require_one_line(command: str) -> str:
    if "\n" in command:
        hint = "put several commands into a script, or join them with &&"
        raise usage_error("the command of a check must be one line", hint)
    return command


_TASK, _TEXT = click.argument("task"), click.argument("text")

_EDIT_COMMANDS = {
    "add": EditCommand(
        """Add a task to a plan.

        The task is added to the section Progress, after the last one by default. Prints the ID of the task. TEXT can be
        @FILE, or - for standard input.
        """,
        writes="one item in Progress, formatted like the existing ones.",
        examples=(
            'execplan add "Write the tests"',
            'execplan add "Write the tests" --after 2',
            'execplan add "Read the format" --before 2',
            'execplan add "Write the tests" --under "Milestone 1" -p parser',
            'execplan add "Write the tests" --check "pytest -q tests/reader"',
        ),
        parameters=(
            _TEXT,
            click.option("--after", metavar="TASK", help="Add it after this task: number, ID or unique text."),
            click.option("--before", metavar="TASK", help="Add it before this task: number, ID or unique text."),
            click.option(
                "--under", metavar="HEADING", help="Add it after the last task under this subheading of Progress."
            ),
            click.option(
                "--check",
                metavar="COMMAND",
                help="The command that shows that the task is done: `done --verify` runs it.",
            ),
            option_rules(exclusive("--after", "--before", "--under")),
        ),
        creates_section=True,
        texts={"check": _require_one_line, "text": _line("the task")},
    ),
    "decide": EditCommand(
        """Add a decision, with its rationale, date and author.

        Record each choice that shapes the work, so that others know later why you made it. TEXT can be @FILE, or - for
        standard input; its paragraphs, lists and code blocks are kept.
        """,
        reads="the plan; for the author: $EXECPLAN_AGENT, the settings, $EXECPLAN_AUTHOR and your git name.",
        writes="one entry in the Decision Log, formatted like the existing ones.",
        examples=(
            'execplan decide "Read line by line" --why "A task is a line."',
            'execplan decide "Read into a tree" --why "Lists nest." --supersedes "by line"',
        ),
        parameters=(
            _TEXT,
            _required_text("--why", "The rationale"),
            click.option("--author", metavar="NAME", help="Who decided. Default: see `execplan explain decisions`."),
            click.option("--supersedes", metavar="DECISION", help="An earlier decision, by unique text."),
        ),
        creates_section=True,
        texts={"text": _blocks("the decision"), "why": _blocks("the rationale")},
        finishes=True,
    ),
    "discover": EditCommand(
        """Add a discovery, with its evidence.

        Record what differs from your expectations, such as a bug or an unexpected measurement. TEXT can be @FILE, or - for
        standard input; its paragraphs, lists and code blocks are kept.
        """,
        writes="one entry in Surprises & Discoveries, formatted like the existing ones.",
        examples=('execplan discover "The last line is dropped" --evidence "test_lines.py fails"',),
        parameters=(_TEXT, _required_text("--evidence", "The evidence")),
        creates_section=True,
        texts={"text": _blocks("the discovery"), "evidence": _blocks("the evidence")},
        finishes=True,
    ),
    "note": EditCommand(
        """Add a note to Artifacts and Notes.

        Use it for short proof of the work, such as the last lines of a test run; `attach` is for files. TEXT can be @FILE,
        or - for standard input; its paragraphs, lists and code blocks are kept.
        """,
        reads="the plan; with --excerpt, a file or standard input.",
        writes="one paragraph or item in Artifacts and Notes, with the excerpt in a code block below it.",
        examples=(
            'execplan note "The benchmark ran on two cores."',
            'execplan note "All tests pass:" --excerpt "12 passed in 0.3s"',
        ),
        parameters=(
            _TEXT,
            click.option(
                "--excerpt",
                metavar="TEXT",
                help="Lines to show verbatim below it: text, @FILE, or - for standard input.",
            ),
        ),
        creates_section=True,
        texts={"excerpt": partial(read_lines, label="the excerpt"), "text": _blocks("the note")},
        next_command="execplan show {id} --section 'Artifacts and Notes'",
    ),
    "outcome": EditCommand(
        """Add an outcome: what works now, what is missing, what you learned.

        Record it at each milestone and at the end; `archive` requires one for a completed plan. TEXT can be @FILE, or - for
        standard input; its paragraphs, lists and code blocks are kept.
        """,
        writes="one paragraph or item in Outcomes & Retrospective.",
        examples=('execplan outcome "The parser reads all sections; tables are left out."',),
        parameters=(_TEXT,),
        creates_section=True,
        texts={"text": _blocks("the outcome")},
        next_command="execplan next {id}",
        finishes=True,
    ),
    "reopen": EditCommand(
        """Uncheck tasks.

        Use it if a task that was checked off is not done after all. A TASK is a number, several numbers as in 1-3 or 1,2,5, an ID, or unique text.
        """,
        writes="the checkbox of each task, or its status; removes its timestamp.",
        examples=("execplan reopen 3", 'execplan reopen "write the tests" -p parser'),
        parameters=(click.argument("tasks", nargs=-1, required=True, metavar="TASK..."),),
    ),
    "revise": EditCommand(
        """Add a revision note: what changed in the plan, and why.

        Use it after you rewrite a part of the plan. TEXT can be @FILE, or - for standard input; its paragraphs,
        lists and code blocks are kept.
        """,
        writes="a dated revision note after the existing ones, or at the end of the plan if there are none.",
        examples=('execplan revise "Plan of Work rewritten: lines are enough, no tree."',),
        parameters=(_TEXT,),
        texts={"text": _blocks("the note")},
        next_command="execplan show {id}",
    ),
    "reword": EditCommand(
        """Change the text of a task.

        A TASK is a number, an ID, or unique text. The ID changes with the text.
        """,
        writes="the text of one task; its checkbox, its timestamp and its nested content stay.",
        examples=(
            'execplan reword 3 "Write the tests of the reader"',
            'execplan reword "the tests" "Write all tests" -p parser',
        ),
        parameters=(_TASK, _TEXT),
        texts={"text": _line("the task")},
        next_command="execplan show {id}",
    ),
    "split": EditCommand(
        """Split a task into a done part and a remaining part.

        Use it if you stop in the middle of a task. The done part is checked off with a timestamp; the remaining part stays
        open and keeps nested tasks. Prints both IDs. A TASK is a number, an ID, or unique text.
        """,
        writes="a checked-off task and an open one in place of the task.",
        examples=('execplan split 3 --done "Test the reader" --remaining "Test the writers"',),
        parameters=(
            _TASK,
            _required_text("--done", "The part that is done"),
            _required_text("--remaining", "The part that remains"),
        ),
        texts={"done": _line("the done part"), "remaining": _line("the remaining part")},
    ),
}


def _define(name: str, edit_command: EditCommand) -> None:
    """Define a command of the table."""

    def edit(call: Call, plan: str | None, options: WriteOptions, **arguments: Any) -> Answer:
        values = {name: value for name, value in arguments.items() if value is not None}
        values |= {name: read(values[name]) for name, read in edit_command.texts.items() if name in values}
        update = getattr(plan_updates, name)
        return edit_plan(
            plan,
            lambda project, ref: update(project, ref, **values, options=options),
            options,
            edit_command.next_command,
            finishes=edit_command.finishes,
        )

    edit.__name__, edit.__doc__ = name, edit_command.description
    create = (create_option,) if edit_command.creates_section else ()
    function = join_options(*edit_command.parameters, plan_option, *create, writer_options)(edit)
    define_command(reads=edit_command.reads, writes=edit_command.writes, examples=edit_command.examples)(function)


for _name, _edit_command in _EDIT_COMMANDS.items():
    _define(_name, _edit_command)
