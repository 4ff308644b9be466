"""Findings while someone types: those of `lint`, for the text in the editor, with code and link."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp

from execplan.views.language_server.server_features import create_server
from tests.plans import CLEAN, STEPS
from tests.views.language_server.editor import Editor

if TYPE_CHECKING:
    import pytest

    from tests.conftest import Folder

PLAN = ".agent/execplans/2026-01-01_parser.md"
FAULTY = (
    CLEAN.replace("- [ ] Build the parser.", "-[ ] Build the 🚀 parser.  ")
    .replace("- [x] (2025-12-30 09:15Z)", "- [x]")
    .replace("`make test` passes.", "TODO")
)


def as_lint(editor: Editor, name: str) -> list[tuple[str, str, int, int]]:
    """The findings of `lint`, as code, message, line and column from 0 in characters."""
    result = editor.folder.run("lint", name, "--json")
    return [
        (one["code"], one["message"], one["line"] - 1, one["column"] - 1) for one in result.json["data"]["findings"]
    ]


def as_editor(editor: Editor, name: str, found: list[lsp.Diagnostic]) -> list[tuple[str, str, int, int]]:
    """The same of diagnostics, whose columns are UTF-16 units."""
    lines = editor.texts[editor.uri(name)].split("\n")
    return [
        (
            str(one.code),
            one.message,
            one.range.start.line,
            len(lines[one.range.start.line].encode("utf-16-le")[: 2 * one.range.start.character].decode("utf-16-le")),
        )
        for one in found
    ]


def test_findings_are_those_of_lint_while_you_type(editor: Editor) -> None:
    editor.folder.plan(CLEAN)
    assert editor.open(PLAN) == []
    for text in (
        FAULTY,
        STEPS.replace("needs=build", "needs=bild"),
        FAULTY.replace("## Decision Log", "## Decisions"),
        "",
    ):
        found = editor.type(PLAN, text)
        (editor.folder.path / PLAN).write_bytes(text.encode())
        assert as_editor(editor, PLAN, found) == as_lint(editor, PLAN) != []
    assert editor.type(PLAN, CLEAN) == []


def test_a_plan_is_compared_with_the_committed_one_as_lint_does(editor: Editor) -> None:
    editor.folder.plan(CLEAN)
    editor.folder.git("add", "-A")
    editor.folder.git("commit", "-q", "-m", "Plan")
    assert editor.open(PLAN) == []
    text = CLEAN.replace("then the reader.", "then the reader with a library.")
    found = editor.type(PLAN, text)
    editor.save(PLAN)
    assert as_editor(editor, PLAN, found) == as_lint(editor, PLAN)
    assert "EP308" in [one.code for one in found]


def test_a_finding_has_a_level_a_link_and_a_place(editor: Editor) -> None:
    editor.folder.plan(FAULTY)
    found = {str(one.code): one for one in editor.open(PLAN)}
    bullet = found["EP206"]
    assert bullet.severity == lsp.DiagnosticSeverity.Warning
    assert bullet.source == "execplan"
    assert bullet.code_description is not None
    page = unquote(urlsplit(bullet.code_description.href).path)
    with open(page, encoding="utf-8") as file:
        assert file.read().startswith("# EP206\n\nA")
    spaces = found["EP006"].range
    assert (spaces.start.character, spaces.end.character) == (25, 27)  # the rocket has two units


def test_columns_are_counted_as_the_editor_asks(repo: Folder) -> None:
    repo.plan(FAULTY)
    for encoding, column in ((lsp.PositionEncodingKind.Utf32, 24), (lsp.PositionEncodingKind.Utf8, 27)):
        editor = Editor(repo)
        offered = editor.start([encoding])
        assert offered.capabilities.position_encoding == encoding
        found = {str(one.code): one for one in editor.open(PLAN)}
        assert found["EP006"].range.start.character == column
        assert editor.stop() == 0


def test_changes_of_parts_arrive_in_order(editor: Editor) -> None:
    editor.folder.plan(CLEAN)
    editor.open(PLAN)
    position = editor.position(PLAN, "Build the parser.\n- [ ] Write", len("Build the parser."))
    changes = [
        lsp.TextDocumentContentChangePartial(lsp.Range(position, position), " 🚀"),
        lsp.TextDocumentContentChangePartial(
            lsp.Range(
                lsp.Position(position.line, position.character + 3), lsp.Position(position.line, position.character + 3)
            ),
            "  ",
        ),
    ]
    editor.change(PLAN, *changes)
    editor.texts[editor.uri(PLAN)] = CLEAN.replace(
        "Build the parser.\n- [ ] Write", "Build the parser. 🚀  \n- [ ] Write"
    )
    (spaces,) = editor.findings(PLAN)
    assert (spaces.code, spaces.range.start.character) == ("EP006", position.character + 3)


def test_other_documents_have_no_findings(editor: Editor) -> None:
    assert editor.open("README.md") == []
    editor.folder.write(".agent/execplans/notes.md", "# Notes\n\nSome text.  \n")
    assert editor.open(".agent/execplans/notes.md") == []
    editor.folder.write("docs/plans/rollout.md", "# Rollout\n\n## Tasks\n\n- [ ] One\n- [] Two\n")
    assert [one.code for one in editor.open("docs/plans/rollout.md")] == []
    editor.open_unnamed(FAULTY)
    assert editor.next_findings("README.md", lambda: editor.save("README.md")) == []
    assert not [uri for uri, reports in editor.diagnostics.items() if reports[-1].diagnostics]


def test_settings_and_their_errors_are_those_of_the_file_now(editor: Editor) -> None:
    editor.folder.plan(FAULTY)
    codes = [one.code for one in editor.open(PLAN)]
    assert "EP006" in codes
    settings = editor.folder.write(".agent/execplan.toml", '[lint]\nignore = ["EP006"]\n')
    found = editor.next_findings(PLAN, lambda: editor.report_change(".agent/execplan.toml"))
    assert [one.code for one in found] == [code for code in codes if code != "EP006"]
    settings.write_text("[lint]\nignore = 7\n", encoding="utf-8")
    (problem,) = editor.next_findings(PLAN, lambda: editor.report_change(".agent/execplan.toml"))
    assert (problem.code, problem.severity) == ("bad-setting", lsp.DiagnosticSeverity.Error)
    settings.unlink()
    found = editor.next_findings(PLAN, lambda: editor.report_change(".agent/execplan.toml"))
    assert [one.code for one in found] == codes


def test_the_editor_is_asked_to_report_changed_files(editor: Editor) -> None:
    editor.folder.plan()
    editor.open(PLAN)
    (registration,) = editor.registered
    assert registration.method == lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES


def test_without_the_package_it_says_how_to_install_it(repo: Folder) -> None:
    code = "import sys; sys.modules['pygls'] = None; from execplan.cli.main import run; sys.argv = ['execplan', 'lsp', '--json']; sys.exit(run())"
    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=repo.path, env=repo.env, capture_output=True, check=False, timeout=60
    )
    assert completed.returncode == 6
    error = json.loads(completed.stdout)["error"]
    assert error["code"] == "no-lsp"
    assert "[lsp]'" in error["hint"]


def test_the_server_ends_with_its_input(repo: Folder) -> None:
    completed = subprocess.run(
        [sys.executable, "-P", "-m", "execplan", "lsp"],
        cwd=repo.path,
        env=repo.env,
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, b"", b"")


def test_a_message_to_an_editor_that_is_gone_is_not_reported_by_another_message(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The report could not be sent either, and would be reported in turn."""
    server, writer = create_server(), io.BytesIO()
    server.protocol.set_writer(writer)  # type: ignore[arg-type]
    writer.close()
    server.show_message("done")
    assert len(caplog.records) == 1
