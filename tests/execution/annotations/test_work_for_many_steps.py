"""The work of lint for a plan with many steps, counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execplan.execution.annotations import annotated_fences
from execplan.execution.risk.command_risk import CommandRisk, rate_command
from execplan.linter.runner import lint_bytes

if TYPE_CHECKING:
    from execplan.core.plan.model import ParsedPlan
    from execplan.core.text.markdown_blocks import Block
    from execplan.execution.risk.command_risk import RiskTable

HEAD = "# T\n\n## Progress\n\n- [ ] a\n\n## Concrete Steps\n\n"


def test_each_code_block_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[int] = []
    read_fence = annotated_fences._read_fence

    def recording_read(plan: ParsedPlan, block: Block) -> annotated_fences.AnnotatedFence | None:
        lines.append(block.start)
        return read_fence(plan, block)

    monkeypatch.setattr(annotated_fences, "_read_fence", recording_read)
    lint_bytes((HEAD + "".join([f"```sh {{#s{at}}}\nmake x\n```\n\n" for at in range(300)])).encode())
    assert len(lines) == len(set(lines)) == 300


@pytest.mark.parametrize(
    "steps",
    [
        "".join([f"```sh {{#s{at}}}\nmake x\n```\n\n" for at in range(2000)]),
        "```sh {#a}\n" + "make x\n" * 2000 + "```\n",
        '```sh {#a env="' + " ".join([f"A{at}=b" for at in range(2000)]) + '"}\nmake x\n```\n',
    ],
)
def test_a_limited_number_of_commands_and_variables_is_rated(steps: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["make x"]

    def recording_rate(text: str, table: RiskTable, *, is_script: bool = False) -> CommandRisk:
        texts.append(text)
        return rate_command(text, table, is_script=is_script)

    monkeypatch.setattr("execplan.execution.risk.step_risk.rate_command", recording_rate)
    lint_bytes((HEAD + steps).encode())
    assert len(" ".join(texts).split()) <= 500
