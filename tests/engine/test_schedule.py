"""What may begin, and what follows of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from execplan.engine.schedule import NextSteps, Schedule
from tests.engine.plans import Told, file, nowhere, plan, step

if TYPE_CHECKING:
    from collections.abc import Callable


class Desk:
    """A plan under way."""

    def __init__(
        self, *steps: dict[str, Any], chosen: set[str] | None = None, there: Callable[[str], bool] = nowhere
    ) -> None:
        self.document = plan(*steps)
        self.told = Told(self.document)
        self.schedule = Schedule(self.document, chosen, there)

    def follows(self, *running: str, jobs: int = 1, **waiting: str) -> NextSteps:
        """What follows now."""
        return self.schedule.find_next_steps(self.told.course, waiting, running, jobs)

    def begins(self, *running: str, jobs: int = 1, **waiting: str) -> list[str]:
        """The steps that begin, where nothing is to be written first."""
        found = self.follows(*running, jobs=jobs, **waiting)
        assert not found.transitions, found
        return [each.id for each in found.begin]

    def moves(self, **waiting: str) -> list[tuple[str, str, str]]:
        """What is to be written."""
        return [(each.kind, each.step, each.detail) for each in self.follows(jobs=1, **waiting).transitions]


def test_one_by_one_in_the_order_of_their_numbers() -> None:
    desk = Desk(step("a"), step("b"), step("c", depends_on=("a",)))
    for name in "abc":
        assert desk.begins() == [name]
        assert desk.begins(name) == []
        desk.told.ran(name)
    assert desk.begins() == []


def test_a_step_waits_for_what_it_needs() -> None:
    desk = Desk(step("a"), step("b", depends_on=("a",)))
    desk.told.failed("a")
    assert desk.begins() == []


def test_a_skipped_and_a_recovered_step_is_as_good_as_a_completed_one() -> None:
    desk = Desk(step("a"), step("b"), step("c", depends_on=("a", "b")))
    desk.told.failed("a")
    desk.told.write("skipped", step="a", reason="x")
    desk.told.failed("b")
    desk.told.write("recovered", step="b", by="x")
    assert desk.begins() == ["c"]


def test_parallel_steps_run_beside_each_other_up_to_the_jobs() -> None:
    desk = Desk(*[file(name, name, parallel=True) for name in "abc"], step("d"))
    assert desk.begins() == ["a"]
    assert desk.begins(jobs=2) == ["a", "b"]
    assert desk.begins("a", jobs=2) == ["b"]
    assert desk.begins("a", "b", jobs=2) == []
    assert desk.begins(jobs=9) == ["a", "b", "c"]


def test_one_that_is_not_parallel_runs_alone_and_nothing_overtakes_it() -> None:
    desk = Desk(file("a", "a", parallel=True), file("b", "b"), file("c", "c", parallel=True))
    assert desk.begins(jobs=9) == ["a"]
    assert desk.begins("a", jobs=9) == []
    desk.told.ran("a")
    assert desk.begins(jobs=9) == ["b"]
    assert desk.begins("b", jobs=9) == []


def test_a_parallel_step_overtakes_one_that_still_waits_for_what_it_needs() -> None:
    desk = Desk(file("a", "a", parallel=True), file("b", "b", depends_on=("a",)), file("c", "c", parallel=True))
    assert desk.begins(jobs=9) == ["a", "c"]


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
        assert Desk(*pair).begins(jobs=2) == ["a"], pair
    apart = (
        step("a", parallel=True, outputs=("x",), inputs=("in",)),
        step("b", parallel=True, outputs=("xy",), inputs=("in",)),
    )
    assert Desk(*apart).begins(jobs=2) == ["a", "b"]


def test_a_command_that_does_not_declare_what_it_makes_runs_alone() -> None:
    desk = Desk(step("a", parallel=True), file("b", "b", parallel=True))
    assert desk.begins(jobs=2) == ["a"]
    assert desk.begins("a", jobs=2) == []


def test_a_step_that_asks_first_runs_alone() -> None:
    desk = Desk(file("a", "a", parallel=True), file("b", "b", parallel=True, confirm=True))
    assert desk.begins(jobs=2) == ["a"]
    assert desk.begins("a", jobs=2) == []


def test_conditions() -> None:
    there = {"here"}
    for when in ("a.succeeded", "a.failed", "a.skipped", "b.succeeded", "b.failed", "b.skipped"):
        for end in ("skipped", "recovered"):
            desk = Desk(step("a"), step("b"), step("c", when=when))
            desk.told.ran("a")
            desk.told.failed("b")
            desk.told.write(end, step="b", reason="x", by="x")
            holds = {
                "a.succeeded": True,
                "b.failed": True,
                "b.skipped": end == "skipped",
                "b.succeeded": end == "recovered",
            }.get(when, False)
            if holds:
                assert desk.begins() == ["c"], (when, end)
            else:
                assert desk.moves() == [("skipped", "c", f"{when} does not hold")], (when, end)
    for when, holds in (
        ("exists:here", True),
        ("exists:gone", False),
        ("missing:gone", True),
        ("missing:./here", False),
        ("exists:../here", False),
        ("missing:../here", True),
    ):
        desk = Desk(step("c", when=when), there=there.__contains__)
        assert bool(desk.follows().begin) == holds, when
        assert bool(desk.follows().transitions) != holds, when


def test_a_condition_is_looked_at_when_its_turn_comes() -> None:
    there: set[str] = set()
    desk = Desk(step("a"), step("b", when="exists:x"), there=there.__contains__)
    assert desk.begins() == ["a"]
    there.add("x")
    desk.told.ran("a")
    assert desk.begins() == ["b"]


def test_a_step_that_was_never_run_has_not_failed() -> None:
    desk = Desk(step("a", when="exists:x"), step("b", when="a.failed"))
    assert desk.moves() == [("skipped", "a", "exists:x does not hold")]
    desk.told.write("skipped", step="a", reason="x")
    assert desk.moves() == [("skipped", "b", "a.failed does not hold")]


def test_an_alternative_is_run_in_the_place_of_the_one_that_failed() -> None:
    desk = Desk(
        step("a", strategy="alternative:d"), step("b", depends_on=("a",)), step("c"), step("d", when="a.failed")
    )
    assert desk.begins() == ["a"]
    desk.told.failed("a")
    assert desk.begins(a="d") == ["d"]
    desk.told.ran("d")
    assert desk.moves(a="d") == [("recovered", "a", "d")]
    desk.told.write("recovered", step="a", by="d")
    assert desk.begins() == ["b"]


def test_an_alternative_that_is_not_needed_is_skipped() -> None:
    desk = Desk(step("a", strategy="alternative:b"), step("b"), step("c", depends_on=("b",)))
    desk.told.ran("a")
    assert desk.moves() == [("skipped", "b", "it stands in for a, and is not needed")]
    desk.told.write("skipped", step="b", reason="x")
    assert desk.begins() == ["c"]


def test_an_alternative_of_two_is_run_once_and_stands_in_for_both() -> None:
    desk = Desk(step("a", strategy="alternative:c"), step("b", strategy="alternative:c"), step("c"))
    desk.told.failed("a")
    desk.told.ran("c")
    assert desk.moves(a="c") == [("recovered", "a", "c")]
    desk.told.write("recovered", step="a", by="c")
    assert desk.begins() == ["b"]
    desk.told.failed("b")
    assert desk.moves(b="c") == [("recovered", "b", "c")]


def test_what_was_not_chosen_is_skipped_and_counts_as_done() -> None:
    desk = Desk(step("a"), step("b", depends_on=("a",)), step("c"), chosen={"b"})
    assert desk.moves() == [("skipped", "a", "not chosen"), ("skipped", "c", "not chosen")]
    for name in "ac":
        desk.told.write("skipped", step=name, reason="not chosen")
    assert desk.begins() == ["b"]
    assert desk.schedule.unchosen_dependencies() == ["b needs a, which is not chosen: it is taken for done"]


def test_an_alternative_that_was_chosen_by_itself_is_run() -> None:
    desk = Desk(step("a", strategy="alternative:b"), step("b"), chosen={"b"})
    desk.told.write("skipped", step="a", reason="not chosen")
    assert desk.begins() == ["b"]


def test_what_needs_a_failed_step_near_or_far_is_blocked() -> None:
    desk = Desk(
        step("a"), step("b", depends_on=("a",)), step("c", depends_on=("b",)), step("d"), step("e", when="a.failed")
    )
    desk.told.failed("a")
    found = [tuple(each) for each in desk.schedule.blocked_steps(desk.told.course)]
    assert found == [(("blocked", name, "it needs a, which failed")) for name in "bc"]


@st.composite
def documents(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Steps with needs, conditions and alternatives as the rules allow them."""
    count = draw(st.integers(1, 9))
    steps = []
    for at in range(count):
        before = [f"s{each}" for each in range(at)]
        few: st.SearchStrategy[list[str]] = st.just([])
        if before:
            few = st.lists(st.sampled_from(before), unique=True, max_size=3)
        needs = draw(few)
        parallel = draw(st.booleans())
        said: dict[str, Any] = {"depends_on": tuple(needs), "parallel": parallel}
        if draw(st.booleans()) and before:
            kind = draw(st.sampled_from(("succeeded", "failed", "skipped")))
            said["when"] = {"kind": kind, "of": draw(st.sampled_from(before))}
        steps.append(file(f"s{at}", f"f{at}", **said))
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
    desk = Desk(*steps)
    course, waiting, running, begun = desk.told.course, dict[str, str](), list[str](), set[str]()
    lost = False
    for _ in range(100):
        found = desk.schedule.find_next_steps(course, waiting, running, jobs)
        for move in found.transitions:
            desk.told.write(move.kind, step=move.step, reason=move.detail, by=move.detail)
        lost = lost or any([course.status_of[other] == "skipped" for other in waiting.values()])
        if found.transitions:
            continue
        if lost or not (found.begin or running):
            break
        for each in found.begin:
            assert each.id not in begun
            assert all([course.status_of[need] in ("completed", "skipped", "recovered") for need in each.depends_on])
            begun.add(each.id)
        running += [each.id for each in found.begin]
        assert len(running) <= jobs
        assert len(running) == 1 or all([desk.schedule.steps_by_id[name].parallel for name in running])
        name = running.pop(data.draw(st.integers(0, len(running) - 1)))
        if data.draw(st.booleans()):
            desk.told.ran(name)
        else:
            desk.told.failed(name)
            other = desk.schedule.alternative_step(desk.schedule.steps_by_id[name])
            lost = lost or not other
            waiting |= {name: other} if other else {}
    left = [name for name, status in course.status_of.items() if status not in ("completed", "skipped", "recovered")]
    stuck = [name for name in waiting if course.status_of[name] == "failed"]
    assert lost or stuck or not left, course.status_of
