"""Measure whether a context pack contains the files that a task turned out to need, next to two simple baselines.

There are forty questions from real plans. A question is a plan, one of its done tasks, and a file. Some files are named
in the task's own text, others only in later entries: the next tasks that were completed, and the next decisions and
discoveries. The pack is made for the plan as it was while the task was open, without later text. The repository is made
up: it contains every file that the plan names, with content of a plausible size, mixed from words of the file's path
and other words.

A corpus is required: $EXECPLAN_CORPUS, else ../shared/corpus. With `--write` the table is written to docs/research/context-recall.md.
"""

from __future__ import annotations

import argparse
import random
import sys
from binascii import crc32
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from corpus_location import CORPUS

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for a checkout that is not installed

from execplan.context.context_pack import FILE, KEEP, MARKDOWN, PRUNE, ContextPack, Unit
from execplan.context.context_settings import allocate_budget
from execplan.context.gathering.file_units import FileListing, mentioned_paths
from execplan.context.gathering.plan_units import split_plan
from execplan.context.relevance import score_units
from execplan.context.relevance_selection import select_by_relevance
from execplan.context.task_intent import classify_intent
from execplan.context.token_counter import make_counter
from execplan.core.clock import minute_bounds
from execplan.core.errors import ExecplanError
from execplan.core.plan import outline, reader
from execplan.core.plan.model import DONE
from execplan.core.plan.plan_lookup import task_ids
from execplan.linter.plan_paths import repository_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.core.plan.model import Entry, ParsedPlan, Task

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "research" / "context-recall.md"
BEGIN, END = "<!-- recall -->", "<!-- end of recall -->"
SEED = 20261122
DRAWN = 40
OF_ONE = 5
"""Maximum number of questions per repository and kind."""
NEXT_ENTRIES = 3
"""Number of tasks, decisions and discoveries after a task that count as later entries about it."""
MIN_FILES = 8
"""Minimum number of files that a plan names; with fewer there is no real choice."""
BUDGETS = (2000, 4000, 8000)
OWN_TEXT, LATER = "its own words", "later entries only"
_SIZES = (600, 1200, 2500, 4000, 6000, 9000, 14000, 24000)
_VOCABULARY = (
    "value result index state config handler request response buffer token parse render update create remove list map "
    "error message test assert check client server store cache query field option path name type data item node event"
).split()


class Question(NamedTuple):
    """One of the forty questions."""

    name: str
    """Path of the plan in the corpus."""
    line: int
    """Line of the task, from 1."""
    file: str
    kind: str


class Case(NamedTuple):
    """The plan, task and file listing for a question."""

    past_plan: ParsedPlan
    """Plan as it was while the task was open."""
    task: str
    listing: FileListing


def draw(corpus: Path) -> list[Question]:
    """Draw the questions for all plans: half with files from the task's own text, half from later entries.

    The number per repository is limited.
    """
    questions = [question for path in sorted(corpus.rglob("*.md")) for question in _questions(path, corpus)]
    questions.sort(key=lambda question: (crc32(f"{SEED} {question}".encode()), question))
    drawn: list[Question] = []
    for kind in (OWN_TEXT, LATER):
        plans: set[str] = set()
        repositories: list[str] = []
        for question in questions:
            repository = question.name.split("/")[0]
            if question.kind == kind and question.name not in plans and repositories.count(repository) < OF_ONE:
                if len(plans) < DRAWN // 2:
                    plans.add(question.name)
                    repositories.append(repository)
                    drawn.append(question)
    return sorted(drawn)


def _questions(path: Path, corpus: Path) -> Iterator[Question]:
    """Yield every possible question about a plan."""
    try:
        plan = reader.read(path.read_bytes())
    except ExecplanError:
        return
    name = path.relative_to(corpus).as_posix()
    if len(_files(plan)) < MIN_FILES:
        return
    for task in plan.tasks:
        if task.state == DONE:
            own_files = set(_paths(_text(plan, task)))
            later = {file for part in _later(plan, task)[1] for file in _paths(_text(plan, part))} - own_files
            for kind, files in ((OWN_TEXT, own_files), (LATER, later)):
                yield from [Question(name, task.start + 1, file, kind) for file in sorted(files)]


def _files(plan: ParsedPlan) -> list[str]:
    return sorted(set(_paths("\n".join(plan.text.lines))))


def _paths(text: str) -> list[str]:
    return [path for path in [repository_path(mention) for mention in mentioned_paths(text)] if path]


def _text(plan: ParsedPlan, block: Task | Entry) -> str:
    return "\n".join(plan.text.lines[block.start : block.end])


def _later(plan: ParsedPlan, task: Task) -> tuple[list[Task | Entry], list[Task | Entry]]:
    """Return the tasks and entries written after a task was completed: all of them, and the next ones.

    Dates decide where there are any; otherwise, an entry's position in its log is compared with the task's position.
    """
    when = minute_bounds(task.timestamp) if task.timestamp is not None else None
    all_of: list[Task | Entry] = []
    soon: list[Task | Entry] = []
    later_tasks: list[Task] = []
    for candidate in plan.tasks:
        stamp = minute_bounds(candidate.timestamp) if candidate.timestamp is not None else None
        is_after = stamp > when if stamp is not None and when is not None else candidate.number > task.number
        if candidate is not task and is_after and candidate.state == DONE:
            later_tasks.append(candidate)
    later_tasks.sort(
        key=lambda candidate: (
            minute_bounds(candidate.timestamp) or (0, 0) if candidate.timestamp is not None else (0, 0),
            candidate.number,
        )
    )
    all_of += later_tasks
    soon += later_tasks[:NEXT_ENTRIES]
    share = task.number / len(plan.tasks)
    for log in (plan.decisions, plan.discoveries):
        late = []
        for at, entry in enumerate(log):
            dated = task.timestamp is not None and entry.date is not None
            is_late = (
                entry.date[:10] >= task.timestamp.date
                if dated and entry.date and task.timestamp
                else at >= share * len(log)
            )
            late += [entry] if is_late else []
        all_of += late
        soon += late[:NEXT_ENTRIES]
    return all_of, soon


def build_case(question: Question, corpus: Path) -> Case:
    """Return the plan as it was while the task was open, with the files of its repository."""
    plan = reader.read((corpus / question.name).read_bytes())
    task = next(candidate for candidate in plan.tasks if candidate.start + 1 == question.line)
    removed = {at for part in _later(plan, task)[0] for at in range(part.start, part.end)}
    for section in plan.sections:
        late = section.name in (outline.OUTCOMES, outline.ARTIFACTS)
        removed.update(range(section.body_start if late else section.notes_start, section.end))
    removed -= set(range(task.start, task.end))
    lines = list(plan.text.lines)
    lines[task.box_line] = lines[task.box_line].replace("[x]", "[ ]", 1).replace("[X]", "[ ]", 1)
    past_lines = [line for at, line in enumerate(lines) if at not in removed]
    past_plan = reader.read(("\n".join(past_lines) + "\n").encode())
    start = task.start - len([at for at in removed if at < task.start])
    ids = dict(zip([past_task.start for past_task in past_plan.tasks], task_ids(past_plan.tasks), strict=True))
    return Case(past_plan, ids[start], FileListing(_files(plan)))


def content(path: str) -> str:
    """Return made-up content for a file, which is always the same for a path."""
    dice = random.Random(crc32(f"{SEED} {path}".encode()))  # noqa: S311 - what it makes is no secret
    path_words = [
        word for word in "".join([char if char.isalnum() else " " for char in path]).lower().split() if len(word) > 2
    ]
    size = dice.choice(_SIZES)
    lines: list[str] = []
    while sum(map(len, lines)) < size:
        name = f"{dice.choice(_VOCABULARY)}_{dice.choice(path_words or _VOCABULARY) if dice.random() < 0.25 else dice.choice(_VOCABULARY)}"
        lines += [
            f"def {name}({dice.choice(_VOCABULARY)}):",
            f'    """{dice.choice(_VOCABULARY).title()} the {dice.choice(_VOCABULARY)}."""',
        ]
        for _ in range(dice.randint(3, 12)):
            target, receiver, method = dice.choices(_VOCABULARY, k=3)
            lines.append(f"    {target} = {receiver}.{method}({dice.choice(_VOCABULARY)}, {dice.randint(0, 99)})")
        lines.append("")
    return "\n".join(lines)


def pack_of(case: Case) -> ContextPack:
    """Return a pack of the plan's parts and all files; a file named further down counts as changed later."""
    plan_parts = split_plan(case.past_plan, case.listing.referenced_files, case.task)
    mentioned = [path for unit in plan_parts.units for path in unit.references]
    last_mention = {path: at for at, path in enumerate(mentioned, start=1)}
    files = []
    for path in sorted(
        case.listing.paths, key=lambda path: (mentioned.index(path) if path in last_mention else 1 << 20, path)
    ):
        text = content(path)
        lines = text.count("\n") + 1
        files.append(Unit(f"file:{path}", FILE, text, path, path, 1, lines, last_mention.get(path, 0)))
    return ContextPack(
        "plan", case.past_plan.title or "plan", plan_parts.task, plan_parts.purpose, (*plan_parts.units, *files)
    )


def pack_files(pack: ContextPack, budget: int) -> dict[str, bool]:
    """Return the files in our pack, each with whether it is complete."""
    items = select_by_relevance(
        pack,
        score_units(pack, classify_intent(pack.task)),
        allocate_budget(budget),
        make_counter(exact=False),
        MARKDOWN,
    )
    return {item.unit.path: item.action == KEEP for item in items if item.unit.type == FILE and item.action != PRUNE}


def newest_first(pack: ContextPack, budget: int) -> dict[str, bool]:
    """Return the files in a pack of the purpose and the task, followed by the files, newest first."""
    head = [unit for unit in pack.units if unit.pinned and unit.type != "decision"]
    files = sorted([unit for unit in pack.units if unit.type == FILE], key=lambda unit: -unit.order)
    return _fill_budget([*head, *files], budget)


def whole_plan(pack: ContextPack, budget: int) -> dict[str, bool]:
    """Return the files in a pack of the whole plan, followed by the files in the order in which it names them."""
    return _fill_budget(list(pack.units), budget)


def _fill_budget(units: Sequence[Unit], budget: int) -> dict[str, bool]:
    """Return the files that fit if units are printed in order until the budget is used up; the last may be cut."""
    count = make_counter(exact=False).count
    remaining = allocate_budget(budget).context
    included: dict[str, bool] = {}
    for unit in units:
        tokens = count(MARKDOWN.render_unit(unit, unit.content, KEEP))
        if unit.type == FILE and remaining > MIN_TOKENS:
            included[unit.path] = tokens <= remaining
        remaining -= tokens
        if remaining <= 0:
            break
    return included


MIN_TOKENS = 40
"""Minimum tokens for a file to count; with fewer, hardly more than its name is visible."""
WAYS = {"execplan context": pack_files, "newest first": newest_first, "whole plan, then files": whole_plan}


def table(corpus: Path) -> str:
    """Return a table of how many of the forty files each method includes at each budget."""
    questions = draw(corpus)
    packs = [(question, pack_of(build_case(question, corpus))) for question in questions]
    kinds = {kind: len([question for question in questions if question.kind == kind]) for kind in (OWN_TEXT, LATER)}
    rows = [
        f"Of {len(questions)} files, {kinds[OWN_TEXT]} are named by the task's own text and {kinds[LATER]} only by later entries:",
        "",
        "| budget | method | in the pack | named by the task | named by later entries | complete |",
        "|---|---|---|---|---|---|",
    ]
    for budget in BUDGETS:
        for name, select in WAYS.items():
            results = [(question.kind, select(pack, budget).get(question.file)) for question, pack in packs]
            included_kinds = [kind for kind, is_complete in results if is_complete is not None]
            counts = [
                len(included_kinds),
                included_kinds.count(OWN_TEXT),
                included_kinds.count(LATER),
                len([1 for _, is_complete in results if is_complete]),
            ]
            rows.append(f"| {budget:,} | {name} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(rows)


def main() -> int:
    """Print the table, or write it to docs/research/context-recall.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table to docs/research/context-recall.md")
    parser.add_argument("--list", action="store_true", help="print the questions")
    arguments = parser.parse_args()
    if arguments.list:
        for question in draw(CORPUS):
            print(*question, sep="\t")
        return 0
    markdown = table(CORPUS)
    print(markdown)
    if arguments.write:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n{markdown}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
