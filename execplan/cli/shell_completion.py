"""Shell completion: the scripts for shells, and the candidates for each kind of argument."""

from __future__ import annotations

import os
from collections.abc import Iterable

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

from execplan.cli.plan_arguments import PLAN_FLAG
from execplan.core.errors import ExecplanError
from execplan.core.plan import outline
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan_store import plan_selection, plan_store
from execplan.core.project import project_discovery

PLAN, TASK, SECTION, TEMPLATE, PAGE, RULE, INTEGRATION = "plan task section template page rule integration".split()
"""Kinds of arguments that can be completed."""


class _Bash(BashComplete):
    """Click's script for bash, changed to quote candidates if needed, because section names have spaces."""

    source_template = BashComplete.source_template.replace("read type value", "read -r type value").replace(
        "COMPREPLY+=($value)",
        "if [[ ${COMP_WORDS[COMP_CWORD]} != [\\\"\\']* && $value == *[!a-zA-Z0-9_.,:/@+=-]* ]]; then\n"
        "                printf -v value '%%q' \"$value\"\n"
        "            fi\n"
        '            COMPREPLY+=("$value")',
    )


class _Fish(FishComplete):
    """Click's script for fish, changed so that candidates and descriptions are not cut at a comma."""

    source_template = FishComplete.source_template.replace('string split "," ', 'string split -m 1 "," ')


def completion_script(group: click.Command, shell: str) -> str:
    """Return the completion script of a shell."""
    kind: type[ShellComplete] = {"bash": _Bash, "zsh": ZshComplete, "fish": _Fish}[shell]
    return ShellComplete.source(kind(group, {}, "execplan", "_EXECPLAN_COMPLETE"))


def completion_candidates(
    kind: str, ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the candidates of a kind that match the input; none if they can't be read."""
    directory = os.path.abspath(ctx.params.get("folder") or ctx.find_root().params.get("folder") or "")
    try:
        if kind == PLAN:
            return _plans(directory, incomplete)
        if kind == TASK:
            return _tasks(directory, ctx, incomplete)
        if kind == SECTION:
            return _sections(directory, ctx, incomplete)
        if kind == TEMPLATE:
            return _templates(directory, incomplete)
    except (ExecplanError, OSError):
        return []
    if kind == PAGE:
        return _help_topics(incomplete)
    if kind == RULE:
        return _rules(incomplete)
    return _integrations(ctx, param, incomplete)


def _plans(directory: str, incomplete: str) -> list[CompletionItem]:
    """Return plan IDs, archived ones last; if none matches, the shell completes files."""
    ids = [
        CompletionItem(ref.id)
        for ref in plan_store.all_refs(project_discovery.find(directory))
        if ref.id.startswith(incomplete)
    ]
    return ids or [CompletionItem(incomplete, type="file")]


def _tasks(directory: str, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return task IDs, or numbers after a digit: unfinished tasks, or the others for `reopen`."""
    plan = _plan(directory, ctx)
    tasks = plan.tasks if plan is not None else []
    named_tasks = [
        (str(task.number) if incomplete.isdigit() else name, task)
        for task, name in zip(tasks, task_ids(tasks), strict=True)
        if task.is_unfinished == (ctx.info_name != "reopen")
    ]
    return [CompletionItem(name, help=task.text) for name, task in named_tasks if name.startswith(incomplete)]


def _sections(directory: str, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return the plan's sections, or the format's if no plan is known; with `--create` also the missing ones."""
    try:
        plan = _plan(directory, ctx)
    except ExecplanError:  # the plan option may come later on the command line
        plan = None
    if plan is None:
        return _matching_items(((name, None) for name in outline.NAMES), incomplete)
    titles = [section.title for section in plan.sections]
    if ctx.params.get("create"):
        existing_names = {section.name for section in plan.sections}
        titles += [name for name in outline.NAMES if name not in existing_names]
    return _matching_items(((title, None) for title in dict.fromkeys(titles)), incomplete)


def _plan(directory: str, ctx: click.Context) -> ParsedPlan | None:
    """Load the plan that the command line names, or the default."""
    return plan_store.load(
        *plan_selection.select_plan(directory, ctx.params.get("plan") or ctx.params.get(PLAN_FLAG))
    ).plan


def _templates(directory: str, incomplete: str) -> list[CompletionItem]:
    from execplan.core.scaffold import plan_templates

    return _matching_items(
        (
            (template.name, template.about)
            for template in plan_templates.list_templates(project_discovery.find(directory))
        ),
        incomplete,
    )


def _help_topics(incomplete: str) -> list[CompletionItem]:
    """Return help topics and rule codes; the many error codes only after a first letter."""
    from execplan.cli.output import help_topics
    from execplan.linter.runner import RULES

    entries = [*help_topics.topic_summaries().items(), *((rule.code, rule.summary) for rule in RULES.values())]
    if incomplete:
        entries += [(error_page.code, error_page.sentence) for error_page in help_topics.error_help_by_code().values()]
    return _matching_items(entries, incomplete)


def _rules(incomplete: str) -> list[CompletionItem]:
    """Return rule codes; after a comma those that are not yet in the list."""
    from execplan.linter.runner import RULES

    prefix, comma, last_code = incomplete.rpartition(",")
    used_codes = prefix.upper().split(",")
    entries = [(rule.code, rule.summary) for rule in RULES.values() if rule.code not in used_codes]
    return [CompletionItem(prefix + comma + item.value, help=item.help) for item in _matching_items(entries, last_code)]


def _integrations(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the integrations that the command line does not name yet."""
    from execplan.agents.integrations import INTEGRATIONS

    used_names = ctx.params.get(param.name or "") or ()
    return _matching_items(
        ((name, about) for name, about in INTEGRATIONS.items() if name not in used_names), incomplete
    )


def _matching_items(entries: Iterable[tuple[str, str | None]], incomplete: str) -> list[CompletionItem]:
    """Return the entries that begin with the input, ignoring case."""
    prefix = incomplete.casefold()
    return [CompletionItem(name, help=about) for name, about in entries if name.casefold().startswith(prefix)]
