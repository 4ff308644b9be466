"""Help topics, rules and errors as `explain` prints them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from textwrap import fill, wrap
from typing import Final

from execplan.core.errors import EXIT_MEANINGS
from execplan.core.named_tuple import NamedTuple
from execplan.core.project import builtin_templates, settings_file
from execplan.core.project.project_settings import Settings
from execplan.execution.attributes import Attribute
from execplan.linter.rule import CLOCK, COMMIT, HISTORY, NO_FIX, PROJECT, TREE, Rule

_TOPICS_DIR = "explain"
_ERRORS_PAGE = "errors"
_SETTINGS_MARK = "{settings: "
"""Begin of the mark in a page for which the settings of a table are filled in."""
PAGE_WIDTH = 80
"""Maximum width of a help topic."""
_DIALECT_WIDTH = 19
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


class ErrorHelp(NamedTuple):
    """Help text for an error code."""

    code: str
    exit: int
    page: str

    @property
    def sentence(self) -> str:
        """Return the meaning of the code in one sentence."""
        return _first_sentence(self.page)


def topic_summaries() -> dict[str, str]:
    """Return a one-sentence summary of each topic by its name."""
    names = sorted(os.listdir(os.path.join(builtin_templates.directory(), _TOPICS_DIR)))
    stems = [name.removesuffix(".md") for name in names if name != f"{_ERRORS_PAGE}.md"]
    return {name: _first_sentence(topic_text(name)) for name in stems}


def topic_text(name: str) -> str:
    """Return the text of an existing topic without a final line ending."""
    generated = {
        "attributes": _attribute_lines,
        "dialects": _dialect_lines,
        "exit-codes": _exit_code_lines,
        "settings": _settings_lines,
    }.get(name)
    page = builtin_templates.read_text(os.path.join(_TOPICS_DIR, f"{name}.md")).rstrip("\n")
    head, *parts = page.split(_SETTINGS_MARK)
    for table, _, rest in [part.partition("}") for part in parts]:
        head += "\n    ".join(settings_file.describe_settings(table)) + rest
    page = head
    return "\n".join([page, "", *generated()]) if generated else page


def error_help_by_code() -> dict[str, ErrorHelp]:
    """Return the help for each error code, parsed from sections such as `## code (exit 3)`."""
    by_code = {}
    for chunk in builtin_templates.read_text(os.path.join(_TOPICS_DIR, f"{_ERRORS_PAGE}.md")).split("\n## ")[1:]:
        head, _, page = chunk.partition("\n")
        code, _, status = head.removesuffix(")").partition(" (exit ")
        by_code[code] = ErrorHelp(code, int(status), page.strip("\n"))
    return by_code


def _first_sentence(page: str) -> str:
    """Return the first sentence of a help topic, regardless of line breaks, and of an example that it introduces."""
    paragraph = " ".join(page.split("\n\n", 1)[0].split())
    return paragraph.split(". ", 1)[0].rstrip(".:") + "."


def _attribute_lines() -> list[str]:
    """Return lines with every attribute of a step and of a plan, its meaning, and the values and step types it accepts."""
    from execplan.execution.annotations.annotated_steps import LAST_STEP_ATTRIBUTES
    from execplan.execution.attributes import ATTRIBUTES, PLAN_ATTRIBUTES

    last_step_names = f"{', '.join(LAST_STEP_ATTRIBUTES[:-1])} and {LAST_STEP_ATTRIBUTES[-1]}"
    return [
        *_attribute_table(ATTRIBUTES),
        "",
        *_wrap_prose(
            f"In a code block with several commands, {last_step_names} apply to the last command, "
            "needs to the first, and all others to each command."
        ),
        "",
        *_wrap_prose(
            "A plan can have one code block marked {execution} in Concrete Steps or in Validation and "
            "Acceptance. Its attributes set how the whole plan runs; its content is for readers:"
        ),
        "",
        *_attribute_table(PLAN_ATTRIBUTES),
    ]


def _attribute_table(attributes: Sequence[Attribute]) -> list[str]:
    """Return lines with attributes and their descriptions in two columns."""
    from execplan.execution.annotations.step_problems import ATTRIBUTE_TYPES
    from execplan.execution.attributes import COUNT

    rows = []
    for attribute in attributes:
        name = "#id" if attribute.name == "id" else attribute.name
        description = attribute.about
        if attribute.choices:
            description += f" Values: {', '.join(attribute.choices)}."
        if attribute.limits is not None:
            unit = f" {attribute.kind}" if attribute.kind != COUNT else ""
            description += " From {:,} to {:,}{}.".format(*attribute.limits, unit)
        if attribute.name in ATTRIBUTE_TYPES:
            description += f" Types: {', '.join(ATTRIBUTE_TYPES[attribute.name])}."
        rows.append((name, description))
    return two_columns(rows)


def two_columns(rows: Sequence[tuple[str, str]], width: int = 0) -> list[str]:
    """Return lines with names and their descriptions; names with hyphens are not broken.

    The first column is as wide as the longest name, or at least `width`.
    """
    width = max(width, *[len(name) for name, _ in rows])
    lines = []
    for name, text in rows:
        lead = f"  {name:{width}}  "
        lines += wrap(text, PAGE_WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead), break_on_hyphens=False)
    return lines


def _wrap_prose(text: str) -> list[str]:
    """Return the lines of a paragraph; names with hyphens are not broken."""
    return wrap(text, PAGE_WIDTH, break_on_hyphens=False)


def _dialect_lines() -> list[str]:
    """Return lines with every dialect and its plans directories."""
    from execplan.core.project.plan_dialects import load_dialects

    rows = []
    for dialect in load_dialects():
        places = (*dialect.all_directories, *dialect.files)
        text = f"{dialect.about}. In {', '.join(places[:6])}{', …' if len(places) > 6 else ''}"
        if dialect.required_lines:
            text += f". Its guide demands {', '.join(dialect.required_lines)}"
        rows.append((dialect.name, text))
    return two_columns(rows, _DIALECT_WIDTH)


def _exit_code_lines() -> list[str]:
    """Return lines with every exit status and its meaning."""
    return two_columns([(f"{code:>3}", meaning) for code, meaning in EXIT_MEANINGS.items()])


def _settings_lines() -> list[str]:
    """Return lines with every setting, its default and its description."""
    lines = []
    for chunk in settings_file.render_settings(Settings()).decode().split("\n\n")[1:]:
        *about, setting = [line.removeprefix("# ") for line in chunk.strip("\n").split("\n")]
        lines += [
            setting,
            *wrap(" ".join(about), PAGE_WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False),
        ]
    return lines


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
