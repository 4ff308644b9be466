"""From a plan to its execution plan, to the byte."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from execplan.core.documents.document_io import document_bytes, load_document
from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.execution.annotations.step_problems import find_step_problems
from execplan.execution.attributes import ATTRIBUTES
from execplan.execution.compile import compile_plan, find_plan_steps
from execplan.execution.documents.document_diff import describe_differences
from execplan.execution.execution_plan import ExecutionPlan, Step
from execplan.linter.runner import lint_bytes
from tests.conftest import ENVIRONMENT
from tests.execution.annotations.test_annotated_steps import PATCH, plan_of, step
from tests.plans import STEPS

DERIVED = {
    *("number", "description", "command", "argv", "content", "patch", "inferred", "phase", "source"),
    *("parameters", "files"),
}
"""The fields of a step that no attribute fills: from the fence's body and place, and from what an approval binds."""


def compiled(plan: str | bytes) -> ExecutionPlan:
    data = plan if isinstance(plan, bytes) else plan.encode()
    document = compile_plan(reader.read(data), "2026-01-01_parser", "plans/parser.md").document
    assert document is not None
    return document


def compile_steps(steps: str) -> list[Step]:
    return list(compiled(plan_of(steps).text.to_bytes()).steps)


def compile_error(steps: str) -> ExecplanError:
    with pytest.raises(ExecplanError) as caught:
        compile_steps(steps)
    return caught.value


def test_the_document_says_where_it_comes_from() -> None:
    document = compiled(STEPS)
    assert (document.plan_id, document.revision, document.mode) == ("2026-01-01_parser", 1, "engine")
    assert document.source is not None
    assert document.source.path == "plans/parser.md"
    assert (document.description, document.intent.summary) == ("Build the parser", "Build the parser")
    assert document.intent.category == "mixed"


def test_the_steps_are_those_of_the_lines() -> None:
    lines = STEPS.split("\n")
    annotated = [plan_step for plan_step in compiled(STEPS).steps if not plan_step.inferred]
    assert [(plan_step.id, plan_step.tool, plan_step.depends_on) for plan_step in annotated] == [
        ("build.1", "shell.run", ()),
        ("build.2", "shell.run", ("build.1",)),
        ("api", "file.create", ("build.2",)),
    ]
    assert [plan_step.argv for plan_step in annotated] == [("make", "parser"), ("make", "test"), None]
    assert annotated[1].env == {"CI": "1"}
    assert annotated[2].content == 'def ping():\n    return "pong"\n'
    for plan_step in annotated:
        assert plan_step.source is not None
        assert lines[plan_step.source.line_start - 1].startswith("```")
        assert lines[plan_step.source.line_end - 1] == "```"
    assert [plan_step.number for plan_step in compiled(STEPS).steps] == list(range(1, len(compiled(STEPS).steps) + 1))


def test_what_steps_are_called() -> None:
    steps = compile_steps(
        step("#a", "make   'a  b'")
        + step("#b shell", "set -e\nmake")
        + step("#c type=create_file target=x.py", "x")
        + step("#d type=modify_file target=a.py", PATCH, "diff")
        + step("#e type=modify_file target=a.py lines=1-2", "x")
        + step("#f type=delete_file target=b.py", "It is\nnot used.")
        + step("#g type=refactor_code", PATCH, "diff")
        + step("#h type=install_package target=.venv", "pip install pytest")
    )
    assert [plan_step.description for plan_step in steps] == [
        "Run make   'a  b'",
        "Run a script for sh: set -e; make",
        "Create x.py",
        "Change a.py",
        "Change a.py, lines 1 to 2",
        "Delete b.py: It is not used.",
        "Change a.py",
        "Run pip install pytest",
    ]
    assert [plan_step.tool for plan_step in steps] == [
        *("shell.run", "shell.run", "file.create", "file.modify", "file.modify", "file.delete", "code.refactor"),
        "package.install",
    ]


def test_a_line_that_needs_a_shell_is_compiled_and_has_no_argv() -> None:
    (compiled_step,) = compile_steps(step("#a", "make | sort"))
    assert compiled_step.argv is None
    assert compiled_step.command == "make | sort"
    assert compiled_step.risk.level in ("HIGH", "CRITICAL")


def test_a_path_outside_is_compiled_for_evaluate_to_refuse() -> None:
    (compiled_step,) = compile_steps(step("#a type=create_file target=../x.py", "x"))
    assert compiled_step.target == "../x.py"


def test_risk_is_raised_and_never_lowered() -> None:
    steps = compile_steps(
        step("#a type=delete_file target=x risk=LOW", "Gone.")
        + step("#b type=create_file target=notes.txt risk=critical", "x")
    )
    assert [plan_step.risk.level for plan_step in steps] == ["HIGH", "CRITICAL"]
    assert any(["the plan" in reason for reason in steps[1].risk.reasons])


def test_a_dangerous_test_behind_a_harmless_step_counts() -> None:
    (compiled_step,) = compile_steps(step("#a type=create_file target=notes.txt test-after='rm -rf /'", "x"))
    assert compiled_step.risk.level in ("HIGH", "CRITICAL")


def test_a_command_of_one_long_word_compiles() -> None:
    for compiled_step in compile_steps(step("#a", f"./{'x' * 3000} go") + step("#b", f"make {'y' * 3000}")):
        assert all(len(reason) < 500 for reason in compiled_step.risk.reasons)


def test_variables_that_change_what_runs_count() -> None:
    plain, loaded = compile_steps(step("#a", "git status") + step("#b env=LD_PRELOAD=x.so", "git status"))
    assert plain.risk.level == "LOW"
    assert loaded.risk.level in ("HIGH", "CRITICAL")


def test_the_risk_of_all_is_the_highest() -> None:
    text = step("#a type=create_file target=notes.txt", "x") + step("#b type=delete_file target=x", "Gone.")
    assert compiled(plan_of(text).text.to_bytes()).intent.risk_level == "HIGH"


def test_everything_wrong_is_told_at_once_with_its_place() -> None:
    error = compile_error(step("#a timout=3") + step("#a needs=zz exit=x"))
    assert (error.code, error.exit) == ("bad-steps", 3)
    assert error.message.startswith(
        "plans/parser.md:9: 4 problems in its steps; the first: EP602 unknown attribute timout; did you mean timeout?"
    )
    assert [candidate.partition(" ")[0] for candidate in error.candidates] == [
        *("plans/parser.md:9:11:", "plans/parser.md:12:8:", "plans/parser.md:12:11:", "plans/parser.md:12:20:"),
    ]


def test_more_steps_than_a_plan_may_have() -> None:
    steps = step("#a", "\n".join([f"make {number}" for number in range(101)]))
    assert len(compile_steps(steps)) == 101  # the policy limits them, not the document
    error = compile_error("```text {execution max-steps=100}\n```\n\n" + steps)
    assert (error.code, error.exit) == ("bad-document", 3)
    assert "101 steps" in error.message
    error = compile_error("".join([step(f"#a{number}", "make a") + "\n" for number in range(1001)]))
    assert (error.code, error.message) == ("bad-document", "plans/parser.md has 1,001 steps; 1,000 is the maximum")


def test_ids_of_several_commands_fit_the_document() -> None:
    assert compile_steps(step("#" + "a" * 64, "make a\nmake b"))[1].id == "a" * 64 + ".2"


@pytest.mark.parametrize(
    "steps",
    [
        step("#a", "make \u202eresrap"),
        step("#a", "make\u200b parser"),
        step("#a type=create_file target=a\u202e.py", "x"),
        step("#a test-after='make \u2066x'"),
        step("#a env='A=\u200bx'"),
        step("#a shell", "make\nmake \u200bb"),
        "```sh\nmake \u202eresrap\n```\n",
    ],
)
def test_a_character_that_nobody_sees_is_refused_and_shown(steps: str) -> None:
    error = compile_error(steps)
    assert (error.code, error.exit) == ("hidden-character", 7)
    assert "\\u2" in error.message
    assert error.message.isprintable()
    assert "line 9" in error.message or "line 10" in error.message


def test_conflict_markers_stop_a_compile() -> None:
    error = compile_error(step("#a") + "<<<<<<< ours\nx\n=======\ny\n>>>>>>> theirs\n")
    assert (error.code, error.exit) == ("conflict-markers", 3)


def test_a_plan_without_steps_says_what_was_left() -> None:
    result = compile_plan(reader.read(b"# T\n\n## Plan of Work\n\n```sh {#a}\nmake\n```\n"), "t", "t.md")
    assert result.document is None
    assert [skipped_line.line for skipped_line in result.skipped] == [4]


def test_ticks_entries_and_moved_lines_change_nothing_but_lines() -> None:
    old = compiled(STEPS)
    ticked = compiled(STEPS.replace("- [ ] Build", "- [x] (2026-01-02 10:00Z) Build"))
    assert document_bytes(ticked) == document_bytes(old)
    moved = compiled(STEPS.replace("## Decision Log\n", "## Decision Log\n\n- Decision: More.\n"))
    assert document_bytes(moved) != document_bytes(old)
    assert describe_differences(old, moved) == ()


def test_what_differs_is_told() -> None:
    changed = compiled(STEPS.replace("make parser", "make lexer").replace("#api ", "#page "))
    assert describe_differences(compiled(STEPS), changed)[:3] == (
        "step api was removed",
        "step page was added",
        'step build.1: command was "make parser" and is now "make lexer"',
    )
    long = "make parser " + "CFLAGS=-O2 " * 9
    old, new = [compiled(STEPS.replace("make parser", long + end)) for end in ("OUT=a", "OUT=b")]
    assert describe_differences(old, new) == (
        'step build.1: command was "…=-O2 CFLAGS=-O2 OUT=a" and is now "…=-O2 CFLAGS=-O2 OUT=b"',
    )
    commented = compiled(STEPS.replace("make parser\n", "make parser\n# and then\n"))
    assert describe_differences(compiled(STEPS), commented) == ("the text of the lines with its steps has changed",)


def test_the_same_plan_gives_the_same_bytes_everywhere(tmp_path: Path) -> None:
    code = (
        "import sys; from execplan.execution.compile import compile_plan; from execplan.core.plan import reader; "
        "from execplan.core.documents.document_io import document_bytes; "
        "made = compile_plan(reader.read(sys.stdin.buffer.read()), '2026-01-01_parser', 'plans/parser.md'); "
        "sys.stdout.buffer.write(document_bytes(made.document))"
    )
    environments: list[dict[str, str]] = [
        {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "America/New_York", "LANG": "tr_TR.UTF-8"},
    ]
    text = STEPS.replace("timeout=60", "timeout=60 env='B=ü A=2 C=3'").encode()
    for environment, cwd in zip(environments, (tmp_path, Path("/")), strict=True):
        env = {**ENVIRONMENT, "PYTHONPATH": str(Path(__file__).resolve().parents[2]), **environment}
        completed = subprocess.run(
            [sys.executable, "-c", code], input=text, cwd=cwd, env=env, capture_output=True, check=True
        )
        assert completed.stdout == document_bytes(compiled(text))


def test_what_is_compiled_can_be_read() -> None:
    data = document_bytes(compiled(STEPS))
    assert load_document(data, ExecutionPlan, "x") == compiled(STEPS)
    assert json.loads(data)["steps"][0]["id"] == "build.1"


def test_attributes_and_fields_are_one_to_one() -> None:
    filled = [attribute.field for attribute in ATTRIBUTES]
    assert len(set(filled)) == len(filled)
    assert {field.partition(".")[0] for field in filled} | DERIVED == set(Step.__struct_encode_fields__)
    assert not {field.partition(".")[0] for field in filled} & DERIVED
    inner = {
        field.name: set(field.default.__struct_fields__)
        for field in msgspec.structs.fields(Step)
        if field.name in ("on_failure", "validation", "rollback")
    }
    assert {
        name: {field.partition(".")[2] for field in filled if field.startswith(f"{name}.")} for name in inner
    } == inner


_INFOS = some.sampled_from(
    [
        "sh",
        "sh {#a}",
        "sh {#b needs=a}",
        "{shell}",
        "diff {type=modify_file target=x}",
        "text {expect}",
        "sh {example}",
        "js {1,3}",
        "sh {#a",
    ]
)
_BODIES = some.lists(
    some.sampled_from(["make", "$ make", "ok", "# x", "a \\", "", "@@ -1 +1 @@", "-a", "'", "<<EOF", "\t"]), max_size=5
)


@settings(max_examples=50)
@given(some.lists(some.tuples(_INFOS, _BODIES), max_size=5))
def test_every_plan_compiles_or_says_why(pieces: list[tuple[str, list[str]]]) -> None:
    text = "\n".join(["\n".join([f"```{info}", *body, "```"]) for info, body in pieces])
    plan = plan_of(text)
    plan_steps = find_plan_steps(plan)
    if find_step_problems(plan, plan_steps):
        with pytest.raises(ExecplanError, match=r"t\.md:"):
            compile_plan(plan, "t", "t.md")
        return
    document: Any = compile_plan(plan, "t", "t.md").document
    assert len(plan_steps.drafts) == (len(document.steps) if document is not None else 0)
    for draft in plan_steps.drafts:
        source_text = "\n".join(plan.text.lines[draft.start : draft.end])
        assert all([word in source_text for word in draft.command.split("\n")[0].split() if word != "\\"])


def test_lint_tells_what_compile_refuses() -> None:
    text = STEPS.replace("timeout=60", "timout=60").replace("needs=build", "needs=bild")
    with pytest.raises(ExecplanError) as caught:
        compiled(text)
    codes = [candidate.partition(": ")[2].partition(" ")[0] for candidate in caught.value.candidates]
    assert codes == ["EP602", "EP605"]
    assert {finding.code for finding in lint_bytes(text.encode())} >= set(codes)
