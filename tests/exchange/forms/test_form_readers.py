"""What the files of other programs say, by form; each form is recognized by its content."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from execplan.core.errors import ExecplanError
from execplan.exchange.exchange_plan import BEGUN, DONE, DROPPED, OPEN, ExchangePlan, ExchangeTask
from execplan.exchange.form_names import READERS
from execplan.exchange.form_registry import read_form, recognize
from execplan.exchange.source_file import SourceFile


def _read(name: str, content: str | bytes, form: str) -> ExchangePlan:
    source = SourceFile(name, content if isinstance(content, bytes) else content.encode())
    assert recognize(source) == form
    return read_form(form, source)


def _outline(plan: ExchangePlan) -> list[tuple[int, str, str, str]]:
    return [(task.depth, task.id, task.state, task.text) for task in plan.tasks]


BEADS: list[dict[str, Any]] = [
    {"id": "bd-2", "title": "Parse lines", "issue_type": "task", "status": "closed", "priority": 1,
     "closed_at": "2026-01-02T10:11:12.123456+01:00", "labels": ["core"], "assignee": "ann",
     "dependencies": [{"issue_id": "bd-2", "depends_on_id": "bd-1", "type": "parent-child"}]},
    {"id": "bd-1", "title": "Parser", "issue_type": "epic", "status": "in_progress", "priority": 0,
     "description": "All of it.", "design": "By line.", "external_ref": "https://example.org/1"},
    {"id": "bd-3", "title": "Write", "issue_type": "task", "status": "open",
     "dependencies": [{"issue_id": "bd-3", "depends_on_id": "bd-2", "type": "blocks"}]},
    {"id": "bd-4", "title": "Deleted", "issue_type": "task", "status": "tombstone"},
]  # fmt: skip


def test_beads() -> None:
    plan = _read("issues.jsonl", "\n".join(map(json.dumps, BEADS)) + "\n", "beads")
    assert _outline(plan) == [
        (0, "bd-1", BEGUN, "Parser"),
        (1, "bd-2", DONE, "Parse lines"),
        (0, "bd-3", OPEN, "Write"),
    ]
    parser, parse, write = plan.tasks
    assert (parser.link, parser.notes) == ("https://example.org/1", "> All of it.\n>\n> Design: By line.")
    assert (parse.done_at, parse.priority, parse.labels, parse.assignee) == (
        "2026-01-02 09:11Z",
        "P1",
        ("core",),
        "ann",
    )
    assert write.needs == ("bd-2",)


def test_beads_that_contain_each_other_stand_alone() -> None:
    issues = [
        {
            "id": name,
            "title": name,
            "issue_type": "task",
            "dependencies": [{"depends_on_id": of, "type": "parent-child"}],
        }
        for name, of in (("a", "b"), ("b", "a"), ("c", "a"))
    ]
    plan = _read("issues.jsonl", "\n".join(map(json.dumps, issues)), "beads")
    assert [(task.id, task.depth) for task in plan.tasks] == [("a", 0), ("c", 1), ("b", 0)]
    assert plan.notes == ("a is part of itself, and stands alone", "b is part of itself, and stands alone")


TASK_MASTER = {
    "master": {
        "tasks": [
            {"id": 1, "title": "Parser", "status": "in-progress", "description": "Reads.", "details": "By line.",
             "testStrategy": "Run it.", "priority": "high", "dependencies": [],
             "subtasks": [
                 {"id": 1, "title": "Lines", "status": "done", "dependencies": []},
                 {"id": 2, "title": "Blocks", "status": "cancelled", "dependencies": [1, "2.1"]},
             ]},
            {"id": 2, "title": "Writer", "status": "pending", "dependencies": [1], "subtasks": []},
        ],
        "metadata": {},
    },
    "next": {"tasks": [{"id": 1, "title": "Later", "status": "deferred", "dependencies": [], "subtasks": []}]},
}  # fmt: skip


def test_task_master() -> None:
    plan = _read("tasks.json", json.dumps(TASK_MASTER), "task-master")
    assert _outline(plan) == [
        (0, "1", BEGUN, "Parser"),
        (1, "1.1", DONE, "Lines"),
        (1, "1.2", DROPPED, "Blocks"),
        (0, "2", OPEN, "Writer"),
        (0, "next:1", BEGUN, "Later"),
    ]
    assert [task.group for task in plan.tasks] == ["master", "", "", "master", "next"]
    assert plan.tasks[0].notes == "> Reads.\n>\n> Details: By line.\n>\n> Tests: Run it."
    assert plan.tasks[2].needs == ("1.1", "2.1")
    assert plan.tasks[3].needs == ("1",)
    untagged = _read("tasks.json", json.dumps(TASK_MASTER["master"]), "task-master")
    assert [task.id for task in untagged.tasks] == ["1", "1.1", "1.2", "2"]


ISSUES: list[dict[str, Any]] = [
    {"number": 7, "title": "Parser", "state": "open", "html_url": "https://github.com/o/r/issues/7",
     "body": "Reads plans.\r\n\r\n- [x] Lines\r\n  - [ ] Ends\r\n- [ ] Blocks\r\n",
     "labels": [{"name": "core"}], "assignees": [{"login": "ann"}]},
    {"number": 8, "title": "Writer", "state": "closed", "state_reason": "not_planned", "body": None,
     "html_url": "https://github.com/o/r/issues/8", "labels": []},
    {"number": 9, "title": "A change", "state": "open", "body": "", "pull_request": {},
     "html_url": "https://github.com/o/r/pull/9"},
    {"number": 10, "title": "Done", "state": "CLOSED", "stateReason": "COMPLETED", "body": "",
     "closedAt": "2026-01-02T03:04:05Z", "url": "https://github.com/o/r/issues/10"},
]  # fmt: skip


def test_github_issues() -> None:
    plan = _read("issues.json", json.dumps(ISSUES), "github-issues")
    assert plan.title == "Issues of o/r"
    assert _outline(plan) == [
        (0, "#7", OPEN, "Parser"),
        (1, "", DONE, "Lines"),
        (2, "", OPEN, "Ends"),
        (1, "", OPEN, "Blocks"),
        (0, "#8", DROPPED, "Writer"),
        (0, "#10", DONE, "Done"),
    ]
    assert plan.tasks[0].full_text == "Parser ([#7](https://github.com/o/r/issues/7))"
    assert (plan.tasks[0].notes, plan.tasks[0].labels, plan.tasks[0].assignee) == ("> Reads plans.", ("core",), "ann")
    assert plan.tasks[-1].done_at == "2026-01-02 03:04Z"


def test_one_github_issue_is_a_plan() -> None:
    body = "Why.\n\n## Tasks\n\n### One\n\n- [x] Lines\n- [x] ~~Blocks~~\n\n## Risks\n\nNone.\n"
    plan = _read("issue.json", json.dumps({"title": "Parser", "body": body, "labels": ["core"]}), "github-issues")
    assert (plan.title, plan.purpose, plan.tags) == ("Parser", "Why.", ("core",))
    assert _outline(plan) == [(0, "", DONE, "Lines"), (0, "", DROPPED, "Blocks")]
    assert [(section.title, section.text) for section in plan.sections] == [("Risks", "None.")]


JIRA = (
    "\ufeffSummary,Issue key,Issue id,Status,Project name,Priority,Resolution,Assignee,Resolved,Due date,Labels,Labels,"
    "Description,Parent,Inward issue link (Blocks)\r\n"
    '"The ""Parser"", all of it",P-1,100,In Progress,Demo,High,,Ann,,2026-12-24,a,,"Line one\r\nline, two",,\r\n'
    '"=HYPERLINK(""https://evil.example"",""x"")",P-2,101,Done,Demo,Low,Done,,01/Nov/25 10:20 PM,,b,c,,100,P-1\r\n'
    "Given up,P-3,102,Closed,Demo,Low,Won't Do,,02/Nov/25,,,,,,\r\n"
    "Odd,P-4,103,Gate 7,Demo,,,,,,,,,,\r\n"
)


def test_jira() -> None:
    plan = _read("jira.csv", JIRA, "jira")
    assert plan.title == "Demo"
    assert _outline(plan) == [
        (0, "P-1", BEGUN, 'The "Parser", all of it'),
        (1, "P-2", DONE, '=HYPERLINK("https://evil.example","x")'),
        (0, "P-3", DROPPED, "Given up"),
        (0, "P-4", BEGUN, "Odd"),
    ]
    parser, parse, *_ = plan.tasks
    assert (parser.notes, parser.due, parser.priority, parser.labels) == (
        "> Line one\n> line, two",
        "2026-12-24",
        "High",
        ("a",),
    )
    assert (parse.done_at, parse.labels, parse.needs) == ("2025-11-01 22:20Z", ("b", "c"), ("P-1",))
    assert plan.notes == ("the status 'Gate 7' isn't known, and counts as in progress",)
    assert _outline(_read("jira.csv", "Issue key;Summary;Status\nA-1;One;Done\n", "jira")) == [(0, "A-1", DONE, "One")]


def test_linear() -> None:
    header = "ID,Team,Title,Description,Status,Priority,Project,Assignee,Labels,Completed,Canceled,Started,Due Date,Parent issue"
    rows = [
        'L-1,Core,Parser,Reads,Shipped it,Urgent,Demo,ann@example.org,"api, ui",,,Tue Oct 01 2024 08:00:00 GMT+0000 (GMT),,',
        "L-2,Core,Lines,,Whatever,No priority,Demo,,,2026-01-02T03:04:05.000Z,,,,L-1",
        "L-3,Core,Off,,Canceled,Low,Demo,,,,2026-01-02T03:04:05.000Z,,2026-02-03,",
        "L-4,Core,Next,,Backlog,,Demo,,,,,,,",
    ]
    plan = _read("linear.csv", "\n".join([header, *rows]), "linear")
    assert plan.title == "Demo"
    assert _outline(plan) == [
        (0, "L-1", BEGUN, "Parser"),
        (1, "L-2", DONE, "Lines"),
        (0, "L-3", DROPPED, "Off"),
        (0, "L-4", OPEN, "Next"),
    ]
    assert (plan.tasks[0].labels, plan.tasks[0].priority, plan.tasks[1].priority) == (("api", "ui"), "Urgent", "")
    assert (plan.tasks[1].done_at, plan.tasks[2].due) == ("2026-01-02 03:04Z", "2026-02-03")


TODO = """\
(A) 2026-01-01 Call Mom @phone +Family due:2026-02-01 id:7
x 2026-01-03 2026-01-02 Buy paper pri:B p:7

xylophone lesson
x (C) done without a date
"""


def test_todo_txt() -> None:
    plan = _read("todo.txt", TODO, "todo-txt")
    assert _outline(plan) == [
        (0, "7", OPEN, "Call Mom @phone +Family"),
        (0, "", DONE, "Buy paper"),
        (0, "", OPEN, "xylophone lesson"),
        (0, "", DONE, "done without a date"),
    ]
    mom, paper, *_ = plan.tasks
    assert (mom.priority, mom.due, mom.labels, mom.done_at) == ("A", "2026-02-01", ("@phone", "+Family"), "")
    assert (paper.priority, paper.done_at, paper.needs) == ("B", "2026-01-03", ("7",))
    assert recognize(SourceFile("errands.txt", b"(A) Call Mom\nx 2026-01-01 Buy\n")) == "todo-txt"


ORG = """\
#+TITLE: Parser
#+TODO: TODO(t) NEXT | DONE(d!) CANCELED(c@)

* Milestone 1
** NEXT [#A] Build the parser [1/2] :core:api:
   DEADLINE: <2026-02-01 Sun>
   :PROPERTIES:
   :ID:       a-1
   :ASSIGNEE: Ann
   :END:
   Reads plans, see [[https://example.org][the page]].
   - [X] Lines
     - [-] Ends
   - [ ] Blocks
*** DONE Inner
    CLOSED: [2026-01-02 Fri 03:04]
#+begin_src org
** TODO not a task
- [ ] nor this
#+end_src
* CANCELED Write it
* Just a headline
- [ ] A box below a headline
"""


def test_org() -> None:
    plan = _read("plan.org", ORG, "org")
    assert plan.title == "Parser"
    assert _outline(plan) == [
        (0, "a-1", BEGUN, "Build the parser"),
        (1, "", DONE, "Lines"),
        (2, "", BEGUN, "Ends"),
        (1, "", OPEN, "Blocks"),
        (1, "", DONE, "Inner"),
        (0, "", DROPPED, "Write it"),
        (0, "", OPEN, "A box below a headline"),
    ]
    first, inner = plan.tasks[0], plan.tasks[4]
    assert (first.group, first.priority, first.due, first.labels, first.assignee) == (
        "Milestone 1", "A", "2026-02-01", ("core", "api"), "Ann",
    )  # fmt: skip
    assert first.notes == ">    Reads plans, see [[https://example.org][the page]]."
    assert inner.done_at == "2026-01-02"


@pytest.mark.parametrize(
    ("name", "content", "code", "text"),
    [
        ("a.json", b'{"a": 1}', "unknown-form", "none of the forms that import reads"),
        ("a.json", b'{"a": 1,\n "b"}', "bad-import", "a.json, line 2, column 5: not valid JSON"),
        ("a.json", b"[1,", "bad-import", "line 1, column 4: not valid JSON"),
        ("standard input", b'{"a"\n', "bad-import", "line 2, column 1: not valid JSON"),
        ("a.jsonl", b'{"a": 1}\n{"b"\n', "unknown-form", "none of the forms that import reads"),
        ("a.csv", b"\xff\xfea\x00", "not-utf-8", "UTF-16"),
        ("a.csv", b"Issue key,Summary\nA-1,\xe4\n", "not-utf-8", "a.csv, line 2"),
        ("a.csv", b" \n", "empty-file", "a.csv is empty"),
        ("plan.md", b"# Parser\n\n## Tasks\n\n- [ ] Read\n", "unknown-form", "a plan in Markdown"),
    ],
)
def test_a_file_that_is_not_recognized(name: str, content: bytes, code: str, text: str) -> None:
    with pytest.raises(ExecplanError) as error:
        recognize(SourceFile(name, content))
    assert error.value.code == code
    assert text in error.value.message


@pytest.mark.parametrize(
    ("form", "content", "place"),
    [
        ("jira", 'Issue key,Summary\nA-1,"One\nA-2,Two\n', "line 2: not CSV"),
        ("jira", "Issue key,Summary\nA-1,One\n,Two\n", "line 3: the row has no issue key"),
        ("jira", "Issue key,Summary\nA-1,One,more\n", "line 2: 3 cells, but 2 columns"),
        ("jira", 'Issue key,Summary\nA-1,"a\nb"\nA-1,Two\n', "line 4: the ID A-1 is already in line 2"),
        ("jira", "Key,Summary\nA-1,One\n", "line 1: the first line is no header"),
        ("linear", "ID,Team,Title,Status\n,T,One,Done\n", "line 2: the row has no ID"),
        ("beads", '{"id": "a", "title": "A"}\n\n{"id": \n', "line 3: not valid JSON"),
        ("beads", "[1]\n", "line 1: not a JSON object"),
        ("beads", '{"id": "a"}\n', "line 1: an issue needs an id and a title"),
        ("task-master", '{"tasks": [\n1]}', "task 1: a task needs an id and a title"),
        ("task-master", '{"tasks": \n', "line 2, column 1: not valid JSON"),
        ("task-master", "[]", "it has no list `tasks`"),
        ("github-issues", '[{"title": "A"}, {"title": 1}]', "issue 2: an issue needs a title"),
        ("github-issues", "[" * 100_000, "not JSON that can be read"),
        ("json", '{"schema": "x"}', "the schema is not execplan-exchange/1"),
        (
            "json",
            '{"schema": "execplan-exchange/1", "tasks": [{"text": "A", "state": "?"}]}',
            "task 1: a task needs a text",
        ),
        ("json", '{"schema": "execplan-exchange/1", "tasks": 1}', "tasks: not a list"),
        ("todo-txt", "a id:1\nb id:1\n", "line 2: the ID 1 is already in line 1"),
        ("org", "* TODO A\n:ID: 1\n* TODO B\n:ID: 1\n", "line 3: the ID 1 is already in line 1"),
    ],
)
def test_an_error_says_where_and_what(form: str, content: str, place: str) -> None:
    with pytest.raises(ExecplanError) as error:
        read_form(form, SourceFile("file", content.encode()))
    assert (error.value.code, error.value.exit) == ("bad-import", 3)
    assert place in error.value.message
    assert error.value.message.startswith("file")
    assert error.value.hint


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize(
    "content", [b"null", b"1", b"{}", b"[]", b"[null]", b'{"tasks": [null]}', b"a,b\n1,2\n", b"\xef\xbb\xbf* x"]
)
def test_no_content_is_a_bug(form: str, content: bytes) -> None:
    with suppress(ExecplanError):
        assert all(isinstance(task, ExchangeTask) for task in read_form(form, SourceFile("file", content)).tasks)
