"""What may begin, and what follows of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from execplan.execution.engine.schedule import NextSteps, Schedule
from tests.execution.engine.execution_plans import RunRecorder, file, path_is_missing, plan, step

if TYPE_CHECKING:
    from collections.abc import Callable


class PlanProgress:
    """A plan under way."""

    def __init__(
        self,
        *steps: dict[str, Any],
        chosen: set[str] | None = None,
        path_exists: Callable[[str], bool] = path_is_missing,
    ) -> None:
        self.document = plan(*steps)
        self.recorder = RunRecorder(self.document)
        self.schedule = Schedule(self.document, chosen, path_exists)

    def next_steps(self, *running: str, jobs: int = 1, **waiting: str) -> NextSteps:
        """What follows now."""
        return self.schedule.find_next_steps(self.recorder.run_state, waiting, running, jobs)

    def beginning_steps(self, *running: str, jobs: int = 1, **waiting: str) -> list[str]:
        """The steps that begin, where nothing is to be written first."""
        next_steps = self.next_steps(*running, jobs=jobs, **waiting)
        assert not next_steps.transitions, next_steps
        return [plan_step.id for plan_step in next_steps.begin]

    def transitions(self, **waiting: str) -> list[tuple[str, str, str]]:
        """What is to be written."""
        return [
            (transition.kind, transition.step, transition.detail)
            for transition in self.next_steps(jobs=1, **waiting).transitions
        ]


def test_one_by_one_in_the_order_of_their_numbers() -> None:
    progress = PlanProgress(step("a"), step("b"), step("c", depends_on=("a",)))
    for name in "abc":
        assert progress.beginning_steps() == [name]
        assert progress.beginning_steps(name) == []
        progress.recorder.run_step(name)
    assert progress.beginning_steps() == []


def test_a_step_waits_for_what_it_needs() -> None:
    progress = PlanProgress(step("a"), step("b", depends_on=("a",)))
    progress.recorder.fail_step("a")
    assert progress.beginning_steps() == []


def test_a_skipped_and_a_recovered_step_is_as_good_as_a_completed_one() -> None:
    progress = PlanProgress(step("a"), step("b"), step("c", depends_on=("a", "b")))
    progress.recorder.fail_step("a")
    progress.recorder.write("skipped", step="a", reason="x")
    progress.recorder.fail_step("b")
    progress.recorder.write("recovered", step="b", by="x")
    assert progress.beginning_steps() == ["c"]


def test_parallel_steps_run_beside_each_other_up_to_the_jobs() -> None:
    progress = PlanProgress(*[file(name, name, parallel=True) for name in "abc"], step("d"))
    assert progress.beginning_steps() == ["a"]
    assert progress.beginning_steps(jobs=2) == ["a", "b"]
    assert progress.beginning_steps("a", jobs=2) == ["b"]
    assert progress.beginning_steps("a", "b", jobs=2) == []
    assert progress.beginning_steps(jobs=9) == ["a", "b", "c"]


def test_one_that_is_not_parallel_runs_alone_and_nothing_overtakes_it() -> None:
    progress = PlanProgress(file("a", "a", parallel=True), file("b", "b"), file("c", "c", parallel=True))
    assert progress.beginning_steps(jobs=9) == ["a"]
    assert progress.beginning_steps("a", jobs=9) == []
    progress.recorder.run_step("a")
    assert progress.beginning_steps(jobs=9) == ["b"]
    assert progress.beginning_steps("b", jobs=9) == []


def test_a_parallel_step_overtakes_one_that_still_waits_for_what_it_needs() -> None:
    progress = PlanProgress(
        file("a", "a", parallel=True), file("b", "b", depends_on=("a",)), file("c", "c", parallel=True)
    )
    assert progress.beginning_steps(jobs=9) == ["a", "c"]


def test_steps_that_share_a_path_are_not_run_beside_each_other() -> None:
    shares = [
        (step("a", parallel=True, outputs=("x",)), step("b", parallel=True, outputs=("x/y",), depends_on=())),
        (
            step("a", parallel=True, outputs=("./x",), inputs=()),
            step("b", parallel=True, outputs=("y",), inputs=("x/z",)),
        ),
        (step("a", parallel=True, outputs=("y",), inputs=("x/z",)), step("b", parallel=True, outputs=("x",))),
        (step("a", parallel=True, outputs=(".",)), step("b", parallel=True, outputs=("y",))),
    ]
    for pair in shares:
        assert PlanProgress(*pair).beginning_steps(jobs=2) == ["a"], pair
    disjoint = (
        step("a", parallel=True, outputs=("x",), inputs=("in",)),
        step("b", parallel=True, outputs=("xy",), inputs=("in",)),
    )
    assert PlanProgress(*disjoint).beginning_steps(jobs=2) == ["a", "b"]


def test_a_command_that_does_not_declare_what_it_makes_runs_alone() -> None:
    progress = PlanProgress(step("a", parallel=True), file("b", "b", parallel=True))
    assert progress.beginning_steps(jobs=2) == ["a"]
    assert progress.beginning_steps("a", jobs=2) == []


def test_a_step_that_asks_first_runs_alone() -> None:
    progress = PlanProgress(file("a", "a", parallel=True), file("b", "b", parallel=True, confirm=True))
    assert progress.beginning_steps(jobs=2) == ["a"]
    assert progress.beginning_steps("a", jobs=2) == []


def test_conditions() -> None:
    existing_paths = {"here"}
    for when in ("a.succeeded", "a.failed", "a.skipped", "b.succeeded", "b.failed", "b.skipped"):
        for end in ("skipped", "recovered"):
            progress = PlanProgress(step("a"), step("b"), step("c", when=when))
            progress.recorder.run_step("a")
            progress.recorder.fail_step("b")
            progress.recorder.write(end, step="b", reason="x", by="x")
            holds = {
                "a.succeeded": True,
                "b.failed": True,
                "b.skipped": end == "skipped",
                "b.succeeded": end == "recovered",
            }.get(when, False)
            if holds:
                assert progress.beginning_steps() == ["c"], (when, end)
            else:
                assert progress.transitions() == [("skipped", "c", f"the condition {when} is not met")], (when, end)
    for when, holds in (
        ("exists:here", True),
        ("exists:gone", False),
        ("missing:gone", True),
        ("missing:./here", False),
        ("exists:../here", False),
        ("missing:../here", True),
    ):
        progress = PlanProgress(step("c", when=when), path_exists=existing_paths.__contains__)
        assert bool(progress.next_steps().begin) == holds, when
        assert bool(progress.next_steps().transitions) != holds, when


def test_a_condition_is_looked_at_when_its_turn_comes() -> None:
    existing_paths: set[str] = set()
    progress = PlanProgress(step("a"), step("b", when="exists:x"), path_exists=existing_paths.__contains__)
    assert progress.beginning_steps() == ["a"]
    existing_paths.add("x")
    progress.recorder.run_step("a")
    assert progress.beginning_steps() == ["b"]


def test_a_step_that_was_never_run_has_not_failed() -> None:
    progress = PlanProgress(step("a", when="exists:x"), step("b", when="a.failed"))
    assert progress.transitions() == [("skipped", "a", "the condition exists:x is not met")]
    progress.recorder.write("skipped", step="a", reason="x")
    assert progress.transitions() == [("skipped", "b", "the condition a.failed is not met")]


def test_an_alternative_is_run_in_the_place_of_the_one_that_failed() -> None:
    progress = PlanProgress(
        step("a", strategy="alternative:d"), step("b", depends_on=("a",)), step("c"), step("d", when="a.failed")
    )
    assert progress.beginning_steps() == ["a"]
    progress.recorder.fail_step("a")
    assert progress.beginning_steps(a="d") == ["d"]
    progress.recorder.run_step("d")
    assert progress.transitions(a="d") == [("recovered", "a", "d")]
    progress.recorder.write("recovered", step="a", by="d")
    assert progress.beginning_steps() == ["b"]


def test_an_alternative_that_is_not_needed_is_skipped() -> None:
    progress = PlanProgress(step("a", strategy="alternative:b"), step("b"), step("c", depends_on=("b",)))
    progress.recorder.run_step("a")
    assert progress.transitions() == [("skipped", "b", "it is the alternative to a and is not needed")]
    progress.recorder.write("skipped", step="b", reason="x")
    assert progress.beginning_steps() == ["c"]


def test_an_alternative_of_two_is_run_once_and_stands_in_for_both() -> None:
    progress = PlanProgress(step("a", strategy="alternative:c"), step("b", strategy="alternative:c"), step("c"))
    progress.recorder.fail_step("a")
    progress.recorder.run_step("c")
    assert progress.transitions(a="c") == [("recovered", "a", "c")]
    progress.recorder.write("recovered", step="a", by="c")
    assert progress.beginning_steps() == ["b"]
    progress.recorder.fail_step("b")
    assert progress.transitions(b="c") == [("recovered", "b", "c")]


def test_what_was_not_chosen_is_skipped_and_counts_as_done() -> None:
    progress = PlanProgress(step("a"), step("b", depends_on=("a",)), step("c"), chosen={"b"})
    assert progress.transitions() == [("skipped", "a", "not selected"), ("skipped", "c", "not selected")]
    for name in "ac":
        progress.recorder.write("skipped", step=name, reason="not selected")
    assert progress.beginning_steps() == ["b"]
    assert progress.schedule.unchosen_dependencies() == ["b needs a, which is not selected; it is assumed to be done"]


def test_an_alternative_that_was_chosen_by_itself_is_run() -> None:
    progress = PlanProgress(step("a", strategy="alternative:b"), step("b"), chosen={"b"})
    progress.recorder.write("skipped", step="a", reason="not selected")
    assert progress.beginning_steps() == ["b"]


def test_what_needs_a_failed_step_near_or_far_is_blocked() -> None:
    progress = PlanProgress(
        step("a"), step("b", depends_on=("a",)), step("c", depends_on=("b",)), step("d"), step("e", when="a.failed")
    )
    progress.recorder.fail_step("a")
    blocked = [tuple(blocked_step) for blocked_step in progress.schedule.blocked_steps(progress.recorder.run_state)]
    assert blocked == [(("blocked", name, "it needs a, which failed")) for name in "bc"]


@st.composite
def documents(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Steps with needs, conditions and alternatives as the rules allow them."""
    count = draw(st.integers(1, 9))
    steps = []
    for at in range(count):
        earlier_names = [f"s{number}" for number in range(at)]
        subsets: st.SearchStrategy[list[str]] = st.just([])
        if earlier_names:
            subsets = st.lists(st.sampled_from(earlier_names), unique=True, max_size=3)
        needs = draw(subsets)
        parallel = draw(st.booleans())
        fields: dict[str, Any] = {"depends_on": tuple(needs), "parallel": parallel}
        if draw(st.booleans()) and earlier_names:
            kind = draw(st.sampled_from(("succeeded", "failed", "skipped")))
            fields["when"] = {"kind": kind, "of": draw(st.sampled_from(earlier_names))}
        steps.append(file(f"s{at}", f"f{at}", **fields))
    for at in range(count - 1):
        other = draw(st.integers(at + 1, count - 1))
        if draw(st.booleans()) and f"s{at}" not in steps[other]["depends_on"]:
            steps[at]["on_failure"]["strategy"] = f"alternative:s{other}"
    return steps


@given(documents(), st.data(), st.integers(1, 4))
def test_every_run_comes_to_an_end_in_which_each_step_has_one(
    steps: list[dict[str, Any]], data: st.DataObject, jobs: int
) -> None:
    """With each step succeeding or failing as it comes: nothing is begun twice, or before what it needs."""
    progress = PlanProgress(*steps)
    run_state, waiting, running, begun = progress.recorder.run_state, dict[str, str](), list[str](), set[str]()
    lost = False
    for _ in range(100):
        next_steps = progress.schedule.find_next_steps(run_state, waiting, running, jobs)
        for move in next_steps.transitions:
            progress.recorder.write(move.kind, step=move.step, reason=move.detail, by=move.detail)
        lost = lost or any([run_state.status_of[other] == "skipped" for other in waiting.values()])
        if next_steps.transitions:
            continue
        if lost or not (next_steps.begin or running):
            break
        for plan_step in next_steps.begin:
            assert plan_step.id not in begun
            assert all(
                [run_state.status_of[need] in ("completed", "skipped", "recovered") for need in plan_step.depends_on]
            )
            begun.add(plan_step.id)
        running += [plan_step.id for plan_step in next_steps.begin]
        assert len(running) <= jobs
        assert len(running) == 1 or all([progress.schedule.steps_by_id[name].parallel for name in running])
        name = running.pop(data.draw(st.integers(0, len(running) - 1)))
        if data.draw(st.booleans()):
            progress.recorder.run_step(name)
        else:
            progress.recorder.fail_step(name)
            other = progress.schedule.order.alternative_step(progress.schedule.steps_by_id[name])
            lost = lost or not other
            waiting |= {name: other} if other else {}
    unfinished = [
        name for name, status in run_state.status_of.items() if status not in ("completed", "skipped", "recovered")
    ]
    stuck = [name for name in waiting if run_state.status_of[name] == "failed"]
    assert lost or stuck or not unfinished, run_state.status_of
