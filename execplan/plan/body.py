"""The changes of a section's text: note, set."""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError
from execplan.plan import outline
from execplan.plan.change import Change, facts, fill, padded, section_for, stop_twice, with_section
from execplan.plan.grammar import is_note
from execplan.plan.reader import conflicts_in, read_text
from execplan.plan.seek import find_section, fold
from execplan.plan.shape import Shape, escape, shape_of, wrap
from execplan.text.blocks import FENCE, HEADING, ITEM, PARAGRAPH, scan
from execplan.text.edit import Edit, apply
from execplan.text.lines import is_blank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.change import Changer
    from execplan.plan.model import Plan, Section
    from execplan.text.blocks import Block

_FIELDS = {
    outline.PROGRESS: "tasks",
    outline.SURPRISES: "discoveries",
    outline.DECISIONS: "decisions",
    outline.OUTCOMES: "outcomes",
}


_PLAIN = Shape(0, "", loose=False)
_ATTACH = "attach it instead: execplan attach FILE"


def note(texts: Sequence[str], excerpt: Sequence[str] = (), *, items: bool = False, create: bool = False) -> Changer:
    """Add words to Artifacts and Notes, with an excerpt in a fence below the last of them.

    They become items when `items` asks for it or the section ends in an item, else paragraphs.
    """

    def change(plan: Plan) -> Change:
        section = section_for(plan, outline.ARTIFACTS, create=create)
        before = facts(plan)
        new = [text for text in texts if section is None or not _is_said(plan, section, text, excerpt)]
        if not new:
            return Change((), before, "", tuple([f"there already: {text}" for text in texts]))
        summary, said = f"note, {new[0]}", tuple([f"noted: {text}" for text in new])
        if section is None:
            edit, titles = with_section(plan, outline.ARTIFACTS, _notes(new, excerpt, "- " if items else "", _PLAIN))
            _stop_markers(plan, edit, "the excerpt", _ATTACH)
            return Change((edit,), before._replace(sections=titles), summary, said)
        blocks = [block for block in plan.blocks[section.first : section.last] if block.start < section.room]
        last = next((block for block in reversed(blocks) if not block.depth), None)
        listed = last is not None and last.kind == ITEM
        mark = "- " if listed or items else ""
        if last is not None and listed and last.mark in "-*+":
            mark = f"{last.mark} "
        spans = [(block.start, block.end) for block in blocks if block.kind == ITEM and not block.depth]
        shape = shape_of(plan.text.lines, spans if listed else [], indent=" " * len(mark), loose=False)
        lines = tuple(_notes(new, excerpt, mark, shape))
        edit = fill(plan, section, lines)
        if last is not None and listed and edit.start == edit.end and not shape.loose:
            edit = Edit(last.end, last.end, lines)
        _stop_markers(plan, edit, "the excerpt", _ATTACH)
        return Change((edit,), before, summary, said)

    return change


def _notes(texts: Sequence[str], excerpt: Sequence[str], mark: str, shape: Shape) -> list[str]:
    """The lines of some notes; blank ones stand between paragraphs."""
    lines: list[str] = []
    for text in texts:
        lines += [""] if lines and (shape.loose or not mark) else []
        lines += _noted(text, excerpt if text is texts[-1] else (), mark, shape)
    return lines


def _is_said(plan: Plan, section: Section, words: str, excerpt: Sequence[str]) -> bool:
    return any(
        [
            block.kind == PARAGRAPH and _says(plan.text.lines, block, words, excerpt)
            for block in plan.blocks[section.first : section.last]
        ]
    )


def _noted(words: str, excerpt: Sequence[str], mark: str, shape: Shape) -> list[str]:
    """The lines of a note; the excerpt stands in a fence that is longer than any in it."""
    mark = mark or ("- " if is_note(words) else "")  # a paragraph would be a revision note
    indent = " " * len(mark)
    new = wrap(mark, escape(words), shape._replace(indent=shape.indent if mark else ""))
    if not excerpt:
        return new
    fence = "```"
    while any([fence in line for line in excerpt]):
        fence += "`"
    return [*new, "", f"{indent}{fence}text", *[indent + line if line else "" for line in excerpt], indent + fence]


def _says(lines: Sequence[str], block: Block, words: str, excerpt: Sequence[str]) -> bool:
    """Whether a paragraph is the note, with the excerpt below it."""
    text = " ".join([block.text.strip(), *[line.strip() for line in lines[block.start + 1 : block.end]]])
    if fold(text) != fold(escape(words)):
        return False
    below = [line.strip() for line in lines[block.end + 2 : block.end + 2 + len(excerpt)]]
    return not excerpt or below == [line.strip() for line in excerpt]


def set_body(name: str, body: Sequence[str], *, create: bool = False) -> Changer:
    """Put lines in the place of all that stands in a section, but for the revision notes at its end."""
    wanted = outline.canonical(name)

    def change(plan: Plan) -> Change:
        own = any([each.title == name and each.name is None for each in plan.sections])  # another bears its name
        if wanted is not None and not own:
            section = section_for(plan, wanted, create=create)
        else:
            section = find_section(plan, name)
            stop_twice([each for each in plan.sections if each.title == section.title], section.title)
        if section is None:
            assert wanted is not None
            lines = _below_heading(body, wanted)
            edit, titles = with_section(plan, wanted, lines)
            return _replaced(plan, edit, wanted, wanted, titles)
        lines = _below_heading(body, section.title)
        there = plan.text.lines
        closed = section.room < section.notes and lines[-1] == there[section.room]  # the body brings the rule along
        end = section.notes if closed else section.room
        filled = [at for at in range(section.body, end) if not is_blank(there[at])]
        if filled and there[filled[0] : filled[-1] + 1] == list(lines):
            return Change((), facts(plan), "", (f"so already: {section.title}",))
        edit = Edit(filled[0], filled[-1] + 1, tuple(lines)) if filled else padded(there, end, lines)
        return _replaced(plan, edit, section.title, section.name, tuple([each.title for each in plan.sections]))

    return change


def _below_heading(body: Sequence[str], title: str) -> Sequence[str]:
    """A new body without the section's own heading, if it begins with that; one that would begin another is refused."""
    heads = [block for block in scan(list(body), front=False) if block.kind == HEADING and not block.depth]
    heads = [block for block in heads if block.level < 3]
    if heads and not heads[0].start and outline.key(heads[0].text) == outline.key(title):
        lines = body[heads.pop(0).end :]
        body = lines[next((at for at, line in enumerate(lines) if not is_blank(line)), len(lines)) :]
    if heads or not body:
        what = f"a heading of level {heads[0].level}: {heads[0].text!r}" if heads else "nothing but its heading"
        raise ExecplanError(
            "heading-in-body",
            f"the new body of {title} holds {what}",
            exit=INPUT,
            hint="give what stands below the heading; it may hold headings of level 3 and deeper: ###",
        )
    return body


def _replaced(plan: Plan, edit: Edit, title: str, name: str | None, titles: tuple[str, ...]) -> Change:
    """The change of a whole body: what other sections say must stay, this one may say what it likes."""
    then = read_text(apply(plan.text, [edit]))
    opened = [block for block in then.blocks if not block.closed]
    if opened and all([block.closed for block in plan.blocks]):
        what = (
            f"a {'fence' if opened[0].kind == FENCE else 'HTML block'} in its line {opened[0].start - edit.start + 1}"
        )
        raise ExecplanError(
            "unclosed-in-body",
            f"the new body of {title} opens {what} and never closes it",
            exit=INPUT,
            hint="close it: all that follows in the plan would be part of it",
        )
    _stop_markers(plan, edit, f"the new body of {title}", "resolve the conflict, or indent the line")
    before, after = facts(plan), facts(then)
    expected = before._replace(sections=titles)
    field = "revisions" if is_note(title) else _FIELDS.get(name or "")
    if field:
        expected = expected._replace(**{field: getattr(after, field)})
    if _elsewhere(plan, title) == _elsewhere(then, title):
        expected = expected._replace(checklists=after.checklists)
    said = [f"set: {title}"]
    done, left = plan.counts()["done"], then.counts()["done"]
    if left < done:
        said.append(
            f"{done - left} done task{'s are' if done - left > 1 else ' is'} gone; to have them back: execplan undo"
        )
    return Change((edit,), expected, f"set, {title}", tuple(said))


def _stop_markers(plan: Plan, edit: Edit, what: str, hint: str) -> None:
    """Refuse lines that git's conflict markers are among: no later edit could be made; raises ExecplanError."""
    held = [at - edit.start for at in conflicts_in(apply(plan.text, [edit]).lines)]
    held = [at for at in held if 0 <= at < len(edit.lines)]
    if held:
        raise ExecplanError(
            "conflict-markers",
            f"{what} holds a conflict marker of git: {edit.lines[held[0]]!r}",
            exit=INPUT,
            hint=hint,
        )


def _elsewhere(plan: Plan, title: str) -> list[tuple[str, str]]:
    """The boxes that stand neither in Progress nor in the section."""
    return [(task.mark, task.text) for section, task in plan.checklists if section != title]
