"""EP1 rules about names: file name, title and plan ID."""

from __future__ import annotations

from execplan.core.plan import outline
from execplan.core.plan.name_pattern import matches_pattern
from execplan.linter.rule import TREE, WARNING, RuleContext, RuleMatch, on_line, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.core.plan.model import ParsedPlan

_FORMAT_WORDS = frozenset("exec execplan execplans execution plan plans implementation".split())
_FILLER_WORDS = _FORMAT_WORDS | frozenset(
    (
        "a action an changes codex description design dev development do doc docs document draft feature file for "
        "heading important living master md misc my name new of one oriented our placeholder project proposal short "
        "some something spec specification stuff task tasks tbd template text the things title todo to untitled wip "
        "work your"
    ).split()
)
"""Words that add no information to a title."""


@rule("EP111", WARNING, needs=TREE, in_archive=False)
def nonstandard_file_name(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The plan's file name doesn't match the format in the settings.

    Plans are sorted and found by their names. `execplan rename` names a plan after its title; the setting `name`
    changes the format for all plans. An archived plan keeps the name by which others know it.

    Bad (path .agent/execplans/parser.md, form {date}_{slug}):
        # Build the parser

        This ExecPlan is a living document.
    Good (path .agent/execplans/2025-12-30_parser.md, form {date}_{slug}):
        # Build the parser

        This ExecPlan is a living document.
    """
    if context.path and context.name_format:
        name = plan_id(context)
        if not matches_pattern(context.name_format, name, any_slug=True):
            yield on_line(
                plan,
                max(plan.title_line, 0),
                f"the plan's name {name} doesn't match the format {context.name_format}",
            )


@rule("EP112", WARNING)
def uninformative_title(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The title doesn't say what will be done.

    A list of plans shows only their titles. A title is reported if it consists of words such as `ExecPlan`, `Plan`
    and `Feature` and a number, has only one word besides them, is the name of a section, or is a placeholder. Any
    more informative title is accepted, with or without a verb.

    Bad:
        # ExecPlan: Parser

        This ExecPlan is a living document.
    Good:
        # Build the parser

        This ExecPlan is a living document.
    """
    if plan.title and plan.title_line not in plan.placeholder_lines:
        reason = _uninformative_reason(plan.title)
        if reason:
            yield on_line(plan, plan.title_line, f"{reason}; say what will be done, for example `# Build the parser`")


@rule("EP113", WARNING)
def multiple_titles(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """The plan has more than one title.

    A heading with one `#` starts a separate document: the section above ends there, and the text that follows
    belongs to none. In a plan, it is usually a part that needs `##` or `###`, a plan pasted below another, or a
    comment of a command outside a code block.

    Bad:
        ## Plan of Work

        Write the scanner, then the reader.

        # The reader

        It reads what the scanner finds.
    Good:
        ## Plan of Work

        Write the scanner, then the reader.

        ### The reader

        It reads what the scanner finds.
    """
    for block in context.source.headings:
        if (
            block.level == 1
            and not block.depth
            and block.start != plan.title_line
            and not outline.canonical_name(block.text)
        ):
            yield on_line(plan, block.start, f"a second title; the plan's title is on line {plan.title_line + 1}")


@rule("EP114", WARNING, needs=TREE)
def duplicate_plan_id(plan: ParsedPlan, context: RuleContext) -> Iterator[RuleMatch]:
    """Another plan has the same ID.

    The ID is ambiguous, and both plans share one artifacts directory. Change one of the IDs with `execplan rename`.

    Bad (path .agent/execplans/2025-12-30_parser.md, same-id .agent/execplans/archive/2025-12-30_parser.md):
        # Build the parser

        This ExecPlan is a living document.
    Good (path .agent/execplans/2025-12-30_parser.md):
        # Build the parser

        This ExecPlan is a living document.
    """
    other_path = context.tree.plan_with_same_id(context.path) if context.tree is not None and context.path else ""
    if other_path:
        yield on_line(plan, 0, f"{other_path} has the same ID")


def plan_id(context: RuleContext) -> str:
    """Return the plan's ID; the file name for a plan outside a project."""
    return context.id or context.path.rpartition("/")[2].removesuffix(".md")


def _uninformative_reason(title: str) -> str:
    """Return the reason why a title is uninformative; empty if that is uncertain."""
    bare = title.strip("*_` ")
    if bare in outline.NAMES:
        return "the title is the name of a section"
    inner = bare.strip("<[{}]>")
    if bare[:1] in ("<", "[", "{") and bare[-1] in ">]}" and not any([char in inner for char in "<[{}]>"]):
        return "the title is a placeholder"
    spaced = bare.replace(":", " ").replace("：", " ").replace("-", " ").replace("_", " ")
    words = [word.strip(".,;()[]<>*`\"'–—").casefold() for word in spaced.split()]
    words = [word for word in words if any([char.isalnum() for char in word])]
    while words and words[0].isdecimal():
        words.pop(0)
    informative_words = [word for word in words if word not in _FILLER_WORDS and not word.isdecimal()]
    if not informative_words or (len(informative_words) == 1 and _is_plan_number(informative_words[0], bare)):
        return "the title is uninformative"
    specific_words = [word for word in words if word not in _FORMAT_WORDS]
    if (
        len(specific_words) == 1
        and specific_words[0].isalpha()
        and specific_words[0].isascii()
        and not bare.startswith("Plan ")
    ):
        return "the title has only one specific word"
    return ""


def _is_plan_number(word: str, title: str) -> bool:
    """Return whether a word is the prefix of a numbered plan, such as EP in EP-0012."""
    suffix = title.casefold().partition(word)[2]
    return (
        len(word) < 5 and word.isascii() and suffix[:1] in tuple("-_0123456789") and not suffix.strip("-_ 0123456789:.")
    )
