"""Which task of Progress an inferred step completes, where the plan says so plainly.

A wrong tick is worse than none: a step is bound to no task where two tasks could be meant, where the task asks for more
than its steps do, or where one of the commands that the task names is no step.
"""

from __future__ import annotations

import re

from execplan.errors import ExecplanError
from execplan.execution.command.typed import is_command
from execplan.execution.draft import INFERRED, WORK, StepDraft
from execplan.execution.wild.places import places
from execplan.execution.wild.said import sentences
from execplan.execution.wild.work import covers, deleted, edited, is_edit, kind_of, kind_of_task
from execplan.plan import outline
from execplan.plan.model import OTHER
from execplan.plan.seek import find_task
from execplan.text.hidden import hides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from execplan.execution.draft import SkippedLine
    from execplan.plan.model import Plan, Task

_CODE = re.compile(r"(`+)((?:(?!\1).)+?)\1(?!`)")
_LEFT = "left"
"""The origin of a command that is no step."""
_LONGEST = 2000
"""Characters of a task's text that a document can hold."""
_MOST = 20_000
"""Pairs of tasks and steps that are compared."""
_ALIKE = 0.6
"""The share of common words from which on the words above a step are those of a task."""
_NUMBERED = re.compile(r"^\W*(milestone|phase|stage|part|step|m|slice)[\s#-]*(\d+[a-z]?(?:\.\d+)?)\b", re.IGNORECASE)
_LEADING = re.compile(r"^\W*(?:\d+[.)]\s+)?(?:(?:re-?)?run|execute)[: ]\s*", re.IGNORECASE)
_BESIDE = frozenset(
    "run ran rerun reran re-run execute executed verify verified validate validated validation gate check checked required requested "
    "repository repo project root final full complete completed whole all pass passed passing green successful successfully clean zero failure "
    "error warning both ladder suite sequence gate again locally local confirm confirmed ensure everything test unit build lint format "
    "quality assertion ok result standard mandatory no without fail each succeed".split()
)
"""What a task may say beside the commands that it names without asking for more."""
_EMPTY = frozenset(
    "a an the to of in on for with from by at into as and then next now first finally also it its this that these is are "
    "following below again command commands step".split()
)


def bind_tasks(plan: Plan, drafts: Sequence[StepDraft], left: Sequence[SkippedLine] = ()) -> list[StepDraft]:
    """The steps of a plan, the inferred ones with the attribute `task` where it is sure which one they complete.

    A task keeps the name that annotated steps call it by, and is left to them where one of these does its work without
    naming it. So is one to whose work a command belongs that is no step, and is `left`. The state of a task makes no difference, so that a tick changes no document.
    """
    if all([draft.origin != INFERRED for draft in drafts]):
        return list(drafts)
    tasks = [task for task in plan.tasks if task.state != OTHER and _can_be_named(plan, task)]
    if not tasks or len(tasks) * len(drafts) > _MOST:
        return list(drafts)
    run = {draft.command for draft in drafts}
    unrun = [
        StepDraft(_LEFT, WORK, each.line, each.line + 1, "", {}, (), each.text)
        for each in left
        if each.text not in run and is_command(each.text)
    ]
    every = [*drafts, *unrun]
    leads = _leads(plan, every)
    claims = _undisputed([_claim(task, tasks, every, leads) for task in tasks])
    names, own = _named(plan, drafts)
    bound = list(drafts)
    for task, steps in zip(tasks, claims, strict=True):
        others = {at for at in steps if every[at].origin != INFERRED}
        if all([own.get(at) == task.number for at in others]):
            for at in set(steps) - others:
                attributes = {**drafts[at].attributes, "task": names.get(task.number, task.text)}
                bound[at] = drafts[at]._replace(attributes=attributes)
    return bound


def _undisputed(claims: Sequence[tuple[int, list[int]]]) -> list[list[int]]:
    """The steps of each claim, or none where a surer claim, or another as sure, has one of them."""
    claimed: dict[int, list[int]] = {}
    for rank, steps in claims:
        for at in steps:
            claimed.setdefault(at, []).append(rank)
    return [
        steps if all([min(claimed[at]) == rank and claimed[at].count(rank) == 1 for at in steps]) else []
        for rank, steps in claims
    ]


def _can_be_named(plan: Plan, task: Task) -> bool:
    """Whether its text names this task and no other."""
    if not task.text.strip() or len(task.text) > _LONGEST or hides(task.text):
        return False
    same = [each for each in plan.tasks if each.text.casefold() == task.text.casefold()]
    return len(same) == 1 and not task.text.strip().isdigit()


def _named(plan: Plan, drafts: Sequence[StepDraft]) -> tuple[dict[int, str], dict[int, int]]:
    """How annotated steps call tasks, by the number of the task, and which task each of these steps completes."""
    names: dict[int, str] = {}
    own: dict[int, int] = {}
    for at, draft in enumerate(drafts):
        query = draft.attributes.get("task") or next(
            (each.attributes["task"] for each in drafts if each.start == draft.start and "task" in each.attributes), ""
        )
        try:
            own[at] = find_task(plan, query)[1].number if query else 0
        except ExecplanError:
            continue
        names.setdefault(own[at], query)
    return names, own


def _leads(plan: Plan, drafts: Sequence[StepDraft]) -> list[tuple[str, ...]]:
    """The words that lead to each step, the nearest first: its sentence, the paragraph above, its items, its headings."""
    found: list[tuple[str, ...]] = [()] * len(drafts)
    for name in (outline.STEPS, outline.VALIDATION):
        section = plan.section(name)
        for place in places(plan, section) if section is not None else ():
            own = " ".join([line for _, line in place.lines]) if place.kind == "words" else ""
            for at, draft in enumerate(drafts):
                if place.start <= draft.start < place.end:
                    found[at] = (own, *place.context) if own else place.context
    return found


def _claim(
    task: Task, tasks: Sequence[Task], drafts: Sequence[StepDraft], leads: Sequence[tuple[str, ...]]
) -> tuple[int, list[int]]:
    """The steps that complete a task, and by which rule; the first rule is the surest."""
    commands = [span for span in _codes(task.text) if is_command(span) and " " in span]
    rules: tuple[Callable[[], list[int]], ...] = (
        lambda: _named_commands(task, commands, drafts),
        lambda: _named_files(task, drafts),
        lambda: _same_words(task, tasks, leads),
        lambda: _same_number(task, tasks, leads),
        lambda: _same_kind(task, tasks, drafts),
    )
    for rank, rule in enumerate(rules):
        steps = rule()
        done = [drafts[at].command for at in steps]
        if (
            steps
            and all([_is_run(span, drafts) for span in commands])
            and covers(_words_of(task.text), done, told=all([_leads_with(task, leads[at]) for at in steps]))
        ):
            return rank, steps
    return 0, []


def _named_commands(task: Task, commands: Sequence[str], drafts: Sequence[StepDraft]) -> list[int]:
    """The steps that run what the task names."""
    bare = _LEADING.sub("", task.text).strip(" .:;")
    named = (
        {_typed(bare)}
        if "`" not in bare and is_command(bare)
        else {_typed(each) for each in commands if _is_only(task.text)}
    )
    return [
        at
        for at, draft in enumerate(drafts)
        if draft.origin != _LEFT and named & {(".", draft.command), (draft.cwd, draft.command)}
    ]


def _is_only(text: str) -> bool:
    """Whether a task asks for nothing beside the commands that it names."""
    words = _words_of(_CODE.sub(" ", text))
    return all([word in _BESIDE or word.replace(",", "").isdigit() for word in words])


def _is_run(command: str, drafts: Sequence[StepDraft]) -> bool:
    folder, words = _typed(command)
    return any([words == each.command and folder in (".", each.cwd) for each in drafts if each.origin != _LEFT])


def _typed(command: str) -> tuple[str, str]:
    """The directory that a `cd` in front names, and the command without it."""
    command = " ".join(command.split())
    found = re.match(r"cd (\S+) && (.+)$", command)
    return (found[1].removeprefix("./").rstrip("/"), found[2]) if found else (".", command)


def _named_files(task: Task, drafts: Sequence[StepDraft]) -> list[int]:
    """The steps that write the one file that the task names."""
    words = [word.rstrip("`'\"()[],;:.").lstrip("`'\"([") for word in task.text.split()]
    files = {word for word in words if "/" in word.strip("/") or re.search(r"\w\.\w{1,5}$", word)}
    asked = _words_of(task.text)
    if len(files) != 1 or not is_edit(asked):
        return []
    path = files.pop().removeprefix("./")
    written = deleted if asked & {"delete", "remove"} and path not in _changed(drafts) else edited
    return [at for at, draft in enumerate(drafts) if path in written(draft.command, draft.cwd)]


def _changed(drafts: Sequence[StepDraft]) -> set[str]:
    return {path for draft in drafts for path in edited(draft.command, draft.cwd)}


def _same_words(task: Task, tasks: Sequence[Task], leads: Sequence[tuple[str, ...]]) -> list[int]:
    """The steps that stand below the words of the task, in a sentence, an item or a heading."""
    return [at for at, lead in enumerate(leads) if _first_alike(lead, tasks) is task]


def _first_alike(lead: Sequence[str], tasks: Sequence[Task]) -> Task | None:
    """The one task that the nearest of these words are those of."""
    for words in lead:
        for sentence in _parts(words):
            alike = [(_alike(_words_of(task.text), sentence), task) for task in tasks]
            best = max([score for score, _ in alike], default=0.0)
            near = [task for score, task in alike if score == best]
            if best >= _ALIKE:
                return near[0] if len(near) == 1 else None
    return None


def _leads_with(task: Task, lead: Sequence[str]) -> bool:
    """Whether the words right above a step are those of the task, with a colon: the step is how that is done."""
    last = (sentences(lead[0]) or [""])[-1] if lead else ""
    return last.endswith((":", "：")) and _words_of(last) == _words_of(task.text)


def _parts(words: str) -> Iterator[frozenset[str]]:
    """The words of a paragraph as a whole, then of its last and its first sentence."""
    found = sentences(words)
    yield from dict.fromkeys([_words_of(words), *[_words_of(each) for each in (*found[-1:], *found[:1])]])


def _alike(task: frozenset[str], lead: frozenset[str]) -> float:
    """The share of common words, where a task says nothing that its lead does not."""
    return len(task) / len(lead) if task and task <= lead and (len(task) > 1 or task == lead) else 0.0


def _words_of(text: str) -> frozenset[str]:
    """The words that count, in one form: without articles and the like, without a plural's `s`."""
    words = re.findall(r"[^\W_]+(?:[-./][^\W_]+)*", text.lower())
    return frozenset([_singular(word) for word in words if word not in _EMPTY])


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _same_number(task: Task, tasks: Sequence[Task], leads: Sequence[tuple[str, ...]]) -> list[int]:
    """The steps below a heading or an item with the number of the one task that has it: `Milestone 2`."""
    number = _number(task.text)
    if not number or len([each for each in tasks if _number(each.text) == number]) > 1:
        return []
    return [at for at, lead in enumerate(leads) if number in [_number(words) for words in lead]]


def _number(words: str) -> tuple[str, str] | None:
    found = _NUMBERED.match(words)
    if found is None:
        return None
    kind = found[1].lower()
    return ("milestone" if kind == "m" else kind), found[2].lower()


def _same_kind(task: Task, tasks: Sequence[Task], drafts: Sequence[StepDraft]) -> list[int]:
    """All steps that test, build, lint or format, for the one task that asks for that and for nothing else."""
    kind = kind_of_task(_words_of(task.text))
    if not kind or [kind_of_task(_words_of(each.text)) for each in tasks].count(kind) > 1:
        return []
    return [at for at, draft in enumerate(drafts) if kind_of(draft.command) == kind]


def _codes(text: str) -> list[str]:
    return [found[2].strip() for found in _CODE.finditer(text)]
