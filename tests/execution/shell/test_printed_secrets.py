"""What reading commands print, by real programs, in a repository that tracks files for secrets.

Whatever is allowed prints no secret, with any options; and nothing is denied where no file for secrets would be printed.
"""

from __future__ import annotations

import os
import random
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from execplan.core.secrets.secret_files import is_secret_file
from execplan.execution.shell.printed_secrets import printed_secret_reason
from execplan.execution.shell.reading_commands import READ_ONLY_COMMANDS, find_command_reads
from tests.needs import need

if TYPE_CHECKING:
    from tests.conftest import Folder

ATTEMPTS = int(os.environ.get("EXECPLAN_READING", "1000"))
MARK = "hunter2"
OLD_MARK = "correct-horse"
NOTES = "".join([f"Line {at} of the notes.\n" for at in range(9)])
COMMANDS = (
    *("git diff", "git log", "git show", "git grep", "git diff-tree", "git stash show", "git cat-file", "git status"),
    *("grep", "diff"),
)
OPERANDS = (
    *(
        "HEAD",
        "HEAD~1",
        "main",
        "HEAD~2..HEAD",
        "stash@{0}",
        "v1",
        "HEAD:",
        "HEAD:deploy",
        "BLOB",
        "TREE",
        "HEAD^{tree}",
        ":README.md",
    ),
    *(
        "src",
        "README.md",
        ".",
        "deploy",
        "--",
        ":/",
        ":!/.env",
        ":!/deploy",
        "*",
        ":(glob)**",
        "5",
        "3",
        "blob",
        MARK,
        "x",
        "^",
        "",
    ),
)


@pytest.fixture
def tracked(repo: Folder) -> Folder:
    """A repository that tracks files for secrets, renamed some, and has stashed a change of one."""
    need("git")
    repo.write(".env", f"A={OLD_MARK}\nB=1\nC=2\nD=3\n")
    repo.write("deploy/prod.tfvars", f"x = {MARK}\n")
    repo.write("src/app.py", "x = 1\n")
    repo.write(".env.old", f"A={OLD_MARK}\n{NOTES}")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Second")
    repo.git("tag", "v1")
    repo.write(".env", f"A={MARK}\nB=1\nC=2\nD=3\n")
    repo.write("src/app.py", "x = 2\n")
    repo.git("mv", ".env.old", "notes.md")
    repo.write("notes.md", f"Nothing.\n{NOTES}")
    repo.git("commit", "-q", "-a", "-m", "Third")
    repo.write(".env", f"A={MARK}{MARK}\n")
    repo.git("stash", "-q")
    repo.write("README.md", "changed\n")
    repo.write("deploy/prod.tfvars", f"y = {MARK}\n")
    repo.write("empty/x", "")
    return repo


def run(folder: Folder, argv: list[str], cwd: str) -> str:
    """What a command prints."""
    process = subprocess.run(
        argv,
        cwd=folder.path / cwd,
        env=folder.env,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=20,
    )
    return (process.stdout + process.stderr).decode("utf-8", "replace")


def test_no_allowed_command_prints_a_secret(tracked: Folder) -> None:
    """Commands at random, always the same ones, of all options of the table."""
    choice = random.Random(39)
    objects = {
        "BLOB": tracked.git("rev-parse", "HEAD:.env").strip(),
        "TREE": tracked.git("rev-parse", "HEAD:deploy").strip(),
    }
    root, printed, allowed = str(tracked.path.resolve()), 0, 0
    for attempt in range(ATTEMPTS):
        program, cwd = COMMANDS[attempt % len(COMMANDS)], choice.choice(("", "src", "deploy"))
        rules = READ_ONLY_COMMANDS[program]
        flags = [flag.removesuffix("?") for flag in rules.flags.split()]
        options = choice.sample(flags, min(len(flags), choice.choice((0, 1, 1, 2))))
        if rules.value_flags and choice.random() < 0.3:
            options += [
                choice.choice(rules.value_flags.split()),
                choice.choice(("1", "x", MARK, "*.py", "1,2:README.md", "1,2:notes.md")),
            ]
        operands = choice.choices(OPERANDS, k=choice.choice((0, 1, 1, 2, 3)))
        operands = [choice.choice(("", "x", MARK))] * (rules.leading_texts == 1) + operands
        argv = [*program.split(), *options, *[objects.get(operand, operand) for operand in operands]]
        reads = find_command_reads(argv)
        if reads is None or any([is_secret_file(path) for path in reads]):
            continue
        output = run(tracked, argv, cwd)
        has_secret = any([f"{mark}" in output.replace(f"fatal: {mark}", "") for mark in ("A=", f"= {MARK}")])
        printed += has_secret
        reason = printed_secret_reason(argv, os.path.join(root, cwd), root)
        allowed += not reason
        assert not (has_secret and not reason), (cwd, shlex.join(argv), output[:2000])
    assert printed > 25
    assert allowed > 200, (printed, allowed)


def test_lines_are_followed_to_the_earlier_name_of_their_file(tracked: Folder) -> None:
    root = str(tracked.path.resolve())
    for lines in ("1,2:notes.md", ":Nothing:notes.md", "/Not/,+1:notes.md"):
        assert "A=" in run(tracked, ["git", "log", "-L", lines], "")
        assert ".env.old" in printed_secret_reason(["git", "log", "-L", lines], root, root)
    assert ".env.old" in printed_secret_reason(["git", "log", "-n", "1", "-L", "1,2:../notes.md"], f"{root}/src", root)
    for arguments in (["-L", "1,1:src/app.py"], ["-L", "1,2:notes.md", "HEAD~1..HEAD"], ["-L", "1,2:missing"]):
        assert printed_secret_reason(["git", "log", *arguments], root, root) == "", arguments


def test_files_of_submodules_are_printed_only_if_settings_say_so(repo: Folder) -> None:
    need("git")
    inner = repo.path / "inner"
    repo.git("init", "-q", str(inner))
    repo.write("inner/.env", f"A={MARK}\n")
    repo.git("-C", str(inner), "add", "-A")
    repo.git("-C", str(inner), "commit", "-q", "-m", "First")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./inner", "vendor")
    repo.git("commit", "-q", "-m", "Second")
    repo.write("vendor/.env", f"A={MARK}{MARK}\n")
    root = str(repo.path.resolve())
    for setting, value, call in (
        ("diff.submodule", "diff", "git diff"),
        ("diff.submodule", "diff", "git show HEAD"),
        ("submodule.recurse", "yes", f"git grep {MARK}"),
    ):
        argv = call.split()
        assert (MARK in run(repo, argv, ""), printed_secret_reason(argv, root, root)) == (False, "")
        repo.git("config", setting, value)
        assert MARK in run(repo, argv, "")
        assert setting in printed_secret_reason(argv, root, root)
        assert printed_secret_reason(["git", "diff", "--stat"], root, root) == ""
        repo.git("config", "--unset", setting)
