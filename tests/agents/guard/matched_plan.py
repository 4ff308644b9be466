"""A repository with a plan, for calls that are matched to its steps."""

from __future__ import annotations

import json
import os
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

from execplan.agents.guard import tool_call
from execplan.agents.guard.guard_context import GuardScope, PlannedStep
from execplan.agents.guard.step_matching import MatchResult, match_call
from execplan.agents.guard.tool_call import FileEdit, ToolCall
from execplan.core.documents.document_io import to_json_bytes
from execplan.execution.world import State
from tests.execution.plan_documents import command, loaded, plan, step

APP = "".join([f"line {number}\n" for number in range(1, 31)])
NEW = "def ping() -> str:\n    return 'pong'\n"
APP_PATCH = """\
--- a/src/app.py
+++ b/src/app.py
@@ -2,3 +2,3 @@
 line 2
-line 3
+third
 line 4
@@ -20,3 +20,4 @@
 line 20
-line 21
+first of two
+second of two
 line 22
"""
CRLF = b"one\r\ntwo\r\nthree\r\n"
CRLF_PATCH = "--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+zwei\n+drei\n three\n"
MANY_PATCH = """\
--- a/many/a.py
+++ b/many/a.py
@@ -1,2 +1,2 @@
-a = 1
+a = 2
 z = 1
--- /dev/null
+++ b/many/b.py
@@ -0,0 +1 @@
+b = 1
--- a/many/c.py
+++ /dev/null
@@ -1 +0,0 @@
-c = 1
diff --git a/many/d.py b/many/e.py
similarity index 100%
rename from many/d.py
rename to many/e.py
"""
SCRIPT = "make one\nmake two | tail -1\n"
FILES = {
    "Makefile": "all:\n",
    "src/app.py": APP,
    "src/lines.py": "a\nb\nc\nd\n",
    "docs/old.md": "old\n",
    "docs/[a].md": "odd\n",
    "docs/a.md": "even\n",
    "src/deep/x.py": "x\n",
    "tests/test_app.py": "def test(): pass\n",
    "tools/say.py": "print()\n",
    "data.txt": "data\n",
    "many/a.py": "a = 1\nz = 1\n",
    "many/c.py": "c = 1\n",
    "many/d.py": "d = 1\n",
    "x": "x\n",
    "sub/Makefile": "part:\n",
    "sub/sub/Makefile": "part:\n",
    ".venv/pyvenv.cfg": "\n",
    ".venv/bin/pip": "#!/bin/sh\n",
    "bin/tool": "#!/bin/sh\n",
    "web/package.json": "{}\n",
}


def writes(number: int, name: str, kind: str, tool: str, **fields: Any) -> dict[str, Any]:
    """A step that writes files."""
    return step(number, **{"id": name, "type": kind, "tool": tool, "target": ..., "content": ..., **fields})


def runs(number: int, name: str, line: str, *argv: str, **fields: Any) -> dict[str, Any]:
    """A step that runs a command."""
    return command(number, id=name, command=line, argv=list(argv), **fields)


INSTALL = {"type": "install_package", "tool": "package.install"}
STEPS = (
    runs(1, "build", "make all", "make", "all", allow=["make lint", "make show ...", "write:build/*"]),
    runs(2, "say", "python tools/say.py 'a b' \"it's\"", "python", "tools/say.py", "a b", "it's"),
    runs(3, "test", "python -m pytest -q tests/test_app.py", "python", "-m", "pytest", "-q", "tests/test_app.py"),
    runs(4, "part", "make part", "make", "part", cwd="sub", deny=["make deploy", "write:secrets", "tool:server.drop*"]),
    runs(5, "ci", "CI=1 npm test", "npm", "test", env={"CI": "1"}),
    runs(6, "npm", "npm install foo/bar", "npm", "install", "foo/bar", **INSTALL),
    runs(7, "checkout", "git checkout data.txt", "git", "checkout", "data.txt"),
    command(8, id="script", command=SCRIPT, argv=..., shell="sh", risk={"level": "CRITICAL"}),
    runs(9, "tool", "bin/tool check", "bin/tool", "check"),
    runs(10, "extras", "pip install -e .[dev]", "pip", "install", "-e", ".[dev]", **INSTALL),
    runs(11, "venv", "pip install flask", "pip", "install", "flask", target=".venv", **INSTALL),
    runs(12, "web", "npm ci", "npm", "ci", target="web", **INSTALL),
    runs(13, "copy", "cp data.txt build/data.txt", "cp", "data.txt", "build/data.txt", outputs=["build/data.txt"]),
    runs(14, "rev", "git show HEAD~1 'a*b'", "git", "show", "HEAD~1", "a*b"),
    command(15, id="piped", command="make all | tail", argv=...),
    writes(16, "create", "create_file", "file.create", target="src/new.py", content=NEW),
    writes(17, "modify", "modify_file", "file.modify", target="src/app.py", patch=APP_PATCH),
    writes(18, "lines", "modify_file", "file.modify", target="./src/lines.py", lines=[2, 3], content="B\nC\n"),
    writes(19, "crlf", "modify_file", "file.modify", target="crlf.txt", patch=CRLF_PATCH),
    writes(20, "delete", "delete_file", "file.delete", target="docs/old.md"),
    writes(21, "many", "refactor_code", "code.refactor", patch=MANY_PATCH),
    writes(22, "search", "use_tool", "server.search", parameters={"query": "x", "limit": 1, "deep": True}),
    writes(23, "again", "create_file", "file.create", target="Notes.md", content="notes\n"),
    runs(24, "stage", "git add src/new.py", "git", "add", "src/new.py", outputs=["src/new.py"]),
    runs(25, "remove", "rm data.txt", "rm", "data.txt"),
    writes(26, "odd", "delete_file", "file.delete", target="docs/[a].md"),
)
CONSTRAINTS = {"forbidden_paths": ["*.pem", "private/"], "forbidden_commands": ["git push"]}


class MatchingRepository:
    """A real repository, and what a plan says of it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repository"
        for name, text in FILES.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755 if "/bin/" in f"/{name}" else 0o644)
        (self.root / "crlf.txt").write_bytes(CRLF)
        (folder / "outside").mkdir()
        (folder / "outside" / "app.py").write_text(APP)
        for name, to in (
            ("out", "../outside"),
            ("lib", "src"),
            ("near.py", "src/app.py"),
            ("say.py", "tools/say.py"),
            ("deep", "src/deep"),
        ):
            (self.root / name).symlink_to(to)
        (folder / "outside" / "tools").symlink_to("../repository/tools")
        (self.root / "bin" / "other").symlink_to("tool")
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        document = json.loads(to_json_bytes(loaded(plan(*STEPS, constraints=CONSTRAINTS, mode="agent")).model_dump()))
        self.planned = tuple(
            [PlannedStep(planned_step, planned_step["risk"]["level"]) for planned_step in document["steps"]]
        )
        self.file_contents = {path: (self.root / path).read_bytes() for path in [*FILES, "crlf.txt"]}
        states = {path: State("file", sha256(data).hexdigest(), 0o644) for path, data in self.file_contents.items()}
        states["./src/lines.py"] = states.pop("src/lines.py")  # as it is written in the plan
        self.expected = {
            **states,
            "src/new.py": State("absent"),
            "many/b.py": State("absent"),
            "Notes.md": State("absent"),
        }
        self.constraints = document["constraints"]

    def around(self) -> GuardScope:
        """Where calls are judged."""

        def read_content(path: str, state: State) -> bytes | None:
            return self.file_contents.get(path)

        root = os.path.realpath(self.root)
        return GuardScope(root, self.constraints, self.expected, _protection_reason, {}, read_content)

    def match(self, call: ToolCall) -> MatchResult:
        """The steps that a call is of; `{root}` in it is the repository."""
        return match_call(call, self.planned, self.around(), "inside")

    def steps(self, *calls: ToolCall) -> list[str]:
        """The steps that the last of several calls is of, the others being carried out before it."""
        for call in calls[:-1]:
            assert self.match(call).matches, call
            self.carry_out(call)
        result = self.match(calls[-1])
        assert not (result.denial_reason and result.matches)
        return [match.step for match in result.matches]

    def carry_out(self, call: ToolCall) -> None:
        """Do to the files what a call of them does."""
        if call.kind == tool_call.COMMAND:
            subprocess.run(["sh", "-c", call.command], cwd=call.cwd, check=True)
        for file_edit in call.edits:
            path = self.root / file_edit.path
            if file_edit.kind == tool_call.DELETE:
                path.unlink()
            elif file_edit.content is not None:
                path.write_bytes(file_edit.content.encode())
            else:
                text = path.read_bytes().decode()
                for old, new, _ in file_edit.replacements:
                    end = "\r\n" if "\r\n" in text else "\n"
                    text = text.replace(old.replace("\n", end), new.replace("\n", end), 1)
                path.write_bytes(text.encode())


def cmd(text: str, cwd: str = "{root}", *, background: bool = False) -> ToolCall:
    """A command."""
    return ToolCall(tool_call.COMMAND, "Bash", cwd, command=text, in_background=background)


def write_call(path: str, content: str, cwd: str = "{root}") -> ToolCall:
    """A file is written."""
    return ToolCall(tool_call.WRITE, "Write", cwd, edits=(FileEdit(path, tool_call.WRITE, content=content),))


def edit(path: str, *swaps: str, cwd: str = "{root}", replace_all: bool = False) -> ToolCall:
    """A file is edited: old and new text in turns."""
    pairs = tuple([(old, new, replace_all) for old, new in zip(swaps[::2], swaps[1::2], strict=True)])
    return ToolCall(tool_call.EDIT, "Edit", cwd, edits=(FileEdit(path, tool_call.EDIT, replacements=pairs),))


def hunks(path: str, *places: str) -> ToolCall:
    """A file is patched: lines with their marks, a text for each place."""
    return ToolCall(tool_call.EDIT, "apply_patch", "{root}", edits=(hunked(path, *places),))


def hunked(path: str, *places: str) -> FileEdit:
    """What a patch says of one file."""
    hunk_pairs = []
    for hunk in places:
        lines = hunk.split("\n")
        sides = [tuple([line[1:] for line in lines if line[:1] in marks]) for marks in (" -", " +")]
        hunk_pairs.append((sides[0], sides[1]))
    return FileEdit(path, tool_call.EDIT, hunks=tuple(hunk_pairs))


def several(*edits: FileEdit) -> ToolCall:
    """Several files in one call."""
    return ToolCall(tool_call.EDIT, "apply_patch", "{root}", edits=edits)


def drop(path: str, cwd: str = "{root}") -> ToolCall:
    """A file is deleted."""
    return ToolCall(tool_call.DELETE, "delete", cwd, edits=(FileEdit(path, tool_call.DELETE),))


def use(name: str, **arguments: Any) -> ToolCall:
    """A tool is used."""
    return ToolCall(tool_call.TOOL, name, "{root}", arguments=arguments)


def with_root(call: ToolCall, root: Path) -> ToolCall:
    """A call with `{root}` filled in."""
    edits = tuple([file_edit._replace(path=_filled(file_edit.path, root)) for file_edit in call.edits])
    return call._replace(cwd=_filled(call.cwd, root), command=_filled(call.command, root), edits=edits)


def _filled(text: str, root: Path) -> str:
    return text.replace("{root}", str(root))


def _protection_reason(path: str) -> str:
    return "git's own" if ".git" in path.casefold().split("/") else ""
