"""A good execution plan with everything in it, and what can be wrong with one: each a change, and where it is told."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

from tests.execution.plans import PATCH, command, plan, step

GONE = object()
"""In place of a value: the key is taken out."""


def good() -> dict[str, Any]:
    """Seven steps, one of each type that the mode engine has, and two more; every kind of field is in use."""
    source = {"line_start": 3, "line_end": 5}
    alternative = {"strategy": "alternative:other", "max_retries": 1, "backoff_ms": 500, "triggers": ["exit:2"]}
    return plan(
        step(1, id="make", source=source, action="add", task="Build the parser"),
        step(
            2,
            id="change",
            type="modify_file",
            tool="file.modify",
            target="src/app.py",
            content=...,
            patch=PATCH,
            depends_on=["make"],
        ),
        command(
            3,
            id="build",
            depends_on=["make", "change"],
            on_failure=alternative,
            env={"CI": "1"},
            inputs=["src/app.py"],
            outputs=["build/app"],
            validation={"syntax_check": True, "test_after": ["make", "test"]},
            expect="built …",
            exit=0,
            parallel=True,
        ),
        command(4, id="other", command="a | b", argv=None, shell="sh", when={"kind": "failed", "of": "build"}),
        step(5, id="wire", type="refactor_code", tool="code.refactor", target=..., content=..., patch=PATCH),
        command(6, id="get", type="install_package", tool="package.install", target="venv", parallel=True),
        step(7, id="drop", type="delete_file", tool="file.delete", content=..., risk={"level": "HIGH"}),
        source={"path": "plan.md", "sha256": "0" * 64},
        constraints={"max_steps": 10, "max_duration_s": 600, "forbidden_paths": ["secrets"]},
        metadata={"context": {"by": "a test"}},
    )


class Bad(NamedTuple):
    """One way to be wrong."""

    name: str
    changes: dict[str, Any]
    """By pointer; a list grows by the pointer `-`."""
    told: str
    """The pointer of a violation, and the beginning of its message behind a space."""
    beyond: bool = False
    """Whether JSON Schema can't say it."""

    @property
    def document(self) -> dict[str, Any]:
        """The good document, changed."""
        made = good()
        for pointer, value in self.changes.items():
            change(made, pointer, value)
        return made


def change(document: Any, pointer: str, value: Any) -> None:
    """Set, add or take out a value."""
    *path, last = pointer.split("/")[1:]
    for part in path:
        document = document[int(part) if isinstance(document, list) else part]
    if value is GONE:
        del document[int(last) if isinstance(document, list) else last]
    elif last == "-":
        document.append(deepcopy(value))
    else:
        document[int(last) if isinstance(document, list) else last] = deepcopy(value)


def revision(number: int, **fields: Any) -> dict[str, Any]:
    """An earlier revision."""
    return {"revision": number, "sha256": "a" * 64, "reason": "It failed.", **fields}


BEYOND = True
BAD = (
    Bad("no schema of ours", {"/schema": "execplan-approval"}, "/schema "),
    Bad("a later version", {"/version": 2}, "/version "),
    Bad("true as version", {"/version": True}, "/version "),
    Bad("no id", {"/plan_id": GONE}, "/plan_id missing"),
    Bad("an id that is a path", {"/plan_id": "a/b"}, "/plan_id "),
    Bad("an id that is no folder", {"/plan_id": ".."}, "/plan_id no name"),
    Bad("an empty id", {"/plan_id": ""}, "/plan_id "),
    Bad("revision 0", {"/revision": 0}, "/revision "),
    Bad("true as revision", {"/revision": True}, "/revision "),
    Bad("1.0 as revision", {"/revision": 1.0}, "/revision ", BEYOND),
    Bad("an unknown key", {"/stepz": []}, "/stepz unknown key; did you mean `steps`?"),
    Bad("an unknown key of a step", {"/steps/0/need": []}, "/steps/0/need unknown key"),
    Bad("an unknown mode", {"/mode": "governance"}, "/mode "),
    Bad("an unknown strategy", {"/steps/0/on_failure": {"strategy": "hope"}}, "/steps/0/on_failure/strategy "),
    Bad("no steps", {"/steps": []}, "/steps "),
    Bad("steps as an object", {"/steps": {}}, "/steps "),
    Bad("a number as plan", {"/intent": 3}, "/intent "),
    Bad("a category of many words", {"/intent/category": "Two words"}, "/intent/category "),
    Bad("a risk that is lower", {"/intent/risk_level": "LOW"}, "/intent/risk_level is LOW; the highest"),
    Bad("a risk that is higher", {"/intent/risk_level": "CRITICAL"}, "/intent/risk_level is CRITICAL; the highest"),
    Bad("an unknown risk", {"/steps/0/risk/level": "NONE"}, "/steps/0/risk/level "),
    Bad("a step without risk", {"/steps/0/risk": GONE}, "/steps/0/risk missing"),
    Bad("a gap in the numbers", {"/steps/6/number": 9}, "/steps/6/number is 9 and not 7", BEYOND),
    Bad("a number twice", {"/steps/1/number": 1}, "/steps/1/number is 1 and not 2", BEYOND),
    Bad("true as number", {"/steps/0/number": True}, "/steps/0/number "),
    Bad("number 0", {"/steps/0/number": 0}, "/steps/0/number "),
    Bad("an id twice", {"/steps/4/id": "make"}, "/steps/4/id `make` is the id of step 1 too", BEYOND),
    Bad("an id with a space", {"/steps/6/id": "a b"}, "/steps/6/id "),
    Bad("an id that begins with a digit", {"/steps/6/id": "1a"}, "/steps/6/id "),
    Bad("needs itself", {"/steps/4/depends_on": ["wire"]}, "/steps/4/depends_on/0 `wire` needs itself", BEYOND),
    Bad("needs a later one", {"/steps/4/depends_on": ["drop"]}, "/steps/4/depends_on/0 `drop` comes later", BEYOND),
    Bad(
        "needs what is not there", {"/steps/4/depends_on": ["x"]}, "/steps/4/depends_on/0 there is no step `x`", BEYOND
    ),
    Bad("needs one twice", {"/steps/4/depends_on": ["make", "make"]}, "/steps/4/depends_on/1 `make` stands here twice"),
    Bad(
        "a circle",
        {"/steps/0/depends_on": ["build"]},
        "/steps/0/depends_on needs itself in a circle: make → build → make",
        BEYOND,
    ),
    Bad("needs a number", {"/steps/4/depends_on": [1]}, "/steps/4/depends_on/0 "),
    Bad("a tool without dot", {"/steps/0/tool": "create"}, "/steps/0/tool "),
    Bad("a tool with two dots", {"/steps/0/tool": "file.create.now"}, "/steps/0/tool "),
    Bad("the tool of another type", {"/steps/0/tool": "shell.run"}, "/steps/0/tool is shell.run"),
    Bad("an unknown type", {"/steps/0/type": "make_file"}, "/steps/0/type "),
    Bad(
        "a tool in a domain of our own",
        {"/steps/6/type": "use_tool", "/steps/6/tool": "code.other"},
        "/steps/6/tool code.other is in a domain of execplan's own",
    ),
    Bad("creates nothing", {"/steps/0/target": GONE}, "/steps/0/target create_file needs it"),
    Bad("creates without content", {"/steps/0/content": None}, "/steps/0/content create_file needs it"),
    Bad("creates with a patch", {"/steps/0/patch": PATCH}, "/steps/0/patch create_file has no use for it"),
    Bad("creates with a command", {"/steps/0/command": "ls"}, "/steps/0/command create_file has no use for it"),
    Bad("creates with an environment", {"/steps/0/env": {"A": "1"}}, "/steps/0/env create_file has no use for it"),
    Bad("creates with an exit status", {"/steps/0/exit": 1}, "/steps/0/exit create_file has no use for it"),
    Bad("creates in a folder", {"/steps/0/cwd": "src"}, "/steps/0/cwd create_file has no use for it"),
    Bad("creates a folder", {"/steps/0/target": "src/"}, "/steps/0/target is a folder"),
    Bad("deletes a folder", {"/steps/6/target": "src/"}, "/steps/6/target is a folder"),
    Bad("deletes all", {"/steps/6/target": "."}, "/steps/6/target is a folder"),
    Bad("deletes with content", {"/steps/6/content": "x"}, "/steps/6/content delete_file has no use for it"),
    Bad("a path with a newline", {"/steps/6/target": "a\nb"}, "/steps/6/target "),
    Bad("changes nothing", {"/steps/1/patch": GONE}, "/steps/1/patch modify_file needs a patch"),
    Bad("changes in two ways", {"/steps/1/content": "x", "/steps/1/lines": [1, 2]}, "/steps/1/patch either a patch"),
    Bad("lines alone", {"/steps/1/patch": GONE, "/steps/1/lines": [1, 2]}, "/steps/1/content the new lines"),
    Bad("content alone", {"/steps/1/patch": GONE, "/steps/1/content": "x"}, "/steps/1/lines which lines"),
    Bad(
        "lines backwards",
        {"/steps/1/patch": GONE, "/steps/1/content": "x", "/steps/1/lines": [5, 2]},
        "/steps/1/lines line 5 comes after line 2",
        BEYOND,
    ),
    Bad(
        "three lines",
        {"/steps/1/patch": GONE, "/steps/1/content": "x", "/steps/1/lines": [1, 2, 3]},
        "/steps/1/lines ",
    ),
    Bad("a patch of another file", {"/steps/1/target": "src/b.py"}, "/steps/1/patch touches src/app.py", BEYOND),
    Bad("a patch of no file", {"/steps/4/patch": "@@ -1 +1 @@\n-a\n+b\n"}, "/steps/4/patch names no file", BEYOND),
    Bad("a refactoring with a target", {"/steps/4/target": "a"}, "/steps/4/target refactor_code has no use for it"),
    Bad("runs nothing", {"/steps/2/command": GONE}, "/steps/2/command execute_command needs it"),
    Bad("runs no word", {"/steps/2/argv": []}, "/steps/2/argv "),
    Bad("runs a string", {"/steps/2/argv": "make all"}, "/steps/2/argv "),
    Bad("a word with NUL", {"/steps/2/argv": ["make", "a\0b"]}, "/steps/2/argv/1 "),
    Bad("words and a shell", {"/steps/2/shell": "sh"}, "/steps/2/argv a script for a shell has none"),
    Bad("runs what is not shown", {"/steps/2/argv": ["rm", "x"]}, "/steps/2/argv is not what the command says", BEYOND),
    Bad("runs without what is set", {"/steps/2/command": "A=1 make all"}, "/steps/2/env does not set A", BEYOND),
    Bad("an unknown shell", {"/steps/3/shell": "fish"}, "/steps/3/shell "),
    Bad("a command with a target", {"/steps/2/target": "a"}, "/steps/2/target execute_command has no use for it"),
    Bad("a command with content", {"/steps/2/content": "a"}, "/steps/2/content execute_command has no use for it"),
    Bad("a variable with a dash", {"/steps/2/env": {"A-B": "1"}}, "/steps/2/env/A-B "),
    Bad("a variable that is a number", {"/steps/2/env": {"A": 1}}, "/steps/2/env/A "),
    Bad("parameters of a command", {"/steps/2/parameters": {"a": 1}}, "/steps/2/parameters execute_command has no use"),
    Bad("no time", {"/steps/2/timeout_s": 0}, "/steps/2/timeout_s "),
    Bad("too much time", {"/steps/2/timeout_s": 86_401}, "/steps/2/timeout_s "),
    Bad("time as text", {"/steps/2/timeout_s": "60"}, "/steps/2/timeout_s "),
    Bad("true as time", {"/steps/2/timeout_s": True}, "/steps/2/timeout_s "),
    Bad("negative retries", {"/steps/2/on_failure/max_retries": -1}, "/steps/2/on_failure/max_retries "),
    Bad("many retries", {"/steps/2/on_failure/max_retries": 11}, "/steps/2/on_failure/max_retries "),
    Bad("a negative pause", {"/steps/2/on_failure/backoff_ms": -1}, "/steps/2/on_failure/backoff_ms "),
    Bad("retries without any", {"/steps/0/on_failure": {"strategy": "retry"}}, "/steps/0/on_failure/max_retries is 0"),
    Bad("the trigger -99", {"/steps/2/on_failure/triggers": [-99]}, "/steps/2/on_failure/triggers/0 "),
    Bad("the trigger exit:-99", {"/steps/2/on_failure/triggers": ["exit:-99"]}, "/steps/2/on_failure/triggers/0 "),
    Bad("the trigger exit:0", {"/steps/2/on_failure/triggers": ["exit:0"]}, "/steps/2/on_failure/triggers/0 "),
    Bad("the trigger exit:256", {"/steps/2/on_failure/triggers": ["exit:256"]}, "/steps/2/on_failure/triggers/0 "),
    Bad("an exit in other digits", {"/steps/2/on_failure/triggers": ["exit:٣"]}, "/steps/2/on_failure/triggers/0 "),
    Bad(
        "falls back on nothing",
        {"/steps/2/on_failure/strategy": "alternative:x"},
        "/steps/2/on_failure/strategy there is no step `x`",
        BEYOND,
    ),
    Bad(
        "falls back on itself",
        {"/steps/2/on_failure/strategy": "alternative:build"},
        "/steps/2/on_failure/strategy `build` is the step itself",
        BEYOND,
    ),
    Bad(
        "falls back on what has run",
        {"/steps/2/on_failure/strategy": "alternative:make"},
        "/steps/2/on_failure/strategy `make` comes earlier",
        BEYOND,
    ),
    Bad(
        "falls back on what needs it",
        {"/steps/3/depends_on": ["build"]},
        "/steps/2/on_failure/strategy `other` needs the step",
        BEYOND,
    ),
    Bad("an unknown condition", {"/steps/3/when/kind": "done"}, "/steps/3/when/kind "),
    Bad("a condition on no step", {"/steps/3/when/of": "x"}, "/steps/3/when/of there is no step `x`", BEYOND),
    Bad("a condition on a later step", {"/steps/3/when/of": "get"}, "/steps/3/when/of `get` comes later", BEYOND),
    Bad("a condition on itself", {"/steps/3/when/of": "other"}, "/steps/3/when/of `other` is the step itself", BEYOND),
    Bad("a condition on no name", {"/steps/3/when/of": "a b"}, "/steps/3/when/of there is no step `a b`"),
    Bad(
        "two at once on one path",
        {"/steps/5/outputs": ["./build/app"]},
        "/steps/5/parallel build/app is shared with step 3",
        BEYOND,
    ),
    Bad(
        "one writes what another reads",
        {"/steps/5/outputs": ["src/app.py"]},
        "/steps/5/parallel src/app.py is shared with step 3",
        BEYOND,
    ),
    Bad("an exit of 256", {"/steps/2/exit": 256}, "/steps/2/exit "),
    Bad("a negative exit", {"/steps/2/exit": -1}, "/steps/2/exit "),
    Bad("a test in one string", {"/steps/2/validation/test_after": "make"}, "/steps/2/validation/test_after "),
    Bad("null as flag", {"/steps/2/parallel": None}, "/steps/2/parallel "),
    Bad("text as flag", {"/steps/2/parallel": "true"}, "/steps/2/parallel "),
    Bad("1 as flag", {"/steps/2/parallel": 1}, "/steps/2/parallel "),
    Bad("no invocation", {"/steps/2/max_invocations": 0}, "/steps/2/max_invocations "),
    Bad("another phase", {"/steps/2/phase": "play"}, "/steps/2/phase "),
    Bad("another effect", {"/steps/2/effect": "twice"}, "/steps/2/effect "),
    Bad("lines from 0", {"/steps/0/source/line_start": 0}, "/steps/0/source/line_start "),
    Bad("lines that end before", {"/steps/0/source/line_start": 9}, "/steps/0/source line 9 comes after", BEYOND),
    Bad("lines of no plan", {"/source": None}, "/steps/0/source lines of no plan"),
    Bad("a digest that is short", {"/source/sha256": "0" * 63}, "/source/sha256 "),
    Bad("a digest in capitals", {"/source/sha256": "A" * 64}, "/source/sha256 "),
    Bad("too many steps", {"/constraints/max_steps": 6}, "/steps 7 steps; constraints.max_steps is 6", BEYOND),
    Bad("a limit of 0 steps", {"/constraints/max_steps": 0}, "/constraints/max_steps "),
    Bad("a limit of 1001 steps", {"/constraints/max_steps": 1001}, "/constraints/max_steps "),
    Bad("a negative duration", {"/constraints/max_duration_s": -1}, "/constraints/max_duration_s "),
    Bad(
        "in sequence and at once",
        {"/constraints/require_sequential": True},
        "/steps/2/parallel constraints.require_sequential forbids it",
    ),
    Bad("revision 2 without history", {"/revision": 2}, "/metadata/history holds 0 of the 1", BEYOND),
    Bad("revision 1 with history", {"/metadata/history": [revision(1)]}, "/metadata/history holds 1 of the 0"),
    Bad(
        "revisions out of order",
        {"/revision": 3, "/metadata/history": [revision(2), revision(1)]},
        "/metadata/history/0/revision is 2 and not 1",
        BEYOND,
    ),
    Bad(
        "completed and failed",
        {"/revision": 2, "/metadata/history": [revision(1, completed_steps=[1, 2], failed_steps=[2])]},
        "/metadata/history/0/failed_steps step 2 is among the completed ones too",
        BEYOND,
    ),
    Bad("no description", {"/description": ""}, "/description "),
    Bad("a very long description", {"/description": "x" * 2001}, "/description "),
)
