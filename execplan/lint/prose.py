"""What a section says in words, without its code, and whether these words speak of something."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.lint.rule import Given
    from execplan.plan.model import Plan, Section

_ENGLISH = frozenset("a and are as for from in is it of on or run the then this to when with".split())
_FEW = 12


def prose(plan: Plan, given: Given, section: Section) -> str:
    """The words of a section in lower case, code spans and blocks of code left out."""
    inert = given.words.inert
    lines = [
        plan.text.lines[at] for at in range(section.body, section.end) if not inert[at] and plan.text.lines[at].strip()
    ]
    return "\n".join([" ".join(line.split("`")[::2]) if "`" in line else line for line in lines]).casefold()


def is_foreign(words: str) -> bool:
    """Whether the words are of a language whose expressions the rules don't know, as far as can be told."""
    said = words.split()
    if not words.isascii() and any([char > "ɏ" and char.isalpha() for char in words]):
        return True
    return len(said) > _FEW and not _ENGLISH.intersection(said)
