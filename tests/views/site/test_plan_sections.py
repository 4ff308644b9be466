"""Sections of a plan as HTML: tasks, decisions, and everything else in its place."""

from __future__ import annotations

from execplan.core.plan import reader
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.text.markdown_html import ResolvedLink
from execplan.views.board.board_cards import TaskClaim
from execplan.views.site.plan_sections import RenderedPlan, render_content
from tests.plans import CLEAN
from tests.views.site.html_safety import Page

PLAN = """\
---
owner: ann
---

# Build the parser

Intro with a [link][spec].

## Progress

Some prose.

### First part

- [x] (2025-12-30 09:15Z) Read `lines`.
  - [transcript](runs/1.md)
- [ ] Build the parser.
  - [ ] Build the scanner.
- [!] Blocked.

### Notes

Not a task.

## Decision Log

Before the log.

- Decision: Read line by line.
  Rationale: A task is a **line**.
  Date/Author: 2025-12-30 / Ann
- Decision: Use this code.

  ```sh
  make
  ```

## Other

### A heading

##### Deep

[spec]: https://a.example/spec
"""


def render(text: str, claims: dict[str, TaskClaim] | None = None) -> RenderedPlan:
    """Render a plan whose links all lead to where they say."""
    return render_content(reader.read(text.encode()), ResolvedLink, claims or {})


def test_tasks_have_their_fields_and_notes() -> None:
    tasks = render(PLAN).sections[0].tasks
    assert [(task.number, task.state, task.depth, task.heading) for task in tasks] == [
        (1, "done", 0, "First part"),
        (2, "open", 0, ""),
        (3, "open", 1, ""),
        (4, "other", 0, ""),
    ]
    assert tasks[0].text == "Read <code>lines</code>."
    assert tasks[0].timestamp == "2025-12-30 09:15Z"
    assert 'href="runs/1.md"' in tasks[0].notes
    assert not tasks[1].notes
    assert tasks[3].mark == "!"


def test_the_rest_of_progress_is_kept_once() -> None:
    body = Page(str(render(PLAN).sections[0].body)).text
    assert body == "Some prose. Notes Not a task."


def test_decisions_have_their_fields_and_code_stays_code() -> None:
    section = render(PLAN).sections[1]
    first, second = section.decisions
    assert (first.text, first.rationale) == ("Read line by line.", "A task is a <strong>line</strong>.")
    assert (first.date, first.author) == ("2025-12-30", "Ann")
    assert "<pre><code>make\n</code></pre>" in second.text
    assert Page(str(section.body)).text == "Before the log."


def test_a_list_in_a_rationale_is_a_list() -> None:
    section = render(
        PLAN.replace("A task is a **line**.", "Two reasons:\n  - it is **fast**\n  - it is small")
    ).sections[1]
    rationale = section.decisions[0].rationale
    assert rationale.startswith("<p>Two reasons:</p>\n<ul>")
    assert "<li>it is <strong>fast</strong></li>" in rationale
    assert Page(rationale).text == "Two reasons: it is fast it is small"


def test_attributes_of_steps_are_shown_as_facts() -> None:
    """Those of other programs, and damaged ones, stay as they are written."""
    blocks = {
        "sh {#build timeout=60 check}": "Step build timeout 60 check",
        "sh {exit=1}": "Step exit 1",
        "text {expect}": "Expected output",
        "{execution max-steps=20}": "Settings of runs max steps 20",
        "sh {example}": "Example",
        "python {linenos=true}": "python {linenos=true}",
        "sh {#build timeout=60": "sh {#build timeout=60",
    }
    for info, facts in blocks.items():
        body = render(f"# Plan\n\n## Context\n\n```{info}\nmake\n```\n").sections[0].body
        caption = body[body.index("<p") : body.index("<pre")]
        assert Page(caption).text == facts


def test_front_matter_introduction_and_definitions() -> None:
    content = render(PLAN)
    assert content.front_matter == "owner: ann"
    assert content.introduction == '<p>Intro with a <a href="https://a.example/spec" rel="noreferrer">link</a>.</p>\n'


def test_anchors_are_those_of_the_plan_and_headings_have_no_gap() -> None:
    sections = render(PLAN).sections
    assert [section.anchor for section in sections] == ["section-progress", "section-decision-log", "section-other"]
    assert '<h3 id="section-a-heading">' in sections[2].body
    assert '<h4 id="section-deep">' in sections[2].body


def test_claims_are_shown_at_their_tasks() -> None:
    plan = reader.read(PLAN.encode())
    task_id = task_ids(plan.tasks)[1]
    claim = TaskClaim(2, task_id, "Build the parser.", "ann", "2026-01-01 02:00Z")
    tasks = render(PLAN, {task_id: claim}).sections[0].tasks
    assert [task.claimed_by for task in tasks] == ["", "ann", "", ""]


def test_nothing_of_a_plan_is_lost() -> None:
    """All words of a plan without markup are on its page, except the words of labels."""
    content = render(CLEAN)
    parts: list[str] = [content.introduction]
    for section in content.sections:
        parts += [section.title, section.body]
        parts += [part for task in section.tasks for part in (task.text, task.timestamp, task.notes)]
        parts += [part for item in section.decisions for part in (item.text, item.rationale, item.date, item.author)]
    text = Page(" ".join(map(str, parts))).text
    words = {word.strip("`()#-*:.,") for word in CLEAN.split()}
    page_words = {word.strip("`()#-*:.,") for word in text.split()}
    assert words - page_words <= {
        "Build",
        "the",
        "parser",
        "Decision",
        "Rationale",
        "Date/Author",
        "x",
        "[",
        "]",
        "[x]",
        "",
        "/",
    }


def test_text_below_a_second_title_is_shown() -> None:
    for second in ("# Second title", "Second title\n============"):
        plan = f"# Plan\n\n## Purpose\n\na\n\n{second}\n\nlost\n\n### Sub\n\n## Progress\n\n- [ ] b\n\n# Third\n\nend\n"
        purpose, progress = render(plan).sections
        assert "Second title</h3>" in purpose.body
        assert "<p>lost</p>" in purpose.body
        assert "Sub</h3>" in purpose.body
        assert [task.text for task in progress.tasks] == ["b"]
        assert "<p>end</p>" in progress.body


def test_a_title_after_a_section_is_not_repeated() -> None:
    (section,) = render("## Purpose\n\na\n\n# Title\n\nb\n").sections
    assert "<p>b</p>" in section.body
    assert "Title" not in section.body
