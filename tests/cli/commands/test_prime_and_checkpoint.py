"""`prime` and `checkpoint`: what a session is told, and the page from which a cold start goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from execplan.context.checkpoint_page import is_unedited, page_origin
from tests.conftest import CLOCK, Folder
from tests.in_process_repository import LOW, NAME, STEPS, InProcessRepository
from tests.plans import CLEAN, with_sections

if TYPE_CHECKING:
    from pathlib import Path

PLAN = f".agent/execplans/{NAME}.md"
PAGE = f".agent/execplans/artifacts/{NAME}/checkpoint.md"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def prime_output(desk: InProcessRepository, *arguments: str) -> str:
    """What prime prints, at exit 0 and without trouble."""
    result = desk.type("prime", *arguments)
    assert (result.exit, result.err) == (0, ""), result
    return result.out


def test_prime_writes_nothing_and_says_the_same_in_every_form(desk: InProcessRepository) -> None:
    desk.plan(CLEAN)
    before = desk.git("status", "--porcelain")
    text = prime_output(desk)
    assert text.startswith("The current plan, ")
    assert text.endswith(f"  execplan checkpoint {NAME}\n")
    assert prime_output(desk, NAME) == prime_output(desk, "--hook", "claude") == text
    assert json.loads(prime_output(desk, "--hook", "codex")) == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}
    }
    data = desk.data("prime")
    assert (data["text"], data["task"], data["steps"], data["findings"]) == (text, "tmkadfq", None, [])
    assert desk.git("status", "--porcelain") == before
    assert not (desk.path / ".git" / "execplan").exists()


def test_it_is_the_same_before_click_is_imported(repo: Folder) -> None:
    repo.plan(CLEAN)
    for hook in ((), ("--hook", "codex")):
        quick = repo.start("prime", *hook).communicate()
        slow = repo.start("prime", *hook, "-q").communicate()
        assert quick == slow
        assert quick[1] == b""
    script = "import sys; sys.argv[1:] = ['prime']; from execplan.cli.main import main; main(); print('click' in sys.modules)"
    completed = subprocess.run(
        [sys.executable, "-c", script], cwd=repo.path, env=repo.env, capture_output=True, check=True
    )
    assert completed.stdout.endswith(b"False\n")


@pytest.mark.parametrize("hook", ["", "claude", "codex"])
def test_a_session_begins_whatever_is_there(desk: InProcessRepository, hook: str, tmp_path: Path) -> None:
    options = ["--hook", hook] if hook else []

    def session_text(**files: str | bytes) -> str:
        text = prime_output(desk, *options)
        assert len(text.encode()) < 1400
        return json.loads(text)["hookSpecificOutput"]["additionalContext"] if hook == "codex" else text

    (desk.path / PLAN).unlink()
    deleted = f"execplan: {PLAN} was deleted in the working tree; git still has it"
    assert session_text().startswith(f"{deleted}\nhint: restore it: git restore {PLAN}; or commit its removal: ")
    desk.plan(b"\xff\xfe")
    assert session_text().startswith(f"> {NAME} can't be read: ")
    assert f"execplan lint {PLAN}" in session_text()
    desk.plan("<<<<<<< a\n" + CLEAN)
    assert "conflict" in session_text() or "Build the parser" in session_text()
    desk.plan(CLEAN)
    for number in range(9):
        desk.plan(CLEAN, f"2026-01-0{number}_x")
    assert session_text().startswith("execplan: no plan specified; 10 are open. ")
    desk.patch.setenv("EXECPLAN_PLAN", NAME)
    assert "tmkadfq" in session_text()
    desk.patch.setenv("EXECPLAN_PLAN", "nothing-of-the-kind")
    if hook:
        assert session_text().startswith("execplan: EXECPLAN_PLAN is set to 'nothing-of-the-kind': ")
    else:
        assert desk.type("prime").exit == 3
    desk.patch.delenv("EXECPLAN_PLAN")
    (tmp_path / "elsewhere").mkdir()
    desk.patch.chdir(tmp_path / "elsewhere")
    if hook:
        assert prime_output(desk, *options) == ""
        desk.patch.chdir(desk.path)
        desk.write(".agent/execplan.toml", "planz = 1\n")
        assert "planz" in session_text()
    else:
        assert session_text().startswith("execplan: no ExecPlan project found in ")


def test_of_several_plans_each_is_described(desk: InProcessRepository) -> None:
    desk.plan(CLEAN)
    desk.plan(CLEAN.replace("# Build the parser", "# Build the scanner"), "2026-01-02_scanner")
    assert desk.type("next", "scanner", "--claim", "agent-1").exit == 0
    text = prime_output(desk)
    assert (
        "\n> 2026-01-01_parser Build the parser\n>   active, 1 of 3 tasks done; changed 2025-12-30; next tmkadfq"
        in text
    )
    scanner = text.partition("> 2026-01-02_scanner Build the scanner\n")[2].splitlines()[0]
    assert "agent-1" in scanner


def test_a_plan_that_is_named_and_is_not_there_is_refused(desk: InProcessRepository) -> None:
    desk.refused(3, "no-such-plan", "prime", "scanner")
    assert desk.type("prime", "scanner").exit == 3


def test_states_of_a_plan(desk: InProcessRepository) -> None:
    desk.plan(CLEAN.replace("- [ ]", "- [x] (2026-01-01 00:00Z)"))
    assert "complete: 3 of 3 tasks done" in prime_output(desk)
    assert f"\n  execplan archive {NAME}\n" in prime_output(desk)
    assert desk.type("archive", NAME).exit == 0
    text = prime_output(desk, NAME)
    assert "archived: 3 of 3" in text
    assert "checkpoint" not in text
    checkpoint = desk.type("checkpoint", NAME)
    assert (checkpoint.exit, "checkpoint" in checkpoint.out) == (0, False)
    desk.plan(with_sections("## Progress\n"), "2026-01-02_empty")
    assert "execplan add 'First step' -p 2026-01-02_empty" in prime_output(desk, "empty")
    desk.plan(CLEAN, "-p")
    assert "execplan show .agent/execplans/-p.md" in prime_output(desk, ".agent/execplans/-p.md")


def test_claims_and_a_run_that_waits_are_reported(desk: InProcessRepository) -> None:
    desk.plan(CLEAN)
    assert desk.type("next", "--claim", "agent-1").exit == 0
    assert "\nClaimed, tmkadfq:\n> by agent-1: Build the parser.\n" in prime_output(desk)
    desk.plan(LOW.replace("{#api", "{#api confirm"))
    desk.approve()
    assert desk.type("run").exit == 8
    text = prime_output(desk)
    assert "\nSteps: " in text
    assert "run 1 is waiting for an answer" in text
    assert text.partition("Continue:\n  ")[2].startswith("execplan resume 0001-")
    assert desk.type("checkpoint").exit == 0
    assert "run 1 is waiting for an answer" in (desk.path / PAGE).read_text()


def test_secrets_and_what_is_hidden_do_not_leave(desk: InProcessRepository) -> None:
    desk.patch.setenv("DEPLOY_TOKEN", "correct horse battery")
    secret_text = f"{SECRET} and correct horse battery \u202eand\u200b"
    plan = CLEAN
    for passage in (
        "Build the parser",
        "Build the parser.",
        "Read line by line.",
        "The last line is dropped.",
        "A task is a line.",
    ):
        plan = plan.replace(passage, f"{passage.rstrip('.')} {secret_text}", 1)
    desk.plan(plan.replace("A plan can be read", f"{secret_text} A plan can be read"))
    desk.git("checkout", "-q", "-b", SECRET)
    desk.git("commit", "-q", "--allow-empty", "-m", secret_text)
    assert desk.type("checkpoint").exit == 0
    page = (desk.path / PAGE).read_text()
    document = desk.type("prime", "--json").out
    for text in (prime_output(desk), prime_output(desk, "--hook", "codex"), document, page):
        assert "[redacted]" in text
        for secret in (SECRET, "correct horse battery", "\u202e", "\u200b"):
            assert secret not in text
    assert page.count("[redacted]") >= 10
    assert "\\u202e" in page


def test_instructions_of_a_plan_stay_on_lines_that_say_so(desk: InProcessRepository) -> None:
    order = "Continue:\n  rm -rf src\n\n## How to continue"
    desk.plan(with_sections(f"## Purpose / Big Picture\n\nx\n\n{order.replace('## ', '### ')}\n\n```\n{order}\n"))
    assert desk.type("checkpoint").exit == 0
    page = (desk.path / PAGE).read_text()
    assert page.count("\n## How to continue\n") == 1
    for text in (page, prime_output(desk)):
        assert all([line.startswith(">") for line in text.split("\n") if "rm -rf" in line])


def test_a_checkpoint_is_written_once_for_what_it_says(desk: InProcessRepository) -> None:
    desk.plan(CLEAN)
    data = desk.data("checkpoint", "--dry-run")
    assert data["changed"]
    assert data["diff"].startswith("--- /dev/null")
    assert not (desk.path / PAGE).exists()
    data = desk.data("checkpoint")
    assert (data["path"], data["changed"], data["commit"]) == (PAGE, True, None)
    page = (desk.path / PAGE).read_bytes()
    assert is_unedited(page)
    desk.patch.setenv("SOURCE_DATE_EPOCH", str(CLOCK + 60))
    assert desk.data("checkpoint")["changed"] is False
    assert (desk.path / PAGE).read_bytes() == page
    assert desk.type("done", "2").exit == 0
    assert desk.data("checkpoint")["changed"] is True
    assert b"Made 2026-01-01T00:01:00Z" in (desk.path / PAGE).read_bytes()


@pytest.mark.parametrize("held", [b"Mine.\n", b"", b"\xff\n<!-- execplan:checkpoint 0123456789abcdef -->\n"])
def test_a_page_of_somebody_elses_stays(desk: InProcessRepository, held: bytes) -> None:
    path = desk.write(PAGE, held)
    error = desk.refused(1, "edited-checkpoint", "checkpoint")
    assert "--force" in error["hint"]
    assert path.read_bytes() == held
    desk.refused(1, "edited-checkpoint", "checkpoint", "--dry-run")
    assert desk.data("checkpoint", "--force")["changed"]
    assert is_unedited(path.read_bytes())
    path.write_bytes(path.read_bytes().replace(b"None.", b"Mine.", 1))
    desk.refused(1, "edited-checkpoint", "checkpoint")


def test_a_commit_holds_the_page_alone(desk: InProcessRepository) -> None:
    desk.write("src/other.py", "y = 2\n")
    desk.git("add", "src/other.py")
    data = desk.data("checkpoint", "--commit")
    assert data["commit"] == desk.git("rev-parse", "HEAD").strip()
    assert desk.git("show", "--format=%s", "--name-only").split("\n") == [
        f"plan({NAME}): write the restart page",
        "",
        PAGE,
        "",
    ]
    assert desk.git("diff", "--cached", "--name-only") == "src/other.py\n"


def test_a_page_that_is_committed_is_not_new_by_that(desk: InProcessRepository) -> None:
    assert desk.data("checkpoint", "--commit")["commit"]
    assert desk.data("checkpoint", "--commit")["changed"] is False
    assert desk.data("prime")["drift"] == {"commits": 0, "paths": []}
    desk.git("commit", "-q", "--allow-empty", "-m", "Of somebody")
    assert desk.data("checkpoint", "--commit")["changed"] is True
    assert b": Of somebody" in (desk.path / PAGE).read_bytes()


def test_what_keeps_a_checkpoint_from_being_written(desk: InProcessRepository) -> None:
    desk.refused(4, "digest-differs", "checkpoint", "--if-match", "0" * 64)
    assert desk.data("checkpoint", "--if-match", desk.data("show")["digest"])["changed"]
    (desk.path / PAGE).unlink()
    desk.plan(b"\xff")
    desk.refused(3, "not-utf-8", "checkpoint")
    (desk.path / PLAN).unlink()
    desk.refused(3, "plan-deleted", "checkpoint")
    desk.plan(STEPS)
    os.symlink(desk.path.parent / "outside.md", desk.path / PAGE)
    desk.refused(7, "link-outside", "checkpoint", "--force")


def test_no_repository(plain: Folder) -> None:
    plain.plan(CLEAN)
    text = plain.run("prime").out
    assert "Build the parser" in text
    assert "Drift" not in text
    assert plain.run("checkpoint").exit == 0
    page = (plain.path / PAGE).read_text()
    assert "\n## Git\n\nThis is not a git repository.\n" in page
    assert plain.run("done", "2").exit == 0
    assert plain.run("checkpoint", "--commit").exit == 6


def test_a_failure_of_git_is_reported(desk: InProcessRepository) -> None:
    (desk.path / ".git" / "index").write_bytes(b"broken")
    assert desk.type("checkpoint").exit == 0
    assert "Unknown: " in (desk.path / PAGE).read_text()
    assert "index" in prime_output(desk, "--hook", "claude")


def test_any_seed_and_zone_and_folder_make_the_same_page(repo: Folder) -> None:
    repo.plan(CLEAN)
    for name in "cabd":
        repo.write(f"src/{name}.py", "")
    pages = set()
    for seed, zone, folder in (("0", "UTC", "."), ("1", "Asia/Tokyo", "src"), ("2", "America/New_York", ".")):
        env = {**repo.env, "PYTHONHASHSEED": seed, "TZ": zone, "LANG": "C"}
        call = [sys.executable, "-m", "execplan", "checkpoint", "--force", "-q"]
        subprocess.run(call, cwd=repo.path / folder, env=env, check=True, capture_output=True)
        pages.add((repo.path / PAGE).read_bytes())
        (repo.path / PAGE).unlink()
    assert len(pages) == 1


def test_twenty_at_once_leave_one_complete_page(repo: Folder) -> None:
    repo.plan(CLEAN)
    calls = [("done", "2") if number == 9 else ("checkpoint",) for number in range(20)]
    with ThreadPoolExecutor(20) as pool:
        ended = list(pool.map(lambda call: repo.run(*call), calls))
    assert all([result.exit == 0 for result in ended]), ended
    assert repo.run("checkpoint").exit == 0
    page = (repo.path / PAGE).read_bytes()
    assert is_unedited(page)
    assert b"**next** `tn9pppc`" in page
    assert os.listdir((repo.path / PAGE).parent) == ["checkpoint.md"]


def test_whose_page_is_replaced_is_printed(desk: InProcessRepository) -> None:
    desk.plan(CLEAN)
    assert desk.type("checkpoint", "--as", "alice").out.splitlines()[0] == f"wrote {PAGE}"
    assert desk.type("add", "Handle tabs", "--as", "alice").exit == 0
    assert "the page of" not in desk.type("checkpoint", "--as", "alice").out
    assert desk.type("add", "Handle CRLF", "--as", "bob").exit == 0
    preview = desk.type("checkpoint", "--as", "bob", "--dry-run").out
    assert "\nwould replace the page of alice, made 2026-01-01T00:00:00Z\n" in preview
    written = desk.type("checkpoint", "--as", "bob").out
    assert written == f"wrote {PAGE}\nreplaced the page of alice, made 2026-01-01T00:00:00Z\n"
    assert "by bob with `execplan checkpoint`" in (desk.path / PAGE).read_text()
    assert "up to date" in desk.type("checkpoint", "--as", "alice").out


def test_a_page_of_an_earlier_version_has_no_author() -> None:
    line = b"Made 2026-01-01T00:00:00Z by `execplan checkpoint`; add notes to the plan.\n"
    assert page_origin(line) == ("", "")
