"""Quick fixes: safe, unsafe, to ignore a finding, and all safe ones at once; each applied as an editor does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from execplan.views.language_server.code_actions import FIX_ALL
from tests.plans import CLEAN
from tests.views.language_server.test_plan_diagnostics import FAULTY, PLAN

if TYPE_CHECKING:
    from tests.views.language_server.editor import Editor


def apply(editor: Editor, action: lsp.CodeAction | lsp.Command) -> str:
    """Apply the edit of an action, and return the text of the plan."""
    assert isinstance(action, lsp.CodeAction)
    assert action.edit is not None
    done = editor.wait(apply_in_loop(editor, action.edit))
    assert done
    editor.findings(PLAN)
    return editor.texts[editor.uri(PLAN)]


async def apply_in_loop(editor: Editor, edit: lsp.WorkspaceEdit) -> bool:
    return editor.apply(edit)


def test_a_safe_fix_is_preferred_and_fixes_only_its_finding(shared_editor: Editor) -> None:
    shared_editor.open(PLAN, FAULTY)
    action = shared_editor.actions(PLAN, "-[ ] Build")["Fix EP206"]
    assert isinstance(action, lsp.CodeAction)
    assert action.is_preferred
    assert [one.code for one in action.diagnostics or ()] == ["EP206"]
    assert apply(shared_editor, action) == FAULTY.replace("-[ ] Build", "- [ ] Build")


def test_all_safe_fixes_are_those_of_lint(shared_editor: Editor) -> None:
    shared_editor.open(PLAN, FAULTY)
    (action,) = shared_editor.actions(PLAN, "# Build", [FIX_ALL]).values()
    text = apply(shared_editor, action)
    path = shared_editor.folder.plan(FAULTY, "2026-02-01_faulty")
    shared_editor.folder.run("lint", path.name.removesuffix(".md"), "--fix")
    assert text == path.read_text("utf-8")
    path.unlink()


def test_a_finding_is_ignored_at_its_place_and_nowhere_else(shared_editor: Editor) -> None:
    text = CLEAN.replace("2025-12-30 09:15Z", "2025-12-32 09:15Z").replace(
        "- [ ] Build", "- [x] (2025-13-01 00:00Z) Build"
    )
    before = [one.code for one in shared_editor.open(PLAN, text)]
    code = "EP203"
    assert before.count(code) == 2
    ignored = apply(shared_editor, shared_editor.actions(PLAN, "- [x] (2025-13-01")[f"Ignore {code} here"])
    assert f"\n\n<!-- execplan: ignore {code} -->\n- [x] (2025-13-01" in ignored
    remaining = shared_editor.findings(PLAN)
    assert [one.range.start.line for one in remaining if one.code == code] == [10]
    assert len(remaining) == len(before) - 1


def test_an_unsafe_fix_says_so(shared_editor: Editor) -> None:
    text = CLEAN.replace("- [ ] Write the tests.", "- [ ] Write the tests.\n- [ ] Write the tests.")
    found = shared_editor.open(PLAN, text)
    titles = [title for one in found for title in shared_editor.actions(PLAN, text.split("\n")[one.range.start.line])]
    fixes = [title for title in titles if title.startswith("Fix EP")]
    assert all([("unsafe" in title) for title in fixes])


def test_only_the_kinds_that_the_editor_wants_are_sent(shared_editor: Editor) -> None:
    shared_editor.open(PLAN, FAULTY)
    quick_fixes = {*shared_editor.actions(PLAN, "-[ ] Build", ["quickfix"])}
    assert quick_fixes == {"Fix EP006", "Ignore EP006 here", "Fix EP206", "Ignore EP206 here"}
    assert {*shared_editor.actions(PLAN, "- [ ] Write", ["refactor"])} == {"Check off", "Claim"}
    assert {*shared_editor.actions(PLAN, "- [x] Read", ["refactor"])} == {"Reopen"}
