"""The `execplan explain` command."""

from __future__ import annotations

from textwrap import fill, wrap

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.command_definition import complete_with, define_command
from execplan.cli.commands import COMMANDS
from execplan.errors import INPUT, ExecplanError
from execplan.linter.checking import custom_rules
from execplan.linter.rule import BUILTIN_PREFIX, BYTES, NO_FIX, Rule
from execplan.linter.runner import RULES
from execplan.project import help_topics, user_settings
from execplan.text.suggestions import closest_names


@define_command(
    reads="nothing.",
    writes="nothing.",
    examples=(
        "execplan explain",
        "execplan explain format",
        "execplan explain exit codes",
        "execplan explain EP109",
        "execplan explain no-such-task --json",
    ),
)
@click.argument("name", nargs=-1, metavar="[TOPIC|CODE]", shell_complete=complete_with("page"))
def explain(call: Call, name: tuple[str, ...]) -> Answer:
    """Explain a topic, a rule of lint or an error code.

    Without a name, lists all topics and codes. Errors show their code with --json and with -v.
    """
    if not name:
        return _index_answer()
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
    refusal = help_topics.error_help_by_code().get(page_name)
    if refusal is not None:
        return Answer(refusal._asdict(), f"{refusal.code} (exit {refusal.exit})\n\n{refusal.page}")
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


def _index_answer() -> Answer:
    """List all topics and codes."""
    topics, refusals = help_topics.topic_summaries(), help_topics.error_help_by_code()
    width = max(map(len, topics))
    lines = ["Topics: execplan explain TOPIC", ""]
    for name, about in topics.items():
        lead = f"  {name:{width}}  "
        lines += wrap(about, help_topics.PAGE_WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead))
    for heading, codes in (("Lint rules", RULES), ("Refusals", refusals)):
        codes_text = fill(
            "  ".join(sorted(codes)),
            help_topics.PAGE_WIDTH,
            initial_indent="  ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
        lines += ["", f"{heading}: execplan explain CODE", "", codes_text]
    data = {
        "topics": [{"topic": name, "about": about} for name, about in topics.items()],
        "rules": [{"code": rule.code, "level": rule.level, "about": rule.summary} for rule in RULES.values()],
        "refusals": [
            {"code": refusal.code, "exit": refusal.exit, "about": refusal.sentence} for refusal in refusals.values()
        ],
    }
    return Answer(data, "\n".join(lines))


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
    """Wrap the paragraphs of a page; examples stay as they are."""
    prose, mark, examples = page.partition("\nBad")
    return (
        "\n\n".join([fill(paragraph, help_topics.PAGE_WIDTH) for paragraph in prose.split("\n\n")])
        + ("\n" if mark else "")
        + mark
        + examples
    )


def _unknown_page_error(page_name: str) -> ExecplanError:
    """Return the error for an unknown topic or code, with similar names."""
    descriptions = {
        **{code.lower(): f"{code}  {rule.summary}" for code, rule in RULES.items()},
        **{code: f"{code}  {refusal.sentence}" for code, refusal in help_topics.error_help_by_code().items()},
        **{name: f"{name}  {about}" for name, about in help_topics.topic_summaries().items()},
    }
    similar_names = closest_names(page_name, descriptions)
    hint = "list all topics and codes: execplan explain"
    if page_name in COMMANDS:
        hint = f"see the help of the command: execplan {page_name} --help"
    elif similar_names:
        hint = "use one of these, or list all topics and codes: execplan explain"
    message = f"unknown topic or code {page_name!r}"
    return ExecplanError(
        "no-such-page", message, exit=INPUT, hint=hint, candidates=[descriptions[name] for name in similar_names]
    )


explain.may_page = True
command = explain
