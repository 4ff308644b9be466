"""Planning under the guard: an agent always writes plans and commits its own work; nothing runs or leaves that way."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.agents.guard.guard_repository import Answer, GuardRepository, guard, hook
from tests.in_process_repository import NAME

if TYPE_CHECKING:
    from pathlib import Path

PLANS = ".agent/execplans"
FILE = f"{PLANS}/{NAME}.md"
NEW = f"{PLANS}/2026-01-02_lexer.md"
PLAN = """\
# Build the parser

## Progress

- [ ] Build the parser.

## Surprises & Discoveries

## Concrete Steps

```text {execution mode=agent}
An agent does the work.
```

```text {#make type=create_file target=src/new.py}
new = 1
```

```sh {#check needs=make}
make check
```
"""
AUTHORING = """\
execplan new 'Build the lexer'
execplan new --from draft.md
execplan new 'Build the lexer' --template small --task 'Write it' --purpose 'Read text.'
execplan set Purpose 'Read plans.'
execplan set Context @README.md
execplan attach README.md --about 'What it is'
execplan compile
execplan compile --annotate --dry-run
execplan compile --from draft.json
execplan evaluate
execplan lint --fix
execplan archive --keep-links
execplan archive --as abandoned --reason 'Not needed.'
execplan restore parser
execplan rename parser reader
execplan undo --list
execplan undo
execplan redo
execplan commit -m 'The parser is planned'
execplan done 1 --commit
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuardRepository:
    """A repository whose plan nobody has approved."""
    repository = GuardRepository(tmp_path / "repo", monkeypatch)
    for name in ("README.md", "draft.md", "draft.json", "src/old.py"):
        repository.write(name, "x\n")
    repository.plan(PLAN)
    repository.commit()
    return repository


@pytest.fixture
def worked(desk: GuardRepository) -> GuardRepository:
    """The repository after a step of an approved plan: the agent has written its file, and reported it."""
    desk.approve()
    assert write(desk, "src/new.py", "new = 1\n").kind == "allow"
    desk.write("src/new.py", "new = 1\n")
    desk.ok("report", "make", "--status", "completed", "--result", "Done.")
    desk.ok("discover", "It is small", "--evidence", "wc -l")
    return desk


def write(desk: GuardRepository, path: str, content: str = "x\n", tool: str = "Write") -> Answer:
    """Ask about a file that would be written."""
    call = hook(tool, str(desk.path), file_path=str(desk.path / path), content=content)
    return guard(json.dumps(call).encode(), "--program", "claude")


@pytest.mark.parametrize("state", ["unapproved", "approved", "begun"])
def test_an_agent_writes_plans_whatever_is_approved(desk: GuardRepository, state: str) -> None:
    if state != "unapproved":
        desk.approve()
    if state == "begun":
        assert write(desk, "src/new.py", "new = 1\n").kind == "allow"
    for command in AUTHORING.splitlines():
        answer = desk.ask(command)
        assert answer.kind == "allow", (command, answer.why)


@pytest.mark.parametrize("path", [FILE, NEW])
def test_an_agent_writes_and_edits_the_file_of_a_plan(worked: GuardRepository, path: str) -> None:
    assert write(worked, path).kind == "allow"
    call = hook("Edit", str(worked.path), file_path=str(worked.path / FILE), old_string="parser", new_string="lexer")
    assert guard(json.dumps(call).encode(), "--program", "claude").kind == "allow"
    patch = f"*** Begin Patch\n*** Add File: {NEW}\n+# A plan\n*** End Patch"
    call = hook("apply_patch", str(worked.path), command=patch) | {"turn_id": "t", "model": "m"}
    assert guard(json.dumps(call).encode(), "--program", "codex", program="codex").kind == "allow"


NO_PLANS = [
    f"{PLANS}/README.md",
    f"{PLANS}/AGENTS.md",
    f"{PLANS}/AGENTS.override.md",
    f"{PLANS}/CLAUDE.local.md",
    f"{PLANS}/Gemini.md",
    f"{PLANS}/.hidden.md",
    f"{PLANS}/notes.txt",
    f"{PLANS}/sub/plan.md",
    f"{PLANS}/archive/2026-01-01_old.md",
    f"{PLANS}/artifacts/{NAME}/execution-plan.json",
    f"{PLANS}/artifacts/{NAME}/approvals/x.json",
    f"{PLANS}/../execplan.toml",
    f"{PLANS}/../PLANS.md",
    f"{PLANS}/link.md",
    f"{PLANS}/linked.md",
    f"{PLANS}/a\u200b.md",
    "src/new.md",
]


def test_no_other_file_passes_as_a_plan(desk: GuardRepository) -> None:
    (desk.path / PLANS / "link.md").symlink_to(desk.path / "README.md")
    os.link(desk.path / "README.md", desk.path / PLANS / "linked.md")
    for path in NO_PLANS:
        assert write(desk, path).kind == "deny", path


def test_a_plan_is_not_deleted(desk: GuardRepository) -> None:
    patch = f"*** Begin Patch\n*** Delete File: {FILE}\n*** End Patch"
    call = hook("apply_patch", str(desk.path), command=patch) | {"turn_id": "t", "model": "m"}
    assert guard(json.dumps(call).encode(), "--program", "codex", program="codex").kind == "deny"
    assert desk.ask(f"rm {FILE}").kind == "deny"
    assert desk.ask("execplan drop parser").kind == "deny"


def test_own_steps_allow_nothing_until_a_person_approves(desk: GuardRepository) -> None:
    """Not even what the policy approves by itself when a person starts a run."""
    desk.path.joinpath(FILE).write_text(PLAN.replace("make check", "ls"))
    desk.ok("compile")
    assert desk.ask("make check").kind == "deny"
    answer = write(desk, "src/new.py", "new = 1\n")
    assert answer.kind == "deny"
    assert "execplan approve" in answer.why


@pytest.mark.parametrize("begun", [False, True])
def test_changed_steps_make_the_approval_stale(desk: GuardRepository, *, begun: bool) -> None:
    desk.approve()
    if begun:
        assert write(desk, "src/new.py", "new = 1\n").kind == "allow"
    path = desk.path / FILE
    path.write_text(path.read_text().replace("make check", "make everything"))
    desk.ok("compile")
    for command in ("make check", "make everything"):
        assert desk.ask(command).kind == "deny"
    assert ("are not those of run" if begun else "stale") in desk.ask("make check").why
    path.write_text(path.read_text().replace("make everything", "make check"))
    desk.ok("compile")
    assert (write(desk, "src/new.py", "new = 1\n").kind == "allow") != begun  # once allowed, the step is in progress
    assert "stale" not in desk.ask("make check").why


def test_living_sections_leave_the_approval_valid(worked: GuardRepository) -> None:
    path = worked.path / FILE
    path.write_text(path.read_text() + "\n## Outcomes & Retrospective\n\nIt works.\n")
    assert worked.ask("make check").kind == "allow"


OWN_WORK = [
    "git add src/new.py && git commit -m 'Build the parser'",
    "git add -A && git commit -m 'Build the parser' && git status",
    f"git add src {FILE} && git commit -qm 'Build the parser'",
    "git add .",
    "git commit -am 'Build the parser'",
    "git commit -m 'Build the parser' -- src/new.py",
    f"git commit -m 'Keep the plan' {FILE}",
    "cd src && git add new.py",
    "git --no-pager add src/new.py; git --no-pager commit -s -m 'Build the parser' 2>&1 | tail -5",
    "execplan done 1 && git add -A .agent && git commit -m 'Keep the plan'",
    "git commit -F README.md",
    "git commit -m \"$(cat <<'EOF'\nBuild the parser (first part)\n\nIt reads; it writes.\n\nCo-authored-by: An Agent <a@example.org>\nEOF\n)\" -- src/new.py",
]


def test_own_work_is_committed(worked: GuardRepository) -> None:
    for command in OWN_WORK:
        answer = worked.ask(command)
        assert answer.kind == "allow", (command, answer.why)


def test_an_allowed_commit_contains_what_was_checked(worked: GuardRepository) -> None:
    command = "git add -A && git commit -qm 'Build the parser'"
    assert worked.ask(command).kind == "allow"
    worked.git("add", "-A")
    worked.git("commit", "-qm", "Build the parser")
    committed = worked.git("show", "--name-only", "--format=").split()
    assert "src/new.py" in committed
    assert all([path == "src/new.py" or path.startswith(PLANS) for path in committed])


FOREIGN = """\
git add -A && git commit -m x
git add . && git commit -m x
git add src && git commit -m x
git add src/old.py
git add -u
git commit -am x
git commit -m x src/old.py
git commit -m x -- src/new.py src/old.py
git commit -m x .
"""
RISKY = """\
git commit --no-verify -m x -- src/new.py
git commit -n -m x -- src/new.py
git commit -nm x -- src/new.py
git commit --amend -m x
git commit --amend --no-edit
git commit --fixup HEAD
git commit -m x --author 'A <a@example.org>' -- src/new.py
git commit -m x --date 2020-01-01 -- src/new.py
git commit -p -m x
git commit -i -m x src/new.py
git commit --pathspec-from-file=README.md -m x
git commit
git commit -F /etc/passwd
git commit -F .env
git commit -F -
git commit -t README.md
git commit -c HEAD
git -c core.hooksPath=x commit -m x -- src/new.py
git -C /tmp commit -m x
git -C .. add src/new.py
git --git-dir=other add src/new.py
git --work-tree=.. add -A
GIT_DIR=other git add src/new.py
git add -f src/new.py
git add -p src/new.py
git add -i
git add -e
git add --chmod=+x src/new.py
git add 'src/*.py'
git add ':/src/new.py'
git add ':(top)src/new.py'
git add ../other
git add /etc/passwd
git add src/new.py; make check > out.txt
git add src/new.py && git push
git push
git push --force origin main
git commit -m x -- src/new.py && git push
git commit -m "$(cat README.md)" -- src/new.py
git commit -m x -- src/new.py & make all
git add src/missing.py
git stash
git reset --hard
git checkout -- src/new.py
git rm src/new.py
git mv src/new.py src/b.py
git tag x
git merge x
git rebase x
"""


def test_the_work_of_others_is_not_committed(worked: GuardRepository) -> None:
    worked.write("src/old.py", "theirs\n")
    for command in FOREIGN.splitlines():
        assert worked.ask(command).kind == "deny", command


@pytest.mark.parametrize("command", ["git commit -m x", "git add src/new.py && git commit -m x"])
def test_what_others_have_staged_is_not_committed(worked: GuardRepository, command: str) -> None:
    worked.write("src/old.py", "theirs\n")
    worked.git("add", "src/old.py")
    answer = worked.ask(command)
    assert answer.kind == "deny"
    assert "src/old.py" in answer.why
    assert worked.ask("git commit -m x -- src/new.py").kind == "allow"


UNSAFE_MESSAGES = [
    "x $(make all)",
    "x `make all`",
    "don't",
    'a "b"',
    "x\\",
    "a ) b",
    ") make all (",
    "# make all",
    "(# x)",
    "x\nEOF\n)\"; make all; echo \"$(cat <<'EOF'\ny",
]


def test_a_message_that_a_shell_may_run_is_denied(worked: GuardRepository) -> None:
    for text in UNSAFE_MESSAGES:
        command = f"git commit -m \"$(cat <<'EOF'\n{text}\nEOF\n)\" -- src/new.py"
        assert worked.ask(command).kind == "deny", text


def test_no_other_git_command_passes_as_a_commit(worked: GuardRepository) -> None:
    worked.write(".env", "TOKEN=x\n")
    for command in RISKY.splitlines():
        assert worked.ask(command).kind == "deny", command


def test_a_file_that_somebody_changed_after_the_step_is_not_the_agents(worked: GuardRepository) -> None:
    worked.write("src/new.py", "new = 2\n")
    assert worked.ask("git add src/new.py").kind == "deny"


def test_the_file_of_a_step_that_is_not_done_is_not_committed(desk: GuardRepository) -> None:
    desk.approve()
    assert write(desk, "src/new.py", "new = 1\n").kind == "allow"
    desk.write("src/new.py", "new = 1\n")
    assert desk.ask("git add src/new.py").kind == "deny"


def test_own_work_is_committed_after_the_run_and_from_the_archive(worked: GuardRepository) -> None:
    assert worked.ask("make check").kind == "allow"
    worked.ok("report", "check", "--status", "completed", "--result", "Done.")
    worked.ok("done", "1")
    worked.run("archive", "--force", "--reason", "Done.")
    answer = worked.ask("git add -A && git commit -m 'Build the parser'")
    assert answer.kind == "allow", answer.why


@pytest.mark.parametrize(
    ("setting", "denied", "allowed"),
    [
        (
            "commit_plans",
            ["execplan commit", "execplan done 1 --commit", f"git add {FILE}", "git add -A"],
            ["git add src/new.py", "execplan done 1", "execplan set Purpose x"],
        ),
        ("commit_steps", ["git add src/new.py", "git add -A"], ["execplan commit", f"git add {FILE}"]),
    ],
)
@pytest.mark.parametrize("is_users", [False, True])
def test_a_policy_turns_commits_off(
    worked: GuardRepository, setting: str, denied: list[str], allowed: list[str], *, is_users: bool
) -> None:
    text = f"[execution]\n{setting} = false\n"
    path = worked.path.parent / ".config/execplan/config.toml" if is_users else worked.path / ".agent/execplan.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if not is_users:
        worked.git("add", ".agent/execplan.toml")
        worked.git("commit", "-qm", "Settings", "--", ".agent/execplan.toml")
    for command in denied:
        assert worked.ask(command).kind == "deny", command
    for command in allowed:
        answer = worked.ask(command)
        assert answer.kind == "allow", (command, answer.why)
