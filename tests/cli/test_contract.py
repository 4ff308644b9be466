"""What holds for every verb: one JSON document, exit codes of the table, help that ends with examples."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from execplan.cli import bug_report
from execplan.cli.commands import COMMANDS
from execplan.core.errors import OK, PAUSED
from tests.conftest import Folder
from tests.plans import CLEAN, STEPS, with_sections

ROOT = Path(__file__).parents[2]

FIELDS = ["schema", "kind", "ok", "data", "error", "warnings", "next"]
JOB_DIGEST = "8a98235c9ceddfa26082d27121bb811a997fd7eef857d835bfff43d0f3cc4444"
"""The digest of the only job of the plan that `job` is called on."""
CALLS = {
    "init": ["init"],
    "new": ["new", "Write the reader"],
    "add": ["add", "Handle CRLF"],
    "done": ["done", "2"],
    "reopen": ["reopen", "1"],
    "decide": ["decide", "Read bytes", "--why", "Nothing is lost."],
    "discover": ["discover", "CR ends lines", "--evidence", "old.md"],
    "outcome": ["outcome", "Blocks are read."],
    "split": ["split", "3", "--done", "Build the scanner", "--remaining", "Build the reader"],
    "reword": ["reword", "2", "Build the whole parser."],
    "note": ["note", "Measured on two cores."],
    "revise": ["revise", "The tree was given up."],
    "set": ["set", "Plan of Work", "First the scanner."],
    "import": ["import", "todo.txt"],
    "convert": ["convert"],
    "attach": ["attach", "README.md"],
    "edit": ["edit"],
    "undo": ["undo"],
    "redo": ["redo"],
    "drop": ["drop", "--force"],
    "use": ["use"],
    "status": ["status"],
    "list": ["list"],
    "board": ["board"],
    "site": ["site"],
    "show": ["show"],
    "next": ["next"],
    "search": ["search", "parser"],
    "log": ["log"],
    "diff": ["diff"],
    "sync": ["sync", "github", "--offline"],
    "stats": ["stats"],
    "worktree": ["worktree"],
    "serve": ["serve", "--port", "0", "--dry-run"],
    "graph": ["graph"],
    "overlaps": ["overlaps"],
    "comment": ["comment", "Which line endings?", "--on", "2"],
    "reply": ["reply", "c", "All of them."],
    "resolve": ["resolve", "c"],
    "review": ["review"],
    "index": ["index"],
    "lint": ["lint"],
    "changes": ["changes", "--since", "HEAD"],
    "merge": ["merge", "parser"],
    "doctor": ["doctor"],
    "explain": ["explain", "EP101"],
    "archive": ["archive", "--force", "--reason", "No longer wanted."],
    "restore": ["restore", "parser"],
    "rename": ["rename", "parser", "Build the line parser"],
    "commit": ["commit"],
    "compile": ["compile"],
    "evaluate": ["evaluate"],
    "approve": ["approve", "--dry-run"],
    "run": ["run"],
    "resume": ["resume", "--answer", "go"],
    "rollback": ["rollback"],
    "replan": ["replan", "--reason", "It failed."],
    "runs": ["runs"],
    "export": ["export", "--to", "make"],
    "job": ["job", "1", "--digest", JOB_DIGEST, "--check"],
    "audit": ["audit", "--verify"],
    "handoff": ["handoff"],
    "report": ["report", "look", "--status", "completed", "--result", "It is clean."],
    "schema": ["schema", "execution-plan"],
    "guard": ["guard"],
    "mcp": ["mcp"],
    "lsp": ["lsp"],
    "context": ["context", "--estimate"],
    "summarize": ["summarize"],
    "prime": ["prime"],
    "checkpoint": ["checkpoint"],
    "triage": ["triage", "Fix a typo"],
    "install": ["install", "agents"],
    "uninstall": ["uninstall", "agents"],
    "self": ["self", "check"],
}
WRITERS = ["add", "done", "reopen", "split", "reword", "decide", "discover", "outcome", "note", "revise", "set"]
SETUP_COMMANDS = {
    "undo": [["done", "2"]],
    "redo": [["done", "2"], ["undo"]],
    "reply": [["comment", "Which line endings?"]],
    "resolve": [["comment", "Which line endings?"]],
    "worktree": [["commit"]],
    "restore": [["archive", "--force", "--reason", "No longer wanted."]],
    "run": [["approve"]],
    "export": [["approve"]],
    "resume": [["approve"], ["run"]],
    "rollback": [["approve"], ["run"]],
    "replan": [["approve"], ["run"]],
    "report": [["approve"]],
}
"""What must have happened for a call to make sense."""
MAKES = "## Concrete Steps\n\n```python {#make type=create_file target=src/made.py}\nX = 1\n```\n"
FILES = {"import": ("todo.txt", "(A) Read lines\n")}
"""The file that a verb reads."""
PLANS = {
    "compile": STEPS,
    "evaluate": STEPS,
    "approve": STEPS,
    "run": with_sections(MAKES),
    "export": with_sections(MAKES),
    "job": with_sections(MAKES),
    "resume": with_sections(MAKES.replace("#make", "#make confirm")),
    "rollback": with_sections(MAKES),
    "replan": with_sections(MAKES.replace("#make", "#make confirm")),
    "handoff": STEPS,
    "report": with_sections("## Concrete Steps\n\n```sh {#look}\ngit status\n```\n"),
}
"""The plan that a verb is called on, where it is not just any."""


RECORDED = (ROOT / "tests" / "public_surface.txt").read_text(encoding="utf-8").splitlines()


def answer_keys(value: object, prefix: str = "") -> set[str]:
    """The keys of an answer and of the first level of objects in it, such as `plans[].id`."""
    keys: set[str] = set()
    if isinstance(value, dict):
        for key, member in value.items():
            keys.add(f"{prefix}{key}")
            if not prefix and isinstance(member, dict | list):
                is_list = isinstance(member, list)
                for item in member if isinstance(member, list) else [member]:
                    keys |= answer_keys(item, f"{key}[]." if is_list else f"{key}.")
    return keys


def test_every_verb_is_called_here() -> None:
    assert set(CALLS) == set(COMMANDS)


@pytest.mark.parametrize("verb", COMMANDS)
def test_one_document(repo: Folder, verb: str) -> None:
    repo.plan(PLANS.get(verb, CLEAN))
    if verb in FILES:
        repo.write(*FILES[verb])
    for call in SETUP_COMMANDS.get(verb, ()):
        assert repo.run(*call).exit in (OK, PAUSED)
    result = repo.run(*CALLS[verb], "--json")
    document = result.json
    assert list(document) == FIELDS
    assert document["schema"] == "execplan/1"
    assert document["kind"] == verb
    assert document["ok"] is True
    assert result.exit == 0
    assert document["error"] is None
    assert isinstance(document["data"], dict)
    recorded = {line for line in RECORDED if line.startswith(f"json {verb} ")}
    keys = {f"json {verb} {key}" for key in answer_keys(document["data"])}
    assert recorded - keys == set(), "these keys are gone: a break, see CONTRIBUTING.md"
    assert keys - recorded == set(), "add these lines to tests/public_surface.txt"
    assert all(isinstance(line, str) for line in document["warnings"] + document["next"])
    assert result.err == ""


@pytest.mark.parametrize("verb", COMMANDS)
def test_json_before_the_verb_is_the_same(repo: Folder, verb: str) -> None:
    repo.plan()
    assert repo.run("--json", *CALLS[verb]).json["kind"] == verb


@pytest.mark.parametrize(
    "verb",
    [
        verb
        for verb in COMMANDS
        if verb
        not in (
            "init",
            "new",
            "import",
            "explain",
            "schema",
            "prime",
            "triage",
            "guard",
            "mcp",
            "lsp",
            "uninstall",
            "self",
        )
    ],
)
def test_no_project(plain: Folder, verb: str) -> None:
    result = plain.run(*CALLS[verb])
    assert result.exit == 6
    assert "execplan init" in result.err
    assert list(plain.path.iterdir()) == []
    document = plain.run(*CALLS[verb], "--json").json
    assert document["ok"] is False
    assert document["data"] is None
    assert document["error"]["exit"] == 6
    assert set(document["error"]) == {"code", "exit", "message", "hint", "candidates"}


def test_a_plan_outside_any_project_is_shown_and_not_written(plain: Folder) -> None:
    plain.write("plan.md", CLEAN)
    assert plain.run("show", "./plan.md").exit == 0
    for command in WRITERS:
        assert plain.run(*CALLS[command], "-p", "./plan.md").exit == 6
    for command in ("archive", "commit"):
        assert plain.run(*CALLS[command], "./plan.md").exit == 6
    assert [path.name for path in plain.path.iterdir()] == ["plan.md"]


@pytest.mark.parametrize("verb", ["status", "list", "next", "lint", "commit"])
def test_empty_project_is_no_error(repo: Folder, verb: str) -> None:
    result = repo.run(verb)
    assert result.exit == 0
    assert "no plans" in result.out
    assert repo.run(verb, "--json").json["ok"] is True


@pytest.mark.parametrize("verb", COMMANDS)
def test_help(plain: Folder, verb: str) -> None:
    result = plain.run(verb, "--help")
    assert result.exit == 0
    assert "\nReads: " in result.out
    assert "\nWrites: " in result.out
    examples = result.out.partition("\nExamples:\n")[2].splitlines()
    assert examples
    assert all(example.startswith(f"  execplan {verb}") for example in examples)


@pytest.mark.parametrize("ends", ["\n", "\r\n", ""])
@pytest.mark.parametrize("verb", [*WRITERS, "new"])
def test_dry_run_shows_a_diff_that_git_applies(repo: Folder, verb: str, ends: str) -> None:
    path = repo.plan(CLEAN.rstrip("\n").replace("\n", ends or "\n") + ends)
    call = CALLS.get(verb, ("new", "Another plan"))
    repo.write("change.patch", repo.ok(*call, "--dry-run")["diff"] + "\n")
    new_path = repo.path / ".agent/execplans/2026-01-01_another-plan.md"
    repo.git("apply", "change.patch")
    applied = [plan_path.read_bytes() for plan_path in (path, new_path) if plan_path.exists()]
    repo.git("apply", "-R", "change.patch")
    repo.ok(*call)
    assert [plan_path.read_bytes() for plan_path in (path, new_path) if plan_path.exists()] == applied


@pytest.mark.parametrize("verb", WRITERS)
def test_dry_run_of_what_is_so_already_has_an_empty_diff(repo: Folder, verb: str) -> None:
    repo.plan()
    repo.ok(*CALLS[verb])
    data = repo.ok(*CALLS[verb], "--dry-run")
    assert data["changed"] is False
    assert data["diff"] == ""


@pytest.mark.parametrize("verb", WRITERS)
def test_dry_run_writes_nothing(repo: Folder, verb: str) -> None:
    path = repo.plan()
    result = repo.run(*CALLS[verb], "--dry-run", "--json")
    data = result.json["data"]
    assert data["changed"] is True
    assert data["diff"].startswith("--- a/.agent/execplans/2026-01-01_parser.md\n+++ b/")
    assert path.read_text() == CLEAN
    assert data["digest"] == repo.ok(*CALLS[verb])["digest"]
    assert not (repo.path / ".agent" / ".state").exists()


@pytest.mark.parametrize("verb", WRITERS)
def test_writers_report_path_and_digest(repo: Folder, verb: str) -> None:
    import hashlib

    path = repo.plan()
    data = repo.ok(*CALLS[verb])
    assert data["path"] == ".agent/execplans/2026-01-01_parser.md"
    assert data["digest"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert data["commit"] is None


@pytest.mark.parametrize("verb", WRITERS)
def test_writers_commit_when_asked(repo: Folder, verb: str) -> None:
    repo.plan()
    data = repo.ok(*CALLS[verb], "--commit")
    assert repo.git("rev-parse", "HEAD").strip() == data["commit"]
    assert repo.git("show", "--name-only", "--format=").split() == [".agent/execplans/2026-01-01_parser.md"]
    assert repo.git("log", "-1", "--format=%s").startswith("plan(2026-01-01_parser): ")


@pytest.mark.parametrize("verb", WRITERS)
def test_if_match(repo: Folder, verb: str) -> None:
    path = repo.plan()
    digest = repo.ok("show")["digest"]
    refused = repo.run(*CALLS[verb], "--if-match", "0" * 64)
    assert refused.exit == 4
    assert digest in refused.err
    assert path.read_text() == CLEAN
    assert repo.ok(*CALLS[verb], "--if-match", digest)["changed"] is True


def test_if_match_shows_what_changed_since(repo: Folder) -> None:
    path = repo.plan()
    digest = repo.ok("show")["digest"]
    repo.ok("add", "By somebody")
    path.write_text(path.read_text() + "\nBy an editor.\n")
    error = repo.run("done", "2", "--if-match", digest, "--json").json["error"]
    assert error["code"] == "digest-differs"
    text = "\n".join(error["candidates"])
    assert "add" in text
    assert "+- [ ] By somebody" in text
    assert "+By an editor." in text


@pytest.mark.parametrize("verb", WRITERS)
def test_archived_plans_are_not_edited(repo: Folder, verb: str) -> None:
    path = repo.write(".agent/execplans/archive/2026-01-01_parser.md", CLEAN)
    result = repo.run(*CALLS[verb], "-p", "parser", "--json")
    assert result.exit == 1
    assert result.json["error"]["code"] == "archived-plan"
    assert result.json["data"]["reasons"]
    assert path.read_text() == CLEAN


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dnoe"], "execplan done"),
        (["done", "--comit", "1"], "--commit"),
        (["done"], "TASK"),
        (["decide", "x"], "--why"),
        (["add", "x", "--after", "1", "--under", "y"], "can't be combined"),
        (["archive", "--force"], "--reason"),
        (["archive", "--reason", "x"], "--force"),
        (["new"], "title"),
        (["outcome", "Lines", "are", "read"], "in quotes"),
        (["new", "x", "--from", "y"], "--from"),
        (["new", "--from", "y", "--template", "plan"], "--from"),
        (["new", "--from", "y", "--list-templates"], "--from"),
        (["new", "x", "--list-templates"], "--list-templates"),
    ],
)
def test_usage(repo: Folder, arguments: list[str], words: str) -> None:
    repo.plan()
    result = repo.run(*arguments)
    assert result.exit == 2
    assert words in result.err
    assert "hint: " in result.err
    assert "Traceback" not in result.err
    assert repo.run(*arguments, "--json").json["error"]["exit"] == 2


def test_version_and_folder(repo: Folder, plain: Folder) -> None:
    from execplan import __version__

    assert plain.run("--version").out.startswith(f"execplan {__version__}")
    repo.plan()
    assert "2026-01-01_parser" in plain.run("-C", str(repo.path), "list").out
    assert "2026-01-01_parser" in plain.run("list", "-C", str(repo.path)).out
    assert plain.run("-C", "nowhere", "list").exit == 3


def test_verbose_says_what_is_read_locked_and_run(repo: Folder) -> None:
    repo.plan()
    messages = repo.run("done", "2", "--commit", "-v").err
    for phrase in ("read ", "locked ", "for done of 2026-01-01_parser", "replaced ", "run git commit"):
        assert phrase in messages


def test_quiet_keeps_what_was_asked_for(repo: Folder) -> None:
    repo.plan()
    assert repo.run("done", "2", "-q").out == ""
    assert "next:" not in repo.run("list", "-q").out
    assert "2026-01-01_parser" in repo.run("list", "-q").out


def test_from_a_folder_below(repo: Folder) -> None:
    repo.plan()
    folder = repo.path / "src" / "deep"
    folder.mkdir(parents=True)
    assert repo.run("done", "2", "--json", cwd=folder).json["data"]["path"] == ".agent/execplans/2026-01-01_parser.md"


def test_a_closed_pipe_is_no_trouble(repo: Folder) -> None:
    repo.plan()
    process = repo.start("show")
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=30) in (0, 1)
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize("verb", ["list", "list --json", "lint .agent/execplans/2026-01-01_parser.md", "--help"])
def test_standard_output_is_full_or_closed(repo: Folder, verb: str) -> None:
    import subprocess
    import sys

    repo.plan()
    for redirect, status in ((">/dev/full", 6), (">&-", 0), ("<&- >&- 2>&-", 0)):
        line = f"{sys.executable} -m execplan {verb} {redirect}"
        completed = subprocess.run(line, shell=True, cwd=repo.path, env=repo.env, capture_output=True, check=False)
        assert completed.returncode == status, (line, completed)
        assert b"Traceback" not in completed.stderr
    assert not (repo.path.parent / "state-home").exists()


def test_no_module_of_the_folder_is_taken_for_one_of_ours(repo: Folder) -> None:
    for name in ("click", "selectors", "tomllib", "hashlib"):
        repo.write(f"{name}.py", "raise SystemExit('taken')\n")
    process = repo.start("list")
    _, trouble = process.communicate(timeout=30)
    assert (process.returncode, trouble) == (0, b"")


def test_no_secret_is_left_in_the_report_of_a_bug(plain: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(plain.path))
    monkeypatch.setenv("CANARY", "canary-in-a-variable")
    monkeypatch.setattr(sys, "argv", ["execplan", "decide", "it is canary-in-a-variable"])
    path = bug_report.write_bug_report(ValueError("canary-in-a-variable"))
    assert path is not None
    with open(path, encoding="utf-8") as file:
        report = file.read()
    assert "ValueError: [redacted]" in report
    assert "canary-in-a-variable" not in report


def test_interrupted_while_click_is_imported(plain: Folder) -> None:
    plain.write("early/click.py", "raise KeyboardInterrupt\n")
    result = plain.run("list", PYTHONPATH=f"{plain.path / 'early'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert result.exit == 130
    assert result.err == "execplan: interrupted\n"


def test_interrupted(repo: Folder) -> None:
    import fcntl
    import signal
    import time

    path = repo.plan()
    repo.ok("done", "2")
    before = path.read_bytes()
    locks = list((repo.path / ".git" / "execplan" / "locks").iterdir())
    with locks[0].open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = repo.start("done", "3")
            time.sleep(2)  # it waits for the lock by then
            process.send_signal(number)
            _, trouble = process.communicate(timeout=30)
            assert process.returncode == status
            assert b"Traceback" not in trouble
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "module", ["execplan.cli.main", "execplan.core.errors", "execplan.cli.error_handler", "execplan.cli.app", "click"]
)
def test_ctrl_c_while_a_module_is_imported_prints_no_traceback(module: str) -> None:
    program = f"""
import runpy, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
sys.argv = ["execplan", "--version"]
runpy.run_path({str(ROOT / "scripts/execplan")!r}, run_name="__main__")
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (result.returncode, "Traceback" in result.stderr) == (130, False), result.stderr
