"""The changes of tasks: tick, reopen, add."""

from __future__ import annotations

from execplan.clock import PLAIN, Stamp, write_stamp
from execplan.errors import CHANGED, INPUT, ExecplanError
from execplan.plan import outline
from execplan.plan.change import Change, Facts, Subject, facts, fill, padded, section_for, with_section
from execplan.plan.grammar import read_box, task_text
from execplan.plan.model import DONE, OPEN, Plan, Section, Task
from execplan.plan.seek import find_task, fold, ids_of, matching, single, task_ids
from execplan.plan.shape import Shape, is_loose, shape_of, wrap
from execplan.record import NamedTuple
from execplan.text.blocks import HEADING
from execplan.text.edit import Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from execplan.plan.change import Changer


def tick(queries: Sequence[str], moment: datetime) -> Changer:
    """Put an `x` and the time into the boxes of the tasks that the queries name."""
    return _mark(queries, "x", moment)


def reopen(queries: Sequence[str]) -> Changer:
    """Empty the boxes of the tasks that the queries name and take their stamps out."""
    return _mark(queries, " ", None)


def _mark(queries: Sequence[str], mark: str, moment: datetime | None) -> Changer:
    wanted = DONE if mark == "x" else OPEN
    verb = "done" if mark == "x" else "reopen"
    chosen: list[str] = []

    def change(plan: Plan) -> Change:
        section_for(plan, outline.PROGRESS, by="execplan add 'First step' --create")
        tasks = chosen_tasks(plan, queries, chosen)
        edits, said, marked = [], [], []
        ids = task_ids(plan.tasks)
        subjects = tuple([Subject(task.number - 1, ids[task.number - 1]) for task in tasks])
        expected = [(task.mark, task.text) for task in plan.tasks]
        for task in tasks:
            name = f"{task.number}. {task.text}"
            if task.state == wanted:
                said.append(f"{'done' if mark == 'x' else 'open'} already: {name}")
                continue
            shape = stamp_for(plan, task)
            stamp = write_stamp(moment, shape) if moment else ""
            line = _marked(plan.text.lines[task.box], task, mark, stamp, shape.after or " ")
            edits.append(Edit(task.box, task.box + 1, (line,)))
            expected[task.number - 1] = (mark, task.text)
            said.append(f"{'done' if mark == 'x' else 'reopened'}: {name}")
            marked.append(task)
        summary = f"{verb} {', '.join([str(task.number) for task in marked])}"
        if len(marked) == 1:
            summary += f", {marked[0].text}"
        return Change(tuple(edits), facts(plan)._replace(tasks=tuple(expected)), summary, tuple(said), subjects)

    return change


def add(
    words: str,
    moment: datetime,
    *,
    after: str | None = None,
    before: str | None = None,
    under: str | None = None,
    create: bool = False,
) -> Changer:
    """Add an open task after the last one, after or before the one that is named, or after the last one under a heading."""
    chosen: list[str] = []
    text = task_text(words)
    stamp = words.removesuffix(text)

    named = after if after is not None else before

    def change(plan: Plan) -> Change:
        section = section_for(plan, outline.PROGRESS, create=create)
        was = facts(plan)
        head = _heading(plan, section, under) if under is not None else None
        if section is None:
            if named is not None:
                chosen_tasks(plan, [named], chosen)
            edit, titles = with_section(plan, outline.PROGRESS, [f"- [ ] {words}"])
            return _added(was._replace(sections=titles), edit, 0, text)
        siblings = [task for task in plan.tasks if head is None or head.start < task.start < head.end]
        for task in siblings:
            if fold(task.text) == fold(text):
                name = task_ids(plan.tasks)[task.number - 1]
                said = f"there already, {task.state}: {task.number}. {task.text}  [{name}]"
                return Change((), was, "", (said,), (Subject(task.number - 1, name),))
        neighbour = chosen_tasks(plan, [named], chosen)[0] if named is not None else None
        if neighbour is None and siblings:
            neighbour = ([task for task in siblings if not task.depth] or siblings)[-1]
        if neighbour is not None:
            edit = _beside(plan, neighbour, text, stamp, moment, above=before is not None)
        elif head is not None:
            edit = padded(plan.text.lines, head.end, [f"- [ ] {words}"])
        else:
            edit = fill(plan, section, [f"- [ ] {words}"])
        return _added(was, edit, sum([task.start < edit.start for task in plan.tasks]), text)

    return change


def _added(before: Facts, edit: Edit, at: int, text: str) -> Change:
    tasks = (*before.tasks[:at], (" ", text), *before.tasks[at:])
    said = f"added: {named_task(tasks, at)}"
    return Change((edit,), before._replace(tasks=tasks), f"add {at + 1}, {text}", (said,), (Subject(at, None),))


def named_task(tasks: Sequence[tuple[str, str]], at: int) -> str:
    """A task of a plan's facts with its number and its id: `3. Write the tests  [t6a76z2]`."""
    texts = [text for _, text in tasks]
    return f"{at + 1}. {texts[at]}  [{ids_of(texts)[at]}]"


def chosen_tasks(plan: Plan, queries: Sequence[str], chosen: list[str]) -> list[Task]:
    """The tasks that the queries name, each once; on a second reading those with the ids of the first."""
    if not chosen:
        found = [find_task(plan, query) for query in queries]
        chosen += dict(found)
    ids = task_ids(plan.tasks)
    for name in chosen:
        if name not in ids:
            raise ExecplanError(
                "task-gone",
                f"the task {name} is no longer in the plan: it was changed while it was edited",
                exit=CHANGED,
                hint="look again: execplan show",
            )
    return [plan.tasks[ids.index(name)] for name in chosen]


def _marked(line: str, task: Task, mark: str, stamp: str, after: str) -> str:
    """The line of a box with another mark, and with a stamp or none."""
    at = line.index(f"[{task.mark}]")
    box = read_box(line[at:])
    assert box is not None
    head = f"{line[:at]}[{mark}]"
    if not stamp:
        if box.stamp is not None and not box.words:
            return head + box.lead[:-1] + box.stamp.after
        return head + box.lead + (box.words if box.stamp is not None else box.blank + box.words)
    same = box.stamp is not None and box.stamp.bare == (not stamp.startswith("("))  # else its colon does not fit
    if box.stamp is not None and same and (box.words or box.stamp.after):
        after = box.stamp.after
    elif not box.words:
        after = box.lead
    return head + (box.lead or " ") + stamp + after + box.words


def stamp_for(plan: Plan, task: Task) -> Stamp:
    """The stamp whose shape a task takes: of the nearest done task, the one above first; its own; or the plain one."""
    stamped = [each for each in plan.tasks if each.stamp is not None and each.stamp.possible]
    near = sorted(stamped, key=lambda each: (abs(each.number - task.number), each.number))
    for each in [each for each in near if each.state == DONE] + [each for each in near if each is task]:
        if each.stamp is not None and not (each.stamp.bare and task.text[:1] in ":：-–—,"):
            return each.stamp
    return PLAIN


def _beside(plan: Plan, neighbour: Task, words: str, stamp: str, moment: datetime, *, above: bool) -> Edit:
    """An open task before or after another, written like it."""
    if not stamp and neighbour.state == OPEN and neighbour.stamp is not None:
        stamp = write_stamp(moment, neighbour.stamp) + (neighbour.stamp.after or " ")
    shape = shape_beside(plan, neighbour)
    new = wrap(bullet_like(plan, neighbour, 0 if above else 1) + f"[ ] {stamp}", words, shape)
    if above:
        return Edit(neighbour.start, neighbour.start, (*new, "") if shape.loose else tuple(new))
    return Edit(neighbour.stop, neighbour.stop, ("", *new) if shape.loose else tuple(new))


def shape_beside(plan: Plan, neighbour: Task) -> Shape:
    """How an item beside a task is written, copied from the tasks at its depth."""
    lines = plan.text.lines
    siblings = [task for task in plan.tasks if task.depth == neighbour.depth]
    spans = [(task.box, task.end) for task in siblings]
    shape = shape_of(lines, spans, indent=inner_indent(plan, neighbour), loose=False)
    return shape._replace(loose=is_loose(lines, [(task.start, task.stop) for task in siblings]))


def bullet_like(plan: Plan, task: Task, step: int) -> str:
    """What an item begins with that stands so many items behind a task: indent, bullet or number, and space."""
    item = task.item
    mark = item.mark
    if mark[:-1].isdigit():
        mark = f"{int(mark[:-1]) + step}{mark[-1]}"
    return _lead(plan, task) + mark + (" " * (item.content - item.column - len(item.mark)) or " ")


def inner_indent(plan: Plan, task: Task) -> str:
    """What a line begins with that stands in a task."""
    return _lead(plan, task) + " " * (task.item.content - task.item.column)


def _lead(plan: Plan, task: Task) -> str:
    first = plan.text.lines[task.start]
    lead = first[: len(first) - len(first.lstrip(" \t"))]
    return lead if len(lead.expandtabs(4)) == task.item.column else " " * task.item.column


class _Head(NamedTuple):
    """A sub-heading of Progress: its line, and one past the last line below it."""

    start: int
    end: int


def _heading(plan: Plan, section: Section | None, query: str) -> _Head:
    """The sub-heading that unique words name; raises ExecplanError."""
    inside = plan.blocks[section.first : section.last] if section is not None else []
    heads = [block for block in inside if block.kind == HEADING and not block.depth]
    names = [f"line {head.start + 1}: {'#' * head.level} {head.text}" for head in heads]
    hint = "say its words as they stand in the plan"
    at = single(matching([head.text for head in heads], query), names, query, "heading", hint)
    if section is None or at is None:
        what = f"no heading in {section.title if section else outline.PROGRESS} has the words {query!r}"
        raise ExecplanError("no-such-heading", what, exit=INPUT, hint=hint, candidates=names)
    head = heads[at]
    below = [each.start for each in heads[at + 1 :] if each.level <= head.level]
    return _Head(head.start, min([*below, section.room]))
