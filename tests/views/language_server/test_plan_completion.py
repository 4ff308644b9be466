"""Completion at the places of a plan, inserted as an editor does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types as lsp

from tests.plans import CLEAN, STEPS
from tests.views.language_server.editor import apply_edits
from tests.views.language_server.test_navigation import USER
from tests.views.language_server.test_plan_diagnostics import PLAN

if TYPE_CHECKING:
    from tests.views.language_server.editor import Editor

CURSOR = "⌖"
"""Where the cursor is in a text."""


def complete(editor: Editor, name: str, text: str) -> dict[str, str]:
    """What is offered at the cursor: each label, with the line that it makes."""
    place = text.index(CURSOR)
    text = text.replace(CURSOR, "")
    editor.open(name, text)
    before = text[:place]
    line = before.count("\n")
    position = lsp.Position(line, len(before.rpartition("\n")[2].encode("utf-16-le")) // 2)
    params = lsp.CompletionParams(lsp.TextDocumentIdentifier(editor.uri(name)), position)
    items = editor.wait(editor.client.text_document_completion_async(params)) or []
    assert isinstance(items, list)
    completed = {}
    for item in items:
        assert isinstance(item.text_edit, lsp.TextEdit)
        completed[item.label] = apply_edits(text, [item.text_edit]).split("\n")[line]
    return completed


def test_missing_sections_are_offered_in_their_order(shared_editor: Editor) -> None:
    text = CLEAN.replace("## Decision Log", "## Old decisions").replace("## Plan of Work", f"#{CURSOR}")
    assert complete(shared_editor, PLAN, text) == {
        "## Decision Log": "## Decision Log",
        "## Plan of Work": "## Plan of Work",
    }


@pytest.mark.parametrize("box", ["-", "- ", "- ["])
def test_a_box_is_open_or_done_now(shared_editor: Editor, box: str) -> None:
    offered = complete(shared_editor, PLAN, CLEAN.replace("- [ ] Write the tests.", f"{box}{CURSOR}"))
    assert offered == {"[ ]": "- [ ] ", "[x] (2026-01-01 00:00Z)": "- [x] (2026-01-01 00:00Z) "}


def test_a_bullet_elsewhere_is_no_task(shared_editor: Editor) -> None:
    assert complete(shared_editor, PLAN, CLEAN.replace("Write the scanner", f"- {CURSOR}\n\nWrite the scanner")) == {}


@pytest.mark.parametrize(
    ("attributes", "label", "line"),
    [
        (f"time{CURSOR}", "timeout", "```sh {#build timeout=}"),
        (f"effect={CURSOR}", "once", "```sh {#build effect=once}"),
        (f"checkpoint=f{CURSOR}", "false", "```sh {#build checkpoint=false}"),
        (f"needs={CURSOR}", "api", "```sh {#build needs=api}"),
        (f"needs=x,{CURSOR}", "api", "```sh {#build needs=x,api}"),
        (f"on-failure=alt{CURSOR}", "alternative:api", "```sh {#build on-failure=alternative:api}"),
        (f"when={CURSOR}", "api.failed", "```sh {#build when=api.failed}"),
        (f'outputs="src/re{CURSOR}', "reader.py", '```sh {#build outputs="src/reader.py'),
        (f"target=src/{CURSOR}", "deep/", "```sh {#build target=src/deep/"),
        (f"triggers=exit,time{CURSOR}", "timeout", "```sh {#build triggers=exit,timeout}"),
    ],
)
def test_attributes_and_their_values(shared_editor: Editor, attributes: str, label: str, line: str) -> None:
    offered = complete(shared_editor, PLAN, STEPS.replace("timeout=60 exit=0", attributes))
    assert offered[label].removesuffix("}") == line.removesuffix("}")


def test_the_task_of_a_step_is_an_open_task(shared_editor: Editor) -> None:
    offered = complete(shared_editor, PLAN, STEPS.replace("timeout=60", f"task={CURSOR}"))
    assert [label.partition("  ")[2] for label in offered] == ["Build the parser.", "Write the tests."]
    assert [line.partition("task=")[2][:1] for line in offered.values()] == ["t", "t"]


@pytest.mark.parametrize("form", ["---\ndepends_on:\n  - ⌖\n---\n", "---\ndepends_on: [⌖]\n---\n"])
def test_dependencies_are_other_plans(shared_editor: Editor, form: str) -> None:
    offered = complete(shared_editor, USER, f"{form}\n{CLEAN}")
    assert {*offered} >= {"2026-01-01_parser", "2026-01-03_role"}
    assert "2026-01-02_use" not in offered


def test_a_need_is_a_plan_and_one_of_its_tasks(shared_editor: Editor) -> None:
    text = CLEAN.replace("Write the tests.", f"Write the tests, needs {CURSOR}")
    line = complete(shared_editor, USER, text)["2026-01-01_parser"]
    assert line == "- [ ] Write the tests, needs 2026-01-01_parser#"
    offered = complete(shared_editor, USER, text.replace(CURSOR, f"parser#{CURSOR}"))
    assert [label.partition("  ")[2] for label in offered][1] == "2. Build the parser."


def test_paths_and_codes_of_rules(shared_editor: Editor) -> None:
    offered = complete(shared_editor, PLAN, CLEAN.replace("Write the scanner", f"Write `src/{CURSOR}"))
    assert [*offered] == ["deep/", "reader.py"]
    offered = complete(shared_editor, PLAN, CLEAN.replace("Write the scanner", f"See [it](2026-01-02{CURSOR})"))
    assert [*offered] == ["2026-01-02_use.md"]
    offered = complete(
        shared_editor, PLAN, CLEAN.replace("Write the scanner", f"<!-- execplan: ignore EP2{CURSOR} -->")
    )
    assert offered["EP205"] == "<!-- execplan: ignore EP205 -->, then the reader."


def test_code_is_left_alone(shared_editor: Editor) -> None:
    assert complete(shared_editor, PLAN, STEPS.replace("make parser\n", f"make `src/{CURSOR}\n")) == {}
