"""What a section says in words, without its code, and whether these words speak of something."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.lint.rule import RuleContext
    from execplan.plan.model import Plan, Section

_ENGLISH_WORDS = frozenset("a and are as for from in is it of on or run the then this to when with".split())
_MIN_WORDS = 12


def section_prose(plan: Plan, context: RuleContext, section: Section) -> str:
    """The words of a section in lower case, code spans and blocks of code left out."""
    inert = context.source.inert_lines
    lines = [
        plan.text.lines[at] for at in range(section.body_start, section.end) if not inert[at] and plan.text.lines[at].strip()
    ]
    return "\n".join([" ".join(line.split("`")[::2]) if "`" in line else line for line in lines]).casefold()


def is_foreign_language(text: str) -> bool:
    """Whether the words are of a language whose expressions the rules don't know, as far as can be told."""
    words = text.split()
    if not text.isascii() and any([char > "ɏ" and char.isalpha() for char in text]):
        return True
    return len(words) > _MIN_WORDS and not _ENGLISH_WORDS.intersection(words)
