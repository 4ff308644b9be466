"""Attributes for inferred steps: what is written, that it tells the same, and that a second time changes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from execplan.core.errors import ExecplanError
from execplan.core.plan.model import ParsedPlan
from execplan.core.plan.plan_lookup import task_ids
from execplan.core.plan.reader import read, read_text
from execplan.core.text.text_lines import Text, apply_edits
from execplan.execution.annotations.annotated_fences import find_annotated_fences
from execplan.execution.annotations.annotated_steps import find_annotated_steps
from execplan.execution.annotations.step_advice import find_step_advice
from execplan.execution.compile import compile_plan
from execplan.execution.execution_plan import Step, Type
from execplan.execution.inference.annotation_edits import annotate_plan
from execplan.execution.inference.step_inference import infer_steps

CORPUS = Path(os.environ.get("EXECPLAN_CORPUS") or Path(__file__).parents[3].parent / "shared" / "corpus")


def plan_of(steps: str) -> ParsedPlan:
    """A plan with such steps."""
    return read_text(Text.from_str(f"# T\n\n## Concrete Steps\n\n{steps}\n\n## Notes\n\n    make other\n"))


def annotated(plan: ParsedPlan) -> ParsedPlan:
    """The plan once it is annotated."""
    return read_text(apply_edits(plan.text, annotate_plan(plan).edits))


def annotated_text(steps: str) -> str:
    """What becomes of such steps."""
    text = annotated(plan_of(steps)).text.to_str()
    head, tail = "# T\n\n## Concrete Steps\n\n", "\n\n## Notes\n\n    make other\n"
    assert text.startswith(head)
    assert text.endswith(tail)
    return text[len(head) : -len(tail)]


CASES = {
    "an indented block": (
        "From the root:\n\n    make build\n    make test\n\nBoth pass.",
        "From the root:\n\n```sh {#make-build}\nmake build\nmake test\n```\n\nBoth pass.",
    ),
    "a fence": ("```bash\n# first\nmake test\n```", "```bash {#make-test}\n# first\nmake test\n```"),
    "a fence of no language": ("```\nmake test\n```", "```sh {#make-test}\nmake test\n```"),
    "tildes in an item": (
        "1. Do:\n\n   ~~~sh\n   make test\n   ~~~",
        "1. Do:\n\n   ~~~sh {#make-test}\n   make test\n   ~~~",
    ),
    "a folder": ("In `web/`:\n\n    npm test", "In `web/`:\n\n```sh {#npm-test cwd=web}\nnpm test\n```"),
    "`cd`": ("    cd web\n    npm ci\n    npm test", "```sh {#npm-ci cwd=web}\nnpm ci\nnpm test\n```"),
    "`cd` on the line": ("```sh\ncd web && npm ci\n```", "```sh {#npm-ci cwd=web}\nnpm ci\n```"),
    "two folders": (
        "    cd web\n    npm ci\n    cd ../api\n    make a",
        "```sh {#npm-ci cwd=web}\nnpm ci\n```\n\n```sh {#make-a needs=npm-ci cwd=api}\nmake a\n```",
    ),
    "an item that is a command": ("- `npm test`\n- Then look.", "- ```sh {#npm-test}\n  npm test\n  ```\n- Then look."),
    "an item of two folders": (
        "1. `make a`, `cd web && npm test`",
        "1. ```sh {#make-a}\n   make a\n   ```\n   ```sh {#npm-test needs=make-a cwd=web}\n   npm test\n   ```",
    ),
    "an item with a box": (
        "- [ ] `npm test`",
        '- [ ] `npm test`\n  ```sh {#npm-test task="npm test"}\n  npm test\n  ```',
    ),
    "an item that tells": (
        "1. Run `npm test`.\n2. Look.",
        "1. Run `npm test`.\n   ```sh {#npm-test}\n   npm test\n   ```\n2. Look.",
    ),
    "a paragraph": ("Run `npm test`.\nLook.", "Run `npm test`.\nLook.\n\n```sh {#npm-test}\nnpm test\n```"),
    "indented too little": (
        "1. Do:\n\n    make test\n\n2. Look.",
        "1. Do:\n\n   ```sh {#make-test}\n   make test\n   ```\n\n2. Look.",
    ),
    "continued lines": ("    tool.sh a \\\n      b", "```sh {#tool-a-b}\ntool.sh a \\\n  b\n```"),
    "a comment behind": ("    make test  # slow", "```sh {#make-test}\n# slow\nmake test\n```"),
    "prompts": ("```\n$ make test\n```", "```sh {#make-test}\nmake test\n```"),
    "prompts with output": ("```\n$ make test\nok\n```", "```\n$ make test\nok\n```"),
    "what is printed": (
        "    make hello\n\nExpected output:\n\n    hello\n    in 0.1 s\n",
        "```sh {#make-hello}\nmake hello\n```\n\nExpected output:\n\n```text {expect}\n…\nhello\n…\n```\n",
    ),
    "what is printed, in words": (
        "```sh\nmake hello\n```\n\nIt prints `hello`.",
        "```sh {#make-hello}\nmake hello\n```\n```text {expect}\n…\nhello\n…\n```\n\nIt prints `hello`.",
    ),
    "a line that is no step": (
        "    make test\n    # slow\n    npm run dev\n    make b",
        "```sh {#make-test}\nmake test\n```\n\n    # slow\n    npm run dev\n\n```sh {#make-b needs=make-test}\nmake b\n```",
    ),
    "a line that is no step, in a fence in an item": (
        "1. Do:\n\n   ```bash\n   npm run dev\n   make test\n   ```",
        "1. Do:\n\n   ```bash\n   npm run dev\n   ```\n   ```bash {#make-test}\n   make test\n   ```",
    ),
    "a line that is no step, in a folder": (
        "    cd web\n    make test\n    npm run dev",
        "    cd web\n    make test\n    npm run dev",
    ),
    "a line that needs a shell": (
        "```sh\nmake a\nmake b || true\nmake c > out.txt\nmake d\n```",
        "```sh {#make-a}\nmake a\n```\n\n```sh {#make-b needs=make-a shell}\nmake b || true\n```\n\n```sh {#make-c-out-txt needs=make-b shell}\nmake c > out.txt\n```\n\n```sh {#make-d needs=make-c-out-txt}\nmake d\n```",
    ),
    "syntax of bash": (
        "```\ndiff <(sort a) <(sort b)\n```",
        "```bash {#diff-sort-a shell}\ndiff <(sort a) <(sort b)\n```",
    ),
    "a pipe into tee": (
        "```sh\nmake test 2>&1 | tee out.log\n```",
        "```bash {#make-test shell}\nset -o pipefail\nmake test 2>&1 | tee out.log\n```",
    ),
    "a pipe over two lines": (
        "```zsh\nmake list |\n  sort\n```",
        "```zsh {#make-list shell}\nmake list |\n  sort\n```",
    ),
    "attributes without a shell": (
        "1. Do:\n\n   ~~~sh {#a exit=0}\n   make a | tee x\n   ~~~",
        "1. Do:\n\n   ~~~sh {#a exit=0 shell=bash}\n   set -o pipefail\n   make a | tee x\n   ~~~",
    ),
    "attributes of several commands": (
        "```sh {#a exit=0}\nmake a || true\nmake b\n```",
        "```sh {#a exit=0}\nmake a || true\nmake b\n```",
    ),
    "a sentence": (
        "Run `make a && make b`.",
        "Run `make a && make b`.\n\n```sh {#make-a shell}\nmake a && make b\n```",
    ),
    "ids once": (
        "```sh {#make-test}\nmake lint\n```\n\n    make test",
        "```sh {#make-test}\nmake lint\n```\n\n```sh {#make-test-2}\nmake test\n```",
    ),
    "nothing": ("Think.", "Think."),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_written(name: str) -> None:
    before, after = CASES[name]
    assert annotated_text(before) == after
    assert annotated_text(after) == after


def steps(plan: ParsedPlan) -> list[tuple[object, ...]]:
    """What the steps of a plan run, and where."""
    document = compile_plan(plan, "t", "t.md").document
    all_steps = document.steps if document else ()
    return [(command_text(step), step.env, step.cwd) for step in all_steps if step.type is not Type.MANUAL]


def command_text(step: Step) -> str:
    """The command of a step on one line, without what annotating adds to a script."""
    lines = (step.command or "").replace("\\\n", " ").split("\n")
    return " ".join(" ".join(line for line in lines if line[:1] != "#" and "pipefail" not in line).split())


def test_it_compiles_to_the_same_and_is_inferred_no_more() -> None:
    plan = plan_of("\n\nFrom the repository root:\n\n".join([before for before, _ in CASES.values()]))
    annotated_plan = annotated(plan)
    assert steps(annotated_plan) == steps(plan)
    assert len(steps(plan)) > 20
    remaining = {
        draft.command for draft in infer_steps(annotated_plan, find_annotated_fences(annotated_plan).fence_lines).drafts
    }
    assert remaining < {draft.command for draft in infer_steps(plan, find_annotated_fences(plan).fence_lines).drafts}
    assert annotate_plan(annotated_plan).edits == ()


def test_lines_keep_their_ends_and_an_open_fence_is_refused() -> None:
    text = "# T\r\n\r\n## Concrete Steps\r\n\r\n    make test\r\n\r\nEnd."
    plan = read_text(Text.from_str(text))
    assert annotated(plan).text.to_str() == text.replace("    make test", "```sh {#make-test}\r\nmake test\r\n```")
    with pytest.raises(ExecplanError) as refused:
        annotate_plan(read_text(Text.from_str("# T\n\n## Concrete Steps\n\n```sh\nmake test\n")))
    assert refused.value.code == "unclosed-fence"


def with_tasks(tasks: str, steps: str) -> ParsedPlan:
    """A plan with such tasks too."""
    return read_text(
        Text.from_str(plan_of(steps).text.to_str().replace("# T\n", f"# T\n\n## Progress\n\n{tasks}\n", 1))
    )


def test_the_task_is_written_as_text_or_as_its_id() -> None:
    plan = with_tasks('- [ ] Run `make a`\n- [ ] Run `make "b"`\n- [ ] Rest', '    make a\n\nThen:\n\n    make "b"')
    text = annotated(plan).text.to_str()
    assert '```sh {#make-a task="Run make a"}' in text
    assert f"```sh {{#make-b task={task_ids(plan.tasks)[1]}}}" in text


def test_a_block_for_two_tasks_becomes_two() -> None:
    plan = with_tasks("- [ ] Run `make a`\n- [ ] Run `make b`", "    make a\n    make b")
    text = annotated(plan).text.to_str()
    assert '```sh {#make-a task="Run make a"}\nmake a\n```\n\n```sh {#make-b needs=make-a task="Run make b"}' in text


def test_no_line_that_needs_a_shell_is_left_without_it() -> None:
    plan = plan_of("Run these:\n\n" + "\n\nThen:\n\n".join([before for before, _ in CASES.values()]))
    annotated_plan = annotated(plan)
    advice = find_step_advice(annotated_plan, find_annotated_steps(annotated_plan))
    assert [problem.message[:17] for problem in advice if problem.kind == "EP611"] == ["`make a || true` "]


def test_a_task_with_a_step_that_stays_inferred_is_not_ticked_before_that() -> None:
    plan = with_tasks("- [ ] Run `make a`, `make b`", "    make a\n\nThen:\n\n    make b\n    npm run dev")
    annotated_plan = annotated(plan)
    assert "{#make-a task=" in annotated_plan.text.to_str()
    document = compile_plan(annotated_plan, "t", "t.md").document
    assert document is not None
    assert len({step.task for step in document.steps}) == 1
    assert len(document.steps) == 2


def test_every_command_that_is_left_has_its_reason_in_one_line() -> None:
    plan = plan_of(
        "    cd web\n    make a\n    npm run dev\n\nFrom the repository root:\n\n    make b\n\nIf needed:\n\n    make c"
    )
    for dry_run, shift in ((True, 0), (False, 2)):
        assert annotate_plan(plan, dry_run=dry_run).messages == (
            f"{'would annotate' if dry_run else 'annotated'}: 1 of 2 inferred steps; the others are left to you:",
            "line 6 is left to you: it is in a block with line 7, which is not a step: move that line elsewhere: make a",
            "line 7 is not a step: it runs until it is stopped: a step with `service` can start it: npm run dev",
            f"line {15 + shift} is not a step: it runs only under a condition: make c",
        )


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no corpus of real plans")
def test_real_plans() -> None:
    for path in sorted(CORPUS.rglob("*.md"))[::60]:
        plan = read(path.read_bytes())
        annotated_plan = annotated(plan)
        assert steps(annotated_plan) == steps(plan), path
        assert annotate_plan(annotated_plan).edits == (), path
        assert find_annotated_steps(annotated_plan).problems == (), path
