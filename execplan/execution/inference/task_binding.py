"""Binding of inferred steps to the Progress tasks that they complete, if the plan makes that clear.

A wrong tick is worse than none. A step is not bound if two tasks are possible, if the task requires more than its steps
do, or if a command that the task names is not a step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.model import ParsedPlan, Task
from execplan.core.plan.plan_lookup import find_task
from execplan.core.text.invisible_characters import has_hidden
from execplan.core.text.lazy_pattern import lazy_pattern
from execplan.execution.inference.cue_table import WORDS
from execplan.execution.inference.prose_cues import cue_pattern, find_cue, split_sentences
from execplan.execution.inference.section_passages import find_passages
from execplan.execution.inference.work_kinds import (
    asks_for_edit,
    command_kind,
    covers_task,
    deleted_files,
    edited_files,
    task_kind,
)
from execplan.execution.parsed_steps import INFERRED, WORK, SkippedLine, StepDraft
from execplan.execution.shell.shell_vocabulary import looks_like_command

_CODE_SPAN = lazy_pattern(r"(`+)((?:(?!\1).)+?)\1(?!`)")
_SKIPPED = "left"
"""Origin of a command that is not a step."""
_MAX_TASK_LENGTH = 2000
"""Maximum length of a task's text in a document, in characters."""
_MAX_PAIRS = 20_000
"""Maximum number of task and step pairs that are compared."""
_SIMILARITY_THRESHOLD = 0.6
"""Share of common words from which the text above a step counts as a task's text."""


def bind_tasks(plan: ParsedPlan, drafts: Sequence[StepDraft], skipped: Sequence[SkippedLine] = ()) -> list[StepDraft]:
    """Return the steps of a plan, with the attribute `task` on inferred steps whose task is certain.

    A task keeps the name that annotated steps use for it, and is left to them if one of them does its work without
    naming it. A task is not bound if a `skipped` command belongs to its work. The state of a task has no effect, so
    that a tick changes no document.
    """
    if all([draft.origin != INFERRED for draft in drafts]):
        return list(drafts)
    tasks = [task for task in plan.tasks if not task.is_dropped and _is_unambiguous_task(plan, task)]
    if not tasks or len(tasks) * len(drafts) > _MAX_PAIRS:
        return list(drafts)
    run_commands = {draft.command for draft in drafts}
    skipped_drafts = [
        StepDraft(_SKIPPED, WORK, entry.line, entry.line + 1, "", {}, (), entry.text)
        for entry in skipped
        if entry.text not in run_commands and looks_like_command(entry.text)
    ]
    all_drafts = [*drafts, *skipped_drafts]
    leads = _leading_texts(plan, all_drafts)
    claims = _drop_disputed_claims([_claim_steps(task, tasks, all_drafts, leads) for task in tasks])
    names, bound_tasks = _annotated_task_references(plan, drafts)
    bound = list(drafts)
    for task, steps in zip(tasks, claims, strict=True):
        annotated_indexes = {at for at in steps if all_drafts[at].origin != INFERRED}
        if all([bound_tasks.get(at) == task.number for at in annotated_indexes]):
            for at in set(steps) - annotated_indexes:
                attributes = {**drafts[at].attributes, "task": names.get(task.number, task.text)}
                bound[at] = drafts[at]._replace(attributes=attributes)
    return bound


def _drop_disputed_claims(claims: Sequence[tuple[int, list[int]]]) -> list[list[int]]:
    """Return the steps of each claim, or none if a more certain or equally certain claim has one of them."""
    claimed: dict[int, list[int]] = {}
    for rank, steps in claims:
        for at in steps:
            claimed.setdefault(at, []).append(rank)
    return [
        steps if all([min(claimed[at]) == rank and claimed[at].count(rank) == 1 for at in steps]) else []
        for rank, steps in claims
    ]


def _is_unambiguous_task(plan: ParsedPlan, task: Task) -> bool:
    """Return whether the text of a task identifies this task and no other."""
    if not task.text.strip() or len(task.text) > _MAX_TASK_LENGTH or has_hidden(task.text):
        return False
    same_text_tasks = [other_task for other_task in plan.tasks if other_task.text.casefold() == task.text.casefold()]
    return len(same_text_tasks) == 1 and not task.text.strip().isdigit()


def _annotated_task_references(plan: ParsedPlan, drafts: Sequence[StepDraft]) -> tuple[dict[int, str], dict[int, int]]:
    """Return the names that annotated steps use for tasks, by task number, and the task of each of these steps."""
    names: dict[int, str] = {}
    bound_tasks: dict[int, int] = {}
    for at, draft in enumerate(drafts):
        query = draft.attributes.get("task") or next(
            (
                other_draft.attributes["task"]
                for other_draft in drafts
                if other_draft.start == draft.start and "task" in other_draft.attributes
            ),
            "",
        )
        try:
            bound_tasks[at] = find_task(plan, query)[1].number if query else 0
        except ExecplanError:
            continue
        names.setdefault(bound_tasks[at], query)
    return names, bound_tasks


def _leading_texts(plan: ParsedPlan, drafts: Sequence[StepDraft]) -> list[tuple[str, ...]]:
    """Return the texts that introduce each step, nearest first: sentence, paragraph above, items, headings."""
    leads: list[tuple[str, ...]] = [()] * len(drafts)
    for name in (outline.STEPS, outline.VALIDATION):
        section = plan.section(name)
        for passage in find_passages(plan, section) if section is not None else ():
            own_text = " ".join([line for _, line in passage.lines]) if passage.kind == "words" else ""
            for at, draft in enumerate(drafts):
                if passage.start <= draft.start < passage.end:
                    leads[at] = (own_text, *passage.context) if own_text else passage.context
    return leads


def _claim_steps(
    task: Task, tasks: Sequence[Task], drafts: Sequence[StepDraft], leads: Sequence[tuple[str, ...]]
) -> tuple[int, list[int]]:
    """Return the steps that complete a task, and the rank of the rule that found them; rank 0 is most certain."""
    commands = [span for span in _code_spans(task.text) if looks_like_command(span) and " " in span]
    rules: tuple[Callable[[], list[int]], ...] = (
        lambda: _steps_by_command(task, commands, drafts),
        lambda: _steps_by_file(task, drafts),
        lambda: _steps_by_text(task, tasks, leads),
        lambda: _steps_by_number(task, tasks, leads),
        lambda: _steps_by_kind(task, tasks, drafts),
    )
    for rank, rule in enumerate(rules):
        steps = rule()
        step_commands = [drafts[at].command for at in steps]
        if (
            steps
            and all([_is_step_command(span, drafts) for span in commands])
            and covers_task(
                _significant_words(task.text),
                step_commands,
                is_introduced=all([_is_introduced_by(task, leads[at]) for at in steps]),
            )
        ):
            return rank, steps
    return 0, []


def _steps_by_command(task: Task, commands: Sequence[str], drafts: Sequence[StepDraft]) -> list[int]:
    """Return the steps that run the commands that the task names."""
    bare_text = cue_pattern("leading_run").sub("", task.text).strip(" .:;")
    if "`" not in bare_text and looks_like_command(bare_text):
        named_commands = {_split_cd(bare_text)}
    else:
        named_commands = {_split_cd(command) for command in commands if _names_only_commands(task.text)}
    return [
        at
        for at, draft in enumerate(drafts)
        if draft.origin != _SKIPPED and named_commands & {(".", draft.command), (draft.cwd, draft.command)}
    ]


def _names_only_commands(text: str) -> bool:
    """Return whether a task requires nothing besides the commands that it names."""
    words = _significant_words(_CODE_SPAN.sub(" ", text))
    return all([word in WORDS["task_neutral"] or word.replace(",", "").isdigit() for word in words])


def _is_step_command(command: str, drafts: Sequence[StepDraft]) -> bool:
    folder, bare_command = _split_cd(command)
    return any(
        [bare_command == draft.command and folder in (".", draft.cwd) for draft in drafts if draft.origin != _SKIPPED]
    )


def _split_cd(command: str) -> tuple[str, str]:
    """Return the directory of a leading `cd`, and the command without it."""
    command = " ".join(command.split())
    match = re.match(r"cd (\S+) && (.+)$", command)
    return (match[1].removeprefix("./").rstrip("/"), match[2]) if match else (".", command)


def _steps_by_file(task: Task, drafts: Sequence[StepDraft]) -> list[int]:
    """Return the steps that write the one file that the task names."""
    words = [word.rstrip("`'\"()[],;:.").lstrip("`'\"([") for word in task.text.split()]
    files = {word for word in words if "/" in word.strip("/") or re.search(r"\w\.\w{1,5}$", word)}
    task_words = _significant_words(task.text)
    if len(files) != 1 or not asks_for_edit(task_words):
        return []
    path = files.pop().removeprefix("./")
    if task_words & {"delete", "remove"} and path not in _changed_files(drafts):
        list_files = deleted_files
    else:
        list_files = edited_files
    return [at for at, draft in enumerate(drafts) if path in list_files(draft.command, draft.cwd)]


def _changed_files(drafts: Sequence[StepDraft]) -> set[str]:
    return {path for draft in drafts for path in edited_files(draft.command, draft.cwd)}


def _steps_by_text(task: Task, tasks: Sequence[Task], leads: Sequence[tuple[str, ...]]) -> list[int]:
    """Return the steps that follow the text of the task in a sentence, an item or a heading."""
    return [at for at, lead in enumerate(leads) if _most_similar_task(lead, tasks) is task]


def _most_similar_task(lead: Sequence[str], tasks: Sequence[Task]) -> Task | None:
    """Return the only task that is most similar to the nearest matching text, or None."""
    for text in lead:
        for sentence in _sentence_word_sets(text):
            scores = [(_similarity(_significant_words(task.text), sentence), task) for task in tasks]
            best = max([score for score, _ in scores], default=0.0)
            best_tasks = [task for score, task in scores if score == best]
            if best >= _SIMILARITY_THRESHOLD:
                return best_tasks[0] if len(best_tasks) == 1 else None
    return None


def _is_introduced_by(task: Task, lead: Sequence[str]) -> bool:
    """Return whether the text directly above a step is the task's with a colon: the step is how the task is done."""
    last_sentence = (split_sentences(lead[0]) or [""])[-1] if lead else ""
    return last_sentence.endswith((":", "：")) and _significant_words(last_sentence) == _significant_words(task.text)


def _sentence_word_sets(text: str) -> Iterator[frozenset[str]]:
    """Yield the words of a whole paragraph, then those of its last and its first sentence."""
    sentence_texts = split_sentences(text)
    yield from dict.fromkeys(
        [
            _significant_words(text),
            *[_significant_words(sentence) for sentence in (*sentence_texts[-1:], *sentence_texts[:1])],
        ]
    )


def _similarity(task: frozenset[str], lead: frozenset[str]) -> float:
    """Return the share of common words, or 0 if the task has words that the text above does not."""
    return len(task) / len(lead) if task and task <= lead and (len(task) > 1 or task == lead) else 0.0


@lru_cache(4096)
def _significant_words(text: str) -> frozenset[str]:
    """Return the significant words in a normalized form: without articles and similar words, in the singular."""
    words = re.findall(r"[^\W_]+(?:[-./][^\W_]+)*", text.lower())
    return frozenset([_singular(word) for word in words if word not in WORDS["stop"]])


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _steps_by_number(task: Task, tasks: Sequence[Task], leads: Sequence[tuple[str, ...]]) -> list[int]:
    """Return the steps after a heading or item with the number of the only task that has it: `Milestone 2`."""
    number = _numbered_kind(task.text)
    if not number or len([other_task for other_task in tasks if _numbered_kind(other_task.text) == number]) > 1:
        return []
    return [at for at, lead in enumerate(leads) if number in [_numbered_kind(text) for text in lead]]


def _numbered_kind(text: str) -> tuple[str, str] | None:
    match = find_cue("numbered_heading", text)
    if match is None:
        return None
    kind = match[1].lower()
    return ("milestone" if kind == "m" else kind), match[2].lower()


def _steps_by_kind(task: Task, tasks: Sequence[Task], drafts: Sequence[StepDraft]) -> list[int]:
    """Return all steps that test, build, lint or format, if the task is the only one that requires just that."""
    kind = task_kind(_significant_words(task.text))
    if not kind or [task_kind(_significant_words(other_task.text)) for other_task in tasks].count(kind) > 1:
        return []
    return [at for at, draft in enumerate(drafts) if command_kind(draft.command) == kind]


def _code_spans(text: str) -> list[str]:
    return [match[2].strip() for match in _CODE_SPAN.finditer(text)]
