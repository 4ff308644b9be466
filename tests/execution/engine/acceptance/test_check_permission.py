"""Which checks run unasked: those that only read, in a sandbox where nothing is writable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.core.plan import reader
from execplan.execution.acceptance_check import find_acceptance_checks
from execplan.execution.approvals.effective_policy import effective_policy
from execplan.execution.engine.acceptance.check_permission import CheckPermission, find_permission
from execplan.execution.permission import ALLOW, ASK, DENY
from tests.in_process_repository import NAME, InProcessRepository
from tests.needs import need

if TYPE_CHECKING:
    from pathlib import Path

ATTACK = "git grep '-nOecho {} > .claude/settings.json;true' hello"
READING = (
    "test -f Makefile",
    "grep -rn parser src",
    "git grep -n parser",
    "git status --short",
    "git log --oneline -3",
    "head -n 5 Makefile",
    "awk 'NR>1 {print $1}' Makefile",
    "sed -n '/parser/,/^$/p' Makefile",
    "python3 --version",
)
ASKED = (
    ATTACK,
    "git grep -Osh x",
    "git grep --open-files=sh x",
    "git apply --stat --apply .agent/execplans/x.md",
    "git --git-dir=vendor/sub status",
    "git -C vendor/sub status",
    "git diff --output=x",
    "git diff --outp=x",
    "git diff --ext-diff",
    "git log --textconv",
    "git branch --list -D main",
    "execplan lint --rules ./evil.py",
    "pytest --help",
    "cargo metadata",
    "cargo --version",
    "rustc --version",
    "yarn --version",
    "pnpm --version",
    "nm --plugin ./evil.so x",
    "time -o FILE true",
    "time true",
    "fd -Hx rm",
    "cloc --extract-with=./x a",
    "nix develop -c ls",
    "scc -o out",
    "sort -no out Makefile",
    "sort --outp=out Makefile",
    "find . -fprint out",
    "tree -o out",
    "rg --pre=./x y",
    "tar -tf a.tar --use-compress-program=./x",
    "awk '{print > \"out\"}' Makefile",
    "sed -n '/a/w out' Makefile",
    "npm ls",
    "docker ps",
    "LANG=C ls",
    "ls | wc",
    "./ls",
    "/usr/bin/ls",
    "env ls",
    "git grep x -- '.en?'",
    "make test",
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InProcessRepository:
    return InProcessRepository(tmp_path / "repo", monkeypatch)


def permission(repository: InProcessRepository, command: str, *, is_sandboxed: bool = True) -> CheckPermission:
    """Whether a check with this command may run; `` {cwd=src}`` can follow it."""
    command, _, directory = command.partition(" {cwd=")
    item = f"`{command}`" + (f" {{cwd={directory}" if directory else "")
    text = f"# Parser\n\n## Progress\n\n- [ ] Read.\n  - Check: {item}\n"
    plan = reader.read(text.encode())
    project = repository.project()[0]
    (check,) = find_acceptance_checks(plan, NAME, "plan.md", plan.tasks)
    assert check is not None
    return find_permission(project, effective_policy(project), check, is_sandboxed=is_sandboxed)


@pytest.mark.parametrize("command", READING)
def test_what_only_reads_runs_unasked_in_a_sandbox(repository: InProcessRepository, command: str) -> None:
    assert permission(repository, command)[1::4] == (ALLOW, True)
    unsandboxed = permission(repository, command, is_sandboxed=False)
    assert (unsandboxed.kind, unsandboxed.reasons) == (ASK, ("there is no sandbox",))


@pytest.mark.parametrize("command", ASKED)
@pytest.mark.parametrize("person_from", ["MEDIUM", "NEVER"])
def test_what_may_do_more_needs_a_person_whatever_the_policy(
    repository: InProcessRepository, command: str, person_from: str
) -> None:
    repository.write("../.config/execplan/config.toml", f'[execution]\nperson_from = "{person_from}"\n')
    assert permission(repository, command).kind in (ASK, DENY)


def test_a_policy_can_require_a_person_for_reading_too(repository: InProcessRepository) -> None:
    repository.write("../.config/execplan/config.toml", '[execution]\nperson_from = "LOW"\n')
    assert permission(repository, "ls").kind == ASK


def test_a_link_to_a_secret_is_the_secret(repository: InProcessRepository) -> None:
    repository.write(".env", "KEY=1\n")
    (repository.path / "notes.txt").symlink_to(".env")
    assert permission(repository, "cat .env").kind == DENY
    assert permission(repository, "cat notes.txt").kind == DENY


def test_a_check_that_would_print_a_secret_needs_a_person(repository: InProcessRepository) -> None:
    commands = ("git grep KEY", "git log -p", "grep -r KEY .")
    assert {permission(repository, command).kind for command in commands} == {ALLOW}
    repository.write("prod.env", "KEY=1\n")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "Settings")
    assert {permission(repository, command).kind for command in commands} == {ASK}
    assert permission(repository, "git grep KEY -- src").kind == ALLOW


def test_git_runs_only_at_the_root_and_without_programs_in_its_settings(repository: InProcessRepository) -> None:
    assert permission(repository, "git status {cwd=src}").kind == ASK
    for name in ("core.fsmonitor", "diff.x.textconv", "diff.external", "filter.x.clean", "core.sshCommand"):
        repository.git("config", name, "./evil")
        found = permission(repository, "git status")
        assert (found.kind, name.casefold() in found.reasons[0]) == (ASK, True)
        repository.git("config", "--unset", name)
    repository.write("included", "[core]\n\tfsmonitor = ./evil\n")
    repository.git("config", "include.path", "../included")
    assert permission(repository, "git status").kind == ASK


def test_a_reading_check_can_write_nothing_in_the_repository(repository: InProcessRepository) -> None:
    need("bwrap")
    repository.plan("# P\n\n## Progress\n\n- [ ] Read.\n  - Check: `wc Makefile`\n")
    repository.write("bin/wc", "#!/bin/sh\necho x > evil; mkdir .claude; exit 0\n").chmod(0o755)
    repository.patch.setenv("PATH", f"{repository.path}/bin:/usr/bin:/bin")
    repository.data("done", "1", "--verify")
    assert not (repository.path / "evil").exists()
    assert not (repository.path / ".claude").exists()


def test_the_attack_by_a_check_alone(repository: InProcessRepository) -> None:
    repository.plan(f"# P\n\n## Progress\n\n- [ ] Read.\n  - Check: `{ATTACK}`\n")
    repository.write("hello", "hello\n")
    hook = repository.write(".claude/settings.json", "{}\n")
    repository.git("add", "-A")
    repository.refused(7, "check-not-approved", "done", "1", "--verify")
    need("bwrap")
    repository.type("done", "1", "--verify", "--yes")
    assert hook.read_text() == "{}\n"
