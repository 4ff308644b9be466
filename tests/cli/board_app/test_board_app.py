"""The interactive board: its keys, edits, errors, filter, and how it follows the files."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execplan.cli.board_app.card_list import card_lines
from execplan.core.errors import CONFLICT, INTERRUPTED, OK, TERMINATED, ExecplanError
from tests.cli.board_app.app_session import AppSession, run_session
from tests.in_process_repository import NAME, InProcessRepository
from tests.plans import CLEAN

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.text import Text

    from execplan.views.board.board_cards import Card

SECOND = "# Build the scanner\n\n## Progress\n\n- [x] (2025-12-31 09:00Z) Scan lines.\n- [ ] Scan words.\n"
COMPLETE = "# Build the writer\n\n## Progress\n\n- [x] (2025-12-01 09:00Z) Write.\n"
HOSTILE = "# [bold]Big[/bold] \x1b[31mred\x07\n\n## Progress\n\n- [ ] [@click=app.close]Click[/] [link=x]\u202ehere\n\n[a](javascript:x)\n"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    """A repository with two active plans and a complete one; the current directory is in it."""
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    for name, content in ((NAME, CLEAN), ("scanner", SECOND), ("writer", COMPLETE)):
        desk.plan(content, name)
    return desk


def text_of(desk: InProcessRepository, name: str = NAME) -> str:
    """The text of a plan's file."""
    return (desk.path / f".agent/execplans/{name}.md").read_text()


def test_a_task_is_checked_off_from_the_board(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        assert "2. Scan words." in session.screen()
        await session.press("d")
        await session.until("done: 2. Scan words.")
        await session.until("complete 2")

    run_session(steps)
    assert "- [x] (2026-01-01 00:00Z) Scan words." in text_of(desk, "scanner")


@pytest.mark.parametrize("width", [60, 120])
def test_the_highlight_follows_a_plan_to_another_column(desk: InProcessRepository, width: int) -> None:
    async def steps(session: AppSession) -> None:
        await session.press("d")
        await session.until("complete 2")
        await session.press("d")
        await session.until_true(lambda: "Build the scanner: no open tasks, no outcome" in session.notified)
        await session.press("a")
        await session.until("Add a task to Build the scanner")
        await session.type("Scan numbers")
        await session.press("enter")
        await session.until("active 2")
        await session.press("d")
        await session.until_true(lambda: "done: 3. Scan numbers" in session.notified)

    run_session(steps, (width, 30))
    assert text_of(desk) == CLEAN


def test_a_task_is_checked_off_and_reopened_in_the_opened_plan(desk: InProcessRepository) -> None:
    before = text_of(desk, "scanner")

    async def steps(session: AppSession) -> None:
        await session.press("enter")
        await session.until("tab Tasks/text")
        await session.press("d")
        await session.until("2. [x] Scan words.")
        assert "- [x] (2026-01-01 00:00Z) Scan words." in text_of(desk, "scanner")
        await session.press("o")
        await session.until("2. [ ] Scan words.")
        await session.press("escape")
        await session.until("active 2")

    run_session(steps)
    assert text_of(desk, "scanner") == before


def test_a_plan_is_shown_and_edited_in_its_worktree(desk: InProcessRepository) -> None:
    desk.commit()
    directory = Path(desk.data("worktree", "scanner")["path"])
    own_text = text_of(desk, "scanner")

    async def steps(session: AppSession) -> None:
        assert "2. Scan words." in session.screen()
        await session.press("d")
        await session.until("done: 2. Scan words.")
        await session.until("(branch plan/scanner")
        await session.until("complete 2")

    run_session(steps, (160, 30))
    assert "- [x] (2026-01-01 00:00Z) Scan words." in (directory / ".agent/execplans/scanner.md").read_text()
    assert text_of(desk, "scanner") == own_text


def test_a_task_is_added(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        await session.press("a")
        await session.until("Add a task to Build the scanner")
        await session.type("Scan [b]numbers")
        await session.press("enter")
        await session.until("1/3")

    run_session(steps)
    assert "- [ ] Scan [b]numbers" in text_of(desk, "scanner")


def test_a_plan_of_a_nested_project_is_edited(desk: InProcessRepository) -> None:
    plan = desk.write("tools/.agent/execplans/tool.md", SECOND.replace("scanner", "tool"))
    desk.write(".agent/execplan.toml", 'homes = ["tools"]\n')

    async def steps(session: AppSession) -> None:
        await session.press("slash")
        await session.type("tool")
        await session.press("enter", "d")
        await session.until("done: 2. Scan words.")

    run_session(steps)
    assert "- [x] (2026-01-01 00:00Z) Scan words." in plan.read_text()


def test_an_empty_task_or_escape_adds_nothing(desk: InProcessRepository) -> None:
    before = text_of(desk, "scanner")

    async def steps(session: AppSession) -> None:
        await session.press("a", "enter")
        await session.press("a", "x", "escape")
        await session.press("enter", "a", "x", "escape", "escape")
        assert "active 2" in session.screen()

    run_session(steps)
    assert text_of(desk, "scanner") == before


def test_a_task_is_claimed(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        await session.press("c")
        await session.until("claimed by Ann until")
        await session.until("2. Scan words. (yours)")

    run_session(steps)
    assert desk.data("next", "scanner")["task"]["by"] == "Ann"


def test_an_error_is_shown_with_its_hint(desk: InProcessRepository) -> None:
    desk.data("next", "scanner", "--claim", "agent-1")

    async def steps(session: AppSession) -> None:
        await session.press("enter", "c")
        await session.until("task 2 is claimed by agent-1")
        await session.until("choose another task")

    run_session(steps, size=(120, 40))


def test_a_change_since_the_plan_was_shown_stops_an_edit(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        session.app.check_files = lambda: None  # type: ignore[method-assign] # the board doesn't notice the change before the edit
        changed = SECOND.replace("- [ ] Scan words.", "- [ ] Scan words.\n- [ ] Scan the rest.")
        desk.plan(changed, "scanner")
        await session.press("d")
        await session.until("The plan has changed since it was shown")
        assert text_of(desk, "scanner") == changed
        session.app.reload(everything=False)
        await session.until("1/3  1 day ago")
        await session.press("d")
        await session.until("done: 2. Scan words.")

    run_session(steps, size=(120, 40))


@pytest.mark.parametrize("opened", [False, True])
def test_the_text_of_a_task_is_kept_when_the_plan_has_changed(desk: InProcessRepository, opened: bool) -> None:
    async def steps(session: AppSession) -> None:
        if opened:
            await session.press("enter")
            await session.until("tab Tasks/text")
        await session.press("a")
        await session.type("Scan numbers")
        desk.plan(SECOND.replace("lines", "every line"), "scanner")
        await session.press("enter")
        await session.until("The plan has changed since it was shown")
        await session.until("Add a task to Build the scanner")
        assert "Scan numbers" in session.screen()
        await session.press("x", "enter")
        await session.until("added: 3. Scan numbersx")

    run_session(steps, size=(120, 40))
    assert "- [ ] Scan numbersx\n" in text_of(desk, "scanner")


def test_a_plan_that_is_removed_below_a_dialog_is_left_after_it(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        await session.press("enter")
        await session.until("tab Tasks/text")
        await session.press("a")
        await session.type("Scan numbers")
        (desk.path / ".agent/execplans/scanner.md").unlink()
        await session.pilot.pause(1.5)
        assert "Scan numbers" in session.screen()
        await session.press("enter")
        await session.until("scanner")
        await session.until("Scan numbers")
        await session.press("escape")
        await session.until("active 1")
        await session.press("escape")
        assert "Build the scanner" not in session.screen()

    run_session(steps)


def test_an_edit_is_made_in_the_version_that_was_shown_when_a_key_was_pressed(
    desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits: list[Callable[[], str]] = []

    async def steps(session: AppSession) -> None:
        await session.press("enter")
        await session.until("tab Tasks/text")
        monkeypatch.setattr(session.app, "start_edit", edits.append)
        await session.press("d")
        desk.plan(SECOND.replace("Scan lines.", "Scan every line."), "scanner")
        await session.until("Scan every line.")
        with pytest.raises(ExecplanError) as caught:
            edits[0]()
        assert caught.value.exit == CONFLICT

    run_session(steps)


def test_changes_of_other_programs_are_shown(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        desk.plan(SECOND.replace("[ ] Scan", "[x] Scan"), "scanner")
        await session.until("complete 2")
        await session.press("left", "enter")
        await session.until("tab Tasks/text")
        desk.plan(CLEAN.replace("Build the parser", "Build another parser"), NAME)
        await session.until("Build another parser")
        (desk.path / f".agent/execplans/{NAME}.md").unlink()
        await session.until("complete 2")
        assert "active 0" in session.screen()

    run_session(steps)


def test_the_highlight_stays_on_its_plan(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        await session.press("down")
        desk.plan(SECOND.replace("Scan words", "Scan signs"), "a-new-one")
        await session.until("Scan signs")
        await session.press("enter")
        await session.until("tab Tasks/text")
        assert f".agent/execplans/{NAME}.md" in session.screen()

    run_session(steps)


def test_the_highlight_stays_on_its_task(desk: InProcessRepository) -> None:
    desk.plan(SECOND + "- [ ] Scan the rest.\n", "scanner")

    async def steps(session: AppSession) -> None:
        await session.press("enter")
        await session.until("tab Tasks/text")
        await session.press("down")
        desk.plan(SECOND.replace("- [x]", "- [ ] Open files.\n- [x]") + "- [ ] Scan the rest.\n", "scanner")
        await session.until("1. [ ] Open files.")
        await session.press("d")
        await session.until("done: 4. Scan the rest.")
        desk.plan(SECOND, "scanner")
        await session.until_true(lambda: "Open files." not in session.screen())
        await session.press("d")
        await session.until("done: 2. Scan words.")

    run_session(steps)


def test_the_filter_works_as_one_types(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        await session.press("slash")
        await session.type("scan words")
        screen = session.screen()
        assert "active 1 of 2" in screen
        assert "Build the scanner" in screen
        assert "Build the parser" not in screen
        await session.press("enter", "enter")
        await session.until("tab Tasks/text")
        await session.press("escape", "escape")
        assert "active 2" in session.screen()
        await session.press("slash")
        await session.type("nothing")
        assert "active 0 of 2" in session.screen()
        assert "no plan matches 'nothing'" in session.screen().split("\n")[0]
        await session.press("enter", "d")
        await session.until_true(lambda: session.screen().count("no plan matches 'nothing'") == 2)
        await session.press("escape")
        assert "no plan matches" not in session.screen().split("\n")[0]

    run_session(steps)


def test_the_filter_moves_to_a_column_with_a_match(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        await session.press("slash")
        await session.type("writer")
        await session.press("enter", "enter")
        await session.until(".agent/execplans/writer.md")

    run_session(steps)


def test_a_narrow_terminal_shows_one_column(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        assert "Build the scanner" in session.screen()
        assert "Build the writer" not in session.screen()
        await session.press("right")
        assert "Build the scanner" not in session.screen()
        assert "Build the writer" in session.screen()
        await session.pilot.resize_terminal(140, 30)
        await session.until("Build the scanner")
        assert "Build the writer" in session.screen()

    run_session(steps, size=(60, 20))


def test_a_plan_is_opened_with_the_mouse(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        await session.pilot.click("#column-active", offset=(5, 6), times=1)
        await session.pilot.click("#column-active", offset=(5, 6), times=2)
        await session.until("tab Tasks/text")
        assert f".agent/execplans/{NAME}.md" in session.screen()

    run_session(steps)


def test_archived_plans_are_shown_on_demand(desk: InProcessRepository) -> None:
    desk.data("archive", "writer", "--force", "--reason", "Test")

    async def steps(session: AppSession) -> None:
        assert "Build the writer" not in session.screen()
        await session.press("v")
        await session.until("Build the writer")
        await session.press("v")
        await session.until_true(lambda: "Build the writer" not in session.screen())

    run_session(steps, size=(160, 30))


def test_texts_of_plans_are_neither_markup_nor_control_characters(desk: InProcessRepository) -> None:
    desk.plan(HOSTILE, "hostile")

    async def steps(session: AppSession) -> None:
        await session.press("slash")
        await session.type("hostile")
        await session.press("enter")
        for text in ("[bold]Big[/bold]", "[@click=app.close]Click[/]"):
            assert text in session.screen()
        await session.press("enter")
        await session.until("tab Tasks/text")
        await session.press("d")
        await session.until("done: 1.")
        assert not {"\x1b", "\x07", "\u202e"} & set(session.screen())
        assert "\\x1b[31mred\\x07" in session.screen()

    run_session(steps)


def test_a_broken_plan_can_be_opened_but_not_edited(desk: InProcessRepository) -> None:
    desk.plan(b"Broken \xff\n", "broken")

    async def steps(session: AppSession) -> None:
        await session.press("d")
        await session.until("broken: no open tasks")
        await session.press("enter")
        await session.until("byte 0xff at offset 7 is not UTF-8")
        await session.press("d")
        await session.until("The plan can't be read: byte 0xff at offset 7")

    run_session(steps)


@pytest.mark.parametrize("columns", [40, 60])
def test_a_narrow_terminal_shows_help_and_quit(desk: InProcessRepository, columns: int) -> None:
    async def steps(session: AppSession) -> None:
        await session.until("? Keys  q Quit")
        await session.press("enter")
        await session.until("tab Tasks/text")
        assert "? Keys  q Quit" in session.screen()

    run_session(steps, size=(columns, 20))


def test_empty_columns_leave_room_for_the_others(desk: InProcessRepository) -> None:
    long_plan = "# Long\n\n## Progress\n\n" + "- [x] (2025-09-08 09:00Z) A.\n" * 25 + "- [ ] B.\n" * 3
    desk.plan(long_plan, "long")
    desk.plan(SECOND.replace("[x] (2025-12-31 09:00Z)", "[ ]"), "empty")
    desk.plan(b"Broken \xff\n", "broken")
    desk.git("add", "-A")
    desk.env["GIT_COMMITTER_DATE"] = "2025-09-08T09:00:00Z"
    desk.git("commit", "-q", "-m", "Plans")

    async def steps(session: AppSession) -> None:
        screen = session.screen()
        assert "╭─ draft 0 ─╮" in screen
        assert "25/28  115d " in screen

    run_session(steps, size=(100, 30))


def test_messages_leave_the_text_of_a_new_task_visible(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        await session.press("a")
        await session.type("Scan numbers")
        before = session.screen().split("\n")
        for _ in range(2):
            session.app.show_message("A message with several words. " * 5)
        await session.until("A message with several words.")
        row = next(at for at, line in enumerate(before) if "Scan numbers" in line)
        assert session.screen().split("\n")[row] == before[row]

    run_session(steps, size=(80, 24))


def test_the_keys_are_listed(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        await session.press("question_mark")
        await session.until("Keys of the board")
        await session.press("q")
        assert "Keys of the board" not in session.screen()

    run_session(steps, size=(100, 40))


def test_all_keys_can_be_read_on_a_small_terminal(desk: InProcessRepository) -> None:
    async def steps(session: AppSession) -> None:
        await session.press("question_mark")
        await session.until("Keys of the board")
        assert "nothing is written." not in session.screen()
        await session.press("end")
        await session.until("nothing is written.")

    run_session(steps, size=(80, 24))


def test_a_plan_can_be_read_on_a_low_terminal(desk: InProcessRepository) -> None:
    text = SECOND.replace("the scanner", "the scanner, which reads files of all kinds")
    desk.plan(text, "a-scanner-that-reads-files-of-all-kinds")

    async def steps(session: AppSession) -> None:
        await session.press("enter")
        await session.until("tab Tasks/text")
        await session.press("tab", "end")
        await session.until("• [ ] Scan words.")

    run_session(steps, size=(40, 10))


def test_an_empty_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = InProcessRepository(tmp_path / "desk", monkeypatch)
    (desk.path / f".agent/execplans/{NAME}.md").unlink()

    async def steps(session: AppSession) -> None:
        assert "no plans yet" in session.screen()
        for key in ("d", "a", "c", "enter", "down", "end", "right", "left"):
            await session.press(key)
        await session.until("This column is empty.")

    run_session(steps)


def test_an_error_that_stays_is_shown_once(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = desk.path / ".git/execplan/claims.json"
    errors: list[ExecplanError] = []

    async def steps(session: AppSession) -> None:
        monkeypatch.setattr(session.app, "show_error", errors.append)
        desk.write(".git/execplan/claims.json", "[")
        await session.until_true(lambda: bool(errors))
        session.app.reload(everything=False)
        await session.pilot.pause(1.5)
        assert [error.code for error in errors] == ["claims-damaged"]
        claims.unlink()
        desk.plan(SECOND.replace("Scan words", "Scan signs"), "scanner")
        await session.until("Scan signs")

    run_session(steps)


def test_a_huge_plan_is_cut(desk: InProcessRepository) -> None:
    desk.plan(SECOND + "\n## Context and Orientation\n\n" + "A line of text.\n" * 20_000, "scanner")

    async def steps(session: AppSession) -> None:
        await session.press("enter")
        await session.until("tab Tasks/text")
        await session.press("tab", "end")
        await session.until("The rest is left out: the plan has")

    run_session(steps)


@pytest.mark.parametrize(("key", "status"), [("q", OK), ("ctrl+q", OK), ("ctrl+c", INTERRUPTED)])
def test_quit(desk: InProcessRepository, key: str, status: int) -> None:
    async def steps(session: AppSession) -> None:
        await session.press(key)

    assert run_session(steps).return_value == status


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)])
def test_signals_end_the_board(desk: InProcessRepository, number: int, status: int) -> None:
    async def steps(session: AppSession) -> None:
        os.kill(os.getpid(), number)
        await session.pilot.pause(0.2)

    assert run_session(steps).return_value == status


def test_a_thousand_cards_are_not_all_drawn(desk: InProcessRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(1000):
        desk.plan(SECOND, f"plan-{at:04}")
    drawn: set[str] = set()

    def count_drawn(card: Card, width: int) -> list[Text]:
        drawn.add(card.id)
        return card_lines(card, width)

    monkeypatch.setattr("execplan.cli.board_app.card_list.card_lines", count_drawn)

    async def steps(session: AppSession) -> None:
        await session.press("end", "home", "pagedown")
        await session.press("slash")
        await session.type("plan-0999")
        assert "active 1 of 1002" in session.screen()

    run_session(steps)
    assert len(drawn) < 60
