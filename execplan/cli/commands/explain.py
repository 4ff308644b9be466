"""The `execplan explain` command."""

from __future__ import annotations

import re
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Final

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, define_command
from execplan.cli.commands import COMMANDS
from execplan.errors import INPUT, USAGE, ExecplanError
from execplan.linter.checking import custom_rules
from execplan.linter.rule import BUILTIN_PREFIX, BYTES, NO_FIX, Rule
from execplan.linter.runner import RULES
from execplan.project import help_topics, user_settings
from execplan.text.suggestions import closest_names

if TYPE_CHECKING:
    from collections.abc import Iterable

_EXAMPLE_HEADING: Final = re.compile(r"^[A-Z][a-z]+(?: \(.*\))?:\n {4}", re.MULTILINE)
"""Heading of an example in the help of a rule, such as `Bad (archived):`, with the beginning of the example."""
_UNKNOWN_HINT: Final = "list the topics: execplan explain; list the codes: execplan explain --codes"


@define_command(
    reads="nothing.",
    writes="nothing.",
    examples=(
        "execplan explain",
        "execplan explain format",
        "execplan explain exit codes",
        "execplan explain --codes",
        "execplan explain EP109",
        "execplan explain no-such-task --json",
    ),
)
@click.argument("name", nargs=-1, metavar="[TOPIC|CODE]", shell_complete=complete_with("page"))
@click.option("--codes", is_flag=True, help="List the lint rules and the error codes instead of the topics.")
def explain(call: Call, name: tuple[str, ...], *, codes: bool) -> Answer:
    """Explain a topic, a lint rule or an error code.

    Without a name, lists the topics; --codes lists the codes of the lint rules and errors, and --json both. Errors show
    their code with --json and with -v.
    """
    if name and codes:
        message = "--codes lists all codes, so it can't be combined with a topic or a code"
        raise ExecplanError("usage", message, exit=USAGE, hint="omit one of them")
    if not name:
        return _index_answer(codes=codes)
    page_name = "-".join(" ".join(name).split()).lower()
    if page_name.isalnum() and not page_name.upper().startswith(BUILTIN_PREFIX):
        custom_rules.load_rules(user_settings.rules())
    rule = RULES.get(page_name.upper())
    if rule is not None:
        rule_fields = {"code": rule.code, "level": rule.level, "on": rule.on, "needs": rule.needs, "fix": rule.fix}
        return Answer(
            {**rule_fields, "page": rule.help_text},
            f"{rule.code} ({_describe_rule(rule)})\n\n{_wrap_page(rule.help_text)}",
        )
    error_help = help_topics.error_help_by_code().get(page_name)
    if error_help is not None:
        return Answer(error_help._asdict(), f"{error_help.code} (exit {error_help.exit})\n\n{error_help.page}")
    if page_name in help_topics.topic_summaries():
        page = help_topics.topic_text(page_name)
        if page_name == "tools":
            return _tools_answer(call, page)
        return Answer({"topic": page_name, "page": page}, page)
    raise _unknown_page_error(page_name)


def _tools_answer(call: Call, page: str) -> Answer:
    """Return the help topic about tools, with the installed ones."""
    from execplan.approvals import tool_discovery
    from execplan.project import project_discovery

    installed_tools = tool_discovery.find_tools(project_discovery.find(call.folder or ".").root).values()
    tools_json = [
        {"tool": tool.name, "value": tool.entry_point, "from": f"{tool.distribution} {tool.version}"}
        for tool in installed_tools
    ]
    lines = [f"    {tool['tool']}  {tool['value']}, from {tool['from']}" for tool in tools_json] or ["    none"]
    return Answer(
        {"topic": "tools", "page": page, "tools": tools_json}, "\n".join([page, "", "Installed here:", "", *lines])
    )


def _index_answer(*, codes: bool) -> Answer:
    """List all topics, or all codes of rules and errors. The data has both."""
    topics, errors = help_topics.topic_summaries(), help_topics.error_help_by_code()
    data = {
        "topics": [{"topic": name, "about": about} for name, about in topics.items()],
        "rules": [{"code": rule.code, "level": rule.level, "about": rule.summary} for rule in RULES.values()],
        "refusals": [{"code": error.code, "exit": error.exit, "about": error.sentence} for error in errors.values()],
    }
    return Answer(data, "\n".join(_code_lines(errors) if codes else _topic_lines(topics)))


def _topic_lines(topics: dict[str, str]) -> list[str]:
    """Return lines with each topic and its summary."""
    width = max(map(len, topics))
    lines = ["Topics: execplan explain TOPIC", ""]
    for name, about in topics.items():
        lead = f"  {name:{width}}  "
        lines += wrap(
            about,
            help_topics.PAGE_WIDTH,
            initial_indent=lead,
            subsequent_indent=" " * len(lead),
            break_on_hyphens=False,
        )
    return [*lines, "", "Codes of lint rules and errors: execplan explain --codes"]


def _code_lines(errors: Iterable[str]) -> list[str]:
    """Return lines with the codes of the rules and of the errors."""
    lines: list[str] = []
    for heading, names in (("Lint rules", RULES), ("Errors", errors)):
        codes_text = fill(
            "  ".join(sorted(names)),
            help_topics.PAGE_WIDTH,
            initial_indent="  ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
        lines += [*([""] if lines else []), f"{heading}: execplan explain CODE", "", codes_text]
    return lines


def _describe_rule(rule: Rule) -> str:
    """Describe a rule: its level, whether it is on by default, what it requires, and the kind of its fix."""
    attributes = [f"{rule.level}; {rule.unfinished} while tasks are open" if rule.unfinished else rule.level]
    if not rule.on:
        attributes.append("off by default")
    if rule.needs != BYTES:
        attributes.append(f"needs the {rule.needs}")
    if rule.fix != NO_FIX:
        attributes.append(f"{rule.fix} fix")
    return ", ".join(attributes)


def _wrap_page(page: str) -> str:
    """Wrap the paragraphs of a rule's help; its examples stay as they are."""
    heading = _EXAMPLE_HEADING.search(page)
    start = heading.start() if heading is not None else len(page)
    paragraphs = page[:start].strip("\n").split("\n\n")
    prose = [fill(paragraph, help_topics.PAGE_WIDTH, break_on_hyphens=False) for paragraph in paragraphs]
    return "\n\n".join([*prose, *([page[start:]] if heading is not None else [])])


def _unknown_page_error(page_name: str) -> ExecplanError:
    """Return the error for an unknown topic or code, with similar names."""
    descriptions = {
        **{code.lower(): f"{code}  {rule.summary}" for code, rule in RULES.items()},
        **{code: f"{code}  {error.sentence}" for code, error in help_topics.error_help_by_code().items()},
        **{name: f"{name}  {about}" for name, about in help_topics.topic_summaries().items()},
    }
    similar_names = closest_names(page_name, descriptions)
    hint = _UNKNOWN_HINT
    if page_name in COMMANDS:
        hint = f"see the help of the command: execplan {page_name} --help"
    elif similar_names:
        hint = f"use one of these, or {_UNKNOWN_HINT}"
    message = f"unknown topic or code {page_name.upper() if page_name.startswith('ep') else page_name!r}"
    return ExecplanError(
        "no-such-page", message, exit=INPUT, hint=hint, candidates=[descriptions[name] for name in similar_names]
    )


explain.may_page = True
command = explain
