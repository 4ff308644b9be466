"""Attributes for the steps that were inferred, written into the plan for its author to check."""

from __future__ import annotations

from execplan.errors import ExecplanError
from execplan.execution.command.typed import PROMPTS, SHELLS
from execplan.execution.compile import find_plan_steps
from execplan.execution.draft import INFERRED, StepDraft
from execplan.execution.wild.block import raw_lines
from execplan.execution.wild.line import split_comment
from execplan.execution.wild.names import Names
from execplan.execution.wild.places import LINES, Place, places, spoken
from execplan.execution.wild.printed import expected_of
from execplan.plan import outline
from execplan.plan.change import Change, facts, stop_conflicts, stop_unclosed
from execplan.plan.reader import read_text
from execplan.plan.seek import find_task
from execplan.record import NamedTuple
from execplan.text.edit import Edit, apply
from execplan.text.inline import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.model import Plan, Section

_LANGUAGE = "sh"
_EXPECT = "text {expect}"
_LONGEST_TASK = 60
_OTHERWISE = "would mean something else as a fence, itself or for the lines around it"


class _Place(NamedTuple):
    """A place with inferred steps, and the edit that makes code blocks with attributes of them."""

    drafts: tuple[StepDraft, ...]
    edits: tuple[Edit, ...]
    why: str
    """Why there is no edit: `it ` would begin the sentence."""


def annotate(plan: Plan, *, dry_run: bool = False) -> Change:
    """Turn blocks that are wholly inferred steps into fences with attributes, and give items that name commands such fences.

    A place is left as it is when the fences would not tell the same commands, directories, tasks and output. What is left
    is listed with the reason: with the lines of the new text, or in a dry run with those of the old one. Raises
    ExecplanError for a plan that can't be edited.
    """
    stop_conflicts(plan)
    sections = _sections(plan)
    if sections:
        stop_unclosed(plan, max([section.end for section in sections]))
    found = _kept(plan, _places(plan))
    edits = [edit for each in found for edit in each.edits]
    count = sum([len(each.drafts) for each in found if each.edits])
    total = sum([len(each.drafts) for each in found])
    if not total:
        said = "nothing to annotate: no step is inferred"
    else:
        rest = "" if count == total else "; the others are left to you:"
        said = (
            f"{'would annotate' if dry_run else 'annotated'}: {count} of {total} inferred step{'s' * (total > 1)}{rest}"
        )
    shown = plan if dry_run or not edits else read_text(apply(plan.text, edits))
    left = [each for each in found if not each.edits] if shown is plan else _kept(shown, _places(shown))
    more = [(draft.start, f"is left to you: it {each.why}: {draft.command}") for each in left for draft in each.drafts]
    more += [(each.line, f"is no step: it {each.why}: {each.text}") for each in find_plan_steps(shown).skipped]
    lines = [f"line {line + 1} {words}" for line, words in sorted(more)]
    return Change(tuple(edits), facts(plan), f"annotate {count} step{'s' * (count != 1)}", (said, *lines))


def _sections(plan: Plan) -> list[Section]:
    return [each for each in (plan.section(name) for name in (outline.STEPS, outline.VALIDATION)) if each is not None]


def _kept(plan: Plan, found: list[_Place]) -> list[_Place]:
    """The places, without those edits after which the plan would tell other steps."""
    told = _told(plan)
    if _told(plan, [edit for each in found for edit in each.edits]) == told:
        return found
    edits: list[Edit] = []
    kept: list[_Place] = []
    for each in found:
        if each.edits and _told(plan, [*edits, *each.edits]) != told:
            kept.append(each._replace(edits=(), why=_OTHERWISE))
        else:
            kept.append(each)
            edits += each.edits
    return kept


def _told(plan: Plan, edits: Sequence[Edit] = ()) -> tuple[object, ...]:
    """What every step is once the edits are made, and which is the last of each task; nothing when the plan then says other things."""
    then = read_text(apply(plan.text, edits)) if edits else plan
    if edits and facts(then) != facts(plan):
        return ()
    drafts = find_plan_steps(then).drafts
    last: dict[int, int] = {}
    for at, draft in enumerate(drafts):
        if "task" in draft.attributes:
            try:
                last[find_task(then, draft.attributes["task"])[1].number] = at
            except ExecplanError:
                continue
    steps = [(each.phase, each.cwd, each.command, each.expect) for each in drafts]
    return (steps, sorted(last.items()))


def _places(plan: Plan) -> list[_Place]:
    """The places of a plan with inferred steps."""
    every = find_plan_steps(plan).drafts
    names = Names(
        [name for each in every for name in (each.id, each.attributes.get("id", "")) if each.origin != INFERRED]
    )
    drafts = [each for each in every if each.origin == INFERRED]
    found: list[_Place] = []
    for section in _sections(plan):
        held = places(plan, section)
        for number, place in enumerate(held):
            own = tuple([each for each in drafts if place.start <= each.start < place.end])
            if own and place.kind == LINES:
                edit = _block(plan, place, own, names)
                below = held[number + 1 : number + 3] if isinstance(edit, Edit) and own[-1].expect is not None else []
                more = _expectation(plan, place, own[-1], below)
            elif own:
                edit, more = _words(plan, place, own, names), []
            if own:
                found.append(_Place(own, (), edit) if isinstance(edit, str) else _Place(own, (edit, *more), ""))
    return found


def _expectation(plan: Plan, place: Place, draft: StepDraft, below: Sequence[Place]) -> list[Edit]:
    """What a step prints as a fence marked `{expect}`: in place of the block that shows it, or below the step."""
    if draft.expect is None:
        return []
    for each in below:
        if each.kind == LINES and expected_of(raw_lines(plan, each)) == draft.expect:
            return [Edit(each.start, each.end, tuple(_fence(" " * _indent(each), _EXPECT, draft.expect.split("\n"))))]
    return [Edit(place.end, place.end, tuple(_fence(" " * _indent(place), _EXPECT, draft.expect.split("\n"))))]


def _indent(place: Place) -> int:
    return place.fence.column if place.fence is not None else place.indent


def _head(plan: Plan, language: str, drafts: Sequence[StepDraft], names: Names) -> str:
    """The info string of a fence; `task` is what the last of its steps completes."""
    folder = drafts[0].cwd
    words = [f"#{names.new(drafts[0].command)}"]
    words += [f'cwd="{folder}"' if " " in folder else f"cwd={folder}"] if folder != "." else []
    words += [f"task={_reference(plan, drafts[-1].attributes['task'])}"] if "task" in drafts[-1].attributes else []
    return f"{language} {{{' '.join(words)}}}"


def _reference(plan: Plan, name: str) -> str:
    """A task as an attribute names it: by its text where that is short and plain, by its first words, or by its ID."""
    task_id, task = find_task(plan, name)
    words = plain(task.text).split()
    for count in range(len(words), 1, -1):
        text = " ".join(words[:count])
        if len(text) <= _LONGEST_TASK and not any([char in text for char in '`"\\{}~']):
            try:
                if find_task(plan, text)[1].number == task.number:
                    return f'"{text}"'
            except ExecplanError:
                break
    return task_id


def _block(plan: Plan, place: Place, drafts: Sequence[StepDraft], names: Names) -> Edit | str:
    """A block as one fence, or why it can't be one."""
    if len({each.cwd for each in drafts}) > 1:
        return "is in a block whose commands run in several directories: make a block for each"
    tasks = [each.attributes.get("task", "") for each in drafts]
    if len({*tasks, ""}) > 2 or (any(tasks) and not tasks[-1]):
        return "is in a block whose commands complete different tasks: make a block for each"
    body = _body(plan, place, drafts)
    if isinstance(body, str):
        return body
    while body and not body[0]:
        body.pop(0)
    indent = " " * place.indent
    if place.fence is not None:
        first = plan.text.lines[place.start]
        mark = place.fence.mark * place.fence.level
        language = place.fence.text.split(" ")[0] if place.language in SHELLS else _LANGUAGE
        head = first[: first.index(mark)] + mark + _head(plan, language, drafts, names)
        last = plan.text.lines[place.end - 1]
        indent = " " * place.fence.column
        return Edit(place.start, place.end, (head, *[f"{indent}{line}".rstrip() for line in body], last))
    return Edit(place.start, place.end, tuple(_fence(indent, _head(plan, _LANGUAGE, drafts, names), body)))


def _body(plan: Plan, place: Place, drafts: Sequence[StepDraft]) -> list[str] | str:
    """The lines of a block as a fence holds them, or why one can't."""
    starts = {each.start: each for each in drafts}
    inside = {line for each in drafts for line in range(each.start + 1, each.end)}
    prompted = any([line.startswith(PROMPTS) for _, line in place.lines])
    body: list[str] = []
    shift = 0
    for at, line in place.lines:
        raw = plan.text.lines[at].expandtabs(4)
        column = len(raw) - len(raw.lstrip(" "))
        if at in inside:
            body.append(" " * max(column - shift, 0) + line)
        elif at in starts:
            shift = column
            _, comment = split_comment(line)
            whole = starts[at].end == at + 1
            if not whole and (comment or not _begins(starts[at].command, line)):
                return "continues over several lines in a way that a fence does not keep: write it on one line"
            body += [f"# {comment}"] if comment else []
            body.append(starts[at].command if whole else line)
        elif not line or line.startswith("#"):
            body.append(line)
        elif prompted and not line.startswith(PROMPTS):
            return "is in a block that also shows what is printed: move the output to a fence marked {expect}"
        elif not line.startswith("cd ") or "&" in line:
            return f"is in a block with line {at + 1}, which is no step: move that line elsewhere"
    return body


def _begins(command: str, line: str) -> bool:
    """Whether a command that goes on over several lines begins with the first of them as it stands."""
    return not line.startswith(PROMPTS) and command.startswith(line.removesuffix("\\").rstrip())


def _fence(indent: str, head: str, body: Sequence[str]) -> list[str]:
    return [f"{indent}```{head}", *[f"{indent}{line}".rstrip() for line in body], f"{indent}```"]


def _words(plan: Plan, place: Place, drafts: Sequence[StepDraft], names: Names) -> Edit:
    """Fences in place of an item that is only commands, or below the words that tell to run them."""
    groups: list[list[StepDraft]] = []
    for draft in drafts:
        task = draft.attributes.get("task")
        if groups and (groups[-1][0].cwd, groups[-1][0].attributes.get("task")) == (draft.cwd, task):
            groups[-1].append(draft)
        else:
            groups.append([draft])
    indent = " " * place.indent
    lines = [
        line
        for group in groups
        for line in _fence(indent, _head(plan, _LANGUAGE, group, names), [each.command for each in group])
    ]
    first = plan.text.lines[place.start]
    said = list(spoken(place))
    shown = place.lines[0][1]
    bare = place.alone and len(said) == 1 and len(said[0].spans) == len(drafts)
    if bare and set(said[0].shape) <= set("\x01 .;,") and _starts_item(first, shown):
        return Edit(place.start, place.end, (first[: -len(shown)] + lines[0][place.indent :], *lines[1:]))
    if place.inner < 0:
        behind = plan.text.lines[place.end : place.end + 1]
        return Edit(place.end, place.end, ("", *lines, *([""] if behind and behind[0].strip() else [])))
    return Edit(place.end, place.end, tuple(lines))


def _starts_item(line: str, shown: str) -> bool:
    """Whether nothing but the mark of an item stands before these words on a line."""
    return line.endswith(shown) and line[: -len(shown)].rstrip()[-1:] in ("-", "*", "+", ".", ")") and "\t" not in line
