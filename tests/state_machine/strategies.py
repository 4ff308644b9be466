"""What a state machine draws: plans, commands with their words, and the lines that a command may change."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.plan.plan_change import has_no_content
from execplan.core.plan.plan_lookup import find_section, find_task
from tests.conftest import find_corpus
from tests.core.plan.test_plan_change import ARBITRARY_TEXTS, LINES, changed_lines, plans, same_around
from tests.plans import CLEAN

ODD = """\
# Cut the lines\r
\r
## Progress

### Milestone 1

- [x] (2025-12-30 09:15Z) Read lines.
- [ ] Build the parser.
  - [ ] (2025-12-30) Widen it
    and wrap it.
* [~] Odd, [as here](2026-01-02_plan.md).

1. [ ] Numbered

## Decision Log

- Decision: D
  Rationale: R
  Date/Author: 2025-12-30, Ann

## Surprises & Discoveries

None yet.

## Outcomes & Retrospective

- Half of it: see `.agent/execplans/2026-01-01_plan.md`.

---

Plan revision note: 2025-12-30 - n"""
_CORPUS = find_corpus()
_FILES = sorted(_CORPUS.rglob("*.md")) if _CORPUS is not None else []
_REAL = st.sampled_from(_FILES).map(Path.read_bytes) if _FILES else st.just(CLEAN.encode())
PLAN_BYTES = st.one_of(st.just(CLEAN.encode()), st.just(ODD.encode()), plans(), _REAL)
_ANY_PHRASE = ARBITRARY_TEXTS.filter(lambda text: "\0" not in text).map(
    lambda text: f"@{text}" if text[:1] == "@" else text
)
PHRASE = (
    st.sampled_from(["Cut the lines", "Build the parser.", "Done", "a `b` - [ ] c", "Widen it: all of it"])
    | _ANY_PHRASE
)
POSITION = st.integers(0, 5)
TASK = st.one_of(st.integers(1, 6).map(lambda number: f"#{number}"), PHRASE)
"""Words, or the number of some task, whatever their number is."""
TITLE = st.sampled_from(
    ["Build the parser", "Cut lines", "Write the tests", "Read 100 % of all plans", "行を読む", "#"]
)
SECTION = st.sampled_from(["Progress", "Decision Log", "Plan of Work", "Artifacts and Notes", "Risks"])
ADDING = ("add", "decide", "discover", "outcome", "note", "revise", "attach")


class CommandCall(NamedTuple):
    """A command: its name, options, and words that may begin with a dash."""

    name: str
    options: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()

    def command_line(self, *extra_options: str) -> list[str]:
        """The arguments."""
        return [self.name, *self.options, *extra_options, "--", *self.arguments]


_CREATE_OPTION = st.booleans().map(lambda create: ("--create",) if create else ())
MARKING = st.builds(
    lambda name, tasks: CommandCall(name, (), tuple(tasks)),
    st.sampled_from(("done", "reopen")),
    st.lists(TASK, min_size=1, max_size=3),
)
TASKING = st.one_of(
    st.builds(lambda text, create_option: CommandCall("add", create_option, (text,)), PHRASE, _CREATE_OPTION),
    st.builds(lambda text, after: CommandCall("add", (f"--after={after}",), (text,)), PHRASE, TASK),
    st.builds(
        lambda text, under: CommandCall("add", (f"--under={under}",), (text,)), PHRASE, st.just("Milestone") | PHRASE
    ),
    st.builds(
        lambda finished_text, remaining_text, task: CommandCall(
            "split", (f"--done={finished_text}", f"--remaining={remaining_text}"), (task,)
        ),
        PHRASE,
        PHRASE,
        TASK,
    ),
    st.builds(lambda task, text: CommandCall("reword", (), (task, text)), TASK, PHRASE),
)
LOGGING = st.one_of(
    st.builds(
        lambda text, why, create_option: CommandCall("decide", (f"--why={why}", *create_option), (text,)),
        PHRASE,
        PHRASE,
        _CREATE_OPTION,
    ),
    st.builds(
        lambda text, old: CommandCall("decide", ("--why=x", f"--supersedes={old}"), (text,)),
        PHRASE,
        st.just("D") | PHRASE,
    ),
    st.builds(
        lambda text, evidence, create_option: CommandCall(
            "discover", (f"--evidence={evidence}", *create_option), (text,)
        ),
        PHRASE,
        PHRASE,
        _CREATE_OPTION,
    ),
    st.builds(lambda text, create_option: CommandCall("outcome", create_option, (text,)), PHRASE, _CREATE_OPTION),
    st.builds(lambda text: CommandCall("revise", (), (text,)), PHRASE),
)
FILLING = st.one_of(
    st.builds(lambda text, create_option: CommandCall("note", create_option, (text,)), PHRASE, _CREATE_OPTION),
    st.builds(lambda text, lines: CommandCall("note", (f"--excerpt={lines}",), (text,)), PHRASE, PHRASE),
    st.builds(
        lambda name, lines, create_option: CommandCall("set", create_option, (name, "\n".join(lines) or "x")),
        SECTION,
        st.lists(LINES, max_size=5),
        _CREATE_OPTION,
    ),
    st.builds(
        lambda about, create_option: CommandCall("attach", (f"--about={about}", *create_option), ("README.md",)),
        PHRASE,
        _CREATE_OPTION,
    ),
)
SELDOM = st.integers(0, 9).map(lambda number: number == 9)


def with_task_numbers(command: CommandCall, data: bytes) -> CommandCall:
    """The verb with the numbers of tasks that there are."""
    try:
        count = len(reader.read(data).tasks) or 1
    except ExecplanError:
        count = 1
    tasks = {f"#{number}": str((number - 1) % count + 1) for number in range(1, 7)}
    options = [
        name + sign + tasks.get(value, value)
        for name, sign, value in [option.partition("=") for option in command.options]
    ]
    return CommandCall(
        command.name, tuple(options), tuple([tasks.get(argument, argument) for argument in command.arguments])
    )


def is_repeatable(command: CommandCall) -> bool:
    """Whether a second time changes nothing for sure: no task is named by words that are no longer its own."""
    return (
        command.name not in ("split", "reword") or command.arguments[0 if command.name == "reword" else -1].isdecimal()
    )


def check_lines(command: CommandCall, before: bytes, after: bytes) -> None:
    """Only the lines changed that are the verb's."""
    old, new = reader.read(before), reader.read(after)
    if command.name in ("done", "reopen"):
        boxes = [
            old_task.box_line
            for old_task, new_task in zip(old.tasks, new.tasks, strict=True)
            if old_task.mark != new_task.mark
        ]
        pairs = enumerate(zip(old.text.lines, new.text.lines, strict=True))
        assert [at for at, (old_line, new_line) in pairs if old_line != new_line] == sorted(boxes), command
    elif command.name in ("reword", "split"):
        task = find_task(old, command.arguments[0])[1]
        assert same_around(before, after, task.start, task.end), command
    elif command.name == "set":
        try:
            section = find_section(old, command.arguments[0])
        except ExecplanError:
            return
        assert same_around(before, after, section.body_start, section.notes_start), command
    elif command.name in ADDING:
        removed, added = changed_lines(before, after)
        assert added, command
        assert all([not line.strip() or has_no_content(line) for line in removed]), (command, removed)
