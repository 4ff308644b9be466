"""Tasks checked off, reopened and claimed in the editor, and plans renamed: in the file, or in the text that is not saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.plans import CLEAN, STEPS
from tests.views.language_server.test_plan_diagnostics import PLAN

if TYPE_CHECKING:
    from tests.views.language_server.editor import Editor

DONE = CLEAN.replace("- [ ] Build the parser.", "- [x] (2026-01-01 00:00Z) Build the parser.")


def lenses(editor: Editor) -> list[lsp.Command]:
    """The commands above the plan and its tasks."""
    params = lsp.CodeLensParams(lsp.TextDocumentIdentifier(editor.uri(PLAN)))
    found = editor.wait(editor.client.text_document_code_lens_async(params)) or []
    return [lens.command for lens in found if lens.command is not None]


def run_lens(editor: Editor, title: str) -> None:
    """Run the first command with a title."""
    command = next(command for command in lenses(editor) if command.title == title)
    editor.command(command.command, *[str(argument) for argument in command.arguments or ()])


def test_a_saved_plan_is_written_as_done_does_and_can_be_undone(editor: Editor) -> None:
    path = editor.folder.plan()
    editor.open(PLAN)
    run_lens(editor, "Check off")
    assert editor.messages == ["done: 2. Build the parser."]
    assert path.read_text("utf-8") == DONE
    assert editor.texts[editor.uri(PLAN)] == CLEAN  # the editor reloads the file
    editor.type(PLAN, DONE)
    assert "Reopen" in editor.actions(PLAN, "Build the parser.\n", ["refactor"])
    assert editor.folder.run("undo").exit == 0
    assert path.read_text("utf-8") == CLEAN


def test_text_that_is_not_saved_is_edited_in_the_editor(editor: Editor) -> None:
    path = editor.folder.plan()
    typed = CLEAN.replace("Write the scanner", "I am typing 🚀 here")
    editor.open(PLAN)
    editor.type(PLAN, typed)
    run_lens(editor, "Check off")
    assert path.read_text("utf-8") == CLEAN
    assert editor.texts[editor.uri(PLAN)] == DONE.replace("Write the scanner", "I am typing 🚀 here")
    editor.findings(PLAN)
    editor.refuses_edits = True
    run_lens(editor, "Check off")
    assert "has not applied the edit" in editor.messages[-1]
    assert path.read_text("utf-8") == CLEAN


def test_an_agent_edits_an_open_plan(editor: Editor) -> None:
    """Its edit and the unsaved text stay apart, and each is checked and edited as it is."""
    path = editor.folder.plan()
    typed = CLEAN.replace("Write the scanner", "I am typing here")
    editor.open(PLAN)
    editor.type(PLAN, typed)
    assert editor.folder.run("done", "2").exit == 0
    assert editor.next_findings(PLAN, lambda: editor.report_change(PLAN)) == []
    run_lens(editor, "Check off")
    assert path.read_text("utf-8") == DONE
    assert editor.texts[editor.uri(PLAN)] == DONE.replace("Write the scanner", "I am typing here")


def test_the_agents_edit_of_an_unchanged_document_arrives_as_a_change(editor: Editor) -> None:
    path = editor.folder.plan()
    editor.open(PLAN)
    assert editor.folder.run("done", "2").exit == 0
    editor.type(PLAN, path.read_text("utf-8"))  # the editor reloads the file
    assert lenses(editor)[0].title == "2 of 3 tasks done, go to the next"
    run_lens(editor, "Check off")
    assert editor.messages == ["done: 3. Write the tests."]


def test_claims_are_those_of_the_commands(editor: Editor) -> None:
    editor.folder.plan()
    editor.open(PLAN)
    run_lens(editor, "Claim")
    assert editor.messages[-1].startswith("claimed by Ann: t")
    assert [command.title for command in lenses(editor)][1:3] == ["Check off", "Release your claim"]
    assert editor.folder.ok("next", "--as", "Bob")["task"]["number"] == 3
    run_lens(editor, "Release your claim")
    assert editor.folder.ok("next", "--as", "Bob")["task"]["number"] == 2


def test_the_next_task_is_shown_and_steps_are_evaluated_as_in_the_file(editor: Editor) -> None:
    editor.folder.plan(STEPS)
    editor.open(PLAN)
    run_lens(editor, "1 of 3 tasks done, go to the next")
    (shown,) = editor.shown
    assert shown.selection is not None
    assert STEPS.split("\n")[shown.selection.start.line] == "- [ ] Build the parser."
    run_lens(editor, "Evaluate the steps")
    assert editor.messages[-1].startswith(("Evaluation passed: 3 steps", "Evaluation blocked: 3 steps"))
    editor.type(PLAN, STEPS + "\n")
    run_lens(editor, "Evaluate the steps")
    assert "unsaved changes" in editor.messages[-1]


def test_a_plan_is_renamed_with_its_references(editor: Editor) -> None:
    editor.folder.plan()
    user = editor.folder.plan(f"---\ndepends_on: [2026-01-01_parser]\n---\n\n{CLEAN}", "2026-01-02_use")
    editor.open(PLAN)
    place = editor.at(PLAN, "# Build the parser", 4)
    offered = editor.wait(editor.client.text_document_prepare_rename_async(lsp.PrepareRenameParams(**place)))
    assert isinstance(offered, lsp.PrepareRenamePlaceholder)
    assert offered.placeholder == "Build the parser"
    params = lsp.RenameParams(new_name="Build the scanner", **place)
    editor.type(PLAN, f"{CLEAN}\n")
    with pytest.raises(JsonRpcException, match="unsaved changes"):
        editor.wait(editor.client.text_document_rename_async(params))
    editor.type(PLAN, CLEAN)
    editor.wait(editor.client.text_document_rename_async(params))
    renamed = editor.folder.path / ".agent/execplans/2026-01-01_build-the-scanner.md"
    assert renamed.read_text("utf-8") == CLEAN.replace("# Build the parser", "# Build the scanner")
    assert "[2026-01-01_build-the-scanner]" in user.read_text("utf-8")
    assert editor.shown[-1].uri == renamed.as_uri()


def test_an_archived_plan_is_read_only(editor: Editor) -> None:
    done = CLEAN.replace("- [ ] ", "- [x] (2025-12-31 09:00Z) ")
    editor.folder.plan(done)
    assert editor.folder.run("archive", "parser").exit == 0
    (path,) = (editor.folder.path / ".agent").rglob("*parser.md")
    name = path.relative_to(editor.folder.path).as_posix()
    editor.open(name)
    params = lsp.CodeLensParams(lsp.TextDocumentIdentifier(editor.uri(name)))
    assert not editor.wait(editor.client.text_document_code_lens_async(params))
    assert editor.actions(name, "Read lines") == {}
    editor.command("execplan.reopen", editor.uri(name), "1")
    assert "archive" in editor.messages[-1]


def test_a_command_for_what_is_no_plan_is_an_error_with_a_hint(editor: Editor) -> None:
    editor.command("execplan.next", editor.uri("README.md"))
    assert "not a plan" in editor.messages[-1]
    editor.folder.plan()
    editor.command("execplan.done", editor.uri(PLAN), "tzzzzzz")
    assert "no task contains 'tzzzzzz'" in editor.messages[-1]
