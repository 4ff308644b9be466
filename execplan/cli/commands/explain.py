"""The `execplan explain` command."""

from __future__ import annotations

import os
from collections.abc import Iterable
from textwrap import fill
from typing import Final

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, define_command
from execplan.cli.commands import COMMANDS
from execplan.cli.option_rules import excludes, option_rules
from execplan.cli.output import help_topics
from execplan.cli.output.help_topics import format_rule, two_columns
from execplan.core.errors import ExecplanError
from execplan.core.project import user_settings
from execplan.core.text.message_parts import align_descriptions, format_count
from execplan.core.text.suggestions import closest_names
from execplan.linter.checking import custom_rules
from execplan.linter.rule import BUILTIN_PREFIX
from execplan.linter.runner import RULES

_NAMES_BY_TOPIC: Final = {
    "agents": "claims",
    "dialects": "backlog kiro layout openspec",
    "exit-codes": "exit exit-status",
    "format": "plan plans sections states",
    "handoff": "report",
    "ledger": "audit audit-log log stats",
    "lint": "rules",
    "policy": "evaluate sandbox",
    "runs": "resume rollback",
    "session": "checkpoint prime",
    "settings": "config configuration",
    "signatures": "approvers signers ssh",
    "steps": "compile",
    "summaries": "summarize",
    "templates": "placeholder placeholders",
}
TOPIC_SYNONYMS: Final = {name: topic for topic, names in _NAMES_BY_TOPIC.items() for name in names.split()}
"""Names by which people look for a topic."""
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
    may_page=True,
)
@click.argument("name", nargs=-1, metavar="[TOPIC|CODE]", shell_complete=complete_with("page"))
@click.option("--codes", is_flag=True, help="List the lint rules and the error codes instead of the topics.")
@option_rules(excludes("--codes", "TOPIC|CODE", reason="lists all codes"))
def explain(call: Call, name: tuple[str, ...], *, codes: bool) -> Answer:
    """Explain a topic, a lint rule or an error code.

    Without a name, lists the topics; --codes lists the lint rules and the error codes; --json lists all. To see the code
    of an error, repeat the command with -v or --json.
    """
    if not name:
        return _index_answer(codes=codes)
    page_name = "-".join(" ".join(name).split()).lower()
    error_help = help_topics.error_help_by_code().get(page_name)
    is_known = page_name in help_topics.topic_summaries() or page_name in TOPIC_SYNONYMS or error_help is not None
    if not is_known and page_name.isalnum() and not page_name.upper().startswith(BUILTIN_PREFIX):
        custom_rules.load_rules(user_settings.rules())  # not for other names: the settings may be what needs a fix
    rule = RULES.get(page_name.upper())
    if rule is not None:
        rule_fields = {"code": rule.code, "level": rule.level, "on": rule.on, "needs": rule.needs, "fix": rule.fix}
        return Answer(
            {**rule_fields, "page": rule.help_text},
            format_rule(rule),
        )
    if error_help is not None:
        return Answer(error_help._asdict(), f"{error_help.code} (exit {error_help.exit})\n\n{error_help.page}")
    if page_name in help_topics.topic_summaries():
        page = help_topics.topic_text(page_name)
        if page_name == "tools":
            return _tools_answer(call, page)
        if page_name == "dialects":
            return _dialects_answer(call, page)
        return Answer({"topic": page_name, "page": page}, page)
    raise _unknown_page_error(page_name)


def _tools_answer(call: Call, page: str) -> Answer:
    """Return the help topic about tools, with the installed ones."""
    from execplan.core.project import project_discovery
    from execplan.execution.approvals import tool_discovery

    installed_tools = tool_discovery.find_tools(project_discovery.find(call.folder or ".").root).values()
    tools_json = [
        {"tool": tool.name, "value": tool.entry_point, "from": f"{tool.distribution} {tool.version}"}
        for tool in installed_tools
    ]
    lines = [f"    {tool['tool']}  {tool['value']}, from {tool['from']}" for tool in tools_json] or ["    none"]
    return Answer(
        {"topic": "tools", "page": page, "tools": tools_json}, "\n".join([page, "", "Installed here:", "", *lines])
    )


def _dialects_answer(call: Call, page: str) -> Answer:
    """Return the help topic about dialects, with those of the project's plans directories."""
    from execplan.core.plan_store import plan_store
    from execplan.core.project import project_discovery
    from execplan.core.project.plan_dialects import dialect_of, iter_matches
    from execplan.core.project.project_settings import SETTINGS_FILE

    project = project_discovery.find(call.folder or ".")
    members = project_discovery.with_nested_projects(project) if project.exists else []
    directories, lines = [], []
    for member in members:
        directory, count = member.display_path(member.plans), len(plan_store.all_refs(member))
        own = member.settings.dialects
        dialect = dialect_of(directory, own).name
        why, later = "no dialect has this directory", []
        if matches := list(iter_matches(directory, own)):
            why, later = f"has {matches[0].directory}", [match.dialect.name for match in matches[1:]]
        if later:
            why += f", before {', '.join(later)}"
        if dialect in own:
            why += ", as the settings say"
        directories.append({"directory": directory, "dialect": dialect, "plans": count, "why": why})
        lines.append(f"  {directory}: {dialect} ({why}), {format_count(count, 'plan')}")
    roles = {
        member.display_path(os.path.join(member.base, SETTINGS_FILE)): member.settings.roles
        for member in members
        if member.settings.roles
    }
    lines += [
        f"  {', '.join(map(repr, titles))}: {role}, as {file} says"
        for file, titles_by_role in roles.items()
        for role, titles in titles_by_role.items()
    ]
    project_lines = ["", "Here:", "", *lines] if lines else ["", "Here: no project; set it up: execplan init"]
    return Answer(
        {"topic": "dialects", "page": page, "directories": directories, "roles": roles},
        "\n".join([page, *project_lines]),
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
    lines = ["Topics: execplan explain TOPIC", "", *two_columns([*topics.items()])]
    return [*lines, "", "Codes of lint rules and errors: execplan explain --codes"]


def _code_lines(errors: Iterable[str]) -> list[str]:
    """Return lines with the rules and what they find, and with the codes of the errors."""
    rule_lines = two_columns([(code, RULES[code].summary) for code in sorted(RULES)])
    error_codes = fill(
        "  ".join(sorted(errors)),
        help_topics.PAGE_WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
    return ["Lint rules: execplan explain CODE", "", *rule_lines, "", "Errors: execplan explain CODE", "", error_codes]


def _unknown_page_error(page_name: str) -> ExecplanError:
    """Return the error for an unknown topic or code, with similar names."""
    descriptions = {
        **{code.lower(): (code, rule.summary) for code, rule in RULES.items()},
        **{code: (code, error.sentence) for code, error in help_topics.error_help_by_code().items()},
        **{name: (name, about) for name, about in help_topics.topic_summaries().items()},
    }
    topic = TOPIC_SYNONYMS.get(page_name)
    similar_names = [topic] if topic else closest_names(page_name, descriptions)
    hint = _UNKNOWN_HINT
    if page_name in COMMANDS:
        hint = f"see the help of the command: execplan {page_name} --help"
        if similar_names:
            hint = f"use one of these, or {hint}"
    elif similar_names:
        hint = f"use one of these, or {_UNKNOWN_HINT}"
    message = f"unknown topic or code {page_name.upper() if page_name.startswith('ep') else page_name!r}"
    return ExecplanError(
        "no-such-page",
        message,
        hint=hint,
        candidates=align_descriptions([descriptions[name] for name in similar_names]),
    )
