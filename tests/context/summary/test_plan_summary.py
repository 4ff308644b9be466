"""Summaries: six forms that differ, three lengths that hold, and not a word that the plan does not have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execplan.cli.commands import summarize
from execplan.context.summary.plan_sentences import count_words, first_sentences, split_sentences
from execplan.context.summary.plan_summary import FORMS, Summary, summarize_plan
from execplan.context.summary.summary_pieces import LENGTHS, Segment
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.reader import read
from execplan.core.text.markdown_blocks import HEADING, ITEM, scan_blocks
from tests.context.summary.summary_checks import faults
from tests.plans import CLEAN, with_sections

if TYPE_CHECKING:
    from tests.conftest import Folder
    from tests.in_process_repository import InProcessRepository

CORPUS = Path(os.environ.get("EXECPLAN_CORPUS") or Path(__file__).parents[3].parent / "shared" / "corpus")
NAMES = [length.name for length in LENGTHS]
LONG = with_sections(
    "## Progress\n\n"
    + "".join(
        f"- [x] (2026-01-0{at % 9 + 1} 10:0{at % 10}Z) Carry piece {at} over the bridge, slowly.\n" for at in range(60)
    )
    + "- [ ] Sweep the bridge.\n- [ ] Close it.\n"
)
LONG = LONG.replace(
    "- Decision: ",
    "".join(
        [
            f"- Decision: Take road {at}.\n  Rationale: It is short.\n  Date/Author: 2025-12-0{at} / Ann\n\n"
            for at in range(1, 9)
        ]
    )
    + "- Decision: ",
)
WILD = {
    "clean": CLEAN,
    "long": LONG,
    "no sections": "Only words stand here. They mean little.\n",
    "no Progress": "# Move\n\n## Purpose\n\nWe move house. It is small.\n",
    "conflict": CLEAN.replace("- [ ] Build", "<<<<<<< ours\n- [ ] Build").replace(
        "## Surprises", ">>>>>>> theirs\n\n## Surprises"
    ),
    "tables": "# T\n\n## Purpose\n\n| a | b |\n| - | - |\n| not a sentence. | c |\n\n## Outcomes\n\n| x |\n| - |\n| y |\n",
    "Chinese": "# 目标\n\n## Purpose\n\n让用户导入密钥。它不交给浏览器。\n\n## Progress\n\n- [ ] "
    + "验证实现，" * 200
    + "\n",
    "odd boxes": "# T\n\n## Progress\n\n- [~] Half of it.\n- [-] Given up.\n- [ ]\n- [x] (2026-13-77) Bad date.\n",
    "one word": "# T\n\n## Purpose\n\n" + "a" * 30_000 + "\n\n## Progress\n\n- [ ] " + "b" * 30_000 + "\n",
    "headings": "# T\n\n## Progress\n\n" + "".join(f"### Stage {at}\n\n- [ ] Do {at}.\n" for at in range(300)),
}


def make_summary(content: str, form: str, length: str = "brief") -> Summary:
    """A summary of a plan."""
    plan = read(content.encode())
    return summarize_plan(plan, "2026-01-01_parser", plan.state(), task_ids(plan.tasks), form, length)


def summary_text(content: str, form: str, length: str = "brief") -> str:
    return make_summary(content, form, length).text


@pytest.mark.parametrize("content", WILD.values(), ids=WILD)
def test_each_form_and_length_of_plans_in_the_wild(content: str) -> None:
    plan = read(content.encode())
    for form in FORMS:
        for length in NAMES:
            assert list(faults(plan, make_summary(content, form, length))) == [], (form, length)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus: it is in ../shared/corpus or where EXECPLAN_CORPUS says")
def test_some_real_plans() -> None:
    for path in sorted(CORPUS.rglob("*.md"))[::41]:
        content = path.read_text(encoding="utf-8")
        for form in FORMS:
            for length in NAMES[:2]:
                assert list(faults(read(content.encode()), make_summary(content, form, length))) == [], (
                    path,
                    form,
                    length,
                )


def test_what_is_wrong_is_found() -> None:
    plan, good = read(CLEAN.encode()), make_summary(CLEAN, "report")
    decisions = next(section for section in good.sections if section.name == "decisions")
    changed_piece = decisions.pieces[0]._replace(segments=(Segment("", "Read byte by byte."),))
    text = good.text.replace("Read line by line.", "Read byte by byte.")
    sections = tuple(
        [decisions._replace(pieces=(changed_piece,)) if section is decisions else section for section in good.sections]
    )
    for bad in (
        good._replace(sections=sections, text=text),
        good._replace(text=good.text + "All is well.\n"),
        good._replace(text=good.text.replace("1 of 3 tasks", "2 of 3 tasks")),
        good._replace(max_words=10),
        make_summary("# T\n\n## Purpose\n\nUse `a b`.\n", "report")._replace(word_count=0),
    ):
        assert list(faults(plan, bad))


def test_the_forms_are_different_things() -> None:
    texts = {form: summary_text(LONG, form, "detailed") for form in FORMS}
    assert len(set(texts.values())) == 6
    assert not any(line.startswith(("#", "- ")) for line in texts["summary"].splitlines())
    heads = [line for line in texts["report"].splitlines() if line.startswith("## ")]
    assert heads == [f"## {name}" for name in ("Status", "Done", "Open", "Decisions", "Findings", "Risks", "Outcome")]
    assert heads == [
        line
        for line in summary_text("# T\n\n## Progress\n\n- [ ] Go.\n", "report").splitlines()
        if line.startswith("## ")
    ]
    assert "- [ ] 61. Sweep the bridge. (next: " in texts["itinerary"]
    assert "## Pace\n\n- 60 of 60 completed tasks with a timestamp" in texts["analysis"]
    assert all(": " in line for line in texts["structured"].splitlines())
    names = [line.partition(": ")[0] for line in summary_text("Words.\n", "structured").splitlines()]
    assert names == [line.partition(": ")[0] for line in summary_text(LONG, "structured").splitlines()]
    assert all(line.startswith(("# ", "- ")) or not line for line in texts["bullet_points"].splitlines())


def test_longer_ones_say_more() -> None:
    for form in FORMS:
        sizes = [make_summary(LONG, form, length).word_count for length in NAMES]
        assert sizes == sorted(sizes)
        assert sizes[0] < sizes[2]


def test_what_is_left_out_is_counted() -> None:
    text = summary_text(LONG, "itinerary")
    printed = [line for line in text.splitlines() if line.startswith("- [")]
    left_out = int(text.partition("- and ")[2].partition(" earlier")[0])
    assert left_out + len(printed) == 62
    assert text.index("earlier") < text.index("- [x]")
    assert "and 58 more" in summary_text(LONG, "report")


def test_nothing_is_reported_missing_that_is_only_left_out() -> None:
    for form in ("report", "analysis", "structured"):
        text = summary_text(CLEAN.replace("A task is a line.", "A task is a line, " * 300), form)
        assert "None written down." not in text.partition("Decisions")[2].partition("## Findings")[0]
        assert "last_decision: -" not in text


def test_placeholder_text_is_not_taken() -> None:
    content = CLEAN.replace(
        "A plan can be read and edited without loss.", "Every choice that shaped the work, the moment it is made."
    )
    assert "Every choice" not in "".join([summary_text(content, form, length) for form in FORMS for length in NAMES])
    assert "1 line of placeholder text left" in summary_text(content, "summary")


def test_the_newest_come_first_in_whichever_order_they_stand() -> None:
    for first, last in (("2026-01-01", "2026-02-02"), ("2026-02-02", "2026-01-01")):
        log = "".join([f"- Decision: Made on {day}.\n  Date/Author: {day} / Ann\n" for day in (first, last)])
        text = summary_text(f"# T\n\n## Decision Log\n\n{log}", "summary")
        assert "Last decided: Made on 2026-02-02." in text


def test_pace_is_counted_from_the_timestamps() -> None:
    stamps = ("(2026-01-01 10:00Z)", "(2026-01-01 12:10+02:00)", "(2026-01-01 10:20Z)", "(2026-01-03 10:20Z)")
    tasks = "".join([f"- [x] {stamp} Do {at}.\n" for at, stamp in enumerate(stamps)])
    text = summary_text(f"# T\n\n## Progress\n\n{tasks}", "analysis")
    assert "4 of 4 completed tasks with a timestamp, from 2026-01-01 10:00Z to 2026-01-03 10:20Z, on 2 days." in text
    assert "Usually 10 minutes from one completed task to the next; the longest gap, 2 days, before: Do 3." in text


def test_tasks_completed_in_one_minute_have_no_pace() -> None:
    tasks = "".join([f"- [x] (2026-01-01 10:00Z) Do {at}.\n" for at in range(4)])
    assert "from one completed task" not in summary_text(f"# T\n\n## Progress\n\n{tasks}", "analysis")
    text = summary_text(f"# T\n\n## Progress\n\n{tasks}- [x] (2026-01-01 11:00Z) Do 4.\n", "analysis")
    assert "Mostly no time from one completed task to the next; the longest gap, 60 minutes, before: Do 4." in text


@pytest.mark.parametrize(
    ("words", "cut"),
    [
        ("One. Two? Three!", ["One.", "Two?", "Three!"]),
        ("See e.g. Foo. Then bar.", ["See e.g. Foo.", "Then bar."]),
        ("Version 1.2 of a.b is out. Use it.", ["Version 1.2 of a.b is out.", "Use it."]),
        ("Run `a. B` first. Then `c`.", ["Run `a. B` first.", "Then `c`."]),
        ("Run ``a ` . B`` first. Go.", ["Run ``a ` . B`` first.", "Go."]),
        ("See [the. Page](x.md). Go on.", ["See [the. Page](x.md).", "Go on."]),
        ("**Bold. Still.** Then text.", ["**Bold. Still.**", "Then text."]),
        ("1. First this. Then that.", ["1. First this.", "Then that."]),
        ("第一句。第二句！", ["第一句。", "第二句！"]),
        ("It ends (here.) And goes on.", ["It ends (here.)", "And goes on."]),
        ("... --- ...", []),
    ],
)
def test_sentences(words: str, cut: list[str]) -> None:
    assert split_sentences(words) == cut


def test_no_sentence_is_cut() -> None:
    assert first_sentences("One two. Three four. Five six.", 4) == "One two. Three four."
    assert first_sentences("One two three, four five six. Seven.", 4) == "One two three, four five six."


@pytest.mark.parametrize(
    ("text", "words"), [("- one  two\n", 3), ("a" * 100, 3), ("密钥 x", 3), ("密钥x", 3), ("… — ---", 3), ("", 0)]
)
def test_words_are_counted(text: str, words: int) -> None:
    assert count_words(text) == words


_TEXTS = st.text(alphabet="aB1 .`*_[]()<>#-!|~:。密\u202e\\\t", min_size=1, max_size=200)


@given(_TEXTS, st.lists(_TEXTS, max_size=4), st.sampled_from(NAMES))
def test_any_words(aim: str, tasks: list[str], length: str) -> None:
    lines = "\n".join([f"- [{'x' if at % 2 else ' '}] {task}" for at, task in enumerate(tasks)])
    content = f"# T\n\n## Purpose\n\n{aim}\n\n## Progress\n\n{lines}\n"
    for form, options in FORMS.items():
        result = make_summary(content, form, length)
        assert result.word_count <= result.max_words
        assert "\u202e" not in result.text
        if options.markup:
            blocks = scan_blocks(result.text.splitlines())
            heads = [block for block in blocks if block.kind == HEADING]
            assert len(heads) == sum(line.startswith(("# ", "## ")) for line in result.text.splitlines())
            assert not [block for block in blocks if block.kind == ITEM and block.depth]


def test_words_that_would_open_a_block_are_escaped() -> None:
    text = summary_text("# T\n\n## Purpose\n\n\\# No heading.\n\n## Progress\n\n- [ ] # Neither.\n", "bullet_points")
    assert [block.text for block in scan_blocks(text.splitlines()) if block.kind == HEADING] == ["T"]


def test_no_secret_leaves(repo: Folder) -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    lines = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow" + "IBAAKCAQEA7" * 5 + "\n-----END RSA PRIVATE KEY-----"
    content = CLEAN.replace("# Build the parser", f"# Build with {key}", 1)
    content = content.replace(
        "- [ ] Build the parser.", f"- [ ] Log in with **{key}** and the words hunter-of-nothing."
    )
    content = content.replace("A plan can be read and edited without loss.", f"Use this.\n{lines}\nThen go on.")
    repo.plan(content)
    repo.env["SITE_PASSWORD"] = "hunter-of-nothing"
    for form in FORMS:
        for flags in ((), ("--json",)):
            result = repo.run("summarize", "--as", form, "--length", "comprehensive", *flags)
            assert result.exit == 0
            assert "[redacted]" in result.out
            for secret in (key, "hunter-of-nothing", "MIIEow", "IBAAKCAQEA7"):
                assert secret not in result.out


def test_the_command(repo: Folder) -> None:
    path = repo.plan()
    data = repo.ok("summarize", "--as", "report", "--length", "detailed")
    assert (data["form"], data["length"], data["limit"]) == ("report", "detailed", 350)
    assert data["text"] == repo.run("summarize", "parser", "--as", "report", "--length", "detailed").out
    lines = path.read_text().splitlines()
    for item in [item for section in data["sections"] for item in section["items"]]:
        for quote in item["quotes"]:
            assert quote.rstrip(".") in " ".join(lines[item["line_start"] - 1 : item["line_end"]])
    assert path.read_text() == CLEAN
    assert tuple(FORMS) == summarize.SUMMARY_FORMS
    assert tuple(NAMES) == summarize.LENGTHS


def test_archived_and_broken_plans(repo: Folder) -> None:
    repo.write(".agent/execplans/archive/2026-01-01_parser.md", CLEAN)
    repo.plan(b"# A\0", "2026-01-02_broken")
    assert "The plan is archived: 1 of 3 tasks done, 2 left open" in repo.run("summarize", "parser").out
    refused = repo.run("summarize", "broken", "--json")
    assert refused.exit == repo.run("show", "broken").exit == 3
    assert refused.json["error"]["code"] == "nul-byte"
    warned = CLEAN.replace("- [ ] Build", "<<<<<<< ours\n- [ ] Build").replace(
        "## Surprises", ">>>>>>> x\n\n## Surprises"
    )
    repo.plan(warned, "2026-01-03_both")
    assert "conflict marker" in repo.run("summarize", "both").err


def test_the_same_under_any_hash_seed(repo: Folder) -> None:
    path = repo.plan(LONG)
    code = (
        "import sys; from execplan.core.plan.reader import read; from execplan.core.plan.plan_lookup import task_ids;"
        "from execplan.context.summary.plan_summary import FORMS, summarize_plan;"
        "plan = read(open(sys.argv[1], 'rb').read());"
        "print([summarize_plan(plan, 'x', 'active', task_ids(plan.tasks), form, 'detailed').text for form in FORMS])"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code, str(path)],
            env={**repo.env, "PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": str(Path(__file__).parents[3])},
            capture_output=True,
            check=True,
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    }
    assert len(texts) == 1


@pytest.mark.parametrize("form", FORMS)
def test_of_a_new_plan_nothing_of_the_template_is_quoted(desk: InProcessRepository, form: str) -> None:
    assert desk.type("new", "Build the reader", "--task", "Read lines").exit == 0
    text = desk.type("summarize", "reader", "--as", form, "--length", "comprehensive").out
    assert "up to date" not in text
    assert text
