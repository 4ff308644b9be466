"""What a state machine draws: plans, commands with their words, and the lines that a command may change."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

from execplan.errors import ExecplanError
from execplan.plan import reader
from execplan.plan.plan_change import has_no_content
from execplan.plan.plan_lookup import find_section, find_task
from tests.conftest import find_corpus
from tests.plan.test_properties import LINES, WORDS, outside, plans, same_around
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
TEXTS = st.one_of(st.just(CLEAN.encode()), st.just(ODD.encode()), plans(), _REAL)
_ANY = WORDS.filter(lambda words: "\0" not in words).map(lambda words: f"@{words}" if words[:1] == "@" else words)
SAID = st.sampled_from(["Cut the lines", "Build the parser.", "Done", "a `b` - [ ] c", "Widen it: all of it"]) | _ANY
PLACE = st.integers(0, 5)
TASK = st.one_of(st.integers(1, 6).map(lambda number: f"#{number}"), SAID)
"""Words, or the number of some task, whatever their number is."""
TITLE = st.sampled_from(
    ["Build the parser", "Cut lines", "Write the tests", "Read 100 % of all plans", "行を読む", "#"]
)
SECTION = st.sampled_from(["Progress", "Decision Log", "Plan of Work", "Artifacts and Notes", "Risks"])
ADDING = ("add", "decide", "discover", "outcome", "note", "revise", "attach")


class Verb(NamedTuple):
    """A command: its name, options, and words that may begin with a dash."""

    name: str
    options: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def line(self, *more: str) -> list[str]:
        """The arguments."""
        return [self.name, *self.options, *more, "--", *self.words]


_MADE = st.booleans().map(lambda wanted: ("--create",) if wanted else ())
MARKING = st.builds(
    lambda name, tasks: Verb(name, (), tuple(tasks)),
    st.sampled_from(("done", "reopen")),
    st.lists(TASK, min_size=1, max_size=3),
)
TASKING = st.one_of(
    st.builds(lambda words, made: Verb("add", made, (words,)), SAID, _MADE),
    st.builds(lambda words, after: Verb("add", (f"--after={after}",), (words,)), SAID, TASK),
    st.builds(lambda words, under: Verb("add", (f"--under={under}",), (words,)), SAID, st.just("Milestone") | SAID),
    st.builds(
        lambda one, two, three: Verb("split", (f"--done={one}", f"--remaining={two}"), (three,)), SAID, SAID, TASK
    ),
    st.builds(lambda one, words: Verb("reword", (), (one, words)), TASK, SAID),
)
LOGGING = st.one_of(
    st.builds(lambda words, why, made: Verb("decide", (f"--why={why}", *made), (words,)), SAID, SAID, _MADE),
    st.builds(
        lambda words, old: Verb("decide", ("--why=x", f"--supersedes={old}"), (words,)), SAID, st.just("D") | SAID
    ),
    st.builds(lambda words, shown, made: Verb("discover", (f"--evidence={shown}", *made), (words,)), SAID, SAID, _MADE),
    st.builds(lambda words, made: Verb("outcome", made, (words,)), SAID, _MADE),
    st.builds(lambda words: Verb("revise", (), (words,)), SAID),
)
FILLING = st.one_of(
    st.builds(lambda words, made: Verb("note", made, (words,)), SAID, _MADE),
    st.builds(lambda words, lines: Verb("note", (f"--excerpt={lines}",), (words,)), SAID, SAID),
    st.builds(
        lambda name, lines, made: Verb("set", made, (name, "\n".join(lines) or "x")),
        SECTION,
        st.lists(LINES, max_size=5),
        _MADE,
    ),
    st.builds(lambda about, made: Verb("attach", (f"--about={about}", *made), ("README.md",)), SAID, _MADE),
)
SELDOM = st.integers(0, 9).map(lambda number: number == 9)


def numbered(verb: Verb, data: bytes) -> Verb:
    """The verb with the numbers of tasks that there are."""
    try:
        count = len(reader.read(data).tasks) or 1
    except ExecplanError:
        count = 1
    tasks = {f"#{number}": str((number - 1) % count + 1) for number in range(1, 7)}
    options = [
        name + sign + tasks.get(value, value) for name, sign, value in [each.partition("=") for each in verb.options]
    ]
    return Verb(verb.name, tuple(options), tuple([tasks.get(word, word) for word in verb.words]))


def repeats(verb: Verb) -> bool:
    """Whether a second time changes nothing for sure: no task is named by words that are no longer its own."""
    return verb.name not in ("split", "reword") or verb.words[0 if verb.name == "reword" else -1].isdecimal()


def check_lines(verb: Verb, before: bytes, after: bytes) -> None:
    """Only the lines changed that are the verb's."""
    old, new = reader.read(before), reader.read(after)
    if verb.name in ("done", "reopen"):
        boxes = [one.box_line for one, two in zip(old.tasks, new.tasks, strict=True) if one.mark != two.mark]
        pairs = enumerate(zip(old.text.lines, new.text.lines, strict=True))
        assert [at for at, (one, two) in pairs if one != two] == sorted(boxes), verb
    elif verb.name in ("reword", "split"):
        task = find_task(old, verb.words[0])[1]
        assert same_around(before, after, task.start, task.end), verb
    elif verb.name == "set":
        try:
            section = find_section(old, verb.words[0])
        except ExecplanError:
            return
        assert same_around(before, after, section.body_start, section.notes_start), verb
    elif verb.name in ADDING:
        taken, put = outside(before, after)
        assert put, verb
        assert all([not line.strip() or has_no_content(line) for line in taken]), (verb, taken)
