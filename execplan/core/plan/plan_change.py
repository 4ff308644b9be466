"""Changes to a plan: the edits, and the expected content of the plan after them."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.plan import outline
from execplan.core.plan.line_grammar import is_empty_text, read_label
from execplan.core.plan.model import ParsedPlan, Section
from execplan.core.plan.placeholder_text import is_placeholder_text
from execplan.core.plan.task_reader import document_section
from execplan.core.text.markdown_blocks import FENCE
from execplan.core.text.message_parts import shorten
from execplan.core.text.text_lines import Edit, Text, is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias


class PlanContent(NamedTuple):
    """The content of a plan without positions, used to check that an edit changes nothing else."""

    title: str | None
    sections: tuple[str, ...]
    tasks: tuple[tuple[str, str], ...]
    """Checkbox character and text of each task."""
    checklists: tuple[tuple[str, str], ...]
    decisions: tuple[tuple[str | None, ...], ...]
    """Text, rationale, date, author and superseded decision of each."""
    discoveries: tuple[tuple[str | None, ...], ...]
    """Text and evidence of each discovery."""
    outcomes: tuple[str, ...]
    revisions: tuple[str, ...]


class ChangedTask(NamedTuple):
    """A task that a change adds or edits, as it is afterwards."""

    position: int
    """Index of the task in `PlanContent.tasks`."""
    previous_id: str | None
    """ID before the change; None for a new task."""


class PlanChange(NamedTuple):
    """The edits of one command to one plan."""

    edits: tuple[Edit, ...]
    """Edits to make; empty if the plan already has the requested content."""
    expected_content: PlanContent
    """Content of the plan after the edits."""
    summary: str
    """Description for a commit message, such as `done 3, Build the parser`."""
    messages: tuple[str, ...]
    """Messages about what was changed or already so, one per line."""
    tasks: tuple[ChangedTask, ...] = ()
    """Tasks that the command was asked to change or add, including those that needed no change."""
    may_change_structure: bool = False
    """Whether a person has seen the whole resulting text, so that the edits may also fix the plan's structure."""


ChangeBuilder: TypeAlias = "Callable[[ParsedPlan], PlanChange]"


def plan_content(plan: ParsedPlan) -> PlanContent:
    """Return the content of a plan without positions."""
    return PlanContent(
        plan.title,
        tuple([section.title for section in plan.sections]),
        tuple([(task.mark, task.text) for task in plan.tasks]),
        tuple([(task.mark, task.text) for _, task in plan.checklists]),
        tuple(
            [
                (decision.body, decision.rationale, decision.date, decision.author, decision.supersedes)
                for decision in plan.decisions
            ]
        ),
        tuple([(entry.body, entry.evidence) for entry in plan.discoveries]),
        tuple([entry.body for entry in plan.outcomes]),
        tuple([entry.body for entry in plan.revisions]),
    )


def require_text(source: str, label: str) -> str:
    """Return an argument as one line of text; raises ExecplanError if it is empty or has disallowed characters."""
    text = " ".join(source.split())
    if is_empty_text(text):
        problem = f"is placeholder text: {source!r}" if text else "is empty"
        raise ExecplanError("no-words", f"{label} {problem}", hint=f"provide text for {label}")
    for index, char in enumerate(text):
        if not char.isprintable() and not _is_joiner(char):
            raise _bad_character_error(char, index, label, "which plans should not contain")
    return text


def require_blocks(source: str, label: str) -> str:
    """Return an argument as text of one or more markdown blocks, in canonical form.

    Raises ExecplanError if it is empty or has disallowed characters.
    """
    from execplan.core.plan.text_blocks import canonical_text

    require_text(source, label)
    return canonical_text(source)


def require_lines(source: str, label: str) -> list[str]:
    """Return the lines of an argument unchanged, without blank lines at either end.

    Raises ExecplanError if they are empty or contain characters that a plan can't contain.
    """
    for index, char in enumerate(source):
        if char == "\0" or 0xD800 <= ord(char) <= 0xDFFF:  # a lone surrogate is a byte of an argument that is not UTF-8
            raise _bad_character_error(char, index, label, "which plans can't contain")
    lines = Text.from_str(source).lines
    while lines and is_blank(lines[-1]):
        lines.pop()
    while lines and is_blank(lines[0]):
        lines.pop(0)
    if not "".join(lines).strip():
        raise ExecplanError("no-words", f"{label} is empty", hint=f"provide text for {label}")
    return lines


def _bad_character_error(char: str, index: int, label: str, reason: str) -> ExecplanError:
    return ExecplanError(
        "bad-character",
        f"{label} contains the character U+{ord(char):04X} at position {index + 1}, {reason}",
        hint="remove it, or read the text from a cleaned file",
    )


def _is_joiner(char: str) -> bool:
    """Return whether an unprintable character is needed to write some scripts and emoji."""
    joiners = "\u00ad\u061c\u200c\u200d\u200e\u200f\u2060\ufeff"
    return char in joiners or char.isspace() or "\U000e0020" <= char <= "\U000e007f"


def target_section(
    plan: ParsedPlan, name: str, *, create: bool = False, added_by: str = "repeat the command with --create"
) -> Section | None:
    """Return the section to edit, or None if it is missing and `create` is set; raises ExecplanError.

    `added_by` is the option or command that adds a missing section, for the hint.
    """
    matches = [section for section in plan.sections if section.name == name]
    ensure_unique_section(matches, name)
    if matches:
        return matches[0]
    ensure_blocks_closed(plan, len(plan.text.lines))
    if not create:
        raise _missing_section_error(plan, name, added_by)
    return None


def task_section(plan: ParsedPlan, *, create: bool = False, command: str = "") -> Section | None:
    """Return the section with the plan's tasks: Progress, or the whole text if the tasks are elsewhere.

    Returns None if there are no tasks and `create` is set. Raises ExecplanError if Progress is missing or occurs twice, or if
    the tasks have no checkboxes, but `command` is one that writes some.
    """
    if plan.has_tasks_elsewhere:
        if command and plan.tasks[-1].status is not None:
            from execplan.core.plan.status_edits import no_checkbox_error  # most tasks have a checkbox

            raise no_checkbox_error(plan.tasks[-1], command)
        ensure_blocks_closed(plan, len(plan.text.lines))
        return document_section(plan)
    if command == "add":
        return target_section(plan, outline.PROGRESS, create=create)
    return target_section(plan, outline.PROGRESS, create=create, added_by="execplan add 'First step' --create")


def ensure_unique_section(matches: Sequence[Section], name: str) -> None:
    """Raise an ExecplanError if several sections have the same name."""
    if len(matches) > 1:
        candidates = [f"line {section.start + 1}: ## {section.title}" for section in matches]
        raise ExecplanError(
            "section-twice",
            f"the plan has {name} {len(matches)} times, on lines {', '.join([str(match.start + 1) for match in matches])}",
            hint="merge them into the first, then try again",
            candidates=candidates,
            line=matches[1].start + 1,
        )


def ensure_no_conflicts(plan: ParsedPlan) -> None:
    """Raise an ExecplanError if the plan contains conflict markers."""
    if plan.conflict_lines:
        raise ExecplanError(
            "conflict-markers",
            f"line {plan.conflict_lines[0] + 1} contains a git conflict marker",
            hint="resolve it by hand, or merge what is possible: execplan merge",
            line=plan.conflict_lines[0] + 1,
        )


def ensure_blocks_closed(plan: ParsedPlan, line_limit: int) -> None:
    """Raise an ExecplanError if a code block or HTML block opened before the line is never closed."""
    for block in plan.blocks:
        if not block.is_closed and block.start < line_limit and (not block.depth or line_limit < block.end):
            block_name = "code block" if block.kind == FENCE else "HTML block"
            raise ExecplanError(
                "unclosed-fence",
                f"the {block_name} opened on line {block.start + 1} is never closed, so it includes everything below it",
                hint="close it, then try again",
                line=block.start + 1,
            )


def _missing_section_error(plan: ParsedPlan, name: str, added_by: str) -> ExecplanError:
    """Return the error for an edit of a missing section, with a hint how to add it."""
    closest_title = outline.closest_title(name, [section.title for section in plan.sections if section.name is None])
    candidates = [
        f"line {section.start + 1}: ## {section.title}" for section in plan.sections if section.title == closest_title
    ]
    return ExecplanError(
        "no-such-section",
        f"the plan has no section {name}",
        hint=f"add it in the right place: {added_by}" + ("; or correct the heading" if candidates else ""),
        candidates=candidates,
    )


def insert_section(
    plan: ParsedPlan, name: str, content: Sequence[str], *, title: str = ""
) -> tuple[Edit, tuple[str, ...]]:
    """Return the edit that inserts a missing section with content, and the titles of all sections after the edit.

    The section's title is its standard name, `name`, unless another is given.
    """
    title = title or name
    section_order = outline.NAMES.index(name)
    lines = plan.text.lines
    position = next(
        (
            index
            for index, section in enumerate(plan.sections)
            if section.name is not None and outline.NAMES.index(section.name) > section_order
        ),
        len(plan.sections),
    )
    earlier_positions = [
        index
        for index, section in enumerate(plan.sections)
        if section.name and outline.NAMES.index(section.name) < section_order
    ]
    if earlier_positions and position == len(plan.sections):
        position = earlier_positions[-1] + 1
    titles = [section.title for section in plan.sections]
    titles.insert(position, title)
    if position < len(plan.sections):
        line = plan.sections[position].start
    else:
        line = plan.sections[-1].notes_start if plan.sections else len(lines)
    return insert_padded(lines, line, [f"## {title}", "", *content]), tuple(titles)


def insert_padded(lines: Sequence[str], index: int, new_lines: Sequence[str]) -> Edit:
    """Return an edit that inserts lines before line `index`, next to the text above, with a blank line on each side."""
    while index and is_blank(lines[index - 1]):
        index -= 1
    lines_above = [""] if index else []
    lines_below = [""] if index < len(lines) and not is_blank(lines[index]) else []
    return Edit(index, index, (*lines_above, *new_lines, *lines_below))


def append_to_section(plan: ParsedPlan, section: Section, new_lines: Sequence[str]) -> Edit:
    """Return an edit that adds lines at the end of a section, or replaces content that is only placeholder text."""
    lines = plan.text.lines
    filled_lines = [index for index in range(section.body_start, section.content_end) if not is_blank(lines[index])]
    if filled_lines and all([has_no_content(lines[index]) for index in filled_lines]):
        return Edit(filled_lines[0], filled_lines[-1] + 1, tuple(new_lines))
    return insert_padded(lines, section.content_end, new_lines)


def has_no_content(line: str) -> bool:
    """Return whether a line is placeholder text, such as a template's line or `None yet.`, and has no content."""
    if is_placeholder_text(line):
        return True
    label = read_label(line)
    text = label[1] if label else line.strip().lstrip("-*+ ")
    return is_empty_text(text) and (label is not None or "…" in text or any([char.isalnum() for char in text]))


def entry_message(verb: str, text: str) -> str:
    """Return the message about an entry, with enough of its text to recognize it."""
    return f"{verb}: {shorten(' '.join(text.split()))}"


def task_label(number: int, text: str) -> str:
    """Return the number of a task, and enough of its text to recognize it: `3. Write the tests`."""
    return f"{number}. {shorten(text)}"
