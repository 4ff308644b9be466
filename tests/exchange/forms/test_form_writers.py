"""What a plan becomes in the forms of other programs, and what is reported as lost."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET
import zipfile
from html.parser import HTMLParser

import pytest
import yaml

from execplan.core.plan import reader
from execplan.exchange.exchange_plan import ExportedFiles
from execplan.exchange.form_names import WRITERS
from execplan.exchange.form_registry import write_form
from execplan.exchange.plan_cleaning import clean_plan
from execplan.exchange.plan_reading import read_plan

PLAN = """\
---
owner: Ann
tags: [core]
---
# Build the "line" parser <script>alert(1)</script>

This ExecPlan is a living document. Keep it up to date.

## Purpose / Big Picture

Plans can be *read*; see [the page](docs/page.md), [the web](https://example.org/?a=1&b) and [no](javascript:alert(1)).

## Progress

### Milestone 1

- [x] (2025-12-30 09:15Z) Read `lines`. ([#7](https://github.com/o/r/issues/7))
  - Details: assignee Ann; priority high; due 2026-02-01; labels api, ui
- [ ] Build the parser. (id: A-2)
  - Check: `make test`
  - Details: needs #7, X-9
  - [~] Blocks
    - [ ] Ends

### Milestone 2

- [-] Given up

## Surprises & Discoveries

None yet.

## Plan of Work

Read lines first.

1. First
2. Second ~~no~~

| a | b |
|---|---|
| `x` | 2 |

> quoted

## Concrete Steps

```sh {#see inputs=greet.py}
cat greet.py  # <&>
```

<!-- only for authors -->

## Validation and Acceptance

- [ ] It works.
"""


def _export(form: str, text: str = PLAN) -> ExportedFiles:
    cleaned = clean_plan(reader.parse(text))
    exported = write_form(form, cleaned.plan, read_plan(cleaned.plan, "2026-01-01_parser", "Untitled"))
    return exported._replace(losses=(*cleaned.losses, *exported.losses))


def _text(form: str, text: str = PLAN) -> str:
    return _export(form, text).files[""].decode()


CLEANED = ("attributes of steps are left out: 1 code block", "comments are left out: 1")


def test_markdown_is_the_plan_without_what_only_execplan_reads() -> None:
    expected = PLAN.partition("---\n# ")[2].replace(" {#see inputs=greet.py}", "")
    expected = expected.replace("This ExecPlan is a living document. Keep it up to date.\n\n", "")
    expected = expected.replace("<!-- only for authors -->\n\n", "").replace(
        "## Surprises & Discoveries\n\nNone yet.\n\n", ""
    )
    assert _text("markdown") == f"# {expected}"
    assert _export("markdown").losses == (*CLEANED, "no place for front matter")


def test_a_plan_without_title_gets_one() -> None:
    assert _text("markdown", "## Tasks\n\n- [ ] Read\n").startswith("# Untitled\n\n## Tasks\n")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_one_safe_page() -> None:
    page = _Tags()
    page.feed(_text("html"))
    assert not {"script", "img", "iframe", "link"} & set(page.tags)
    assert page.links == ["https://example.org/?a=1&b", "https://github.com/o/r/issues/7"]
    assert 'Build the "line" parser <script>alert(1)</script>' in page.text
    assert "in the repository: docs/page.md" in page.text
    assert "cat greet.py  # <&>" in page.text
    assert "{#see" not in page.text
    assert page.tags.count("h1") == 1


def test_docx_is_an_archive_of_xml() -> None:
    exported = _export("docx")
    assert exported == _export("docx")  # byte for byte
    archive = zipfile.ZipFile(io.BytesIO(exported.files[""]))
    assert archive.testzip() is None
    for name in archive.namelist():
        ET.fromstring(archive.read(name))


def test_another_program_reads_the_docx() -> None:
    docx = pytest.importorskip("docx")
    exported = _export("docx")
    document = docx.Document(io.BytesIO(exported.files[""]))
    paragraphs = [(paragraph.style.name, paragraph.text) for paragraph in document.paragraphs]
    assert paragraphs[0] == ("Heading 1", 'Build the "line" parser <script>alert(1)</script>')
    assert ("Heading 3", "Milestone 1") in paragraphs
    assert ("Normal", "☑ (2025-12-30 09:15Z) Read lines. (#7)") in paragraphs
    assert ("Normal", "☐ Build the parser. (id: A-2)") in paragraphs
    assert ("Normal", "1. First") in paragraphs
    assert ("Code Block", "cat greet.py  # <&>") in paragraphs
    assert [[cell.text for cell in row.cells] for row in document.tables[0].rows] == [["a", "b"], ["x", "2"]]
    links = [link.address for paragraph in document.paragraphs for link in paragraph.hyperlinks]
    assert links == ["https://example.org/?a=1&b", "https://github.com/o/r/issues/7"]


def test_an_issue_has_a_task_list() -> None:
    issue = json.loads(_text("github-issues"))
    assert set(issue) == {"title", "body", "labels"}
    assert issue["labels"] == ["core"]
    assert issue["body"].startswith("Plans can be *read*")
    assert "## Tasks\n\n### Milestone 1\n\n- [x] (2025-12-30 09:15Z) Read `lines`." in issue["body"]
    assert "- [x] ~~Given up~~\n" in issue["body"]
    assert "- ☐ It works." in issue["body"]
    assert _export("github-issues").losses == (*CLEANED, "in progress becomes open: 'Blocks'")


def test_an_issue_is_not_longer_than_github_takes() -> None:
    exported = _export("github-issues", f"# A\n\n## Progress\n\n- [ ] Read\n\n## Plan of Work\n\n{'word ' * 20_000}\n")
    assert len(json.loads(exported.files[""])["body"]) <= 65_536
    assert exported.losses == ("the body is cut at 65,536 characters, the most that GitHub takes",)


def test_backlog_has_a_file_for_each_task() -> None:
    exported = _export("backlog")
    tasks = {}
    for path, content in exported.files.items():
        front, _, body = content.decode().removeprefix("---\n").partition("\n---\n")
        tasks[path] = (yaml.safe_load(front), body)
    assert [path for path in exported.files if "tasks" in path] == [
        "backlog/tasks/task-1 - read-lines.md",
        "backlog/tasks/task-2 - build-the-parser.md",
        "backlog/tasks/task-2.1 - blocks.md",
        "backlog/tasks/task-2.2 - ends.md",
        "backlog/tasks/task-3 - given-up.md",
    ]
    first, build, blocks, _, dropped, document = tasks.values()
    assert first[0] | {"created_date": ""} == {
        "id": "TASK-1", "title": "Read `lines`.", "status": "Done", "assignee": ["@Ann"], "created_date": "",
        "labels": ["api", "ui"], "dependencies": [], "priority": "high", "ordinal": 1000,
        "references": ["https://github.com/o/r/issues/7"],
    }  # fmt: skip
    assert (build[0]["dependencies"], build[1]) == (["TASK-1"], "\n## Description\n\n- Check: `make test`\n")
    assert (blocks[0]["parent_task_id"], blocks[0]["status"]) == ("TASK-2", "In Progress")
    assert (dropped[0]["status"], dropped[0]["labels"]) == ("Done", ["dropped"])
    assert "## Plan of Work\n\nRead lines first." in document[1]
    assert exported.losses == (
        *CLEANED,
        "no place for due dates: #7",
        "no place for dates of completion: #7",
        "no place for sub-headings of tasks: #7, A-2, 'Given up'",
        "no place for IDs of another program: #7, A-2",
        "X-9, which a task waits for, is not part of the plan",
        "parts of parts are parts of the whole task",
        "dropped tasks are Done, with the label 'dropped'",
    )


def test_openspec_has_a_change() -> None:
    exported = _export("openspec")
    files = {path.rpartition("/")[2]: content.decode() for path, content in exported.files.items()}
    assert set(files) == {".openspec.yaml", "proposal.md", "tasks.md", "design.md"}
    assert "## Why\n\nPlans can be *read*" in files["proposal.md"]
    assert "## What Changes\n\nRead lines first." in files["proposal.md"]
    assert "## Validation and Acceptance" in files["design.md"]
    assert files["tasks.md"].startswith("## 1. Milestone 1\n\n- [x] 1.1 Read `lines`.")
    assert "\n- [ ] 1.3 Blocks\n- [ ] 1.4 Ends\n\n## 2. Milestone 2\n\n- [x] 2.1 ~~Given up~~\n" in files["tasks.md"]


def test_superpowers_has_numbered_tasks() -> None:
    text = _text("superpowers")
    assert "\n**Goal:** Plans can be *read*" in text
    assert "\n**Architecture:** see below.\n\n**Tech Stack:** not stated.\n\n---\n\n## Plan of Work\n" in text
    assert "\n### Task 1: Milestone 1\n\n- [x] (2025-12-30 09:15Z) Read `lines`." in text
    assert "\n### Task 2: Milestone 2\n\n- [x] ~~Given up~~\n" in text
    assert "- ☐ It works." in text


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize(
    "text",
    [
        "# A\n",
        "## Tasks\n\n| Task | Status |\n|---|---|\n| Read | done |\n",
        "# A\n\n### Phase 1: Read\n\n**Status:** done\n\n### Phase 2: Write\n\n**Status:** open\n",
        "- [ ] a\n- [x] b\n",
        "\ufeff# A\r\n\r\n## Progress\r\n\r\n* [ ] a\r\n",
        "# A\n\n## Progress\n\n- [ ] a\n\n```\nnever closed\n",
        "# 日本 🎉\n\n## Progress\n\n1. [ ] 読む\n",
    ],
)
def test_every_plan_has_every_form(form: str, text: str) -> None:
    exported = _export(form, text)
    assert exported.files
    assert all(exported.files.values())
