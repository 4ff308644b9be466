"""The examples of the rules' pages, as tests read them, and the facts that stand in their headings.

`Bad (archived, path plans/a.md, now 2026-03-01 12:00Z, has src/a.py src/b.py):` says where the plan lies, what time it is and
which files there are; `form {slug}` how plans are named; all rules have a clock at the end of 2026 and a repository without files else. A page of a rule
that needs history has `Before:`, what the plan was when it was committed; `changed A B` and `absent A B` are the rest.
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from execplan.core.plan import reader
from execplan.core.timestamps import minute_bounds, read_timestamp
from execplan.linter.rule import GIT_NEEDS, PROJECT
from execplan.linter.rule_facts import Clock, GitHistory, OutdatedIndex, ProjectFacts, RepositoryTree, ShippedWork
from execplan.linter.runner import ERROR, RULES, RuleContext, lint_bytes, lint_project
from tests.plans import with_sections

KINDS = ("Before", "Bad", "Good", "Fixed")
_ESCAPES = {"\\0": "\0", "\\r": "\r", "\\x20": " ", "\\u200b": "\u200b"}
"""What examples write so that it can be seen."""
_DEFAULT_NOW = "2026-12-31 00:00Z"


class Example(NamedTuple):
    """An example of a page."""

    text: str
    context: RuleContext
    project_facts: ProjectFacts | None = None
    """Of a rule about a home."""


def examples(code: str, kind: str) -> Example:
    """An example of a rule's page."""
    lines = RULES[code].help_text.split("\n")
    start = next(at for at, line in enumerate(lines) if line.startswith(kind))
    end = next((at for at in range(start + 1, len(lines)) if lines[at].startswith(KINDS)), len(lines))
    text = textwrap.dedent("\n".join(lines[start + 1 : end])).strip("\n") + "\n"
    if RULES[code].needs == PROJECT:
        return Example(text, RuleContext(), _project_facts(text.split(), lines[start]))
    for escape, character in _ESCAPES.items():
        text = text.replace(escape, character)
    return Example(text, _rule_context(code, lines[start]))


def _project_facts(paths: list[str], heading: str) -> ProjectFacts:
    """The home of an example: `names` are the paths that its plans name, `commits` those that the next commit changes."""
    facts = _heading_facts(heading)
    plans = [path for path in paths if path.endswith(".md")]
    folders = [path.rstrip("/") for path in paths if path.endswith("/")]
    names = {path: path.rsplit("/", 1)[-1].removesuffix(".md") for path in [*plans, *folders]}
    commits = facts.get("commits", "").split()
    return ProjectFacts(
        tuple(names[path] for path in plans),
        tuple((names[path], path) for path in folders),
        tuple(commits),
        any(path in commits for path in plans),
        tuple((path, frozenset(facts.get("names", "").split())) for path in plans),
        outdated_indexes=tuple(
            OutdatedIndex(path, 0, ("2026-01-01_parser",)) for path in facts.get("outdated", "").split()
        ),
    )


def _heading_facts(heading: str) -> dict[str, str]:
    """The facts that stand in a heading."""
    facts: dict[str, str] = {}
    if "(" in heading:
        for fact in heading[heading.index("(") + 1 : heading.rindex(")")].split(", "):
            name, _, value = fact.partition(" ")
            facts[name] = value
    return facts


def _rule_context(code: str, heading: str) -> RuleContext:
    """The facts of an example."""
    facts = _heading_facts(heading)
    known_names = "archived at-home path form now has ends same-id evidence changed absent was comment unknown cycle shipped".split()
    unknown = facts.keys() - set(known_names)
    assert not unknown, f"{code}: what is {unknown}?"
    stamp = read_timestamp(facts.get("now", _DEFAULT_NOW))
    span = minute_bounds(stamp) if stamp is not None else None
    assert span is not None

    def answer(kind: str, subject: str) -> object:
        if kind in ("same-id", "evidence"):
            return facts.get(kind, "")
        if kind in ("dependency", "need", "cycle"):
            return facts.get("cycle", "") if kind == "cycle" else "no such plan" * (facts.get("unknown") == subject)
        if kind == "comments":
            return (("c7f3k", "Ann", "task", facts["comment"], 1, 1, "Which one?"),) if "comment" in facts else ()
        paths = [*facts.get("has", "").split(), "src/reader.py"]  # which the clean plan names
        if kind == "has":
            return any(f"{path}/".startswith(f"{subject}/") for path in paths)
        return any(f"/{path}".endswith(f"/{subject}") for path in [*paths, *facts.get("ends", "").split()])

    history = None
    if RULES[code].needs in GIT_NEEDS:
        has_before = "\nBefore" in RULES[code].help_text
        plan_before = (
            reader.read(plan_bytes(examples(code, "Before")))
            if has_before and not heading.startswith("Before")
            else None
        )
        archived = "archived" in facts.get("was", "")
        changed, absent = facts.get("changed", "").split(), facts.get("absent", "").split()
        shipped = ShippedWork(facts["shipped"], "execplan done 2") if "shipped" in facts else None
        history = GitHistory(plan_before, facts.get("path", ""), archived, tuple(changed), frozenset(absent), shipped)
    return RuleContext(
        is_archived="archived" in facts,
        in_project="at-home" in facts,
        path=facts.get("path", ""),
        name_format=facts.get("form", ""),
        clock=Clock(span[0]),
        tree=RepositoryTree(answer),
        history=history,
    )


def plan_bytes(example: Example) -> bytes:
    """A plan that holds the example: its sections, or its head, in place of the clean plan's own; or the example alone."""
    head = "\n## " not in example.text and "living" in example.text
    text = with_sections(example.text) if head or example.text.startswith("## ") else example.text
    return text.encode()


def finding_codes(example: Example, data: bytes) -> list[str]:
    """The codes of what all rules find, also those that are off by default."""
    if example.project_facts is not None:
        return [finding.code for _, finding in lint_project(example.project_facts, dict.fromkeys(RULES, ERROR))]
    return [
        finding.code
        for finding in lint_bytes(data, example.context, {code: rule.level for code, rule in RULES.items()})
    ]
