"""A pipe where a file is expected: every command says so at once, and none waits for whoever would write into it."""

from __future__ import annotations

import ast
import os
from collections import Counter
from pathlib import Path

import pytest

from execplan.core.files import file_access
from tests.conftest import Folder
from tests.plans import CLEAN, STEPS

pytestmark = pytest.mark.exhaustive

PLAN = "2026-01-01_parser"
READERS = (["doctor"], ["status"], ["prime"], ["show"], ["next"], ["lint"], ["context", "--estimate"])
WRITERS = (["add", "Handle CRLF"], ["undo"], ["doctor", "--fix"], ["checkpoint"], ["done", "3", "--commit"])
FILES = {
    ".agents/skills/execplan/.execplan.json": (["doctor"], ["install", "skill"], ["uninstall", "skill"]),
    ".agents/skills/execplan/SKILL.md": (["install", "skill"],),
    ".claude/settings.json": (["doctor"], ["install", "guard"], ["install", "session-hooks"], ["uninstall", "guard"]),
    ".codex/hooks.json": (["doctor"], ["install", "guard"]),
    ".gitattributes": (*READERS, *WRITERS, ["install", "merge-driver"], ["commit"], ["triage", "--since", "HEAD"]),
    ".agent/execplans/.gitattributes": (["prime"], ["doctor"], ["commit"]),
    ".gitignore": (["prime"], ["doctor"], ["commit"]),
    ".gitmodules": (["status"], ["evaluate"], ["doctor"]),
    ".git/commondir": (*READERS, ["install", "merge-driver"], ["install", "git-hooks"], ["decide", "X", "--why", "Y"]),
    ".git/packed-refs": (["prime"], ["doctor"], ["archive", "--force", "--reason", "Over."]),
    ".git/info/attributes": (["prime"], ["doctor"], ["commit"]),
    ".git/execplan/journal/*": (*READERS, *WRITERS, ["rename", PLAN, "Another title"]),
    ".git/execplan/claims.json": (["next"], ["status"], ["next", "--claim", "me"], ["doctor"]),
    ".git/execplan/claims.lock": (["next", "--claim", "me"], ["doctor"]),
    ".git/execplan/locks/*": (["add", "Handle CRLF"], ["doctor"]),
    ".git/execplan/move.json": (["status"], ["add", "Handle CRLF"], ["doctor"]),
    f".agent/execplans/{PLAN}.md": (*READERS, *WRITERS),
    ".agent/execplan.toml": (*READERS, ["new", "A title"]),
    "pyproject.toml": (*READERS, ["new", "A title"]),
    "AGENTS.md": (["install", "agents"], ["doctor"], ["context", "--estimate"]),
    "README.md": (["context", "--estimate", "--file", "README.md"], ["attach", "README.md"]),
    f".agent/execplans/artifacts/{PLAN}/execution-plan.json": (["status"], ["compile"], ["evaluate"], ["runs"]),
}


@pytest.fixture
def used(repo: Folder) -> Folder:
    """A repository in which a plan was worked on."""
    repo.plan(STEPS)
    repo.ok("done", "2")
    repo.ok("next", "--claim", "me")
    repo.ok("compile")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Plan")
    return repo


@pytest.mark.parametrize("file", FILES)
def test_a_pipe_is_no_file(used: Folder, file: str) -> None:
    paths = list(used.path.glob(file)) or [used.path / file]
    for path in paths:
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
    for call in FILES[file]:
        result = used.run(*call)  # it ends in the time that a test has
        assert result.exit not in (70, 130), (call, result)
        assert "bug" not in result.err, (call, result)


def test_a_pipe_is_named(used: Folder) -> None:
    os.mkfifo(used.path / ".gitattributes")
    result = used.run("doctor")
    assert result.exit == 1
    assert "can't let git read .gitattributes: it is a pipe" in result.out
    (used.path / ".gitattributes").unlink()
    (used.path / ".gitattributes").symlink_to(os.devnull)
    assert used.run("prime").exit == used.run("commit").exit == 0
    journal = next(used.path.glob(".git/execplan/journal/*"))
    journal.unlink()
    os.mkfifo(journal)
    result = used.run("undo")
    assert (result.exit, "it is a pipe" in result.err) == (3, True)


def test_the_rules_of_the_user_and_the_guide_of_a_home(plain: Folder) -> None:
    config = plain.path.parent / ".config/execplan/config.toml"
    config.parent.mkdir(parents=True)
    os.mkfifo(config)
    plain.plan(CLEAN)
    for call in (["lint"], ["doctor"], ["status"], ["evaluate"]):
        assert plain.run(*call).exit in (0, 1, 3), call


OWN_HANDLES = {
    "agents/guard/path_resolution.py": 1,
    "cli/bug_report.py": 1,
    "cli/text_input.py": 2,
    "context/model_table.py": 1,
    "context/triage/triage_table.py": 1,
    "core/installation.py": 1,
    "execution/engine/commands/sandbox_init.py": 1,
    "execution/engine/commands/processes.py": 3,
    "execution/engine/commands/process_start.py": 2,
    "execution/engine/commands/command_transcript.py": 1,
    "execution/engine/executors/worker_workspace.py": 1,
    "execution/engine/steps/file_writes.py": 1,
    "agents/capture/captured_plan.py": 1,
    "cli/schema_builder.py": 1,
    "core/files/marshal_cache.py": 1,
    "core/worker_processes.py": 2,
    "execution/approvals/tool_runner.py": 1,
    "execution/approvals/tool_discovery.py": 1,
    "core/git/gitignore.py": 4,
    "execution/approvals/disk_world.py": 1,
    "execution/approvals/ssh_keys.py": 1,
    "execution/engine/commands/loopback.py": 1,
    "execution/engine/commands/machine_start.py": 1,
    "exchange/file_import.py": 1,
    "core/git_merge/three_way_merge.py": 2,
    "core/archive/archive_evidence.py": 1,
    "core/archive/attachments.py": 1,
    "core/project/builtin_templates.py": 1,
    "views/site/page_rendering.py": 1,
    "context/gathering/triage_changes.py": 1,
    "core/files/file_access.py": 2,
    "team/worktrees/done_elsewhere.py": 1,
    "team/github/workflow_run.py": 1,
}
"""Calls of `open` that are given a handle, or a file that the package or the process itself has made, and of /proc."""


def test_files_are_opened_in_one_place() -> None:
    """A new `open` goes through `disk.open_regular`; one that opens a file of the program's own is counted here."""
    root = Path(file_access.__file__).parents[2]
    counted: Counter[str] = Counter()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
                argument = ast.unparse(node.args[0])
                if "open_regular(" not in argument and "open_file(" not in argument:
                    counted[str(path.relative_to(root))] += 1
    assert dict(counted) == OWN_HANDLES
