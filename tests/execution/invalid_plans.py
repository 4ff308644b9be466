"""A good execution plan with everything in it, and what can be wrong with one: each a change, and where it is reported."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

from tests.execution.plan_documents import PATCH, command, plan, step

REMOVED = object()
"""In place of a value: the key is removed."""


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


class BadPlan(NamedTuple):
    """One way to be wrong."""

    name: str
    changes: dict[str, Any]
    """By pointer; a list grows by the pointer `-`."""
    expected_violation: str
    """The pointer of a violation, and the beginning of its message after a space."""
    beyond_schema: bool = False
    """Whether JSON Schema can't say it."""

    @property
    def document(self) -> dict[str, Any]:
        """The good document, changed."""
        plan_data = good()
        for pointer, value in self.changes.items():
            change(plan_data, pointer, value)
        return plan_data


def change(document: Any, pointer: str, value: Any) -> None:
    """Set, add or take out a value."""
    *path, last = pointer.split("/")[1:]
    for key in path:
        document = document[int(key) if isinstance(document, list) else key]
    if value is REMOVED:
        del document[int(last) if isinstance(document, list) else last]
    elif last == "-":
        document.append(deepcopy(value))
    else:
        document[int(last) if isinstance(document, list) else last] = deepcopy(value)


def revision(number: int, **fields: Any) -> dict[str, Any]:
    """An earlier revision."""
    return {"revision": number, "sha256": "a" * 64, "reason": "It failed.", **fields}


BEYOND_SCHEMA = True
BAD = (
    BadPlan("no schema of ours", {"/schema": "execplan-approval"}, "/schema "),
    BadPlan("a later version", {"/version": 2}, "/version "),
    BadPlan("true as version", {"/version": True}, "/version "),
    BadPlan("no id", {"/plan_id": REMOVED}, "/plan_id missing"),
    BadPlan("an id that is a path", {"/plan_id": "a/b"}, "/plan_id "),
    BadPlan("an id that is no folder", {"/plan_id": ".."}, "/plan_id is not a valid directory name"),
    BadPlan("an empty id", {"/plan_id": ""}, "/plan_id "),
    BadPlan("revision 0", {"/revision": 0}, "/revision "),
    BadPlan("true as revision", {"/revision": True}, "/revision "),
    BadPlan("a revision of 1.0", {"/revision": 1.0}, "/revision ", BEYOND_SCHEMA),
    BadPlan("an unknown key", {"/stepz": []}, "/stepz unknown key; did you mean `steps`?"),
    BadPlan("an unknown key of a step", {"/steps/0/need": []}, "/steps/0/need unknown key"),
    BadPlan("an unknown mode", {"/mode": "governance"}, "/mode "),
    BadPlan("an unknown strategy", {"/steps/0/on_failure": {"strategy": "hope"}}, "/steps/0/on_failure/strategy "),
    BadPlan("no steps", {"/steps": []}, "/steps "),
    BadPlan("steps as an object", {"/steps": {}}, "/steps "),
    BadPlan("a number as plan", {"/intent": 3}, "/intent "),
    BadPlan("a category of many words", {"/intent/category": "Two words"}, "/intent/category "),
    BadPlan("a risk that is lower", {"/intent/risk_level": "LOW"}, "/intent/risk_level is LOW; the highest"),
    BadPlan("a risk that is higher", {"/intent/risk_level": "CRITICAL"}, "/intent/risk_level is CRITICAL; the highest"),
    BadPlan("an unknown risk", {"/steps/0/risk/level": "NONE"}, "/steps/0/risk/level "),
    BadPlan("a step without risk", {"/steps/0/risk": REMOVED}, "/steps/0/risk missing"),
    BadPlan("a gap in the step numbers", {"/steps/6/number": 9}, "/steps/6/number is 9, not 7", BEYOND_SCHEMA),
    BadPlan("a repeated step number", {"/steps/1/number": 1}, "/steps/1/number is 1, not 2", BEYOND_SCHEMA),
    BadPlan("true as number", {"/steps/0/number": True}, "/steps/0/number "),
    BadPlan("number 0", {"/steps/0/number": 0}, "/steps/0/number "),
    BadPlan(
        "a repeated step ID", {"/steps/4/id": "make"}, "/steps/4/id `make` is also the ID of step 1", BEYOND_SCHEMA
    ),
    BadPlan("an id with a space", {"/steps/6/id": "a b"}, "/steps/6/id "),
    BadPlan("an id that begins with a digit", {"/steps/6/id": "1a"}, "/steps/6/id "),
    BadPlan(
        "a step that needs itself",
        {"/steps/4/depends_on": ["wire"]},
        "/steps/4/depends_on/0 `wire` needs itself",
        BEYOND_SCHEMA,
    ),
    BadPlan(
        "a step that needs a later step",
        {"/steps/4/depends_on": ["drop"]},
        "/steps/4/depends_on/0 `drop` comes later",
        BEYOND_SCHEMA,
    ),
    BadPlan(
        "a step that needs an unknown step",
        {"/steps/4/depends_on": ["x"]},
        "/steps/4/depends_on/0 unknown step `x`",
        BEYOND_SCHEMA,
    ),
    BadPlan(
        "needs one twice", {"/steps/4/depends_on": ["make", "make"]}, "/steps/4/depends_on/1 `make` is listed twice"
    ),
    BadPlan(
        "a cycle of needs",
        {"/steps/0/depends_on": ["build"]},
        "/steps/0/depends_on contains a cycle: make → build → make",
        BEYOND_SCHEMA,
    ),
    BadPlan("needs a number", {"/steps/4/depends_on": [1]}, "/steps/4/depends_on/0 "),
    BadPlan("a tool without dot", {"/steps/0/tool": "create"}, "/steps/0/tool "),
    BadPlan("a tool with two dots", {"/steps/0/tool": "file.create.now"}, "/steps/0/tool "),
    BadPlan("the tool of another type", {"/steps/0/tool": "shell.run"}, "/steps/0/tool is shell.run"),
    BadPlan("an unknown type", {"/steps/0/type": "make_file"}, "/steps/0/type "),
    BadPlan(
        "a tool in a domain of our own",
        {"/steps/6/type": "use_tool", "/steps/6/tool": "code.other"},
        "/steps/6/tool code.other is in one of execplan's own domains and not an installed tool",
    ),
    BadPlan("creates nothing", {"/steps/0/target": REMOVED}, "/steps/0/target create_file needs it"),
    BadPlan("creates without content", {"/steps/0/content": None}, "/steps/0/content create_file needs it"),
    BadPlan("creates with a patch", {"/steps/0/patch": PATCH}, "/steps/0/patch create_file doesn't accept it"),
    BadPlan("creates with a command", {"/steps/0/command": "ls"}, "/steps/0/command create_file doesn't accept it"),
    BadPlan("creates with an environment", {"/steps/0/env": {"A": "1"}}, "/steps/0/env create_file doesn't accept it"),
    BadPlan("creates with an exit status", {"/steps/0/exit": 1}, "/steps/0/exit create_file doesn't accept it"),
    BadPlan("creates in a folder", {"/steps/0/cwd": "src"}, "/steps/0/cwd create_file doesn't accept it"),
    BadPlan(
        "creates a folder", {"/steps/0/target": "src/"}, "/steps/0/target is a directory; the step requires a file"
    ),
    BadPlan(
        "deletes a folder", {"/steps/6/target": "src/"}, "/steps/6/target is a directory; the step requires a file"
    ),
    BadPlan("deletes all", {"/steps/6/target": "."}, "/steps/6/target is a directory; the step requires a file"),
    BadPlan("deletes with content", {"/steps/6/content": "x"}, "/steps/6/content delete_file doesn't accept it"),
    BadPlan("a path with a newline", {"/steps/6/target": "a\nb"}, "/steps/6/target "),
    BadPlan("changes nothing", {"/steps/1/patch": REMOVED}, "/steps/1/patch modify_file needs a patch"),
    BadPlan(
        "changes in two ways",
        {"/steps/1/content": "x", "/steps/1/lines": [1, 2]},
        "/steps/1/patch can't be combined with content or lines",
    ),
    BadPlan("lines alone", {"/steps/1/patch": REMOVED, "/steps/1/lines": [1, 2]}, "/steps/1/content the new lines"),
    BadPlan(
        "content alone",
        {"/steps/1/patch": REMOVED, "/steps/1/content": "x"},
        "/steps/1/lines the lines that the content replaces are missing",
    ),
    BadPlan(
        "a line range that ends before it starts",
        {"/steps/1/patch": REMOVED, "/steps/1/content": "x", "/steps/1/lines": [5, 2]},
        "/steps/1/lines line 5 comes after line 2",
        BEYOND_SCHEMA,
    ),
    BadPlan(
        "three lines",
        {"/steps/1/patch": REMOVED, "/steps/1/content": "x", "/steps/1/lines": [1, 2, 3]},
        "/steps/1/lines ",
    ),
    BadPlan(
        "a patch of a file other than the target",
        {"/steps/1/target": "src/b.py"},
        "/steps/1/patch changes src/app.py, which is not the target",
        BEYOND_SCHEMA,
    ),
    BadPlan(
        "a patch that names no file",
        {"/steps/4/patch": "@@ -1 +1 @@\n-a\n+b\n"},
        "/steps/4/patch specifies no file",
        BEYOND_SCHEMA,
    ),
    BadPlan("a refactoring with a target", {"/steps/4/target": "a"}, "/steps/4/target refactor_code doesn't accept it"),
    BadPlan("runs nothing", {"/steps/2/command": REMOVED}, "/steps/2/command execute_command needs it"),
    BadPlan("runs no word", {"/steps/2/argv": []}, "/steps/2/argv "),
    BadPlan("runs a string", {"/steps/2/argv": "make all"}, "/steps/2/argv "),
    BadPlan("a word with NUL", {"/steps/2/argv": ["make", "a\0b"]}, "/steps/2/argv/1 "),
    BadPlan("words and a shell", {"/steps/2/shell": "sh"}, "/steps/2/argv a shell script can't have it"),
    BadPlan(
        "arguments that differ from the command",
        {"/steps/2/argv": ["rm", "x"]},
        "/steps/2/argv doesn't match the command",
        BEYOND_SCHEMA,
    ),
    BadPlan(
        "an environment that lacks a variable of the command",
        {"/steps/2/command": "A=1 make all"},
        "/steps/2/env doesn't set A as the command does",
        BEYOND_SCHEMA,
    ),
    BadPlan("an unknown shell", {"/steps/3/shell": "fish"}, "/steps/3/shell "),
    BadPlan("a command with a target", {"/steps/2/target": "a"}, "/steps/2/target execute_command doesn't accept it"),
    BadPlan("a command with content", {"/steps/2/content": "a"}, "/steps/2/content execute_command doesn't accept it"),
    BadPlan("a variable with a dash", {"/steps/2/env": {"A-B": "1"}}, "/steps/2/env/A-B "),
    BadPlan("a variable that is a number", {"/steps/2/env": {"A": 1}}, "/steps/2/env/A "),
    BadPlan(
        "parameters of a command",
        {"/steps/2/parameters": {"a": 1}},
        "/steps/2/parameters execute_command doesn't accept it",
    ),
    BadPlan("no time", {"/steps/2/timeout_s": 0}, "/steps/2/timeout_s "),
    BadPlan("too much time", {"/steps/2/timeout_s": 86_401}, "/steps/2/timeout_s "),
    BadPlan("time as text", {"/steps/2/timeout_s": "60"}, "/steps/2/timeout_s "),
    BadPlan("true as time", {"/steps/2/timeout_s": True}, "/steps/2/timeout_s "),
    BadPlan("negative retries", {"/steps/2/on_failure/max_retries": -1}, "/steps/2/on_failure/max_retries "),
    BadPlan("many retries", {"/steps/2/on_failure/max_retries": 11}, "/steps/2/on_failure/max_retries "),
    BadPlan("a negative pause", {"/steps/2/on_failure/backoff_ms": -1}, "/steps/2/on_failure/backoff_ms "),
    BadPlan(
        "retries without any", {"/steps/0/on_failure": {"strategy": "retry"}}, "/steps/0/on_failure/max_retries is 0"
    ),
    BadPlan("the trigger -99", {"/steps/2/on_failure/triggers": [-99]}, "/steps/2/on_failure/triggers/0 "),
    BadPlan("the trigger exit:-99", {"/steps/2/on_failure/triggers": ["exit:-99"]}, "/steps/2/on_failure/triggers/0 "),
    BadPlan("the trigger exit:0", {"/steps/2/on_failure/triggers": ["exit:0"]}, "/steps/2/on_failure/triggers/0 "),
    BadPlan("the trigger exit:256", {"/steps/2/on_failure/triggers": ["exit:256"]}, "/steps/2/on_failure/triggers/0 "),
    BadPlan("an exit in other digits", {"/steps/2/on_failure/triggers": ["exit:٣"]}, "/steps/2/on_failure/triggers/0 "),
    BadPlan(
        "an unknown alternative",
        {"/steps/2/on_failure/strategy": "alternative:x"},
        "/steps/2/on_failure/strategy unknown step `x`",
        BEYOND_SCHEMA,
    ),
    BadPlan(
        "a step that is its own alternative",
        {"/steps/2/on_failure/strategy": "alternative:build"},
        "/steps/2/on_failure/strategy `build` is the step itself",
        BEYOND_SCHEMA,
    ),
    BadPlan(
        "an alternative that comes before its step",
        {"/steps/2/on_failure/strategy": "alternative:make"},
        "/steps/2/on_failure/strategy `make` comes earlier",
        BEYOND_SCHEMA,
    ),
    BadPlan(
        "an alternative that needs its step",
        {"/steps/3/depends_on": ["build"]},
        "/steps/2/on_failure/strategy `other` needs the step",
        BEYOND_SCHEMA,
    ),
    BadPlan("an unknown condition", {"/steps/3/when/kind": "done"}, "/steps/3/when/kind "),
    BadPlan(
        "a condition on an unknown step", {"/steps/3/when/of": "x"}, "/steps/3/when/of unknown step `x`", BEYOND_SCHEMA
    ),
    BadPlan(
        "a condition on a later step", {"/steps/3/when/of": "get"}, "/steps/3/when/of `get` comes later", BEYOND_SCHEMA
    ),
    BadPlan(
        "a condition on the step itself",
        {"/steps/3/when/of": "other"},
        "/steps/3/when/of `other` is the step itself",
        BEYOND_SCHEMA,
    ),
    BadPlan("a condition on no name", {"/steps/3/when/of": "a b"}, "/steps/3/when/of unknown step `a b`"),
    BadPlan(
        "parallel steps with the same output",
        {"/steps/5/outputs": ["./build/app"]},
        "/steps/5/parallel build/app is shared with step 3",
        BEYOND_SCHEMA,
    ),
    BadPlan(
        "a parallel step that writes an input of another",
        {"/steps/5/outputs": ["src/app.py"]},
        "/steps/5/parallel src/app.py is shared with step 3",
        BEYOND_SCHEMA,
    ),
    BadPlan("an exit of 256", {"/steps/2/exit": 256}, "/steps/2/exit "),
    BadPlan("a negative exit", {"/steps/2/exit": -1}, "/steps/2/exit "),
    BadPlan("a test in one string", {"/steps/2/validation/test_after": "make"}, "/steps/2/validation/test_after "),
    BadPlan("null as flag", {"/steps/2/parallel": None}, "/steps/2/parallel "),
    BadPlan("text as flag", {"/steps/2/parallel": "true"}, "/steps/2/parallel "),
    BadPlan("1 as flag", {"/steps/2/parallel": 1}, "/steps/2/parallel "),
    BadPlan("no invocation", {"/steps/2/max_invocations": 0}, "/steps/2/max_invocations "),
    BadPlan("another phase", {"/steps/2/phase": "play"}, "/steps/2/phase "),
    BadPlan("another effect", {"/steps/2/effect": "twice"}, "/steps/2/effect "),
    BadPlan("lines from 0", {"/steps/0/source/line_start": 0}, "/steps/0/source/line_start "),
    BadPlan(
        "source lines that end before they start",
        {"/steps/0/source/line_start": 9},
        "/steps/0/source line 9 comes after",
        BEYOND_SCHEMA,
    ),
    BadPlan(
        "lines of no plan",
        {"/source": None},
        "/steps/0/source refers to lines of a plan, but the document has no source",
    ),
    BadPlan("a digest that is short", {"/source/sha256": "0" * 63}, "/source/sha256 "),
    BadPlan("a digest in capitals", {"/source/sha256": "A" * 64}, "/source/sha256 "),
    BadPlan(
        "more steps than the limit",
        {"/constraints/max_steps": 6},
        "/steps 7 steps; constraints.max_steps is 6",
        BEYOND_SCHEMA,
    ),
    BadPlan("a limit of 0 steps", {"/constraints/max_steps": 0}, "/constraints/max_steps "),
    BadPlan("a limit of 1001 steps", {"/constraints/max_steps": 1001}, "/constraints/max_steps "),
    BadPlan("a negative duration", {"/constraints/max_duration_s": -1}, "/constraints/max_duration_s "),
    BadPlan(
        "in sequence and at once",
        {"/constraints/require_sequential": True},
        "/steps/2/parallel constraints.require_sequential forbids it",
    ),
    BadPlan("revision 2 without history", {"/revision": 2}, "/metadata/history contains 0 of the 1", BEYOND_SCHEMA),
    BadPlan("revision 1 with history", {"/metadata/history": [revision(1)]}, "/metadata/history contains 1 of the 0"),
    BadPlan(
        "a history out of order",
        {"/revision": 3, "/metadata/history": [revision(2), revision(1)]},
        "/metadata/history/0/revision is 2, not 1",
        BEYOND_SCHEMA,
    ),
    BadPlan(
        "a step that is both completed and failed",
        {"/revision": 2, "/metadata/history": [revision(1, completed_steps=[1, 2], failed_steps=[2])]},
        "/metadata/history/0/failed_steps step 2 is also among the completed steps",
        BEYOND_SCHEMA,
    ),
    BadPlan("no description", {"/description": ""}, "/description "),
    BadPlan("a very long description", {"/description": "x" * 2001}, "/description "),
)
