"""What a person or an agent calls a task or a decision → exactly one of them, or why not."""

from __future__ import annotations

from execplan.errors import INPUT, ExecplanError
from execplan.plan import outline
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.plan.model import Entry, Plan, Section, Task

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


def fold(words: str) -> str:
    """Words as they are compared: without case, and with white space folded."""
    return " ".join(words.casefold().split())


def is_long_enough(words: str) -> bool:
    """Whether words can be a part of a name: a single letter, or signs alone, are in nearly every name."""
    return len([char for char in words if char.isalnum() or not char.isascii()]) > 1


def task_ids(tasks: Sequence[Task]) -> list[str]:
    """The short id of each task: a letter and 30 bits of its words; of equal words the second ends in `-2`, and so on."""
    return ids_of([task.text for task in tasks])


def ids_of(texts: Sequence[str]) -> list[str]:
    """The ids of tasks with these texts, in the order of the plan."""
    seen: dict[str, int] = {}
    ids = []
    for text in texts:
        bits = int(digest(fold(text).encode("utf-8"))[:8], 16) >> 2
        name = "t" + "".join([_DIGITS[bits >> shift & 31] for shift in range(25, -1, -5)])
        seen[name] = seen.get(name, 0) + 1
        ids.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return ids


def find_task(plan: Plan, query: str) -> tuple[str, Task]:
    """The id and the task that a number, an id or unique words name; raises ExecplanError."""
    ids = task_ids(plan.tasks)
    named = query.strip().lower()
    if named in ids:
        return named, plan.tasks[ids.index(named)]
    if named.isascii() and named.isdigit():
        number = int(named[:9])
        if 1 <= number <= len(plan.tasks):
            return ids[number - 1], plan.tasks[number - 1]
        raise _none(f"there is no task {number}: the plan has {len(plan.tasks)}", plan, ids, query)
    names = [f"{name}  {task.number}. {task.text}" for name, task in zip(ids, plan.tasks, strict=True)]
    found = matching([task.text for task in plan.tasks], query)
    at = single(found, names, query, "task", "name it by its number or its id")
    if at is None:
        raise _none(f"no task has the words {query!r}", plan, ids, query)
    return ids[at], plan.tasks[at]


def find_section(plan: Plan, name: str) -> Section:
    """The section of that name, canonical or as written, or with words that only its title has; raises ExecplanError."""
    wanted = outline.canonical(name)
    for section in plan.sections:
        if section.title == name:
            return section
    for section in plan.sections:
        if wanted is not None and section.name == wanted:
            return section
    for section in plan.sections:
        if outline.key(section.title) == outline.key(name):
            return section
    titles = [section.title for section in plan.sections]
    names = [f"line {section.start + 1}: ## {section.title}" for section in plan.sections]
    found = matching(titles, name) if wanted is None else []
    at = single(found, names, name, "section", "say more of its title")
    if at is not None:
        return plan.sections[at]
    near = outline.nearest(name, titles)
    raise ExecplanError(
        "no-such-section",
        f"the plan has no section {name!r}",
        exit=INPUT,
        hint=f"did you mean {near!r}?" if near else "name one of these",
        candidates=titles,
    )


def find_decision(decisions: Sequence[Entry], query: str) -> Entry:
    """The decision that unique words name; raises ExecplanError."""
    names = [f"line {entry.start + 1}: {entry.text}" for entry in decisions]
    at = single(matching([entry.text for entry in decisions], query), names, query, "decision", "say more of its words")
    if at is None:
        raise ExecplanError(
            "no-such-decision",
            f"no decision has the words {query!r}",
            exit=INPUT,
            hint="say some words of the decision as they stand in the Decision Log",
            candidates=names,
        )
    return decisions[at]


def single(found: Sequence[int], names: Sequence[str], query: str, kind: str, hint: str) -> int | None:
    """The one that was found, None for none; raises ExecplanError that names them when there are more."""
    if len(found) > 1:
        raise ExecplanError(
            f"ambiguous-{kind}",
            f"{query!r} matches {len(found)} {kind}s",
            exit=INPUT,
            hint=hint,
            candidates=[names[at] for at in found],
        )
    return found[0] if found else None


def matching(texts: list[str], query: str) -> list[int]:
    """The texts that the words name: equal to them, else holding them in a row, else all of them; markup set aside."""
    wanted = fold(query)
    if not wanted:
        return []
    found = _holding([fold(text) for text in texts], wanted)
    if found:
        return found
    from execplan.text.inline import plain

    seen = [fold(plain(text)) for text in texts]
    wanted = fold(plain(query))
    return _holding(seen, wanted) or [
        at for at, text in enumerate(seen) if is_long_enough(wanted) and all([word in text for word in wanted.split()])
    ]


def _holding(texts: list[str], wanted: str) -> list[int]:
    whole = [at for at, text in enumerate(texts) if text == wanted]
    return whole or [at for at, text in enumerate(texts) if wanted in text and is_long_enough(wanted)]


def _none(message: str, plan: Plan, ids: list[str], query: str) -> ExecplanError:
    from difflib import get_close_matches

    texts = {fold(task.text): f"{name}  {task.number}. {task.text}" for name, task in zip(ids, plan.tasks, strict=True)}
    near = [texts[text] for text in get_close_matches(fold(query), list(texts), n=3, cutoff=0.5)]
    hint = "see the tasks: execplan show" if plan.tasks else "the plan has no task yet: execplan add 'First step'"
    return ExecplanError("no-such-task", message, exit=INPUT, hint=hint, candidates=near)
