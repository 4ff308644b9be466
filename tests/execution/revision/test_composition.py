"""Several plans as one."""

from __future__ import annotations

from typing import Any

import pytest

from execplan.core.documents.document_io import document_bytes, load_document
from execplan.core.errors import ExecplanError
from execplan.core.text.text_lines import digest
from execplan.execution.execution_plan import ExecutionPlan
from execplan.execution.revision.composition import compose
from tests.execution.plan_documents import command, loaded, plan, step


def named_plan(plan_id: str, *steps: dict[str, Any], **fields: Any) -> ExecutionPlan:
    return loaded(plan(*steps, plan_id=plan_id, **fields))


def conflicts_of(*documents: ExecutionPlan) -> list[str]:
    """Expect a refusal; its conflicts."""
    with pytest.raises(ExecplanError) as caught:
        compose(documents, "all")
    assert caught.value.exit == 3
    assert caught.value.hint
    return list(caught.value.candidates or (caught.value.message,))


def test_in_order_with_prefixes() -> None:
    one = named_plan(
        "2026-01-01_parser",
        step(1, on_failure={"strategy": "alternative:s3"}),
        command(2, depends_on=["s1"], when={"kind": "exists", "of": "1.txt"}),
        step(3, target="3.txt", when={"kind": "failed", "of": "s1"}),
        command(4, depends_on=["s1"]),
    )
    two = named_plan("2026-02-02_docs", step(1, target="a.md"), step(2, target="b.md", depends_on=["s1"]))
    both = compose([one, two], "2026-03-03_release")
    assert [plan_step.number for plan_step in both.steps] == [1, 2, 3, 4, 5, 6]
    assert [plan_step.id for plan_step in both.steps][::3] == ["parser.s1", "parser.s4"]
    assert both.steps[0].on_failure.strategy == "alternative:parser.s3"
    assert both.steps[2].when is not None
    assert both.steps[2].when.of == "parser.s1"
    assert both.steps[1].when is not None
    assert both.steps[1].when.of == "1.txt"
    assert both.steps[4].depends_on == ("parser.s4",), "conditional steps and alternatives may not run at all"
    assert both.steps[5].depends_on == ("docs.s1",)
    assert both.plan_id == "2026-03-03_release"
    assert both.source is None
    origins: Any = both.metadata.context["composed"]
    assert [origin["sha256"] for origin in origins] == [digest(document_bytes(one)), digest(document_bytes(two))]
    assert load_document(document_bytes(both), ExecutionPlan, "both") == both
    assert document_bytes(compose([one, two], "2026-03-03_release")) == document_bytes(both)
    assert [plan_step.id for plan_step in one.steps] == ["s1", "s2", "s3", "s4"], "what is composed stays as it is"


def test_lines_of_a_source_are_kept_beside_it() -> None:
    source = {"path": "plan.md", "sha256": "0" * 64}
    one = named_plan("one", step(1, source={"line_start": 4, "line_end": 6}), source=source)
    both: Any = compose([one, named_plan("two", command(1))], "all").metadata.context["composed"]
    assert both[0]["source"] == source
    assert both[0]["lines"] == {"s1": {"line_start": 4, "line_end": 6}}


def test_ids_that_would_be_the_same() -> None:
    both = compose([named_plan("2026-01-01_a b", step(1)), named_plan("2026-02-02_a-b", command(1))], "all")
    assert [plan_step.id for plan_step in both.steps] == ["a-b.s1", "a-b-2.s1"]
    assert compose([named_plan("計画", step(1))], "all").steps[0].id == "plan.s1"
    assert len(compose([named_plan("x" * 200, step(1))], "all").steps[0].id) < 70


def test_conflicts_all_at_once() -> None:
    one = named_plan(
        "one",
        step(1, target="src/app.py"),
        step(2, target="docs"),
        command(3, inputs=["gen/table.c"], outputs=["gen/list.c"]),
    )
    two = named_plan(
        "two",
        step(1, target="./src/app.py"),
        step(2, target="docs/a.md"),
        command(3, inputs=["gen/list.c"], outputs=["gen/table.c"]),
        constraints={"max_duration_s": 60, "allow_unplanned": True},
    )
    conflicts = conflicts_of(one, two)
    assert conflicts == [
        "both one.s1 and two.s1 write src/app.py",
        "docs is a file for one.s2 and a directory for two.s2",
        (
            "the plans depend on each other, one → two → one: one.s3 needs gen/table.c, which two.s3 creates; two.s3 needs gen/list.c, which one.s3 creates"
        ),
        "constraints.allow_unplanned differs: one has False, two has True",
        "two sets constraints.max_duration_s, but another plan doesn't",
    ]


def test_a_patch_counts_too() -> None:
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    changed = step(1, type="modify_file", tool="file.modify", target="x.py", content=..., patch=patch)
    assert conflicts_of(named_plan("one", changed), named_plan("two", step(1, target="x.py"))) == [
        "both one.s1 and two.s1 write x.py"
    ]


def test_what_a_command_puts_out_may_be_put_out_again() -> None:
    both = compose([named_plan(name, command(1, outputs=["dist"])) for name in ("one", "two")], "all")
    assert len(both.steps) == 2


def test_what_is_made_first_may_be_needed_later() -> None:
    maker, user = named_plan("maker", step(1, target="a.h")), named_plan("user", command(1, inputs=["a.h"]))
    assert compose([maker, user], "all").steps[1].depends_on == ("maker.s1",)
    assert conflicts_of(user, maker) == ["user.s1 needs a.h, which maker.s1 creates later: put maker before user"]


def test_one_plan_twice_none_and_too_many() -> None:
    one = named_plan("one", step(1))
    assert conflicts_of(one, named_plan("one", command(1))) == ["the plan one is listed twice, at positions 1 and 2"]
    assert conflicts_of() == ["no plans to compose"]
    documents = [named_plan(name, *[command(at) for at in range(1, 61)]) for name in ("a", "b")]
    assert conflicts_of(*documents) == ["120 steps in total; the largest constraints.max_steps is 100"]


def test_modes_and_limits() -> None:
    agent = named_plan("agent", step(1), mode="agent")
    assert conflicts_of(agent, named_plan("engine", command(1))) == ["mode differs: agent has agent, engine has engine"]
    one = named_plan("one", step(1), constraints={"max_duration_s": 60, "max_steps": 2, "forbidden_paths": ["a", "b"]})
    two = named_plan(
        "two", command(1), constraints={"max_duration_s": 30, "max_steps": 9, "forbidden_paths": ["b", "c"]}
    )
    limits = compose([one, two], "all").constraints
    assert (limits.max_duration_s, limits.max_steps, limits.forbidden_paths) == (90, 9, ("a", "b", "c"))


def test_a_limit_of_one_plan_that_another_breaks() -> None:
    one = named_plan("one", step(1), constraints={"require_sequential": True})
    with pytest.raises(ExecplanError, match=r"/steps/1/parallel: constraints\.require_sequential forbids it"):
        compose([one, named_plan("two", command(1, parallel=True))], "all")
