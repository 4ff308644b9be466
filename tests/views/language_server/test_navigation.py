"""Definitions, references, hover, the outline, folds and tokens, in plans that name each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lsprotocol import types as lsp

from execplan.views.language_server.semantic_tokens import MODIFIERS, TYPES
from tests.plans import STEPS
from tests.views.language_server.conftest import DEPENDENT_NAME
from tests.views.language_server.test_plan_diagnostics import PLAN

if TYPE_CHECKING:
    from tests.views.language_server.editor import Editor

USER = f".agent/execplans/{DEPENDENT_NAME}.md"
ROLE = ".agent/execplans/2026-01-03_role.md"


def line_at(editor: Editor, location: lsp.Location) -> str:
    """The line of a location in an open document or a file."""
    text = editor.texts.get(location.uri)
    name = location.uri.removeprefix(f"{editor.folder.path.as_uri()}/")
    text = (editor.folder.path / name).read_text("utf-8") if text is None else text
    return f"{name.rpartition('/')[2]}: {text.split(chr(10))[location.range.start.line]}"


def definition(editor: Editor, name: str, words: str, offset: int = 1) -> str | None:
    """The line on which what is at some words is defined."""
    params = lsp.DefinitionParams(**editor.at(name, words, offset))
    location = editor.wait(editor.client.text_document_definition_async(params))
    assert location is None or isinstance(location, lsp.Location)
    return line_at(editor, location) if location is not None else None


@pytest.mark.parametrize(
    ("words", "offset", "line"),
    [
        ("- parser\n", 4, "2026-01-01_parser.md: # Build the parser"),
        ("parser#2", 2, "2026-01-01_parser.md: # Build the parser"),
        ("parser#2", 8, "2026-01-01_parser.md: - [ ] Build the parser."),
        ("(2026-01-01_parser.md)", 3, "2026-01-01_parser.md: # Build the parser"),
        ("`src/reader.py`", 3, "reader.py: def read(): ..."),
        ("The reader in", 2, None),
    ],
)
def test_names_in_a_plan_lead_to_what_they_mean(
    shared_editor: Editor, words: str, offset: int, line: str | None
) -> None:
    shared_editor.open(USER)
    assert definition(shared_editor, USER, words, offset) == line


def test_names_in_the_attributes_of_a_step_lead_to_steps_and_tasks(shared_editor: Editor) -> None:
    text = STEPS.replace("needs=build", 'needs=build when=build.succeeded task="Write the tests" inputs=src/reader.py')
    shared_editor.open(PLAN, text)
    step = "2026-01-01_parser.md: ```sh {#build timeout=60 exit=0}"
    assert definition(shared_editor, PLAN, "needs=build", 8) == step
    assert definition(shared_editor, PLAN, "when=build", 8) == step
    assert definition(shared_editor, PLAN, '"Write the tests"', 4) == "2026-01-01_parser.md: - [ ] Write the tests."
    assert definition(shared_editor, PLAN, "inputs=src", 9) == "reader.py: def read(): ..."


def references(editor: Editor, name: str, words: str, *, declaration: bool = False) -> list[str]:
    """The lines that name what is at some words."""
    params = lsp.ReferenceParams(lsp.ReferenceContext(declaration), **editor.at(name, words, 3))
    locations = editor.wait(editor.client.text_document_references_async(params)) or []
    return sorted([line_at(editor, location) for location in locations])


def test_references_are_found_in_all_plans_also_in_unsaved_text(shared_editor: Editor) -> None:
    shared_editor.open(PLAN, STEPS)
    shared_editor.open(ROLE)
    user = f"{DEPENDENT_NAME}.md"
    in_user = [
        f"{user}:   - parser",
        f"{user}: - [ ] Call it, needs parser#2.",
        f"{user}: The reader in `src/reader.py` is used. See [the plan](2026-01-01_parser.md).",
    ]
    assert references(shared_editor, PLAN, "# Build the parser") == in_user
    text = shared_editor.texts[shared_editor.uri(ROLE)].replace(
        "make test` passes", "make test` passes.\n\nDepends on: `parser`"
    )
    shared_editor.type(ROLE, text)
    assert references(shared_editor, PLAN, "# Build the parser", declaration=True) == [
        "2026-01-01_parser.md: # Build the parser",
        *in_user,
        "2026-01-03_role.md: Depends on: `parser`.",
    ]
    assert references(shared_editor, PLAN, "- [ ] Build") == in_user[1:2]
    assert references(shared_editor, PLAN, "{#build") == [
        "2026-01-01_parser.md: ```python {#api type=create_file target=src/api.py needs=build}"
    ]
    in_file = "`read(data: bytes) -> Plan` in `src/reader.py`."
    plans = ("2026-01-01_parser.md", "2026-01-03_role.md")
    assert references(shared_editor, USER, "`src/reader.py") == sorted(
        [*in_user[2:], *[f"{plan}: {in_file}" for plan in plans]]
    )


def hover(editor: Editor, name: str, words: str, offset: int = 2) -> str:
    """What is shown at some words."""
    shown = editor.wait(editor.client.text_document_hover_async(lsp.HoverParams(**editor.at(name, words, offset))))
    if shown is None:
        return ""
    assert isinstance(shown.contents, lsp.MarkupContent)
    return shown.contents.value


def test_hover_tells_what_is_under_the_pointer(shared_editor: Editor) -> None:
    shared_editor.open(PLAN, STEPS.replace("- [ ] Write the tests.", "-[ ] Write the tests.\n  See EP206."))
    shared_editor.open(USER)
    assert "Time limit" in hover(shared_editor, PLAN, "timeout=60")
    assert "keep it up to date" in hover(shared_editor, PLAN, "## Progress", 5)
    assert "**Task 2** `t" in hover(shared_editor, PLAN, "Build the parser.")
    assert "\n# EP206\n" in hover(shared_editor, PLAN, "-[ ] Write")
    assert hover(shared_editor, PLAN, "EP206").startswith("# EP206")
    assert "CI=1 make test" in hover(shared_editor, PLAN, "needs=build", 8)
    assert "1 of 2 tasks done" in hover(shared_editor, USER, "- parser\n", 4)
    assert "Build the parser" in hover(shared_editor, USER, "parser#2", 8)
    assert hover(shared_editor, USER, "The reader in") == ""


def test_the_outline_has_sections_with_tasks_steps_and_entries(shared_editor: Editor) -> None:
    shared_editor.open(PLAN, STEPS)
    params = lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(shared_editor.uri(PLAN)))
    (title,) = shared_editor.wait(shared_editor.client.text_document_document_symbol_async(params)) or []
    assert isinstance(title, lsp.DocumentSymbol)
    sections = {section.name: [part.name for part in section.children or ()] for section in title.children or ()}
    assert title.name == "Build the parser"
    assert sections["Progress"] == ["Read lines.", "Build the parser.", "Write the tests."]
    assert sections["Concrete Steps"] == ["build", "api"]
    assert sections["Decision Log"] == ["Read line by line."]


def test_symbols_of_the_project_are_plans_and_open_tasks(shared_editor: Editor) -> None:
    params = lsp.WorkspaceSymbolParams("call use")
    (task,) = shared_editor.wait(shared_editor.client.workspace_symbol_async(params)) or []
    assert (task.name, task.container_name) == ("Call it, needs parser#2.", DEPENDENT_NAME)
    params = lsp.WorkspaceSymbolParams("RÔLE")
    plans = shared_editor.wait(shared_editor.client.workspace_symbol_async(params)) or []
    assert "Rôle 🚀 de l'analyseur" in [plan.name for plan in plans]


def test_folds_end_with_their_sections_and_blocks(shared_editor: Editor) -> None:
    shared_editor.open(PLAN, STEPS)
    params = lsp.FoldingRangeParams(lsp.TextDocumentIdentifier(shared_editor.uri(PLAN)))
    folds = shared_editor.wait(shared_editor.client.text_document_folding_range_async(params)) or []
    lines = STEPS.split("\n")
    by_line = {lines[fold.start_line]: lines[fold.end_line] for fold in folds}
    assert by_line["## Progress"] == "- [ ] Write the tests."
    assert by_line["```sh {#build timeout=60 exit=0}"] == "```"
    assert by_line["# Build the parser"] == lines[-2]


def test_tokens_cover_boxes_times_labels_and_attributes(shared_editor: Editor) -> None:
    text = STEPS.replace("# Build the parser", "# Build 🚀 the parser").replace("- [x] (", "- 🚀\n- [x] (", 1)
    shared_editor.open(PLAN, text)
    params = lsp.SemanticTokensParams(lsp.TextDocumentIdentifier(shared_editor.uri(PLAN)))
    tokens = shared_editor.wait(shared_editor.client.text_document_semantic_tokens_full_async(params))
    assert tokens is not None
    lines, line, column, decoded = text.split("\n"), 0, 0, set()
    for at in range(0, len(tokens.data), 5):
        line_delta, column_delta, length, kind, modifiers = tokens.data[at : at + 5]
        line, column = line + line_delta, column_delta + (0 if line_delta else column)
        units = lines[line].encode("utf-16-le")
        word = units[2 * column : 2 * (column + length)].decode("utf-16-le")
        decoded.add((word, TYPES[kind], *[name for bit, name in enumerate(MODIFIERS) if modifiers >> bit & 1]))
    assert {
        ("[x]", "enumMember", "done"),
        ("[ ]", "enumMember", "open"),
        ("(2025-12-30 09:15Z)", "number"),
        ("Rationale", "keyword"),
        ("2025-12-30", "number"),
        ("#build", "function"),
        ("timeout", "property"),
        ("60", "string"),
    } <= decoded
