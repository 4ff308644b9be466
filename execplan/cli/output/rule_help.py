"""The help of a lint rule as `explain` prints it: what kind of rule it is, its reason, and its examples."""

from __future__ import annotations

import re
from textwrap import fill
from typing import TYPE_CHECKING, Final

from execplan.cli.output.help_topics import PAGE_WIDTH
from execplan.linter.rule import CLOCK, COMMIT, HISTORY, NO_FIX, PROJECT, TREE

if TYPE_CHECKING:
    from execplan.linter.rule import Rule

_EXAMPLE_HEADING: Final = re.compile(r"^[A-Z][a-z]+(?: \(.*\))?:\n {4}", re.MULTILINE)
"""Heading of an example in the help of a rule, such as `Bad (archived):`, with the beginning of the example."""
_NEEDS: Final = {
    CLOCK: "compares with the current time",
    TREE: "reads files of the repository",
    HISTORY: "reads git's history",
    COMMIT: "reads the committed plan",
    PROJECT: "checks a project",
}
"""What a rule reads in addition to the plan, for people."""
EXAMPLE_FACTS: Final = {
    "absent": "no file contains {}",
    "archived": "archived",
    "changed": "changed since: {}",
    "comment": "an open comment on {}",
    "commits": "the commit changes {}",
    "cycle": "the plans wait for each other: {}",
    "evidence": "its evidence has another digest",
    "form": "name = {}",
    "has": "the repository has {}",
    "names": "the plan names {}",
    "now": "now: {}",
    "outdated": "the index {} differs from this plan",
    "path": "{}",
    "same-id": "also {}",
    "shipped": "{}",
    "unknown": "there is no plan {}",
}
"""Facts in the headings of examples, for people; others are for tests."""


def format_rule(rule: Rule) -> str:
    """Format the help of a rule, with its paragraphs wrapped."""
    return f"{rule.code} ({_describe_rule(rule)})\n\n{_wrap_page(rule.help_text)}"


def _describe_rule(rule: Rule) -> str:
    """Describe a rule: its level, whether it is on by default, what it requires, and the kind of its fix."""
    attributes = [f"{rule.level}; {rule.unfinished} while tasks are open" if rule.unfinished else rule.level]
    if not rule.on:
        attributes.append("off by default")
    if rule.needs in _NEEDS:
        attributes.append(_NEEDS[rule.needs])
    if rule.fix != NO_FIX:
        attributes.append(f"{rule.fix} fix")
    return ", ".join(attributes)


def _wrap_page(page: str) -> str:
    """Wrap the paragraphs of a rule's help; its examples stay as they are."""
    heading = _EXAMPLE_HEADING.search(page)
    start = heading.start() if heading is not None else len(page)
    paragraphs = page[:start].strip("\n").split("\n\n")
    prose = [fill(paragraph, PAGE_WIDTH, break_on_hyphens=False) for paragraph in paragraphs]
    examples = _EXAMPLE_HEADING.sub(_describe_example, page[start:])
    return "\n\n".join([*prose, *([examples] if heading is not None else [])])


def _describe_example(heading: re.Match[str]) -> str:
    """Return the heading of an example with its facts in words: `Bad (the repository has src/reader.py):`."""
    kind, parenthesis, facts_text = heading[0].rpartition(":")[0].partition(" (")
    facts = [fact.partition(" ") for fact in facts_text.removesuffix(")").split(", ")]
    descriptions = [EXAMPLE_FACTS[name].format(value) for name, _, value in facts if name in EXAMPLE_FACTS]
    return f"{kind} ({'; '.join(descriptions)}):\n    " if parenthesis and descriptions else f"{kind}:\n    "
