"""Edits to a section's text, for the commands note and set."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.item_format import ItemFormat, detect_format, escape_text
from execplan.core.plan.line_grammar import is_revision_note
from execplan.core.plan.plan_change import (
    PlanChange,
    append_to_section,
    ensure_unique_section,
    entry_message,
    insert_padded,
    insert_section,
    plan_content,
    target_section,
)
from execplan.core.plan.plan_lookup import find_section, normalize_text
from execplan.core.plan.reader import find_conflict_markers, read_text
from execplan.core.plan.text_blocks import canonical_text, escape_lead, fold_text, format_blocks, has_blocks
from execplan.core.text.markdown_blocks import FENCE, HEADING, ITEM, PARAGRAPH, scan_blocks
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import Edit, apply_edits, is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.core.plan.model import ParsedPlan, Section
    from execplan.core.plan.plan_change import ChangeBuilder
    from execplan.core.text.markdown_blocks import Block

_CONTENT_FIELDS = {
    outline.PROGRESS: "tasks",
    outline.SURPRISES: "discoveries",
    outline.DECISIONS: "decisions",
    outline.OUTCOMES: "outcomes",
}


_PLAIN_FORMAT = ItemFormat(0, "", is_loose=False)
_ATTACH_HINT = "attach it instead: execplan attach FILE"


def add_note(
    texts: Sequence[str], excerpt: Sequence[str] = (), *, as_items: bool = False, create: bool = False
) -> ChangeBuilder:
    """Build a change that adds notes to Artifacts and Notes, with an excerpt in a code block after the last one.

    The notes become list items if `as_items` is set or the section ends in an item, otherwise paragraphs.
    """

    def build_change(plan: ParsedPlan) -> PlanChange:
        section = target_section(plan, outline.ARTIFACTS, create=create)
        content = plan_content(plan)
        bodies = [canonical_text(text) for text in texts]
        new_texts = [text for text in bodies if section is None or not _has_note(plan, section, text, excerpt)]
        if not new_texts:
            return PlanChange((), content, "", tuple([entry_message("already in the plan", text) for text in bodies]))
        summary = f"note, {fold_text(new_texts[0])}"
        messages = tuple([entry_message("noted", text) for text in new_texts])
        if section is None:
            edit, titles = insert_section(
                plan, outline.ARTIFACTS, _format_notes(new_texts, excerpt, "- " if as_items else "", _PLAIN_FORMAT)
            )
            _ensure_no_markers(plan, edit, "the excerpt", _ATTACH_HINT)
            return PlanChange((edit,), content._replace(sections=titles), summary, messages)
        blocks = [
            block for block in plan.blocks[section.first_block : section.block_end] if block.start < section.content_end
        ]
        last_block = next((block for block in reversed(blocks) if not block.depth), None)
        is_list = last_block is not None and last_block.kind == ITEM
        bullet = "- " if is_list or as_items else ""
        if last_block is not None and is_list and last_block.mark in "-*+":
            bullet = f"{last_block.mark} "
        spans = [(block.start, block.end) for block in blocks if block.kind == ITEM and not block.depth]
        item_format = detect_format(
            plan.text.lines, spans if is_list else [], indent=" " * len(bullet), is_loose_default=False
        )
        lines = tuple(_format_notes(new_texts, excerpt, bullet, item_format))
        edit = append_to_section(plan, section, lines)
        if last_block is not None and is_list and edit.start == edit.end and not item_format.is_loose:
            edit = Edit(last_block.end, last_block.end, lines)
        _ensure_no_markers(plan, edit, "the excerpt", _ATTACH_HINT)
        return PlanChange((edit,), content, summary, messages)

    return build_change


def _format_notes(texts: Sequence[str], excerpt: Sequence[str], bullet: str, item_format: ItemFormat) -> list[str]:
    """Format notes as lines, with blank lines between paragraphs."""
    lines: list[str] = []
    for text in texts:
        lines += [""] if lines and (item_format.is_loose or not bullet) else []
        lines += _format_note(text, excerpt if text is texts[-1] else (), bullet, item_format)
    return lines


def _has_note(plan: ParsedPlan, section: Section, text: str, excerpt: Sequence[str]) -> bool:
    if has_blocks(text):
        note_lines = [line.strip() for line in _format_note(text, excerpt, "- ", _PLAIN_FORMAT)]
        lines = [line.strip() for line in plan.text.lines[section.body_start : section.content_end]]
        return any([lines[at : at + len(note_lines)] == note_lines for at in range(len(lines))])
    return any(
        [
            block.kind == PARAGRAPH and _is_same_note(plan.text.lines, block, text, excerpt)
            for block in plan.blocks[section.first_block : section.block_end]
        ]
    )


def _format_note(text: str, excerpt: Sequence[str], bullet: str, item_format: ItemFormat) -> list[str]:
    """Format a note as lines; the code block of the excerpt has longer marks than any in the excerpt."""
    # A paragraph would be read as a revision note, and its blocks could end the section.
    bullet = bullet or ("- " if is_revision_note(text) or has_blocks(text) else "")
    indent = " " * len(bullet)
    if has_blocks(text) or not bullet:
        item_format = item_format._replace(indent=indent)
    note_lines = format_blocks(bullet, escape_lead(text), item_format)
    if not excerpt:
        return note_lines
    fence = "```"
    while any([fence in line for line in excerpt]):
        fence += "`"
    return [
        *note_lines,
        "",
        f"{indent}{fence}text",
        *[indent + line if line else "" for line in excerpt],
        indent + fence,
    ]


def _is_same_note(lines: Sequence[str], block: Block, note_text: str, excerpt: Sequence[str]) -> bool:
    """Return whether a paragraph is the note, followed by the excerpt."""
    paragraph = " ".join([block.text.strip(), *[line.strip() for line in lines[block.start + 1 : block.end]]])
    if normalize_text(paragraph) != normalize_text(escape_text(note_text)):
        return False
    following_lines = [line.strip() for line in lines[block.end + 2 : block.end + 2 + len(excerpt)]]
    return not excerpt or following_lines == [line.strip() for line in excerpt]


def set_section_body(name: str, body: Sequence[str], *, create: bool = False) -> ChangeBuilder:
    """Build a change that replaces the body of a section, except the revision notes at its end."""
    canonical_name = outline.canonical_name(name)

    def build_change(plan: ParsedPlan) -> PlanChange:
        has_exact_title = any(
            [other.title == name and other.name is None for other in plan.sections]
        )  # another section has the standard name
        if canonical_name is not None and not has_exact_title:
            section = target_section(plan, canonical_name, create=create)
        else:
            section = find_section(plan, name)
            ensure_unique_section([other for other in plan.sections if other.title == section.title], section.title)
        if section is None:
            assert canonical_name is not None
            lines = _strip_heading(body, canonical_name)
            edit, titles = insert_section(plan, canonical_name, lines)
            return _replace_body(plan, edit, canonical_name, canonical_name, titles)
        lines = _strip_heading(body, section.title)
        plan_lines = plan.text.lines
        repeats_rule = (
            section.content_end < section.notes_start and lines[-1] == plan_lines[section.content_end]
        )  # the new body includes the rule
        end = section.notes_start if repeats_rule else section.content_end
        filled_lines = [index for index in range(section.body_start, end) if not is_blank(plan_lines[index])]
        if filled_lines and plan_lines[filled_lines[0] : filled_lines[-1] + 1] == list(lines):
            return PlanChange((), plan_content(plan), "", (f"unchanged: {section.title}",))
        if filled_lines:
            edit = Edit(filled_lines[0], filled_lines[-1] + 1, tuple(lines))
        else:
            edit = insert_padded(plan_lines, end, lines)
        return _replace_body(plan, edit, section.title, section.name, tuple([other.title for other in plan.sections]))

    return build_change


def _strip_heading(body: Sequence[str], title: str) -> Sequence[str]:
    """Remove the section's own heading from the start of a new body; raises ExecplanError if it has another one."""
    headings = [
        block
        for block in scan_blocks(list(body), allow_front_matter=False)
        if block.kind == HEADING and not block.depth
    ]
    headings = [block for block in headings if block.level < 3]
    if headings and not headings[0].start and outline.title_key(headings[0].text) == outline.title_key(title):
        lines = body[headings.pop(0).end :]
        body = lines[next((index for index, line in enumerate(lines) if not is_blank(line)), len(lines)) :]
    if headings or not body:
        problem = f"a heading of level {headings[0].level}: {headings[0].text!r}" if headings else "only its heading"
        raise ExecplanError(
            "heading-in-body",
            f"the new body of {title} contains {problem}",
            hint="provide only the text below the heading; it can contain headings of level 3 and deeper: ###",
        )
    return body


def _replace_body(plan: ParsedPlan, edit: Edit, title: str, name: str | None, titles: tuple[str, ...]) -> PlanChange:
    """Return the change for a new body: this section's content may change, that of all others must stay."""
    changed_plan = read_text(apply_edits(plan.text, [edit]))
    open_blocks = [block for block in changed_plan.blocks if not block.is_closed]
    if open_blocks and all([block.is_closed for block in plan.blocks]):
        description = f"a {'code block' if open_blocks[0].kind == FENCE else 'HTML block'} on its line {open_blocks[0].start - edit.start + 1}"
        raise ExecplanError(
            "unclosed-in-body",
            f"the new body of {title} opens {description} and never closes it",
            hint="close it; otherwise it includes the rest of the plan",
        )
    _ensure_no_markers(plan, edit, f"the new body of {title}", "resolve the conflict, or indent the line")
    old_content, new_content = plan_content(plan), plan_content(changed_plan)
    expected_content = old_content._replace(sections=titles)
    field = "revisions" if is_revision_note(title) else _CONTENT_FIELDS.get(name or "")
    if field:
        expected_content = expected_content._replace(**{field: getattr(new_content, field)})
    if _boxes_elsewhere(plan, title) == _boxes_elsewhere(changed_plan, title):
        expected_content = expected_content._replace(tasks=new_content.tasks, checklists=new_content.checklists)
    messages = (f"set: {title}", *_describe_losses(plan, changed_plan))
    return PlanChange((edit,), expected_content, f"set, {title}", messages)


def _describe_losses(plan: ParsedPlan, changed_plan: ParsedPlan) -> Iterator[str]:
    """Yield a line about the tasks and entries that a new body no longer has."""
    before, after = plan.counts(), changed_plan.counts()
    lost_done = max(before["done"] - after["done"], 0)
    lost_open = min(
        len(plan.unfinished_tasks) - len(changed_plan.unfinished_tasks), before["total"] - after["total"] - lost_done
    )
    losses = {
        "completed task": lost_done,
        "open task": lost_open,
        "decision": len(plan.decisions) - len(changed_plan.decisions),
        "observation": len(plan.discoveries) - len(changed_plan.discoveries),
        "outcome": len(plan.outcomes) - len(changed_plan.outcomes),
    }
    if losses := {name: count for name, count in losses.items() if count > 0}:
        parts = [format_count(count, name) for name, count in losses.items()]
        verb = "is" if sum(losses.values()) == 1 else "are"
        yield f"{' and '.join(parts)} {verb} gone; to restore: execplan undo"


def _ensure_no_markers(plan: ParsedPlan, edit: Edit, label: str, hint: str) -> None:
    """Raise an ExecplanError if new lines are Git conflict markers, which would block all later edits."""
    marker_lines = [
        line_index - edit.start for line_index in find_conflict_markers(apply_edits(plan.text, [edit]).lines)
    ]
    marker_lines = [line_index for line_index in marker_lines if 0 <= line_index < len(edit.lines)]
    if marker_lines:
        raise ExecplanError(
            "conflict-markers", f"{label} contains a git conflict marker: {edit.lines[marker_lines[0]]!r}", hint=hint
        )


def _boxes_elsewhere(plan: ParsedPlan, title: str) -> list[tuple[str, str]]:
    """Return the items with a checkbox that are not in the section."""
    spans = [(section.start, section.end) for section in plan.sections if section.title == title]
    return sorted(
        [(box.mark, box.text) for box in plan.boxes if not any([start <= box.start < end for start, end in spans])]
    )
