"""Comparison of two versions of a plan: new or rewritten entries, and changed sections."""

from __future__ import annotations

from bisect import bisect_left

from execplan.core.plan import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import Entry, ParsedPlan, Section

_SPECIFICATION = tuple([kind.name for kind in outline.OUTLINE if not kind.is_living and kind.name != outline.ARTIFACTS])
_PUNCTUATION = " .,;:!?()[]<>*_`\"'#-–—"
_PLAN_DIRECTORIES = ("execplans", "exec-plans", "exec_plans")
_MIN_ID_LENGTH = 12
"""Minimum characters of a word with letters, digits and hyphens to be treated as a plan ID."""


def new_entries(before: ParsedPlan, plan: ParsedPlan, *, include_discoveries: bool = False) -> list[str]:
    """Return the texts of new decisions and revision notes, and of discoveries if `include_discoveries` is true."""
    kinds = [(before.decisions, plan.decisions), (before.revisions, plan.revisions)]
    if include_discoveries:
        kinds.append((before.discoveries, plan.discoveries))
    new_texts = []
    for old, new in kinds:
        old_texts = {_entry_text(entry) for entry in old}
        new_texts += [text for text in [_entry_text(entry) for entry in new] if text not in old_texts]
    return new_texts


def rewritten_entries(before: ParsedPlan, plan: ParsedPlan, *, outcomes: bool) -> Iterator[tuple[str, str, int]]:
    """Yield kind and text of each removed entry, with the line of its replacement or of its section."""
    kinds = [
        ("decision", outline.DECISIONS, before.decisions, plan.decisions),
        ("discovery", outline.SURPRISES, before.discoveries, plan.discoveries),
        ("revision note", "", before.revisions, plan.revisions),
    ]
    if outcomes:
        kinds.append(("outcome", outline.OUTCOMES, before.outcomes, plan.outcomes))
    for kind, name, old, new in kinds:
        current_texts = sorted([(_normalize(entry.text), at) for at, entry in enumerate(new)])
        missing_entries = [entry for entry in old if not _is_kept(entry, current_texts, new)]
        if not missing_entries:
            continue
        old_texts = {_entry_text(entry) for entry in old}
        added_entries = [entry for entry in new if _entry_text(entry) not in old_texts]
        by_date: dict[tuple[str | None, str | None], int] = {
            (added_entry.date, added_entry.author): added_entry.start for added_entry in added_entries
        }
        section = plan.section(name)
        line = section.start if section is not None else max(plan.title_line, 0)
        for entry in missing_entries:
            yield kind, entry.text, by_date.get((entry.date, entry.author), line) if entry.date else line


def changed_sections(before: ParsedPlan, plan: ParsedPlan) -> list[str]:
    """Return the names of the sections, other than living ones, that were changed or removed."""
    changed = []
    for name in _SPECIFICATION:
        old, new = before.section(name), plan.section(name)
        if old is not None and (new is None or _section_text(before, old) != _section_text(plan, new)):
            changed.append(name)
    return changed


def _is_kept(old: Entry, current_texts: list[tuple[str, int]], new: list[Entry]) -> bool:
    """Return whether an entry still exists, possibly with text appended."""
    text = _normalize(old.text)
    at = bisect_left(current_texts, (text, -1))
    while at < len(current_texts) and f"{current_texts[at][0]} ".startswith(f"{text} "):
        entry = new[current_texts[at][1]]
        if _extends(old.rationale, entry.rationale) and _extends(old.evidence, entry.evidence):
            return True
        at += 1
    return False


def _extends(old: str | None, new: str | None) -> bool:
    return old is None or (new is not None and f"{_normalize(new)} ".startswith(f"{_normalize(old)} "))


def _entry_text(entry: Entry) -> str:
    return _normalize(" ".join([entry.text, entry.rationale or "", entry.evidence or ""]))


def _section_text(plan: ParsedPlan, section: Section) -> str:
    """Return the text of a section without checked boxes and without the statuses of tasks."""
    start, end = section.body_start, section.notes_start
    lines = plan.text.lines[start:end]
    for task in plan.tasks:
        if task.status is not None and start <= task.box_line < end:
            column, line = task.status.column, lines[task.box_line - start]
            lines[task.box_line - start] = line[:column] + line[column + len(task.status.text) :]
    return _normalize(" ".join(lines).replace("[x]", "").replace("[X]", ""))


def _normalize(text: str) -> str:
    """Return a text without case, punctuation and extra white space, and with plan IDs and paths made equal."""
    bare = [word.strip(_PUNCTUATION) for word in text.casefold().split()]
    return " ".join(["/" if _names_plan(word) else word for word in bare if word])


def _names_plan(word: str) -> bool:
    if ".md" in word or any([f"/{name}/" in f"/{word}/" for name in _PLAN_DIRECTORIES]):
        return True
    for part in word.split("/"):
        if len(part) >= _MIN_ID_LENGTH and ("-" in part or "_" in part):
            if any([char.isdigit() for char in part]) and any([char.isalpha() for char in part]):
                return True
    return False
