"""What counts as reading, with the real programs, under strace, in a hostile repository: it writes and runs nothing.

Commands are made of the programs of the table, with all options that their help names, abbreviated, combined and with
hostile values, in several directories. EXECPLAN_READING=100000 tries that many.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import stat
import subprocess
from shlex import join, quote
from typing import TYPE_CHECKING

import pytest

from execplan.agents.guard import read_policy
from execplan.execution.permission import ALLOW
from execplan.execution.shell.command_table import FIND_EXPRESSIONS, VERSION_PROGRAMS
from execplan.execution.shell.reading_commands import READ_ONLY_COMMANDS
from tests.agents.guard.call_sandbox import CallSandbox
from tests.conftest import COUNTED
from tests.needs import need

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Folder

pytestmark = pytest.mark.exhaustive

ATTEMPTS = int(os.environ.get("EXECPLAN_READING", "8000"))
_MAX_RUN = max(400, ATTEMPTS // 20)
SLOW = ("sleep", "seq", "factor", "sum")
"""Programs that a large number as operand keeps busy."""
EVIL = "touch evil"
WORDS = (
    *("README.md", "src", "src/app.py", "data.json", "link", "directory-link", "nested", "sub", "out", "evil.sh", "--", "-"),
    *("HEAD", "HEAD:README.md", ":README.md", ":(top)src", "HEAD~1", "main", "1", "2", "1,3", "a", "a=b", "p"),
    *(EVIL, f"|{EVIL}", f"; {EVIL}", f"$({EVIL})", f"!{EVIL}", "./evil.sh", "@evil.awk", "out;w out", "--output=out", "-O./evil.sh"),
    *("*.md", "*", "[", "]", "!", "user.name", "alias.x", "core.pager", "json", "%H", "+%s", "-x", "-exec", "{}", ";"),
)  # fmt: skip
SCRIPTED = ("awk", "gawk", "mawk", "jq", "sed -n", "sed -nE", "sed")
"""Programs whose first operand is a program."""
PATTERNS = ("", "NR>1 ", "/a/ ", "/}/ ", "BEGIN ", "END", '$1=="}" ', "NR>1 && /a/ || $1>2 ", "# }\n", '"}" ')
STATEMENTS = (
    *("print", "print $1", "print $NF", "s+=$3", "next", 'print "}"', 'print "a" || "b"', "if (NR > 1) print", 'printf "%s", $1'),
    *('print > "out"', 'print "}" > "out"', "print /}/ > $1", 'print >> "out"', f'print | "{EVIL}"', f'system("{EVIL}")', f'"{EVIL}" | getline'),
    *('getline < "out"', 'ARGV[1]="out"', "print ENVIRON[1]", 'close("out")', '@load "x"', "} #", "}\n{"),
)  # fmt: skip
ADDRESSES = ("", "1", "$", "1,$", "/a/", "/a/,/^$/", "/a\\/", "/[/]/", "/a/,5", "0~2", "/a/I", "s/a/b/", "\\,a,")
COMMANDS = (
    "p",
    "w out",
    f"e {EVIL}",
    "d",
    "q",
    "r out",
    "W out",
    "p;w out",
    "p\nw out",
    "{p;w out",
    "p #",
    "!p",
    "s/a/b/w out",
    "s/a/id/e",
    "=p",
)
FILTERS = (
    ".",
    ".a",
    ".[0]",
    "env",
    "$ENV",
    "input",
    'import "x" as x;',
    "input_filename",
    "length",
    "@sh",
    "halt",
    "keys",
    "$__loc__",
    "debug",
)
FILES = {
    "README.md": "# Read\nmain a\n",
    "src/app.py": "def main():\n    pass\n",
    "data.json": '{"a": [1, 2]}\n',
    "conftest.py": "open('evil', 'w')\n",
    "sitecustomize.py": "open('evil', 'w')\n",
    "pip.py": "open('evil', 'w')\n",
    "pip.conf": "[global]\nlog = evil\n",
    ".npmrc": "cache=evil\nlogs-dir=evil\nscript-shell=./evil.sh\n",
    ".yarnrc.yml": "yarnPath: ./evil.sh\n",
    "package.json": '{"name": "x", "packageManager": "yarn@file:./evil.sh", "scripts": {"preinstall": "./evil.sh"}}\n',
    "rust-toolchain.toml": '[toolchain]\npath = "."\n',
    "evil.awk": 'BEGIN { system("touch evil") }\n',
    ".jq": 'def evil: "evil";\n',
    "Makefile": "$(shell touch evil)\nall:\n\ttouch evil\n",
    "magic": "0 string a evil\n",
    ".gitattributes": "* diff=evil filter=evil merge=evil\n",
    ".gitmodules": '[submodule "m"]\n\tpath = sub\n\turl = ext::./evil.sh\n\tupdate = !./evil.sh\n',
    "nested/config": "[core]\n\tbare = true\n\tfsmonitor = ./evil.sh\n\tpager = ./evil.sh\n",
    "nested/HEAD": "ref: refs/heads/main\n",
    "nested/refs/heads/.keep": "",
    "nested/objects/.keep": "",
    "sub/HEAD": "ref: refs/heads/main\n",
    "sub/commondir": "../nested\n",
    "sub/config": '[core]\n\tworktree = .\n\tfsmonitor = ./evil.sh\n[diff "evil"]\n\ttextconv = ./evil.sh\n',
    "-exec": "x\n",
    "--output=out": "x\n",
}
CWDS = ("", "src", "sub", "nested")


@pytest.fixture
def hostile(repo: Folder) -> CallSandbox:
    need("strace", "bash", "git")
    sandbox = CallSandbox(repo)
    for path, text in FILES.items():
        repo.write(path, text)
    for folder in ("", "src/", "sub/", "nested/"):
        repo.write(f"{folder}evil.sh", "#!/bin/sh\ntouch evil\n").chmod(0o755)
        for name in ("git", "ls", "sort", "grep", "less", "sh"):
            repo.write(f"{folder}{name}", "#!/bin/sh\ntouch evil\n").chmod(0o755)
    os.symlink("README.md", repo.path / "link")
    os.symlink("src", repo.path / "directory-link")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "main")
    repo.write("README.md", "# Changed\na\n")
    return sandbox


def real_programs() -> list[str]:
    """The programs and subcommands of the table that are installed."""
    names = [*READ_ONLY_COMMANDS, "find", "sed -n", "sed", "sed -nE", "test", "echo", *VERSION_PROGRAMS]
    return [name for name in dict.fromkeys(names) if shutil.which(name.split()[0], path=_path())]


def _path() -> str:
    """PATH without the directories in which version managers choose what runs."""
    return ":".join([folder for folder in os.environ["PATH"].split(":") if "shims" not in folder])


def known_options(program: str) -> list[str]:
    """The options that the help of a program names, each also abbreviated."""
    command = [*program.split()[:2], "-h"] if program.startswith("git ") else [program.split(maxsplit=1)[0], "--help"]
    run = subprocess.run(
        command,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=False,
        env={"PATH": _path(), "HOME": "/nonexistent"},
    )
    long_options = sorted(set(re.findall(r"--[a-z][a-z-]+", (run.stdout + run.stderr).decode("utf-8", "replace"))))
    return [option[:length] for option in long_options for length in (len(option), max(4, len(option) - 2), 5)]


class CommandMaker:
    """Makes commands of a program at random, always the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.options: dict[str, list[str]] = {}

    def make(self, program: str) -> str:
        """A command line of a program."""
        words: list[str] = []
        for _ in range(self.random.choice((0, 1, 1, 2, 3))):
            words += self._option(program) if self.random.random() < 0.75 else [self.random.choice(WORDS)]
        if program in SCRIPTED:
            words = [*words[:1], *self._script(program)] if self.random.random() < 0.3 else self._script(program)
        return f"{program} {join([*words, *self.random.choices(('README.md', 'data.json', 'src'), k=self.random.choice((0, 1, 1, 2)))])}"

    def _script(self, program: str) -> list[str]:
        """A program in the language of a program, which may do more than print."""
        choice = self.random
        if program.startswith("sed"):
            return [";".join([choice.choice(ADDRESSES) + choice.choice(COMMANDS) for _ in range(choice.randint(1, 2))])]
        if program == "jq":
            return [" | ".join(choice.choices(FILTERS, k=choice.randint(1, 3)))]
        rules = [
            f"{choice.choice(PATTERNS)}{{{'; '.join(choice.choices(STATEMENTS, k=choice.randint(1, 2)))}}}"
            for _ in range(choice.randint(1, 2))
        ]
        return [choice.choice((" ".join(rules), "NR>1", "/a/", *rules))]

    def _option(self, program: str) -> list[str]:
        """An option, with or without a value: one of the table, one of the help, or letters at random."""
        rules = READ_ONLY_COMMANDS.get(program)
        choice, value = self.random, self.random.choice(WORDS)
        if program not in self.options:
            self.options[program] = known_options(program)
        kind = choice.random()
        if program == "find":
            return [choice.choice([*FIND_EXPRESSIONS, "-delete", "-exec", "-fprint"]), value][: choice.randint(1, 2)]
        if kind < 0.35 and rules is not None and rules.flags:
            flags = [flag.removesuffix("?") for flag in rules.flags.split()]
            letters = "".join([flag[1] for flag in choice.choices(flags, k=3) if len(flag) == 2])
            return [
                f"-{letters}{choice.choice(['', 'O', 'o', 'x', 'f', 'i', value])}" if letters else choice.choice(flags)
            ]
        if kind < 0.6 and rules is not None and rules.value_flags:
            flag = choice.choice(rules.value_flags.split())
            return choice.choice(([flag, value], [f"{flag}={value}"], [f"{flag}{value}"]))
        if kind < 0.85 and self.options[program]:
            option = choice.choice(self.options[program])
            return choice.choice(([option], [f"{option}={value}"], [option, value]))
        letters = "".join(
            choice.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=choice.randint(1, 3))
        )
        return choice.choice(([f"-{letters}"], [f"-{letters}{value}"], [f"-{letters}", value]))


def test_what_counts_as_reading_writes_and_runs_nothing(hostile: CallSandbox, record_property: object) -> None:
    programs = real_programs()
    maker = CommandMaker(2026)
    allowed: dict[str, None] = {}
    for attempt in range(ATTEMPTS):
        program, cwd = programs[attempt % len(programs)], maker.random.choice(CWDS)
        command = maker.make(program)
        prefix = maker.random.choice(("", "", "", "CI=1 ", "time ", "timeout 5 ", "GIT_DIR=sub ", "PAGER=./evil.sh "))
        text = prefix + command
        call = hostile.command(text, os.path.join(hostile.root, cwd))
        if read_policy.decide_read(call, hostile.around, "anywhere").kind == ALLOW and program not in SLOW:
            allowed[f"cd {quote(os.path.join(hostile.root, cwd))} && {text} </dev/null"] = None
    commands = maker.random.sample(list(allowed), min(len(allowed), _MAX_RUN))
    assert len(commands) > min(ATTEMPTS // 20, 300)
    violations = list(_violations(hostile, commands))
    record_property(
        COUNTED, f"reading: {ATTEMPTS} commands tried, {len(allowed)} count as reading, {len(commands)} run"
    )  # type: ignore[operator]
    assert not violations, violations[:5]


def _violations(hostile: CallSandbox, commands: list[str]) -> Iterator[str]:
    """Run commands in one shell under strace; yield what they write and run that they must not."""
    path = hostile.folder.path
    log, script = path.parent / "strace.log", path.parent / "commands.sh"
    script.write_text("".join([f"({command})\n" for command in commands]))
    before = _tree(path)
    environment = {**hostile.folder.env, "PATH": _path()}
    subprocess.run(
        ["strace", "-f", "-qq", "-s", "400", "-o", str(log), "-e", "trace=execve,open,openat,creat,unlink,unlinkat,rename,renameat2,mkdir",
         "bash", "--noprofile", "--norc", str(script)],
        capture_output=True, stdin=subprocess.DEVNULL, env=environment, cwd=path, timeout=1800, check=False,
    )  # fmt: skip
    names = {name.split()[0] for name in real_programs()} | {"bash", "timeout", "time", "env", "grep", "git"}
    programs = {os.path.realpath(found) for name in names if (found := shutil.which(name, path=_path()))}
    last = ""
    for line in log.read_text("utf-8", "replace").splitlines():
        event = line.partition(" ")[2].strip()
        if " = -1 E" in event:
            continue
        if event.startswith("execve("):
            last = event[:300]
            if os.path.realpath(event.split('"')[1]) not in programs:
                yield f"runs: {last}"
        elif re.match(r"creat|unlink|rename|mkdir", event) or re.search(r"O_(?:WRONLY|RDWR|CREAT|TRUNC)", event):
            if not re.search(r'"/dev/(?:null|tty)"|\.git/index(?:\.lock)?"|"/proc/self/|"/tmp/tac\w{6}"', event):
                # tac copies what it can't seek in, such as a directory in memory
                yield f"writes: {event[:200]} after {last}"
    for name in before.keys() ^ _tree(path).keys():
        yield f"made or removed: {name}"


def _tree(path: Path) -> dict[str, int]:
    """The files of the repository, except those of git."""
    return {
        os.path.join(folder, name): stat.S_IMODE(os.lstat(os.path.join(folder, name)).st_mode)
        for folder, _, names in os.walk(path)
        for name in names
        if "/.git" not in folder
    }
