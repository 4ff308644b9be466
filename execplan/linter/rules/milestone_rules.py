"""EP2 rules about milestones: whether each has a task, and an observable outcome."""

from __future__ import annotations

from bisect import bisect

from execplan.core.named_tuple import NamedTuple
from execplan.core.text.markdown_blocks import FENCE
from execplan.linter.plan_paths import ALL_MILESTONES_PHRASES, OUTCOME_PHRASES
from execplan.linter.rule import WARNING, RuleContext, RuleMatch, on_line, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan
    from execplan.linter.plan_source import PlanSource

_KEYWORD = "milestone"
_SEPARATORS = " :：.—–-)("
_MILESTONE_WORDS = frozenset(("milestone", "milestones", "m", "ms"))
_LIST_WORDS = frozenset(("and", "or"))
_RANGE_WORDS = frozenset(("to", "through", "-"))

_DOCUMENT_EXTENSIONS = (".md", ".mdx", ".rst", ".txt", ".adoc")
_MAX_WORD_USES = 6
"""Maximum uses in the plan of a lowercase word that links a milestone to Validation and Acceptance."""
_MAX_CODE_USES = 2
"""Maximum uses in the plan of a backticked code name that does the same."""
_MIN_WORD_LENGTH = 6
_MIN_CODE_LENGTH = 8
"""Minimum characters of a word and of a code name whose match is no coincidence."""
_PUNCTUATION_TO_SPACE = str.maketrans(
    {"–": "-", **dict.fromkeys("!\"#$%&'()*+,./:;<=>?@[\\]^_`{|}~：—，、。；（）", " ")}
)
_MAX_MILESTONES = 50
"""Number of milestones from which a plan is not checked; no plan has this many."""
_ENGLISH_WORDS = (" the ", " and ", " to ")


class _Milestone(NamedTuple):
    """A subheading or section that starts with the word "milestone"."""

    line: int
    end: int
    """End of the milestone, exclusive."""
    number: int | None
    title: str
    """Heading text after the number."""


@rule("EP213", WARNING, in_archive=False)
def milestone_without_task(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A milestone has no task in Progress.

    Progress refers to other milestones by number but not to this one, so nobody can tell whether it is done, still
    to come, or forgotten. A task with the words of the milestone's title is enough.

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
    milestones_by_number: dict[int, _Milestone] = {}
    for milestone in _find_milestones(plan, context.source):
        if milestone.number is not None:
            milestones_by_number.setdefault(milestone.number, milestone)
    if not 1 < len(milestones_by_number) < _MAX_MILESTONES or not plan.tasks:
        return
    texts = [f"{task.heading} : {task.text}".casefold() for task in plan.tasks]
    all_text = " \n ".join(texts)
    named_numbers = _find_numbers(all_text) & milestones_by_number.keys()
    if (
        len(named_numbers) < 2
        or len(named_numbers) * 2 < len(milestones_by_number)
        or any([phrase in all_text for phrase in ALL_MILESTONES_PHRASES])
    ):
        return  # the tasks do not refer to milestones by number
    for number, milestone in milestones_by_number.items():
        if number not in named_numbers and not _has_task(milestone.title, texts):
            yield on_line(plan, milestone.line, f"no task in Progress refers to milestone {number}")


@rule("EP214", WARNING, in_archive=False)
def milestone_without_outcome(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """A milestone doesn't say how to check that it is reached.

    Each milestone must end with something that can be checked: a command and its output, a test that passes,
    something visible. Otherwise it is a list of edits, and you find out only at the end whether they work.
    Validation and Acceptance can describe the check instead, if it names the milestone's number, a rare word of its
    title, or a rare code name. A milestone that names only documents needs no check.

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
    for milestone in _find_milestones(plan, context.source):
        groups.setdefault(milestone.title if milestone.number is None else milestone.number, []).append(milestone)
    if not 0 < len(groups) < _MAX_MILESTONES:
        return
    lines = plan.text.lines
    fences = [block.start for block in plan.blocks if block.kind == FENCE]
    validation = plan.section("Validation and Acceptance")
    validation_text = " ".join(lines[validation.start : validation.end]) if validation is not None else ""
    proof = validation_text.casefold()
    proven_numbers = _find_numbers(proof) if _KEYWORD in proof else set()
    rare_words: set[str] | None = None
    for name, group in groups.items():
        if name in proven_numbers or any(
            [bisect(fences, milestone.line) < bisect(fences, milestone.end) for milestone in group]
        ):
            continue
        text = " ".join([line for milestone in group for line in lines[milestone.line + 1 : milestone.end]])
        body = text.casefold()
        codes = text.split("`")[1::2]
        if _mentions_outcome(body) or any([" " in code for code in codes]) or _are_documents(codes):
            continue
        if body.strip() and not any([word in body for word in _ENGLISH_WORDS]):
            continue  # the text is in another language
        if rare_words is None:
            rare_words = _find_rare_words(
                validation_text,
                [milestone.title for members in groups.values() for milestone in members[:1]],
                context.source.text,
            )
        if rare_words.isdisjoint(_split_words(group[0].title)) and not _is_code_in_validation(
            codes, validation_text, context.source.text
        ):
            yield on_line(plan, group[0].line, "this milestone doesn't say how to check that it is reached")


def _mentions_outcome(body: str) -> bool:
    """Return whether any word starts with an outcome stem, which excludes words such as `latest` and `blueprint`."""
    for word in OUTCOME_PHRASES:
        at = body.find(word)
        while at >= 0:
            if not at or not body[at - 1].isalnum():
                return True
            at = body.find(word, at + 1)
    return False


def _are_documents(codes: list[str]) -> bool:
    """Return whether at least one file is named and all named files are documents; other code names may occur."""
    files = [code for code in codes if "/" in code or "." in code.strip(".")]
    return bool(files) and all([code.rstrip("/").endswith(_DOCUMENT_EXTENSIONS) for code in files])


def _find_rare_words(validation_text: str, titles: list[str], source: str) -> set[str]:
    """Return acronyms and rare words that occur in exactly one title and in Validation and Acceptance."""
    proof = set(_split_words(validation_text))
    folded = {word.casefold() for word in proof}
    words = [word for title in titles for word in dict.fromkeys(_split_words(title)[:_MAX_MILESTONES])]
    folded_words = [word.casefold() for word in words]
    first_words = {word for title in titles for word in _split_words(title)[:1]}
    rare_words = {word for word in words if len(word) > 2 and word.isalpha() and word.isupper() and word in proof}
    for word in set(words) - first_words:  # the first word is the action, not its object
        if (
            len(word) >= _MIN_WORD_LENGTH
            and word.casefold() in folded
            and source.count(word.casefold()) <= _MAX_WORD_USES
        ):
            rare_words.add(word)
    return {word for word in rare_words if folded_words.count(word.casefold()) == 1}


def _is_code_in_validation(codes: list[str], validation_text: str, source: str) -> bool:
    """Return whether a rare code name of a milestone occurs in a code span of Validation and Acceptance."""
    code_text = "\n".join([code for code in validation_text.split("`")[1::2] if "/" not in code])
    names = {code for code in codes[:_MAX_MILESTONES] if len(code) >= _MIN_CODE_LENGTH and "/" not in code}
    return any([name in code_text and source.count(f"`{name}`") <= _MAX_CODE_USES for name in names])


def _split_words(text: str) -> list[str]:
    return [word.strip("-'’“”‘\"") for word in text.translate(_PUNCTUATION_TO_SPACE).split()]


def _find_milestones(plan: ParsedPlan, source: PlanSource) -> Iterator[_Milestone]:
    """Yield the milestones with their own heading outside the living sections."""
    if _KEYWORD[1:] not in source.text:
        return
    headings = [block for block in source.headings if not block.depth]
    starts = [section.start for section in plan.sections]
    for index, heading in enumerate(headings):
        rest = heading.text[len(_KEYWORD) :]
        if heading.text[: len(_KEYWORD)].lower() != _KEYWORD or rest[:1] not in (" ", "-") or heading.level < 2:
            continue
        section_index = bisect(starts, heading.start) - 1
        if (
            section_index >= 0
            and heading.start < plan.sections[section_index].end
            and plan.sections[section_index].is_living
        ):
            continue
        later = range(index + 1, len(headings))
        end = next((headings[at].start for at in later if headings[at].level <= heading.level), len(plan.text.lines))
        name, title = _split_label(rest.lstrip(" -#"))
        if name:
            yield _Milestone(heading.start, end, _parse_number(name), title)


def _split_label(text: str) -> tuple[str, str]:
    """Return the number or letter of a milestone, and its title; both are empty for a heading about all milestones."""
    name = ""
    for char in text:
        if char in " :：—–(" or len(name) > 40:
            break
        name += char
    is_label = len(name) == 1 or any([char.isdigit() for char in name])
    return (name, text[len(name) :].strip(_SEPARATORS)) if is_label else ("", "")


def _parse_number(name: str) -> int | None:
    """Return the number at the end of a name such as `3`, `M3` or `EP-7/MS003`; None for `1.2` and for a letter."""
    bare = name.rstrip(".-,")
    digits = bare[len(bare.rstrip("0123456789")) :]
    prefix = bare[: -len(digits)] if digits else ""
    return int(digits) if 0 < len(digits) < 5 and prefix[-1:] not in (".", "-") else None


def _find_numbers(text: str) -> set[int]:
    """Return the numbers of all milestones in a text: `milestone 2`, `milestones 1-3 and 5`, `M4`, `MS005`."""
    words = text.translate(_PUNCTUATION_TO_SPACE).replace("-", " - ").split()
    numbers: set[int] = set()
    for at, word in enumerate(words):
        if word[0] != "m":
            continue
        bare = word.lstrip("ms")
        if bare.isascii() and bare.isdigit() and len(bare) < 5:
            numbers.add(int(bare))
        elif word in _MILESTONE_WORDS:
            numbers |= _parse_number_list(words[at + 1 : at + 20])
    return numbers


def _parse_number_list(words: list[str]) -> set[int]:
    """Return the numbers at the start of a word list, with ranges expanded."""
    numbers: set[int] = set()
    previous, is_range = 0, False
    for word in words:
        bare = word.lstrip("ms")
        if bare.isascii() and bare.isdigit() and len(bare) < 5:
            number = int(bare)
            numbers |= set(range(previous, number)) if is_range and number - previous < 100 else set()
            numbers.add(number)
            previous, is_range = number, False
        elif word in _RANGE_WORDS and numbers:
            is_range = True
        elif word not in _LIST_WORDS or not numbers:
            break
    return numbers


def _has_task(title: str, texts: list[str]) -> bool:
    """Return whether any task contains at least half of a title's longer words."""
    words = {word.strip("`*_.,:;()") for word in title.casefold().split()}
    long_words = [word for word in words if len(word) > 3]
    if long_words:
        return any([sum([word in text for word in long_words]) * 2 >= len(long_words) for text in texts])
    return False
