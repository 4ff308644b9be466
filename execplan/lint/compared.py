"""Two states of one plan, compared: which entries are new or rewritten, and which sections say something else."""

from __future__ import annotations

from bisect import bisect_left

from execplan.plan import outline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.plan.model import Entry, Plan, Section

_SPECIFICATION = tuple([kind.name for kind in outline.OUTLINE if not kind.living and kind.name != outline.ARTIFACTS])
_AROUND = " .,;:!?()[]<>*_`\"'#-–—"
_DIRECTORIES = ("execplans", "exec-plans", "exec_plans")
_ID = 12
"""Characters from which on a word with letters, digits and hyphens is taken for the id of a plan."""


def new_entries(before: Plan, plan: Plan, *, found: bool = False) -> list[str]:
    """What decisions and revision notes say, and with `found` discoveries too, that no entry said before."""
    kinds = [(before.decisions, plan.decisions), (before.revisions, plan.revisions)]
    if found:
        kinds.append((before.discoveries, plan.discoveries))
    said = []
    for old, new in kinds:
        there = {_all_words(entry) for entry in old}
        said += [words for words in [_all_words(entry) for entry in new] if words not in there]
    return said


def rewritten_entries(before: Plan, plan: Plan, *, outcomes: bool) -> Iterator[tuple[str, str, int]]:
    """The kind and the words of each entry that is not there any more, with a line: of what took its place, or its section."""
    kinds = [
        ("decision", outline.DECISIONS, before.decisions, plan.decisions),
        ("discovery", outline.SURPRISES, before.discoveries, plan.discoveries),
        ("revision note", "", before.revisions, plan.revisions),
    ]
    if outcomes:
        kinds.append(("outcome", outline.OUTCOMES, before.outcomes, plan.outcomes))
    for kind, name, old, new in kinds:
        here = sorted([(_words(entry.text), at) for at, entry in enumerate(new)])
        gone = [entry for entry in old if not _goes_on(entry, here, new)]
        if not gone:
            continue
        there = {_all_words(entry) for entry in old}
        fresh = [entry for entry in new if _all_words(entry) not in there]
        by_date: dict[tuple[str | None, str | None], int] = {(each.date, each.author): each.start for each in fresh}
        section = plan.section(name)
        line = section.start if section is not None else max(plan.title_line, 0)
        for entry in gone:
            yield kind, entry.text, by_date.get((entry.date, entry.author), line) if entry.date else line


def changed_sections(before: Plan, plan: Plan) -> list[str]:
    """The names of the sections that do not live and that say something else, or are gone."""
    changed = []
    for name in _SPECIFICATION:
        old, new = before.section(name), plan.section(name)
        if old is not None and (new is None or _prose(before, old) != _prose(plan, new)):
            changed.append(name)
    return changed


def _goes_on(old: Entry, here: list[tuple[str, int]], new: list[Entry]) -> bool:
    """Whether an entry is still there, maybe with more words at the end of what it says."""
    words = _words(old.text)
    at = bisect_left(here, (words, -1))
    while at < len(here) and f"{here[at][0]} ".startswith(f"{words} "):
        entry = new[here[at][1]]
        if _extends(old.rationale, entry.rationale) and _extends(old.evidence, entry.evidence):
            return True
        at += 1
    return False


def _extends(old: str | None, new: str | None) -> bool:
    return old is None or (new is not None and f"{_words(new)} ".startswith(f"{_words(old)} "))


def _all_words(entry: Entry) -> str:
    return _words(" ".join([entry.text, entry.rationale or "", entry.evidence or ""]))


def _prose(plan: Plan, section: Section) -> str:
    """The words of a section, without the boxes in it."""
    lines = plan.text.lines[section.body : section.notes]
    return _words(" ".join([line.replace("[x]", "").replace("[X]", "") for line in lines]))


def _words(text: str) -> str:
    """The words of a text without case, marks and white space; one that names a plan by its id or path as any other."""
    bare = [word.strip(_AROUND) for word in text.casefold().split()]
    return " ".join(["/" if _names_plan(word) else word for word in bare if word])


def _names_plan(word: str) -> bool:
    if ".md" in word or any([f"/{name}/" in f"/{word}/" for name in _DIRECTORIES]):
        return True
    for part in word.split("/"):
        if len(part) >= _ID and ("-" in part or "_" in part):
            if any([char.isdigit() for char in part]) and any([char.isalpha() for char in part]):
                return True
    return False
