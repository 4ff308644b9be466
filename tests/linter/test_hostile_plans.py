"""Plans of 100 KB that nobody wrote by hand: all rules come to an end, and the work grows with the text, not with its square."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, takewhile

import pytest

from execplan.core.plan import outline, reader
from execplan.linter import destructive_commands, plan_paths, plan_source
from execplan.linter.rule import RULES, Finding, RuleContext
from execplan.linter.rule_facts import RepositoryTree
from execplan.linter.runner import MAX_FINDINGS, lint_bytes
from tests.linter.single_rule import clock

SIZE = 100_000
LEVELS = {code: rule.level for code, rule in RULES.items()}


def repeated(piece: str) -> str:
    """A piece again and again."""
    return piece * (SIZE // len(piece))


def numbered(make_piece: Callable[[int], str]) -> str:
    """Pieces that differ by their number."""
    sizes = iter(range(0, SIZE, len(make_piece(100))))
    return "".join([make_piece(at) for at, _ in enumerate(sizes)])


def plan_text(section: str, text: str) -> str:
    return f"# Build the parser\n\n## {section}\n\n{text}\n"


def all_findings(text: str) -> list[Finding]:
    """What all rules find, those that are off included, in a repository that has no file."""
    facts = RuleContext(
        path="plans/x.md",
        name_format="{date}_{slug}",
        clock=clock("2026-11-22 00:00Z"),
        tree=RepositoryTree(lambda kind, subject: ""),
    )
    return lint_bytes(text.encode(), facts, LEVELS)


def fenced(lines: str) -> str:
    return f"```sh\n{lines}\n```"


@pytest.mark.parametrize(
    ("section", "text"),
    [
        (outline.STEPS, repeated("\\`` `")),
        (outline.STEPS, "``" + repeated("\\`")),
        (outline.STEPS, "``" + repeated("\\") + "`"),
        (outline.STEPS, " ".join(["`" * size for size in takewhile(lambda size: size < 440, count(1))])),
        (outline.STEPS, repeated("`")),
        (outline.STEPS, fenced(repeated("sudo "))),
        (outline.STEPS, fenced(repeated("A=1 "))),
        (outline.STEPS, fenced(repeated("rm -x '\n"))),
        (outline.STEPS, fenced("rm -r '" + repeated("x"))),
        (outline.STEPS, numbered(lambda at: f"```sh {{#a{at} needs=b{at} task=c}}\nd\n```\n")),
        (outline.STEPS, "```sh {#a}\n" + repeated("b | c\n") + "```"),
        (outline.STEPS, "```sh {#a}\n" + repeated("b|") + "\n```"),
        (outline.CONTEXT, numbered(lambda at: f"`a{at}/b.py` ")),
        (outline.CONTEXT, numbered(lambda at: f"- `a/b{at}.py`\n")),
        (outline.CONTEXT, repeated("".join([f"`a/b{at}.py` " for at in range(200)]) + "\n")),
        (outline.CONTEXT, repeated("".join([f"`a/new{at}.py` " for at in range(200)]) + "\n")),
        (outline.CONTEXT, repeated("[a](b%20c.md) ")),
        (outline.PROGRESS, repeated("<!-- execplan: ignore EP202 -->\n- [x] Build it.\n\n")),
        (outline.PROGRESS, repeated("<!-- execplan: ignore file EP -->\n") + repeated("- [x] Build it.\n")),
        (outline.PROGRESS, "<!-- execplan: ignore " + numbered(lambda at: f"EP{at} ") + "-->\n- [x] Build it.\n"),
        ("Decisions " + repeated("()"), "None yet."),
        ("Decisions " + repeated(")"), "None yet."),
        (outline.DECISIONS, numbered(lambda at: f"- Decision: a\n  Date/Author: {1000 + at}-02-30 / b\n")),
    ],
)
def test_all_rules_come_to_an_end(section: str, text: str) -> None:
    findings = all_findings(plan_text(section, text))
    assert len([finding for finding in findings if finding.code != "EP010"]) <= (MAX_FINDINGS + 1) * len(RULES)


def test_a_run_of_backticks_is_closed_by_the_next_of_its_length() -> None:
    plan = reader.read(b"``a`b`` \\``c` ``\\`d``e \\`f` g`\n")
    assert [span.text for span in plan_source.PlanSource(plan).code_spans] == ["a`b", "c", "\\`d", "g"]


def test_a_paragraph_is_joined_once_for_all_its_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered_kinds = []
    render = plan_source._render

    def counted(kind: str, lines: list[str]) -> list[str] | None:
        rendered_kinds.append(kind)
        return render(kind, lines)

    monkeypatch.setattr(plan_source, "_render", counted)
    source = plan_source.PlanSource(reader.read(("`a/b.py` x" * 50 + "\n").encode() * 150))
    assert all([source.is_code_span(span) for span in source.code_spans])
    assert rendered_kinds == ["codes"]


def test_what_stands_near_a_line_is_read_once_for_all_the_paths_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    read = plan_paths.MissingPathExcuses._read_context

    def counted(self: plan_paths.MissingPathExcuses, at: int) -> str:
        reads.append(at)
        return read(self, at)

    monkeypatch.setattr(plan_paths.MissingPathExcuses, "_read_context", counted)
    names = "".join([f"`a/b{at}.py` " for at in range(300)])
    all_findings(plan_text(outline.CONTEXT, f"{names}\n" * 20))
    assert 0 < len(reads) == len(set(reads)) <= 20


def test_no_more_commands_are_taken_apart_than_a_person_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed_commands = []
    describe_loss = destructive_commands.describe_loss

    def counted(command: str) -> str:
        parsed_commands.append(command)
        return describe_loss(command)

    monkeypatch.setattr(destructive_commands, "describe_loss", counted)
    all_findings(plan_text(outline.STEPS, fenced(repeated("rm -x '\n"))))
    assert 0 < len(parsed_commands) <= 500


@pytest.mark.parametrize("prompt", ["", "$ ", "% ", "PS> ", "❯ ", "➜ "])
def test_a_command_is_read_behind_every_prompt(prompt: str) -> None:
    assert (
        destructive_commands.describe_loss(f"{prompt}rm -r data")
        == destructive_commands.describe_loss(f"{prompt}rm -r 'data'")
        == "`rm -r` deletes the directory"
    )


def test_the_first_hundred_impossible_dates_are_told() -> None:
    text = plan_text(outline.DECISIONS, numbered(lambda at: f"- Decision: a\n  Date/Author: {1000 + at}-02-30 / b\n"))
    years = [finding.message.partition("-")[0] for finding in all_findings(text) if finding.code == "EP203"]
    assert years[:MAX_FINDINGS] == [str(1000 + at) for at in range(MAX_FINDINGS)]


def test_closing_parentheses_go_in_one_pass() -> None:
    assert outline.split_title("Decisions (a) (b (c)") == ("Decisions (a) (b", ["(c)"])
    assert outline.split_title("Decisions (a) (b)") == ("Decisions", ["(a)", "(b)"])
    assert outline.split_title("(a)") == ("", ["(a)"])
    assert outline.split_title(") )") == (") )", [])


def test_a_comment_hides_the_next_block_behind_other_comments() -> None:
    comments = "<!-- execplan: ignore EP301 -->\n\n<!-- execplan: ignore EP202 EP202 -->\n\n"
    text = plan_text(outline.PROGRESS, f"{comments}- [x] Read lines.\n\nText.\n\n- [x] Build it.")
    codes = [(finding.code, finding.line) for finding in all_findings(text) if finding.code in ("EP010", "EP202")]
    assert codes == [("EP010", 5), ("EP202", 13)]
