"""How the steps of a plan become jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, reject
from hypothesis import strategies as st

from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.text.pure_paths import do_overlap
from execplan.execution.compile import compile_plan
from execplan.execution.export.export_jobs import Job, count_parallel_steps, passed_paths
from execplan.execution.export.export_jobs import partition as partition_by_policy
from execplan.execution.policy import Policy
from tests.execution.export.exported_repository import HEAD, STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.execution_plan import ExecutionPlan


def document_of(plan: str) -> ExecutionPlan:
    """Compile a plan."""
    document = compile_plan(reader.read(plan.encode()), "2026-01-01_greet", "2026-01-01_greet.md").document
    assert document is not None
    return document


def partition(document: ExecutionPlan) -> tuple[Job, ...]:
    """The jobs of a plan under the built-in policy."""
    return partition_by_policy(document, Policy())


def step(attributes: str, command: str = "make x") -> str:
    """A step that runs a command."""
    return f"```sh {{{attributes}}}\n{command}\n```\n\n"


def jobs_of(*steps: str) -> list[list[str]]:
    """The IDs of the steps of each job."""
    return [[one.id for one in job.steps] for job in partition(document_of(HEAD + "".join(steps)))]


LOW = "ls src"


def test_steps_in_sequence_share_a_job_until_a_person_must_decide() -> None:
    jobs = partition(document_of(STEPS))
    assert [[step.id for step in job.steps] for job in jobs] == [["write"], ["drop", "build"], ["check"]]
    assert [(job.number, job.needs_person) for job in jobs] == [(1, False), (2, True), (3, False)]
    assert not any(job.joined_because for job in jobs)
    assert jobs_of(step("#a", LOW), step("#b needs=a", LOW), step("#c needs=b", LOW)) == [["a", "b", "c"]]


def test_the_policy_decides_who_needs_a_person() -> None:
    document = document_of(STEPS)
    assert [len(job.steps) for job in partition_by_policy(document, Policy(person_from="NEVER"))] == [4]
    (job,) = partition_by_policy(document, Policy(person_from="LOW"))
    assert job.needs_person


def test_steps_after_undeclared_changes_stay_in_the_job_and_wait_for_a_person() -> None:
    document = document_of(HEAD + step("#a") + step("#b needs=a inputs=src", LOW))
    (job,) = partition(document)
    assert ([one.id for one in job.steps], job.joined_because) == (["a", "b"], "a: no declared outputs")
    assert job.needs_person


def test_a_command_that_only_reads_needs_no_outputs() -> None:
    assert jobs_of(step("#a inputs=src", LOW), step("#b needs=a inputs=src outputs=o")) == [["a"], ["b"]]


def test_the_outcome_of_a_step_is_known_only_in_its_job() -> None:
    jobs = partition(document_of(HEAD + step("#a outputs=o") + step("#b when=a.succeeded", LOW)))
    assert [job.joined_because for job in jobs] == ["b: depends on the outcome of a"]


def test_a_step_that_asks_begins_a_job_that_a_person_lets_begin() -> None:
    jobs = partition(document_of(HEAD + step("#a", LOW) + step("#b confirm", LOW) + step("#c", LOW)))
    assert [[one.id for one in job.steps] for job in jobs] == [["a"], ["b"], ["c"]]
    assert [(job.needs_person, job.asks_before) for job in jobs] == [(False, ""), (True, "b"), (False, "")]
    manual = "```text {#call type=manual}\nCall them.\n```\n\n"
    jobs = partition(document_of(HEAD + manual + step("#a outputs=o inputs=i")))
    assert [[one.id for one in job.steps] for job in jobs] == [["call", "a"]]
    assert jobs[0].asks_before == "call"
    steps = step("#a inputs=i outputs=o") + step("#b inputs=o outputs=p confirm") + manual
    jobs = partition(document_of(HEAD + steps + step("#c inputs=o outputs=q")))
    assert [[one.id for one in job.steps] for job in jobs] == [["a"], ["b"], ["call", "c"]], "the order of the plan"


def test_a_job_ends_at_a_checkpoint_and_a_person_lets_the_next_one_begin() -> None:
    jobs = partition(document_of(HEAD + step("#a checkpoint", LOW) + step("#b", LOW)))
    assert [(job.needs_person, job.stops_after) for job in jobs] == [(False, "a"), (True, "")]


def test_a_step_that_asks_in_the_middle_of_a_job_is_not_asked_before_it() -> None:
    (job,) = partition(document_of(HEAD + step("#a") + step("#b confirm needs=a", LOW)))
    assert (job.asks_before, job.joined_because) == ("", "a: no declared outputs")


def test_steps_that_may_run_in_parallel_are_counted() -> None:
    steps = step("#a outputs=o parallel") + step("#b outputs=p parallel") + step("#c outputs=q inputs=i")
    (job,) = partition(document_of(HEAD + steps))
    assert count_parallel_steps(job) == 2
    (job,) = partition(document_of(HEAD + step("#a outputs=o")))
    assert count_parallel_steps(job) == 1


ATTRIBUTES = st.tuples(
    st.sets(st.sampled_from("abcd")),
    st.sets(st.sampled_from("abcd")),
    st.booleans(),
    st.sets(st.integers(0, 5)),
    st.sampled_from(["", "confirm", "checkpoint"]),
)


def steps_from(drawn: Sequence[tuple[set[str], set[str], bool, set[int], str]]) -> str:
    """Steps with drawn outputs, inputs, parallelism and dependencies on earlier steps."""
    texts = []
    for number, (outputs, inputs, parallel, needs, question) in enumerate(drawn):
        earlier = [f"s{other}" for other in sorted(needs) if other < number]
        attributes = [f"#s{number}"]
        attributes += [f"outputs={','.join(sorted(outputs))}"] if outputs else []
        attributes += [f"inputs={','.join(sorted(inputs))}"] if inputs else []
        attributes += ["parallel"] if parallel and not question else []
        attributes += [question] if question else []
        attributes += [f"needs={','.join(earlier)}"] if earlier else []
        texts.append(step(" ".join(attributes)))
    return HEAD + "".join(texts)


@given(st.lists(ATTRIBUTES, min_size=1, max_size=6))
def test_every_step_is_in_one_job_after_everything_that_it_needs(
    drawn: list[tuple[set[str], set[str], bool, set[int], str]],
) -> None:
    try:
        document = document_of(steps_from(drawn))
    except ExecplanError:
        reject()  # parallel steps that share paths
    jobs = partition(document)
    assert sorted(one.number for job in jobs for one in job.steps) == [one.number for one in document.steps]
    job_of = {one.id: job.number for job in jobs for one in job.steps}
    for one in document.steps:
        assert all(job_of[name] <= job_of[one.id] for name in one.depends_on)
        for other in document.steps:
            shares = any(do_overlap(path, written) for path in one.inputs for written in passed_paths(other))
            if other.number < one.number and shares:
                assert job_of[other.id] <= job_of[one.id]
            if job_of[other.id] < job_of[one.id]:
                assert other.outputs, "a later job knows only declared outputs"
