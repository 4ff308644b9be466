"""A change: plan → edits, with what the plan must say once they are made."""

from __future__ import annotations

from execplan.errors import INPUT, USAGE, ExecplanError
from execplan.plan import outline
from execplan.plan.grammar import is_nothing, read_label
from execplan.plan.guidance import is_guidance
from execplan.plan.model import Plan, Section
from execplan.record import NamedTuple
from execplan.text.blocks import FENCE
from execplan.text.edit import Edit
from execplan.text.lines import Text, is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Facts(NamedTuple):
    """What a plan says, without where: what an edit may not change unless it means to."""

    title: str | None
    sections: tuple[str, ...]
    tasks: tuple[tuple[str, str], ...]
    """Mark and words of each."""
    checklists: tuple[tuple[str, str], ...]
    decisions: tuple[tuple[str | None, ...], ...]
    """Words, rationale, date, author and what it supersedes."""
    discoveries: tuple[tuple[str | None, ...], ...]
    """Words and evidence."""
    outcomes: tuple[str, ...]
    revisions: tuple[str, ...]


class Subject(NamedTuple):
    """A task that a change is about, as it is afterwards."""

    at: int
    """Its place in `Facts.tasks`."""
    was: str | None
    """Its id before; None for a task that is new."""


class Change(NamedTuple):
    """The edits of one verb on one plan."""

    edits: tuple[Edit, ...]
    """None when the plan says already what it should."""
    expected: Facts
    """What the plan says once they are made."""
    summary: str
    """What was done, for a commit message: `done 3, Build the parser`."""
    said: tuple[str, ...]
    """What was done or was so already, a line each."""
    tasks: tuple[Subject, ...] = ()
    """The tasks that a command was asked to change or to add, also where nothing had to be changed."""
    whole: bool = False
    """Whether the edits come from a text that a person has seen whole, so that they may also mend its structure."""


if TYPE_CHECKING:
    Changer = Callable[[Plan], Change]


def facts(plan: Plan) -> Facts:
    """What the plan says."""
    return Facts(
        plan.title,
        tuple([section.title for section in plan.sections]),
        tuple([(task.mark, task.text) for task in plan.tasks]),
        tuple([(task.mark, task.text) for _, task in plan.checklists]),
        tuple([(each.text, each.rationale, each.date, each.author, each.supersedes) for each in plan.decisions]),
        tuple([(entry.text, entry.evidence) for entry in plan.discoveries]),
        tuple([entry.text for entry in plan.outcomes]),
        tuple([entry.text for entry in plan.revisions]),
    )


def words_of(given: str, what: str) -> str:
    """Words that were handed in as one line of words; raises ExecplanError for none, or for what no plan can hold."""
    words = " ".join(given.split())
    if is_nothing(words):
        raise ExecplanError("no-words", f"{what} says nothing: {given!r}", exit=USAGE, hint=f"give {what} some words")
    for at, char in enumerate(words):
        if not char.isprintable() and not _joins(char):
            raise _bad_character(char, at, what, "which no plan should")
    return words


def lines_of(given: str, what: str) -> list[str]:
    """Lines that were handed in as they are, without blank ones around them; raises ExecplanError as `words_of` does."""
    for at, char in enumerate(given):
        if char == "\0" or "\ud800" <= char <= "\udfff":  # the latter is a byte of an argument that is no UTF-8
            raise _bad_character(char, at, what, "which no plan can hold")
    lines = Text.from_str(given).lines
    while lines and is_blank(lines[-1]):
        lines.pop()
    while lines and is_blank(lines[0]):
        lines.pop(0)
    if not "".join(lines).strip():
        raise ExecplanError("no-words", f"{what} says nothing", exit=USAGE, hint=f"give {what} some words")
    return lines


def _bad_character(char: str, at: int, what: str, why: str) -> ExecplanError:
    return ExecplanError(
        "bad-character",
        f"{what} holds the character U+{ord(char):04X} at {at + 1}, {why}",
        exit=USAGE,
        hint="take it out, or hand the words in from a file that has been cleaned",
    )


def _joins(char: str) -> bool:
    """Whether an unprintable character is one that scripts and emoji are written with."""
    joiners = "\u00ad\u061c\u200c\u200d\u200e\u200f\u2060\ufeff"
    return char in joiners or char.isspace() or "\U000e0020" <= char <= "\U000e007f"


def section_for(plan: Plan, name: str, *, create: bool = False, by: str = "--create") -> Section | None:
    """The section that an edit goes into, or None when it is missing and may be made; raises ExecplanError.

    `by` is what adds a missing section, for the hint.
    """
    found = [section for section in plan.sections if section.name == name]
    stop_twice(found, name)
    if found:
        return found[0]
    stop_unclosed(plan, len(plan.text.lines))
    if not create:
        raise _missing(plan, name, by)
    return None


def stop_twice(found: Sequence[Section], name: str) -> None:
    """Refuse to edit one of several sections that are called the same."""
    if len(found) > 1:
        lines = [f"line {section.start + 1}: ## {section.title}" for section in found]
        raise ExecplanError(
            "section-twice",
            f"the plan has {name} {len(found)} times, in lines {', '.join([str(each.start + 1) for each in found])}",
            exit=INPUT,
            hint="merge them into the first, then try again",
            candidates=lines,
            line=found[1].start + 1,
        )


def stop_conflicts(plan: Plan) -> None:
    """Refuse to edit a plan that holds conflict markers."""
    if plan.conflicts:
        raise ExecplanError(
            "conflict-markers",
            f"line {plan.conflicts[0] + 1} holds a conflict marker of git",
            exit=INPUT,
            hint="resolve it by hand, or let what can be merged be merged: execplan merge",
            line=plan.conflicts[0] + 1,
        )


def stop_unclosed(plan: Plan, before: int) -> None:
    """Refuse to edit a line behind a fence or a comment that was opened before it and never closed."""
    for block in plan.blocks:
        if not block.closed and block.start < before and (not block.depth or before < block.end):
            what = "fence" if block.kind == FENCE else "HTML block"
            raise ExecplanError(
                "unclosed-fence",
                f"the {what} opened in line {block.start + 1} is never closed; all below it is part of it",
                exit=INPUT,
                hint="close it, then try again",
                line=block.start + 1,
            )


def _missing(plan: Plan, name: str, by: str) -> ExecplanError:
    """The refusal of an edit whose section is not there, and by what it is added."""
    near = outline.nearest(name, [section.title for section in plan.sections if section.name is None])
    here = [f"line {each.start + 1}: ## {each.title}" for each in plan.sections if each.title == near]
    return ExecplanError(
        "no-such-section",
        f"the plan has no section {name}",
        exit=INPUT,
        hint=f"add it where the order puts it with {by}" + (", or mend the heading" if here else ""),
        candidates=here,
    )


def with_section(plan: Plan, name: str, content: Sequence[str]) -> tuple[Edit, tuple[str, ...]]:
    """The edit that adds a missing section with content, and the titles of the sections after it."""
    order = outline.NAMES.index(name)
    lines = plan.text.lines
    place = next(
        (
            at
            for at, each in enumerate(plan.sections)
            if each.name is not None and outline.NAMES.index(each.name) > order
        ),
        len(plan.sections),
    )
    before = [at for at, each in enumerate(plan.sections) if each.name and outline.NAMES.index(each.name) < order]
    if before and place == len(plan.sections):
        place = before[-1] + 1
    titles = [section.title for section in plan.sections]
    titles.insert(place, name)
    if place < len(plan.sections):
        line = plan.sections[place].start
    else:
        line = plan.sections[-1].notes if plan.sections else len(lines)
    return padded(lines, line, [f"## {name}", "", *content]), tuple(titles)


def padded(lines: Sequence[str], at: int, new: Sequence[str]) -> Edit:
    """An insertion before line `at` with one blank line around it, next to the text above."""
    while at and is_blank(lines[at - 1]):
        at -= 1
    above = [""] if at else []
    below = [""] if at < len(lines) and not is_blank(lines[at]) else []
    return Edit(at, at, (*above, *new, *below))


def fill(plan: Plan, section: Section, new: Sequence[str]) -> Edit:
    """Put lines at the end of a section, in place of what it holds if that only holds the place."""
    lines = plan.text.lines
    filled = [at for at in range(section.body, section.room) if not is_blank(lines[at])]
    if filled and all([holds_place(lines[at]) for at in filled]):
        return Edit(filled[0], filled[-1] + 1, tuple(new))
    return padded(lines, section.room, new)


def holds_place(line: str) -> bool:
    """Whether the line is a template's guidance, `None yet.`, or another that says nothing."""
    if is_guidance(line):
        return True
    label = read_label(line)
    words = label[1] if label else line.strip().lstrip("-*+ ")
    return is_nothing(words) and (label is not None or "…" in words or any([char.isalnum() for char in words]))
