"""Names of code that a plan gives in Interfaces and Dependencies, to be looked for in the repository."""

from __future__ import annotations

from execplan.execution.command.typed import looks_like_command
from execplan.lint.rule import HINT, HISTORY, Given, Place, rule
from execplan.lint.shell import fences
from execplan.lint.words import Span
from execplan.plan import outline
from execplan.plan.model import COMPLETE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.lint.words import Words
    from execplan.plan.model import Plan

_SHORTEST = 6
_KEYWORDS = ("def", "class", "fn", "func", "function", "struct", "enum", "trait", "interface", "type")
_MODIFIERS = frozenset(
    "pub pub(crate) async export default public private static abstract final sealed unsafe const".split()
)
_GONE = (
    *"delet,remov,drop,no `,not ,without,never,instead,renam,replac,former,previous,old ,legacy,retir,deprecat,optional".split(
        ","
    ),
    *"example,e.g.,future,later,defer,out of scope,such as,may ,could ,might ,if ,avoid,superseded,reject,absent,no new".split(
        ","
    ),
)
"""What is said near a name that need not be there."""


@rule("EP407", HINT, needs=HISTORY)
def symbol_that_exists_nowhere(plan: Plan, given: Given) -> Iterator[Place]:
    """All tasks are done, and a name of Interfaces and Dependencies stands in no file of the repository.

    The interface was built under another name, or not at all; whoever reads the plan next looks for it in vain. Names that the
    plan says are gone, or may come later, are left alone.

    Bad (absent read_plan):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.

        ## Outcomes & Retrospective

        The parser reads all twelve sections.

        ## Interfaces and Dependencies

        `read_plan(data: bytes) -> Plan` in `src/reader.py`.
    Good (absent parse_plan):
        ## Progress

        - [x] (2026-03-07 23:27Z) Build the parser.

        ## Outcomes & Retrospective

        The parser reads all twelve sections.

        ## Interfaces and Dependencies

        `read_plan(data: bytes) -> Plan` in `src/reader.py`.
    """
    if given.history is None or given.archived or not given.history.absent or plan.state() != COMPLETE:
        return
    for span in symbols(plan, given.words):
        if span.text in given.history.absent and (given.words.inert[span.line] or given.words.is_code(span)):
            yield Place(
                f"{span.text} stands in no file of the repository",
                span.line,
                span.column,
                span.line + 1,
                span.column + len(span.text),
            )


def symbols(plan: Plan, words: Words) -> list[Span]:
    """The names of functions and types that Interfaces and Dependencies says are there, each where it stands first."""
    section = plan.section(outline.INTERFACES)
    if section is None:
        return []
    found: dict[str, Span] = {}
    gone: set[str] = set()
    for span in words.codes_in(section.body, section.notes):
        name, column = _name(span.text)
        if name:
            if _is_gone(plan, span.line):
                gone.add(name)
            found.setdefault(name, Span(span.line, span.column + column, name))
    for _, start, end in fences(plan, section):
        for at in range(start, end):
            name = _defined(plan.text.lines[at])
            if name:
                found.setdefault(name, Span(at, plan.text.lines[at].index(name), name))
    return sorted([span for name, span in found.items() if name not in gone])


def _is_gone(plan: Plan, line: int) -> bool:
    """Whether it is said near a line that something need not be there."""
    near = " ".join(plan.text.lines[max(line - 1, 0) : line + 2]).casefold()
    return any([word in near for word in _GONE])


def _name(code: str) -> tuple[str, int]:
    """The name that a code span is, or that it calls, and its column; nothing for paths, commands and words of prose."""
    head = code.partition("(")[0].strip()
    if " " in head:
        defined = _defined(code)
        return (defined, code.index(defined)) if defined else ("", 0)
    if "/" in head or "@" in head or looks_like_command(code):
        return "", 0
    for mark in ("::", ".", "#"):
        head = head.rpartition(mark)[2]
    called = "(" in code
    name = head.rstrip("!?")
    return (
        (name, code.rindex(name, 0, code.find("(") if called else len(code)))
        if _is_symbol(name, called=called)
        else ("", 0)
    )


def _defined(line: str) -> str:
    """The name that a line of code defines."""
    parts = [part for part in line.strip().split() if part not in _MODIFIERS]
    if len(parts) < 2 or parts[0] not in _KEYWORDS:
        return ""
    name = ""
    for char in parts[1]:
        if not (char.isalnum() or char == "_"):
            break
        name += char
    return name if _is_symbol(name, called=True) else ""


def _is_symbol(name: str, *, called: bool) -> bool:
    """Whether a name has the shape of code: joined by underscores, of two humps, or called."""
    if len(name) < _SHORTEST or not name.isascii() or not name.isidentifier() or name.isupper():
        return False
    humps = sum([char.isupper() for char in name[1:]]) and any([char.islower() for char in name])
    return called or bool(humps) or "_" in name.strip("_")
