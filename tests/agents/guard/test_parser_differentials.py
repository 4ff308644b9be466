"""What two programs read in two ways passes in none of them: links before `..`, braces, patches, line ends, other words for a secret."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from execplan.agents.guard import (
    call_file_changes,
    claude,
    codex,
    command_comparison,
    plan_denials,
    read_policy,
    self_protection,
)
from execplan.agents.guard.guard_context import GuardScope, PlannedStep
from execplan.agents.guard.path_resolution import resolve_path
from execplan.agents.guard.tool_call import EDIT, FileEdit, NotUnderstoodError
from execplan.agents.guard.typed_command import parse_typed_command
from execplan.execution.permission import ALLOW, ASK, DENY
from tests.agents.guard.call_sandbox import CallSandbox
from tests.agents.guard.guard_repository import hook

if TYPE_CHECKING:
    from tests.conftest import Folder


@pytest.fixture
def sandbox(repo: Folder) -> CallSandbox:
    repository = CallSandbox(repo)
    (repo.path / "src/deep/er").mkdir(parents=True)
    os.symlink("src/deep/er", repo.path / "link")
    return repository


def read_decision(sandbox: CallSandbox, text: str, policy: str = "inside") -> str:
    return read_policy.decide_read(sandbox.command(text), sandbox.around, policy).kind


def read_by(sandbox: CallSandbox, tool: str, **tool_input: Any) -> str:
    return read_policy.decide_read(claude.read(hook(tool, sandbox.root, **tool_input)), sandbox.around, "inside").kind


def test_a_link_before_the_folder_above_is_followed_both_ways(sandbox: CallSandbox) -> None:
    for path in ("link/../../x", "link/../../../x"):
        assert read_policy.decide_read(sandbox.read(path), sandbox.around, "inside").kind == ASK, path
        assert read_decision(sandbox, f"cat {path}") == ASK, path
    assert read_decision(sandbox, "cat link/../deep") == ALLOW
    assert read_decision(sandbox, "cd link/.. && cat ../x") == ""
    assert read_decision(sandbox, "cd link && cat ../x") == ALLOW
    assert not self_protection.is_execplan_call(sandbox.command("execplan show link/../../../x.md"), sandbox.around)


def test_of_proc_each_process_has_its_own(sandbox: CallSandbox) -> None:
    for path in ("/proc/self/cwd/x", "//proc/self/cwd/x", "../../../../../../../../../proc/self/cwd/x", "/dev/fd/3"):
        assert read_policy.decide_read(sandbox.read(path), sandbox.around, "inside").kind == ASK, path
        assert "each process" in resolve_path(path, sandbox.root, sandbox.root).denial_reason, path
    assert read_decision(sandbox, "cd /proc/self/cwd && cat x") == ""
    assert parse_typed_command("cd /proc/self/cwd && make", sandbox.root).problem


@pytest.mark.parametrize("text", ["cat {y}x,.env}", "cat {y}a..b}", "ls {y}x,/etc}"])
def test_braces_behind_a_brace_are_expanded(sandbox: CallSandbox, text: str) -> None:
    assert read_decision(sandbox, text) == ""


def test_a_secret_is_one_by_every_name_that_git_has_for_it(sandbox: CallSandbox) -> None:
    for word in (
        "show :0:.env",
        "show 'HEAD@{2026-01-01 10:00:00}:.env'",
        "log -L 1,9:.env",
        "log -L1,9:.env",
        "diff -- ':(top).env'",
    ):
        assert read_decision(sandbox, f"git {word}", "anywhere") == DENY, word
    for word in ("show :0:README.md", "log -L 1,9:src/app.py", "log --grep 'http://x'", "diff -- ':!src'"):
        assert read_decision(sandbox, f"git {word}") == ALLOW, word


def test_a_search_that_names_a_secret_reads_it(sandbox: CallSandbox) -> None:
    for text in (
        "grep -r --include=.env x .",
        "grep -r --include '.env*' x .",
        "rg -g '**/.env' x",
        "rg -g '{a,.env}' x",
        "rg -g '*.pem' x",
    ):
        assert read_decision(sandbox, text, "anywhere") == DENY, text
    for text in ("grep -r --include='*.py' x .", "rg -g '!.env' x", "rg -g '*.{ts,py}' x", "rg -g 'src/**' x"):
        assert read_decision(sandbox, text) == ALLOW, text
    assert read_by(sandbox, "Grep", pattern="x", glob=".env*") == DENY
    assert read_by(sandbox, "Grep", pattern="x", glob="*.{ts,py}", path="src") == ALLOW
    assert read_by(sandbox, "Grep", pattern="x", type="py") == ALLOW
    assert read_by(sandbox, "Grep", pattern="x", type="java") == DENY
    assert read_by(sandbox, "Grep", pattern="x", type="py", glob=".env*") == DENY
    sandbox.folder.write("credentials.properties", "\n")
    assert [read_decision(sandbox, f"rg -t {name} x") for name in ("py", "java")] == [ALLOW, DENY]


def test_no_search_comes_by_the_key(sandbox: CallSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    user_folder = sandbox.folder.path.parent
    monkeypatch.setenv("HOME", str(user_folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (user_folder / ".config/execplan").mkdir(parents=True)
    for text in ("grep -rn x {}", "egrep --recursive x {}/.config", "'rg' x {}", "diff -ur src {}", "ls && rg x {}"):
        assert read_decision(sandbox, text.format(user_folder), "anywhere") == DENY, text
    for text in ("ls {}", "grep x {}/notes", "diff -u src {}/notes", "grep -r x {}/repo/src"):
        assert read_decision(sandbox, text.format(user_folder), "anywhere") == ALLOW, text
    assert read_by(sandbox, "Grep", pattern="x", path=str(user_folder)) == DENY


def test_a_pattern_in_braces_does_not_lead_out(sandbox: CallSandbox) -> None:
    assert read_by(sandbox, "Glob", pattern="src/{a,b}/*.{ts,py}") == ALLOW
    for pattern in ("{..,x}/*", ".{.,x}/*", "{/etc,x}/*", "{x,/etc}/*", "{x,~}/*"):
        with pytest.raises(NotUnderstoodError):
            read_by(sandbox, "Glob", pattern=pattern)


def test_lint_and_show_print_no_secret(sandbox: CallSandbox) -> None:
    for line in ("lint .env", "lint ..", "show .env", "status -p .env"):
        assert not self_protection.is_execplan_call(sandbox.command(f"execplan {line}"), sandbox.around), line
    for line in ("lint", "lint .", "show 2026-01-01_parser", "show parser"):
        assert self_protection.is_execplan_call(sandbox.command(f"execplan {line}"), sandbox.around), line


LINES = "x\n\nmiddle\n  x\n"


@pytest.mark.parametrize(
    "body",
    [
        ("", "@@", "-x", "+y"),
        (" ", "@@", "-x", "+y"),
        ("@@ ", "-x", "+y"),
        (" @@", "-x", "+y"),
        ("-x", "+y", " *** Delete File: other"),
        ("-x", "+y", " *** End Patch"),
        ("-x", "+y", "*** End of File", "@@", "-middle"),
        ("-x\r", "+y\r"),
    ],
)
def test_a_patch_that_codex_may_read_otherwise_is_none(body: tuple[str, ...]) -> None:
    with pytest.raises(NotUnderstoodError):
        _patched(*body)


def _patched(*body: str) -> tuple[FileEdit, ...]:
    command = "\n".join(["*** Begin Patch", "*** Update File: a", *body, "*** End Patch"])
    return codex.read(hook("apply_patch", "/r", command=command)).edits


def apply_edit(sandbox: CallSandbox, edit: FileEdit, content: str) -> call_file_changes.CallFileChange:
    sandbox.folder.write("a", content)
    (change,) = call_file_changes.compute_file_changes([edit], sandbox.root, sandbox.root).file_changes
    return change


def test_what_is_at_the_end_of_a_file_is_looked_for_there(sandbox: CallSandbox) -> None:
    (edit,) = _patched("-x", "+y", "*** End of File")
    assert apply_edit(sandbox, edit, LINES).problem
    assert apply_edit(sandbox, edit, "a\nx\n").new_data == b"a\ny\n"
    (edit,) = _patched("-x", "+y")
    assert "empty line" in apply_edit(sandbox, edit, "x\n\n").problem  # Codex leaves one line end there


def test_a_command_of_codex_runs_where_it_says() -> None:
    with pytest.raises(NotUnderstoodError):
        codex.read(hook("exec_command", "/r", cmd="ls", workdir="link/.."))
    assert codex.read(hook("exec_command", "/r", cmd="ls", workdir="link")).cwd == "/r/link"


def test_a_line_end_is_not_taken_out_unsaid(sandbox: CallSandbox) -> None:
    """Claude Code takes the line end out with a text that it takes out of the end of a line."""
    for replace_all in (False, True):
        assert (
            "end of a line"
            in apply_edit(sandbox, FileEdit("a", EDIT, replacements=(("two", "", replace_all),)), "one\ntwo\n").problem
        )
    for old, new in (("two\n", ""), ("tw", ""), ("two", "2")):
        assert not apply_edit(sandbox, FileEdit("a", EDIT, replacements=((old, new, False),)), "one\ntwo\n").problem, (
            old
        )
    path = sandbox.folder.write("pyproject.toml", "x = 1 #Z\n[tool.execplan]\ncommit = false\n")
    assert call_file_changes.changes_execplan_table(
        str(path), FileEdit("pyproject.toml", EDIT, replacements=(("Z", "", False),))
    )


@pytest.mark.parametrize(
    "text", ["git -C . push", "git -c a=b push origin", "git --no-pager --git-dir x push", "/usr/bin/git -P push"]
)
def test_an_option_in_front_does_not_hide_a_subcommand_of_git(text: str) -> None:
    around: Any = GuardScope(
        "/r", {"forbidden_commands": ["git push"]}, {}, lambda path: "", {}, lambda path, state: None
    )
    denies = [PlannedStep({"id": "s", "deny": ["git push"]}, "LOW")]
    commands = [tuple(text.split())]
    assert plan_denials.command_denial_reason(commands, (), around)
    assert plan_denials.command_denial_reason(commands, denies, around._replace(constraints={}))
    assert not plan_denials.command_denial_reason([("git", "-C", ".", "commit", "push")], denies, around)


def test_a_word_left_open_leads_out_by_no_flag_and_no_link(sandbox: CallSandbox) -> None:
    step: dict[str, Any] = {"env": {}, "cwd": "."}

    def allowed(text: str) -> bool:
        parsed = parse_typed_command(text, sandbox.root)
        assert not parsed.problem, parsed
        return command_comparison.is_allowed_by_pattern(
            parsed, f"{text.split(maxsplit=1)[0]} ...", step, sandbox.around
        )

    for text in (
        "tar -xf/etc/x",
        "tar -xf../x",
        "make V=-f/etc/x",
        "make V=-If../x",
        "make -I'~/x'",
        "cp a link/../../x",
    ):
        assert not allowed(text), text
    for text in (
        "tar -xf src/x",
        "tar -xfsrc/x",
        "make V=-Isrc/x",
        "make -j4 --no-print-directory",
        "git log a..b",
        "cp a link/x",
    ):
        assert allowed(text), text
