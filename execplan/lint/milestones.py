"""EP2, the part about milestones: is each worked on, and can its end be seen?"""

from __future__ import annotations

from bisect import bisect

from execplan.lint.rule import WARNING, Given, Place, on_line, rule
from execplan.record import NamedTuple
from execplan.text.blocks import FENCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.lint.words import Words
    from execplan.plan.model import Plan

_WORD = "milestone"
_BETWEEN = " :：.—–-)("
_ALIKE = frozenset(("milestone", "milestones", "m", "ms"))
_ALL = ("all milestones", "every milestone", "each milestone", "remaining milestones")
_LISTS = frozenset(("and", "or"))
_RANGES = frozenset(("to", "through", "-"))

_SHOWN = (
    "test|pass|verif|accept|proof|prove|expect|validate|validati|observ|you can|print|show|at the end of|outcome|result|confirm|"
    "green|visible|exit|benchmark|measur|demonstrat|done when|complete when|succe|evidence|smoke|ends with|ends when|"
    "after this|visual"
).split("|")
"""How words begin with which people say what can be seen when a milestone is reached."""
_DOCUMENTS = (".md", ".mdx", ".rst", ".txt", ".adoc")
_RARE = 6
"""How often a plan may have a word, in lower case, of which one mention in Validation and Acceptance shows what it speaks of."""
_SELDOM = 2
"""How often it may have a name of code, in backticks, for the same."""
_LONG_WORD = 6
_LONG_CODE = 8
"""Characters of a word and of a name of code that are no chance."""
_SPACES = str.maketrans({"–": "-", **dict.fromkeys("!\"#$%&'()*+,./:;<=>?@[\\]^_`{|}~：—，、。；（）", " ")})
_MANY = 50
"""As many milestones no plan has."""
_ENGLISH = (" the ", " and ", " to ")


class _Milestone(NamedTuple):
    """A sub-heading or a section that begins with the word."""

    line: int
    end: int
    """One past its last line."""
    number: int | None
    title: str
    """What stands behind its number."""


@rule("EP213", WARNING)
def no_task_of_milestone(plan: Plan, given: Given) -> Iterator[Place]:
    """A milestone has no task in Progress.

    Progress names other milestones by their numbers and not this one, so nobody can tell whether it was done, is still
    to come, or was forgotten. A task that has the words of its title will do.

    Bad:
        ## Progress

        - [x] (2026-03-07 23:27Z) Milestone 1: the scanner.
        - [ ] Milestone 2: the reader.

        ## Plan of Work

        ### Milestone 1: Scanner

        `make test` passes for single lines.

        ### Milestone 2: Reader

        `make test` passes for whole files.

        ### Milestone 3: Speed

        `make bench` prints less than 20 ms.
    Good:
        ## Progress

        - [x] (2026-03-07 23:27Z) Milestone 1: the scanner.
        - [ ] Milestone 2: the reader.
        - [ ] Milestone 3: make it fast.

        ## Plan of Work

        ### Milestone 1: Scanner

        `make test` passes for single lines.

        ### Milestone 2: Reader

        `make test` passes for whole files.

        ### Milestone 3: Speed

        `make bench` prints less than 20 ms.
    """
    numbered: dict[int, _Milestone] = {}
    for each in _milestones(plan, given.words):
        if each.number is not None:
            numbered.setdefault(each.number, each)
    if not 1 < len(numbered) < _MANY or not plan.tasks:
        return
    texts = [f"{task.heading} : {task.text}".casefold() for task in plan.tasks]
    said = " \n ".join(texts)
    named = _numbers(said) & numbered.keys()
    if len(named) < 2 or len(named) * 2 < len(numbered) or any([words in said for words in _ALL]):
        return  # the tasks are not told by the numbers of milestones
    for number, each in numbered.items():
        if number not in named and not _is_told(each.title, texts):
            yield on_line(plan, each.line, f"no task in Progress names milestone {number}")


@rule("EP214", WARNING)
def milestone_without_outcome(plan: Plan, given: Given) -> Iterator[Place]:
    """A milestone does not say how one sees that it is reached.

    Each milestone ends with something that can be checked: a command and what it prints, a test that passes, something to
    be seen. Else it is a list of edits, and whether they work is found out at the end. Validation and Acceptance may say
    it, by the milestone's number, by a rare word of its title, or by a rare name of code; a milestone that names
    documents alone needs no more.

    Bad:
        ## Plan of Work

        ### Milestone 1: Reader

        Move the functions for sections to `src/reader.py` and keep their names.
    Good:
        ## Plan of Work

        ### Milestone 1: Reader

        Move the functions for sections to `src/reader.py` and keep their names. Then `make test` prints `12 passed`.
    """
    groups: dict[object, list[_Milestone]] = {}
    for each in _milestones(plan, given.words):
        groups.setdefault(each.title if each.number is None else each.number, []).append(each)
    if not 0 < len(groups) < _MANY:
        return
    lines = plan.text.lines
    fences = [block.start for block in plan.blocks if block.kind == FENCE]
    validation = plan.section("Validation and Acceptance")
    told = " ".join(lines[validation.start : validation.end]) if validation is not None else ""
    proof = told.casefold()
    elsewhere = _numbers(proof) if _WORD in proof else set()
    rare: set[str] | None = None
    for name, group in groups.items():
        if name in elsewhere or any([bisect(fences, each.line) < bisect(fences, each.end) for each in group]):
            continue
        text = " ".join([line for each in group for line in lines[each.line + 1 : each.end]])
        body = text.casefold()
        codes = text.split("`")[1::2]
        if _shows(body) or any([" " in code for code in codes]) or _are_documents(codes):
            continue
        if body.strip() and not any([word in body for word in _ENGLISH]):
            continue  # its words are of another language
        if rare is None:
            rare = _rare(told, [each.title for some in groups.values() for each in some[:1]], given.words.source)
        if rare.isdisjoint(_words(group[0].title)) and not _are_shown(codes, told, given.words.source):
            yield on_line(plan, group[0].line, "this milestone does not say how one sees that it is reached")


def _shows(body: str) -> bool:
    """Whether a word of those that say what can be seen begins somewhere: `latest` and `blueprint` are none."""
    for word in _SHOWN:
        at = body.find(word)
        while at >= 0:
            if not at or not body[at - 1].isalnum():
                return True
            at = body.find(word, at + 1)
    return False


def _are_documents(codes: list[str]) -> bool:
    """Whether all files that are named are documents, and some are; other names of code may stand beside them."""
    files = [code for code in codes if "/" in code or "." in code.strip(".")]
    return bool(files) and all([code.rstrip("/").endswith(_DOCUMENTS) for code in files])


def _rare(told: str, titles: list[str], source: str) -> set[str]:
    """The acronyms and rare words that only one of the titles has, and Validation and Acceptance, too."""
    proof = set(_words(told))
    folded = {word.casefold() for word in proof}
    words = [word for title in titles for word in dict.fromkeys(_words(title)[:_MANY])]
    often = [word.casefold() for word in words]
    firsts = {word for title in titles for word in _words(title)[:1]}
    found = {word for word in words if len(word) > 2 and word.isalpha() and word.isupper() and word in proof}
    for word in set(words) - firsts:  # the first says what is done, not to what
        if len(word) >= _LONG_WORD and word.casefold() in folded and source.count(word.casefold()) <= _RARE:
            found.add(word)
    return {word for word in found if often.count(word.casefold()) == 1}


def _are_shown(codes: list[str], told: str, source: str) -> bool:
    """Whether a rare name of code of a milestone stands in Validation and Acceptance as one, or within one."""
    shown = "\n".join([code for code in told.split("`")[1::2] if "/" not in code])
    names = {code for code in codes[:_MANY] if len(code) >= _LONG_CODE and "/" not in code}
    return any([name in shown and source.count(f"`{name}`") <= _SELDOM for name in names])


def _words(text: str) -> list[str]:
    return [word.strip("-'’“”‘\"") for word in text.translate(_SPACES).split()]


def _milestones(plan: Plan, words: Words) -> Iterator[_Milestone]:
    """The milestones that have a heading of their own outside the living sections."""
    if _WORD[1:] not in words.source:
        return
    heads = [block for block in words.headings if not block.depth]
    starts = [section.start for section in plan.sections]
    for place, head in enumerate(heads):
        rest = head.text[len(_WORD) :]
        if head.text[: len(_WORD)].lower() != _WORD or rest[:1] not in (" ", "-") or head.level < 2:
            continue
        within = bisect(starts, head.start) - 1
        if within >= 0 and head.start < plan.sections[within].end and plan.sections[within].living:
            continue
        later = range(place + 1, len(heads))
        end = next((heads[at].start for at in later if heads[at].level <= head.level), len(plan.text.lines))
        name, title = _name(rest.lstrip(" -#"))
        if name:
            yield _Milestone(head.start, end, _number(name), title)


def _name(rest: str) -> tuple[str, str]:
    """The number or letter of a milestone, and its title; a heading without either is about milestones at large."""
    name = ""
    for char in rest:
        if char in " :：—–(" or len(name) > 40:
            break
        name += char
    named = len(name) == 1 or any([char.isdigit() for char in name])
    return (name, rest[len(name) :].strip(_BETWEEN)) if named else ("", "")


def _number(name: str) -> int | None:
    """The number at the end of a name such as `3`, `M3` or `EP-7/MS003`; None for `1.2` and for a letter."""
    bare = name.rstrip(".-,")
    digits = bare[len(bare.rstrip("0123456789")) :]
    before = bare[: -len(digits)] if digits else ""
    return int(digits) if 0 < len(digits) < 5 and before[-1:] not in (".", "-") else None


def _numbers(text: str) -> set[int]:
    """The numbers of all milestones that a text names: `milestone 2`, `milestones 1-3 and 5`, `M4`, `MS005`."""
    words = text.translate(_SPACES).replace("-", " - ").split()
    found: set[int] = set()
    for at, word in enumerate(words):
        if word[0] != "m":
            continue
        bare = word.lstrip("ms")
        if bare.isascii() and bare.isdigit() and len(bare) < 5:
            found.add(int(bare))
        elif word in _ALIKE:
            found |= _listed(words[at + 1 : at + 20])
    return found


def _listed(words: list[str]) -> set[int]:
    """The numbers that stand at the start of some words, ranges filled up."""
    found: set[int] = set()
    last, ranging = 0, False
    for word in words:
        bare = word.lstrip("ms")
        if bare.isascii() and bare.isdigit() and len(bare) < 5:
            number = int(bare)
            found |= set(range(last, number)) if ranging and number - last < 100 else set()
            found.add(number)
            last, ranging = number, False
        elif word in _RANGES and found:
            ranging = True
        elif word not in _LISTS or not found:
            break
    return found


def _is_told(title: str, texts: list[str]) -> bool:
    """Whether some task has half of the longer words of a title."""
    words = {word.strip("`*_.,:;()") for word in title.casefold().split()}
    long = [word for word in words if len(word) > 3]
    return any([sum([word in text for word in long]) * 2 >= len(long) for text in texts]) if long else False
