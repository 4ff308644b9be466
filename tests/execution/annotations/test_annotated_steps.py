"""Fences with attributes: the steps that they tell, and everything that is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from execplan.core.plan import reader
from execplan.core.plan.model import ParsedPlan
from execplan.execution.annotations.annotated_fences import find_annotated_fences
from execplan.execution.annotations.annotated_steps import find_annotated_steps
from execplan.execution.annotations.step_advice import find_step_advice
from execplan.execution.annotations.step_fields import build_all_step_fields
from execplan.execution.annotations.step_problems import find_step_problems
from execplan.execution.parsed_steps import StepDraft


def plan_of(steps: str, validation: str = "") -> ParsedPlan:
    """A plan with these Concrete Steps, the first of them in line 9."""
    head = "# Build the parser\n\n## Progress\n\n- [ ] Build the parser.\n\n## Concrete Steps\n\n"
    return reader.read(f"{head}{steps}\n\n## Validation and Acceptance\n\n{validation}\n".encode())


def drafts_of(steps: str, validation: str = "") -> tuple[StepDraft, ...]:
    return find_annotated_steps(plan_of(steps, validation)).drafts


def fields_of(steps: str) -> list[dict[str, Any]]:
    return build_all_step_fields(drafts_of(steps))


def problems_of(steps: str) -> list[tuple[str, str]]:
    """What stops a compile: kinds, and the words that each is about."""
    plan = plan_of(steps)
    problems = find_step_problems(plan, find_annotated_steps(plan))
    return [(problem.kind, plan.text.lines[problem.line][problem.column : problem.end_column]) for problem in problems]


def step(info: str, body: str = "make", language: str = "sh") -> str:
    return f"```{language} {{{info}}}\n{body}\n```\n"


def test_a_command_with_its_attributes() -> None:
    (draft,) = drafts_of('```sh {#build timeout=60 task="Build the parser"}\nmake parser\n```')
    assert (draft.origin, draft.phase, draft.id, draft.command) == ("annotated", "work", "build", "make parser")
    assert (draft.start, draft.end) == (8, 11)
    assert draft.attributes == {"id": "build", "timeout": "60", "task": "Build the parser"}


def test_validation_is_a_phase_and_other_sections_hold_no_step() -> None:
    plan = reader.read(
        b"# T\n\n```sh {#a}\nx\n```\n\n## Plan of Work\n\n```sh {#b}\nx\n```\n\n## Verification\n\n```sh {#c}\nx\n```\n\n"
        b"Revision note (2026-01-01): More.\n\n```sh {#d}\nx\n```\n"
    )
    parsed = find_annotated_steps(plan)
    assert [(draft.id, draft.phase) for draft in parsed.drafts] == [("c", "validate")]
    assert [(skipped_line.line, skipped_line.text) for skipped_line in parsed.skipped] == [
        (2, "```sh {#a}"),
        (8, "```sh {#b}"),
        (20, "```sh {#d}"),
    ]
    assert {skipped_line.why for skipped_line in parsed.skipped} == {
        "is outside Concrete Steps and Validation and Acceptance"
    }


def test_examples_quotes_and_comments_hold_no_step() -> None:
    text = (
        "```sh {example #a}\nmake\n```\n```text {expect}\nok\n```\n\n> ```sh {#b}\n> make\n> ```\n\n"
        "<!--\n```sh {#c}\nmake\n```\n-->\n\n    ```sh {#d}\n    make\n    ```\n"
    )
    parsed = find_annotated_steps(plan_of(text))
    assert parsed.drafts == ()
    assert [skipped_line.why for skipped_line in parsed.skipped] == ["is in a quote"]
    assert find_step_problems(plan_of(text), parsed) == ()


@pytest.mark.parametrize("lead", ["", "- Then:\n\n  ", "1. Then:\n\n   - so\n\n     ", "### First\n\n"])
def test_a_fence_in_a_list_or_below_a_sub_heading(lead: str) -> None:
    inside = " " * (len(lead) - len(lead.rstrip(" ")))
    lines = ["```py {#a type=create_file target=a.py}", "if x:", "    y", "\tz", "", "```"]
    (fields,) = fields_of(lead + f"\n{inside}".join(lines).replace(f"\n{inside}\n", "\n\n"))
    assert fields["content"] == "if x:\n    y\n\tz\n\n"


def test_content_ends_lines_in_lf_whatever_those_of_the_plan_end_in() -> None:
    text = "# T\r\n\r\n## Steps\r\n\r\n```py {#a type=create_file target=a.py}\r\nx\r\ny\r\n```\r\n"
    (fields,) = build_all_step_fields(find_annotated_steps(reader.read(text.encode())).drafts)
    assert fields["content"] == "x\ny\n"


def test_the_content_of_an_empty_fence_is_empty() -> None:
    (fields,) = fields_of("```py {#a type=create_file target=__init__.py}\n```\n")
    assert fields["content"] == ""
    assert problems_of("```py {#a type=create_file target=__init__.py}\n```\n") == []


COMMANDS = [
    ("make a\n\n# no command\n   # nor this\nmake b", ["make a", "make b"]),
    ("$ make a\n$ make b", ["make a", "make b"]),
    ("make a \\\n    --all \\\n  b", ["make a --all b"]),
    ("make a\\\nb", ["make ab"]),
    ("echo 'a \\\n  b'", ["echo 'a \\\n  b'"]),
    ("echo it\\'s \\\n  b", ["echo it\\'s b"]),
    ("echo \\\\\nmake", ["echo \\\\", "make"]),
    ("$ make a \\\n> b", ["make a b"]),
    ("make # all of it", ["make # all of it"]),
    ("make \\", ["make \\"]),
]


@pytest.mark.parametrize(("body", "commands"), COMMANDS)
def test_one_command_a_line(body: str, commands: list[str]) -> None:
    assert [draft.command for draft in drafts_of(step("#a", body))] == commands


def test_several_commands_are_steps_that_need_each_other() -> None:
    text = (
        step("#get", "fetch")
        + step('#build needs=get timeout=9 exit=0 checkpoint task="Build the parser"', "make a\nmake b\nmake c")
        + step("#test needs=build when=build.succeeded", "make test")
    )
    fields_by_id = {fields["id"]: fields for fields in fields_of(text)}
    assert {name: fields["depends_on"] for name, fields in fields_by_id.items()} == {
        "get": [],
        "build.1": ["get"],
        "build.2": ["build.1"],
        "build.3": ["build.2"],
        "test": ["build.3"],
    }
    assert fields_by_id["test"]["when"] == {"kind": "succeeded", "of": "build.3"}
    assert [fields_by_id[f"build.{number}"]["timeout_s"] for number in (1, 2, 3)] == [9, 9, 9]
    for name in ("exit", "checkpoint", "task"):
        assert [name in fields_by_id[f"build.{number}"] for number in (1, 2, 3)] == [False, False, True]


def test_with_shell_a_fence_is_one_script() -> None:
    (fields,) = fields_of(step("#a shell=bash", "set -e\n\n# all\nfor x in *; do\n  echo $x\ndone"))
    assert fields["shell"] == "bash"
    assert fields["command"] == "set -e\n\n# all\nfor x in *; do\n  echo $x\ndone"
    assert fields_of(step("#a shell"))[0]["shell"] == "sh"
    assert fields_of(step("#a shell", language="bash"))[0]["shell"] == "bash"
    assert fields_of(step("#a shell", language="console"))[0]["shell"] == "sh"


def test_ids_that_are_not_written_are_numbers_of_steps() -> None:
    drafts = drafts_of(step("exit=0") + step("#step-1") + step("exit=0", "make a\nmake b") + step("#z needs=step-1"))
    assert [draft.id for draft in drafts] == ["step-1-x", "step-1", "step-3", "step-4", "z"]
    assert [draft.needs for draft in drafts] == [(), (), (), ("step-3",), ("step-1",)]


def test_what_is_expected() -> None:
    expect_fence = "```text {expect}\n12 passed in …\n\n```\n"
    assert drafts_of(step("#a expect=ok"))[0].expect == "ok"
    assert drafts_of(step("#a") + "It prints:\n\n" + expect_fence)[0].expect == "12 passed in …"
    assert [draft.expect for draft in drafts_of(step("#a", "make a\nmake b") + expect_fence)] == [
        None,
        "12 passed in …",
    ]
    (draft,) = drafts_of(step("#a") + expect_fence)
    assert (draft.start, draft.end) == (8, 15)
    assert drafts_of("- a\n\n  ```sh {#a}\n  make\n  ```\n\n  ```text {expect}\n  ok\n  ```\n")[0].expect == "ok"
    assert drafts_of(step("#a") + "```text {expect}\n```\n")[0].expect == ""


def test_a_transcript_says_what_each_command_prints() -> None:
    drafts = drafts_of(step("#a", "$ make a\none\n\n  two\n$ make b\n# $ make c\n$ make d"))
    assert [(draft.command, draft.expect) for draft in drafts] == [
        ("make a", "one\n\n  two"),
        ("make b", "# $ make c"),
        ("make d", None),
    ]


@pytest.mark.parametrize(
    "steps",
    [
        "```text {expect}\nok\n```\n",
        step("#a") + "### Next\n\n```text {expect}\nok\n```\n",
        step("#a") + "```text\nother\n```\n\n```text {expect}\nok\n```\n",
        step("#a") + "```text {expect}\nok\n```\n" * 2,
    ],
)
def test_an_expectation_that_belongs_to_no_step(steps: str) -> None:
    assert [kind for kind, _ in problems_of(steps)] == ["EP603"]


def test_fields_of_every_attribute() -> None:
    info = (
        "#a cwd=src env=\"A=1 B='x y'\" timeout=5m retry=2 backoff=2s on-failure=retry triggers='exit:3, timeout' "
        "checkpoint effect=idempotent parallel network inputs='a.txt, b c.txt' outputs=\"'d e.txt'\" exit=1 "
        "rollback=false risk=high confirm max-invocations=3 allow='git status*, ls' deny=rm syntax-check=false"
    ).replace(" syntax-check=false", "")
    (fields,) = fields_of(step(info))
    assert fields == {
        "id": "a",
        "type": "execute_command",
        "depends_on": [],
        "command": "make",
        "expect": None,
        "cwd": "src",
        "env": {"A": "1", "B": "x y"},
        "timeout_s": 300,
        "on_failure": {
            "max_retries": 2,
            "backoff_ms": 2000,
            "strategy": "retry",
            "triggers": ["exit:3", "timeout"],
        },
        "checkpoint": True,
        "effect": "idempotent",
        "parallel": True,
        "network": True,
        "inputs": ["a.txt", "b", "c.txt"],
        "outputs": ["d e.txt"],
        "exit": 1,
        "rollback": {"enabled": False},
        "risk": {"level": "HIGH"},
        "confirm": True,
        "max_invocations": 3,
        "allow": ["git status*", "ls"],
        "deny": ["rm"],
    }


PATCH = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+new"


REPLACEMENTS = [
    ("#a type=replace paths=a.py count=1", "-a\n+b", ""),
    ("#a type=replace paths='a.py, b/**' count=2", "-a`\"'\n-\n-  x\n+\n", ""),
    ("#a type=replace paths=a.py count=1", "-a", ""),
    ("#a type=replace paths=a.py count=1 regex", "-(a+)\n+<\\1>", ""),
    ("#a type=replace count=1", "-a\n+b", "replace needs the files to search"),
    ("#a type=replace paths=a.py", "-a\n+b", "replace needs the number of places"),
    ("#a type=replace paths=a.py count=0", "-a\n+b", "count must be from 1"),
    ("#a type=replace paths=a.py count=1", "a\n+b", "replace must be a code block with lines"),
    ("#a type=replace paths=a.py count=1", "+b\n-a", "replace must be a code block with lines"),
    ("#a type=replace paths=a.py count=1", "-\n+b", "replace must be a code block with lines"),
    ("#a type=replace paths=a.py count=1", "-a\n+a", "the text to find and its replacement are the same"),
    ("#a type=replace paths=a.py count=1 regex", "-(\n+a", "the regular expression is invalid: missing )"),
    ("#a type=replace paths=a.py count=1 regex", "-a\n+\\1", "the regular expression is invalid: invalid group"),
    ("#a type=replace paths=a.py count=1 target=b.py", "-a\n+b", "replace doesn't accept target"),
    ("#a count=1", "make", "execute_command doesn't accept count"),
    ("#a type=move from=a target=b", "Why", ""),
    ("#a type=copy from=a target=b overwrite", "", ""),
    ("#a type=copy target=b", "", "copy needs a file or directory: from=PATH"),
    ("#a type=move from=a", "", "move needs a target"),
    ("#a type=move from=a target=b/", "", "b/ is a directory: name the new path itself"),
    ("#a type=copy from=a target=./a", "", "./a is a itself or inside it"),
    ("#a type=move from=a target=a/b", "", "a/b is a itself or inside it"),
    ("#a type=copy from=a target=b syntax-check=false", "", "copy doesn't accept syntax-check"),
]


@pytest.mark.parametrize(("info", "body", "message"), REPLACEMENTS)
def test_steps_that_find_their_files_say_what_they_lack(info: str, body: str, message: str) -> None:
    plan = plan_of(step(info, body, "sh" if "type" not in info else "diff"))
    problems = [problem.message for problem in find_step_problems(plan, find_annotated_steps(plan))]
    assert (not problems) if not message else any([message in problem for problem in problems]), problems


def test_the_text_to_find_can_be_anything() -> None:
    body = "-a `b` \"c\" 'd' \\\n-\n-  - e\n+~~~\n+\n+```"
    (fields,) = fields_of(f"````diff {{#a type=replace paths=a.py count=1}}\n{body}\n````\n")
    assert fields["replacement"] == {
        "paths": ["a.py"],
        "count": 1,
        "find": "a `b` \"c\" 'd' \\\n\n  - e",
        "with": "~~~\n\n```",
    }
    (fields,) = fields_of(step("#a type=move from='a b' target=c", "Why", "text"))
    assert {name: fields[name] for name in ("from", "target")} == {"from": "a b", "target": "c"}


def test_files_are_changed_by_a_patch_or_by_lines() -> None:
    all_fields = fields_of(
        step("#a type=modify_file target=a.py", PATCH, "diff")
        + step("#b type=modify_file target=a.py lines=2-3", "x\ny", "py")
        + step("#c type=refactor_code", PATCH, "diff")
        + step("#d type=delete_file target=b.py", "It is not used.", "text")
    )
    assert [fields.get("patch") for fields in all_fields] == [f"{PATCH}\n", None, f"{PATCH}\n", None]
    assert [fields.get("content") for fields in all_fields] == [None, "x\ny\n", None, None]
    assert all_fields[1]["lines"] == [2, 3]


WRONG = [
    ("sh {#a timout=3}", [("EP602", "timout=3")]),
    ("sh {#a id=b}", [("EP602", "id=b")]),
    ("sh {#a timeout=soon}", [("EP603", "timeout=soon")]),
    ("sh {#a timeout=0}", [("EP603", "timeout=0")]),
    ("sh {#a timeout=25h}", [("EP603", "timeout=25h")]),
    ("sh {#a timeout=99999999999999999999}", [("EP603", "timeout=99999999999999999999")]),
    ("sh {#a timeout=²}", [("EP603", "timeout=²")]),
    ("sh {#a timeout=}", [("EP603", "timeout=")]),
    ("sh {#a backoff=2h}", [("EP603", "backoff=2h")]),
    ("sh {#a retry=11}", [("EP603", "retry=11")]),
    ("sh {#a retry=-1}", [("EP603", "retry=-1")]),
    ("sh {#a on-failure=retry}", [("EP603", "on-failure=retry")]),
    ("sh {#a on-failure=stop}", [("EP603", "on-failure=stop")]),
    ("sh {#a on-failure=alternative:}", [("EP603", "on-failure=alternative:")]),
    ("sh {#a exit=256}", [("EP603", "exit=256")]),
    ("sh {#a parallel=yes}", [("EP603", "parallel=yes")]),
    ("sh {#a type=run}", [("EP603", "type=run")]),
    ("sh {#a shell=fish}", [("EP603", "shell=fish")]),
    ("sh {#a risk=huge}", [("EP603", "risk=huge")]),
    ("sh {#a effect=twice}", [("EP603", "effect=twice")]),
    ("sh {#a when=later}", [("EP603", "when=later")]),
    ("sh {#a when=exists:}", [("EP603", "when=exists:")]),
    ("sh {#a when=b.done}", [("EP603", "when=b.done")]),
    ("sh {#a triggers=-99}", [("EP603", "triggers=-99")]),
    ("sh {#a triggers=exit:0}", [("EP603", "triggers=exit:0")]),
    ("sh {#a env=x}", [("EP603", "env=x")]),
    ("sh {#a env=1=2}", [("EP603", "env=1=2")]),
    ("sh {#a env='A=1 A=2'}", [("EP603", "env='A=1 A=2'")]),
    ("sh {#a needs=,}", [("EP603", "needs=,")]),
    ("sh {#a triggers=,}", [("EP603", "triggers=,")]),
    ("sh {#a outputs='\"\"'}", [("EP603", "outputs='\"\"'")]),
    ("sh {#a test-after='a | b'}", [("EP603", "test-after='a | b'")]),
    ("sh {#a test-after='A=1 b'}", [("EP603", "test-after='A=1 b'")]),
    ("sh {#a target=x}", [("EP603", "target=x")]),
    ("sh {#a lines=1}", [("EP603", "lines=1")]),
    ("sh {#a syntax-check}", [("EP603", "syntax-check")]),
    ("sh {#1}", [("EP603", "#1")]),
    ("sh {#ünder}", [("EP603", "#ünder")]),
    ("sh {#" + "a" * 65 + "}", [("EP603", "#" + "a" * 65)]),
    ("sh {#a type=create_file}", [("EP603", "{#a type=create_file")]),
    ("sh {#a type=create_file target=x cwd=y}", [("EP603", "cwd=y")]),
    ("sh {#a type=modify_file target=x}", [("EP603", "{#a type=modify_file target=x")]),
    ("sh {#a type=modify_file target=x lines=3-2}", [("EP603", "lines=3-2")]),
    ("sh {#a type=modify_file target=x lines=0-2}", [("EP603", "lines=0-2")]),
    ("diff {#a type=modify_file target=x}", [("EP603", "{#a type=modify_file target=x")]),
    ("diff {#a type=refactor_code}", [("EP603", "{#a type=refactor_code")]),
    ("sh {#a type=refactor_code}", [("EP603", "{#a type=refactor_code")]),
    ("sh {#a type=delete_file target=src/}", [("EP612", "target=src/")]),
    ("sh {#a type=delete_file target=.}", [("EP612", "target=.")]),
    ("python {#a}", [("EP603", "#a")]),
    ("text {#a exit=0}", [("EP603", "#a exit=0")]),
    ("diff {#a target=x}", [("EP603", "#a target=x"), ("EP603", "target=x")]),
    ("python {#a type=execute_command}", []),
    ("{#a}", []),
    ("{.sh #a}", []),
    ("sh {#a needs=a}", [("EP606", "needs=a")]),
    ("sh {#a needs=b}", [("EP605", "needs=b")]),
    ("sh {#a when=b.failed}", [("EP605", "when=b.failed")]),
    ("sh {#a on-failure=alternative:b}", [("EP605", "on-failure=alternative:b")]),
    ("sh {#a on-failure=alternative:a}", [("EP606", "on-failure=alternative:a")]),
    ("sh {#a when=a.failed}", [("EP606", "when=a.failed")]),
    ("sh {#a timout=3 exit=x needs=b}", [("EP602", "timout=3"), ("EP603", "exit=x"), ("EP605", "needs=b")]),
]


@pytest.mark.parametrize(("info", "kinds"), WRONG)
def test_what_is_wrong_with_one_fence(info: str, kinds: list[tuple[str, str]]) -> None:
    assert problems_of(f"```{info}\nmake\n```\n") == [(kind, text.lstrip("{")) for kind, text in kinds]


def test_an_unclosed_fence_with_attributes_is_no_step_to_be_taken() -> None:
    assert [kind for kind, _ in problems_of("```sh {#a}\nmake\n")] == ["EP601"]


FIVE_STEPS = "".join([f"Run:\n\n{step(f'#step{number}')}\n" for number in range(5)])


@pytest.mark.parametrize(
    "line", ['```sh {#a title="use `make`"}', "1. ```sh {#a title='use ` here'}", "> ````sh {#a exit=`}"]
)
def test_a_backtick_in_an_attribute_is_reported_because_it_hides_the_steps_below(line: str) -> None:
    steps = f"Run:\n\n{line}\nmake\n```\n\n{FIVE_STEPS}"
    attribute = line[line.index("#a") + 3 : -1]
    assert ("EP601", attribute) in problems_of(steps)


@pytest.mark.parametrize(
    "text",
    [
        '~~~sh {#a title="use `make`"}\nmake\n~~~',
        "```sh {#a}``` marks a step; `make` is its command.",
        "The line ```sh {#a title='`'} is wrong.",
        "````text\n```sh {#a title='`'}\n````",
        "    ```sh {#a title='`'}",
        "```{python} `x`",
    ],
)
def test_other_lines_with_backticks_are_not(text: str) -> None:
    assert "EP601" not in [kind for kind, _ in problems_of(text)]


def test_a_fence_without_a_command() -> None:
    assert [kind for kind, _ in problems_of("```sh {#a}\n# nothing\n\n```\n")] == ["EP603"]


def test_order_and_names_over_several_fences() -> None:
    assert problems_of(step("#a") + step("#a")) == [("EP604", "#a")]
    assert problems_of(step("#a", "x\ny") + step("#a.2")) == [("EP604", "#a.2")]
    assert problems_of(step("#a needs=b") + step("#b")) == [("EP606", "needs=b")]
    assert problems_of(step("#a when=b.failed") + step("#b")) == [("EP606", "when=b.failed")]
    assert problems_of(step("#a", "x\ny") + step("#b needs=a.1")) == []
    assert problems_of(step("#a on-failure=alternative:b") + step("#b", "x\ny")) == [
        ("EP603", "on-failure=alternative:b")
    ]
    assert problems_of(step("exit=0") + step("#b needs=step-1")) == [("EP605", "needs=step-1")]


def test_a_cycle_is_shown() -> None:
    plan = plan_of(step("#a needs=c") + step("#b needs=a") + step("#c needs=b"))
    (problem,) = find_step_problems(plan, find_annotated_steps(plan))
    assert problem.kind == "EP606"
    assert "a → b → c → a" in problem.message or "a → c → b → a" in problem.message


def test_parallel_steps_on_one_path() -> None:
    one, two = [step(f"#{name} parallel type=create_file target=./x.txt") for name in "ab"]
    assert [kind for kind, _ in problems_of(one + two)] == ["EP612"]
    assert problems_of(one + two.replace("#b", "#b needs=a")) == []
    assert problems_of(one + two.replace("parallel ", "")) == []
    reads = step("#b parallel inputs=x.txt")
    assert [kind for kind, _ in problems_of(one + reads)] == ["EP612"]
    assert problems_of(step("#a parallel inputs=x") + step("#b parallel inputs=x")) == []


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (step("#a exit=0"), []),
        (step("#a"), ["EP609"]),
        (step("#a test-after=true"), []),
        (step("#a expect=''"), []),
        (step("#a", "make a\nmake b"), ["EP609"]),
        (step("#a exit=0", "make a | sort"), ["EP611"]),
        (step("#a exit=0 shell", "make a | sort"), []),
        (step("#a exit=0 task=parser"), []),
        (step("#a exit=0 task=writer"), ["EP610"]),
        (step("#a exit=0 cwd=/tmp"), ["EP608"]),
        (step("#a exit=0 outputs='x ../y'"), ["EP608"]),
        (step("#a exit=0 inputs=a/../../y"), ["EP608"]),
        (step("#a type=create_file target=.git/hooks/pre-commit"), ["EP608"]),
        (step("#a type=create_file target=sub/.GIT/config"), ["EP608"]),
        (step("#a type=create_file target=~/x"), ["EP608"]),
        (step("#a type=create_file target=.agent/.state/x"), ["EP608"]),
        (step("#a type=create_file target=a/../.gitignore"), []),
        (step("#a type=refactor_code", PATCH.replace("a.py", "../a.py"), "diff"), ["EP608"]),
    ],
)
def test_advice_stops_no_compile(text: str, kinds: list[str]) -> None:
    plan = plan_of(text)
    parsed = find_annotated_steps(plan)
    assert find_step_problems(plan, parsed) == ()
    codes = [advice.kind for advice in find_step_advice(plan, parsed)]
    assert [kind for kind in codes if kind != "EP607" or "EP607" in kinds] == kinds


def test_lines_of_fences_with_attributes_are_taken() -> None:
    plan = plan_of(step("#a") + "```text {expect}\nx\n```\n```sh\nmake\n```\n" + step("example #b"))
    assert find_annotated_fences(plan).fence_lines == frozenset([8, 9, 10, 11, 12, 13, 17, 18, 19])
