"""Lookup of a single task, section or decision by number, ID or part of its text, with errors for unclear queries."""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.line_grammar import read_any_number
from execplan.core.text.message_parts import format_count
from execplan.core.text.text_lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.core.plan.model import Entry, ParsedPlan, Section, Task


_MAX_NUMBER_DIGITS = 4
"""Maximum digits of a task's number in a list of numbers."""
_ID_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


def normalize_text(text: str) -> str:
    """Return a text in the form used for comparison: without case, and with white space folded."""
    return " ".join(text.casefold().split())


def is_specific_enough(text: str) -> bool:
    """Return whether a text can identify anything: nearly every title contains a single letter or punctuation mark."""
    return len([char for char in text if char.isalnum() or not char.isascii()]) > 1


def task_ids(tasks: Sequence[Task]) -> list[str]:
    """Return the short ID of each task: the letter `t` and 30 bits of a digest of its text.

    Of tasks with the same text, the second ID ends in `-2`, and so on.
    """
    return ids_for_texts([task.text for task in tasks])


def ids_for_texts(texts: Sequence[str]) -> list[str]:
    """Return the IDs of tasks with these texts, in plan order."""
    counts: dict[str, int] = {}
    ids = []
    for text in texts:
        bits = int(digest(normalize_text(text).encode("utf-8"))[:8], 16) >> 2
        task_id = "t" + "".join([_ID_DIGITS[bits >> shift & 31] for shift in range(25, -1, -5)])
        counts[task_id] = counts.get(task_id, 0) + 1
        ids.append(task_id if counts[task_id] == 1 else f"{task_id}-{counts[task_id]}")
    return ids


def find_task(plan: ParsedPlan, query: str) -> tuple[str, Task]:
    """Return the ID and the task for a number, an ID, the number in its text or a unique part of that; raises ExecplanError."""
    ids = task_ids(plan.tasks)
    lowered = query.strip().lower()
    if lowered in ids:
        return lowered, plan.tasks[ids.index(lowered)]
    if lowered.isascii() and lowered.isdigit():
        number = int(lowered[:9])
        if 1 <= number <= len(plan.tasks):
            return ids[number - 1], plan.tasks[number - 1]
        message = f"unknown task {lowered}: the plan has {format_count(len(plan.tasks), 'task')}"
        raise _no_such_task(message, plan, ids, query)
    labeled = [at for at, task in enumerate(plan.tasks) if read_any_number(task.text).rstrip(".").lower() == lowered]
    if len(labeled) == 1:
        return ids[labeled[0]], plan.tasks[labeled[0]]
    candidates = [f"{task_id}  {task.number}. {task.text}" for task_id, task in zip(ids, plan.tasks, strict=True)]
    matches = find_matches([task.text for task in plan.tasks], query)
    match = require_single(matches, candidates, query, "task", "specify the task by its number or ID")
    match = _find_in_group(plan, lowered) if match is None else match
    if match is None and not is_specific_enough(query):
        raise _no_such_task(f"{query!r} is too short to identify a task", plan, ids, query)
    if match is None:
        raise _no_such_task(f"no task contains {query!r}", plan, ids, query)
    return ids[match], plan.tasks[match]


def _find_in_group(plan: ParsedPlan, query: str) -> int | None:
    """Return the index of the task that `3.2` names: the second one below the heading `Task 3: Parser`, or None."""
    group, dot, number = query.partition(".")
    if not (dot and query.isascii() and group.isdecimal() and number.isdecimal() and len(number) <= _MAX_NUMBER_DIGITS):
        return None
    from execplan.core.plan.section_roles import part_number  # few queries need it, and its table takes time to load

    positions = [at for at, task in enumerate(plan.tasks) if part_number(task.heading) == group]
    is_one_group = len({plan.tasks[at].heading for at in positions}) == 1
    return positions[int(number) - 1] if is_one_group and 0 < int(number) <= len(positions) else None


def expand_numbers(queries: Sequence[str]) -> tuple[str, ...]:
    """Return the queries of tasks with each list of numbers replaced by its numbers, as in `1-3` and `1,2,5`."""
    return tuple([name for query in queries for name in _listed_numbers(query) or [query]])


def _listed_numbers(query: str) -> list[str]:
    """Return the numbers in a list of numbers and ranges; empty for any other text."""
    numbers: list[str] = []
    for part in query.split(","):
        first, hyphen, last = [name.strip() for name in part.partition("-")]
        last = last if hyphen else first
        if not all([name.isascii() and name.isdigit() and len(name) <= _MAX_NUMBER_DIGITS for name in (first, last)]):
            return []
        if int(first) > int(last):
            return []
        numbers += [str(number) for number in range(int(first), int(last) + 1)]
    return numbers


def find_section(plan: ParsedPlan, name: str) -> Section:
    """Return the section with a title, standard name or unique part of its title; raises ExecplanError."""
    canonical_name = outline.canonical_name(name)
    for section in plan.sections:
        if section.title == name:
            return section
    for section in plan.sections:
        if canonical_name is not None and section.name == canonical_name:
            return section
    for section in plan.sections:
        if outline.title_key(section.title) == outline.title_key(name):
            return section
    titles = [section.title for section in plan.sections]
    candidates = [f"line {section.start + 1}: ## {section.title}" for section in plan.sections]
    matches = find_matches(titles, name) if canonical_name is None else []
    match = require_single(matches, candidates, name, "section", "use more of the section's title")
    if match is not None:
        return plan.sections[match]
    closest_title = outline.closest_title(name, titles)
    raise ExecplanError(
        "no-such-section",
        f"the plan has no section {name!r}",
        hint=f"did you mean {closest_title!r}?" if closest_title else "use one of these",
        candidates=titles,
    )


def find_decision(decisions: Sequence[Entry], query: str) -> Entry:
    """Return the decision for a unique part of its text; raises ExecplanError."""
    candidates = [f"line {entry.start + 1}: {entry.text}" for entry in decisions]
    match = require_single(
        find_matches([entry.text for entry in decisions], query),
        candidates,
        query,
        "decision",
        "use more of the decision's text",
    )
    if match is None:
        raise ExecplanError(
            "no-such-decision",
            f"no decision contains {query!r}",
            hint="use a part of a decision's text, as it is in the Decision Log",
            candidates=candidates,
        )
    return decisions[match]


def require_single(matches: Sequence[int], candidates: Sequence[str], query: str, kind: str, hint: str) -> int | None:
    """Return the only match, or None if there is none; raises ExecplanError with the candidates if there are more."""
    if len(matches) > 1:
        raise ExecplanError(
            f"ambiguous-{kind}",
            f"{query!r} matches {len(matches)} {kind}s",
            hint=hint,
            candidates=[candidates[match] for match in matches],
        )
    return matches[0] if matches else None


def find_matches(texts: list[str], query: str) -> list[int]:
    """Return the indexes of the texts that match a query, without regard to markup.

    The result is the texts equal to the query; if there are none, those that contain it; if there are none, those that
    contain all its words.
    """
    if not (query_text := normalize_text(query)):
        return []
    if matches := _find_containing([normalize_text(text) for text in texts], query_text):
        return matches
    from execplan.core.text.inline_markdown import plain_text

    plain_texts = [normalize_text(plain_text(text)) for text in texts]
    query_text = normalize_text(plain_text(query))
    return _find_containing(plain_texts, query_text) or [
        index
        for index, text in enumerate(plain_texts)
        if is_specific_enough(query_text) and all([query_word in text for query_word in query_text.split()])
    ]


def _find_containing(texts: list[str], query_text: str) -> list[int]:
    exact_matches = [index for index, text in enumerate(texts) if text == query_text]
    return exact_matches or [
        index for index, text in enumerate(texts) if query_text in text and is_specific_enough(query_text)
    ]


def _no_such_task(message: str, plan: ParsedPlan, ids: list[str], query: str) -> ExecplanError:
    from execplan.core.text.suggestions import closest_names

    labels_by_text = {
        normalize_text(task.text): f"{task_id}  {task.number}. {task.text}"
        for task_id, task in zip(ids, plan.tasks, strict=True)
    }
    candidates = [labels_by_text[text] for text in closest_names(normalize_text(query), labels_by_text)]
    option = "" if plan.section(outline.PROGRESS) is not None else " --create"
    adding = f"the plan has no tasks yet: execplan add 'First step'{option}"
    hint = "see the tasks: execplan show" if plan.tasks else adding
    return ExecplanError("no-such-task", message, hint=hint, candidates=candidates)


def match_edited_tasks(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, ...]]:
    """Return, for each task text before an edit, its indexes after the edit: none, one, or several if it was split.

    Equal texts above and below the edited range stay paired. Of the rest, tasks with the same ID are paired first, then
    the remaining ones where the pairing is clear: if their number is unchanged, or if only one is left on either side.
    """
    same_above = 0
    while same_above < min(len(before), len(after)) and before[same_above] == after[same_above]:
        same_above += 1
    same_below = 0
    while same_below < min(len(before), len(after)) - same_above and before[-1 - same_below] == after[-1 - same_below]:
        same_below += 1
    positions: dict[int, tuple[int, ...]] = {index: (index,) for index in range(same_above)}
    shift = len(after) - len(before)
    positions.update({index: (index + shift,) for index in range(len(before) - same_below, len(before))})
    old_indexes, new_indexes = (
        list(range(same_above, len(before) - same_below)),
        list(range(same_above, len(after) - same_below)),
    )
    new_ids = {
        task_id: index
        for index, task_id in zip(new_indexes, ids_for_texts([after[index] for index in new_indexes]), strict=True)
    }
    for index, task_id in zip(list(old_indexes), ids_for_texts([before[index] for index in old_indexes]), strict=True):
        if task_id in new_ids:
            positions[index] = (new_ids[task_id],)
            old_indexes.remove(index)
            new_indexes.remove(new_ids[task_id])
    if len(old_indexes) == len(new_indexes):
        positions.update({index: (new_index,) for index, new_index in zip(old_indexes, new_indexes, strict=True)})
    elif len(old_indexes) == 1 or len(new_indexes) == 1:
        positions.update({index: tuple(new_indexes) for index in old_indexes})
    return [positions.get(index, ()) for index in range(len(before))]
