"""`execplan explain`."""

from __future__ import annotations

from textwrap import fill, wrap

import click

from execplan.cli.answer import Answer, Call
from execplan.cli.verb import completes, verb
from execplan.cli.verbs import VERBS
from execplan.errors import INPUT, ExecplanError
from execplan.lint.rule import BYTES, NONE, OURS, Rule
from execplan.lint.runner import RULES
from execplan.repo import own, pages
from execplan.repo.checking import own_rules


@verb(
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
@click.argument("name", nargs=-1, metavar="[TOPIC|CODE]", shell_complete=completes("page"))
def explain(call: Call, name: tuple[str, ...]) -> Answer:
    """Print a page: about a topic, about what a rule of lint wants, or about what a refusal means.

    Without a name: which pages there are. The code of a refusal is told with --json, and with -v.
    """
    if not name:
        return _index()
    wanted = "-".join(" ".join(name).split()).lower()
    if wanted.isalnum() and not wanted.upper().startswith(OURS):
        own_rules.load(own.rules())
    rule = RULES.get(wanted.upper())
    if rule is not None:
        about = {"code": rule.code, "level": rule.level, "on": rule.on, "needs": rule.needs, "fix": rule.fix}
        return Answer({**about, "page": rule.page}, f"{rule.code} ({_about(rule)})\n\n{_wrapped(rule.page)}")
    refusal = pages.refusals().get(wanted)
    if refusal is not None:
        return Answer(refusal._asdict(), f"{refusal.code} (exit {refusal.exit})\n\n{refusal.page}")
    if wanted in pages.topics():
        page = pages.topic(wanted)
        if wanted == "tools":
            return _tools(call, page)
        return Answer({"topic": wanted, "page": page}, page)
    raise _unknown(wanted)


def _tools(call: Call, page: str) -> Answer:
    """The page about tools, with those that are installed."""
    from execplan.repo import homes
    from execplan.repo.execution import tools

    found = tools.installed(homes.find(call.folder or ".").root).values()
    listed = [{"tool": each.name, "value": each.value, "from": f"{each.distribution} {each.version}"} for each in found]
    lines = [f"    {each['tool']}  {each['value']}, of {each['from']}" for each in listed] or ["    none"]
    return Answer(
        {"topic": "tools", "page": page, "tools": listed}, "\n".join([page, "", "Installed here:", "", *lines])
    )


def _index() -> Answer:
    """Every page in a line or a word."""
    topics, refusals = pages.topics(), pages.refusals()
    width = max(map(len, topics))
    lines = ["Topics: execplan explain TOPIC", ""]
    for name, about in topics.items():
        lead = f"  {name:{width}}  "
        lines += wrap(about, pages.WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead))
    for what, codes in (("Rules of lint", RULES), ("Refusals", refusals)):
        words = fill(
            "  ".join(sorted(codes)), pages.WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )
        lines += ["", f"{what}: execplan explain CODE", "", words]
    data = {
        "topics": [{"topic": name, "about": about} for name, about in topics.items()],
        "rules": [{"code": rule.code, "level": rule.level, "about": rule.sentence} for rule in RULES.values()],
        "refusals": [{"code": each.code, "exit": each.exit, "about": each.sentence} for each in refusals.values()],
    }
    return Answer(data, "\n".join(lines))


def _about(rule: Rule) -> str:
    """Level, whether it runs by default, what it needs and how what it finds is mended."""
    parts = [f"{rule.level}; {rule.unfinished} while tasks are open" if rule.unfinished else rule.level]
    if not rule.on:
        parts.append("off by default")
    if rule.needs != BYTES:
        parts.append(f"needs the {rule.needs}")
    if rule.fix != NONE:
        parts.append(f"{rule.fix} fix")
    return ", ".join(parts)


def _wrapped(page: str) -> str:
    """A page whose paragraphs fit; examples stay as they are."""
    prose, mark, examples = page.partition("\nBad")
    return (
        "\n\n".join([fill(each, pages.WIDTH) for each in prose.split("\n\n")])
        + ("\n" if mark else "")
        + mark
        + examples
    )


def _unknown(wanted: str) -> ExecplanError:
    """The refusal of a name that has no page, with the nearest that have one."""
    from difflib import get_close_matches

    known = {
        **{code.lower(): f"{code}  {rule.sentence}" for code, rule in RULES.items()},
        **{code: f"{code}  {each.sentence}" for code, each in pages.refusals().items()},
        **{name: f"{name}  {about}" for name, about in pages.topics().items()},
    }
    near = get_close_matches(wanted, known, n=3, cutoff=0.6)
    hint = "see what there is: execplan explain"
    if wanted in VERBS:
        hint = f"what the verb does: execplan {wanted} --help"
    elif near:
        hint = "name one of these, or see what there is: execplan explain"
    message = f"there is no page about {wanted!r}"
    return ExecplanError("no-such-page", message, exit=INPUT, hint=hint, candidates=[known[each] for each in near])


command = explain
