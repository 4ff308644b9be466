"""How the steps of a plan become jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, reject
from hypothesis import strategies as st

from execplan.core.errors import ExecplanError
from execplan.core.plan import reader
from execplan.core.text.pure_paths import do_overlap
from execplan.execution.compile import compile_plan
from execplan.execution.export.export_jobs import count_parallel_steps, partition, passed_paths
from tests.execution.export.exported_repository import HEAD, STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.execution.execution_plan import ExecutionPlan


def document_of(plan: str) -> ExecutionPlan:
    """Compile a plan."""
    document = compile_plan(reader.read(plan.encode()), "2026-01-01_greet", "2026-01-01_greet.md").document
    assert document is not None
    return document


def step(attributes: str, command: str = "make x") -> str:
    """A step that runs a command."""
    return f"```sh {{{attributes}}}\n{command}\n```\n\n"


def jobs_of(*steps: str) -> list[list[str]]:
    """The IDs of the steps of each job."""
    return [[one.id for one in job.steps] for job in partition(document_of(HEAD + "".join(steps)))]


def test_each_wave_is_a_job() -> None:
    jobs = partition(document_of(STEPS))
    assert [[step.id for step in job.steps] for job in jobs] == [["write", "drop"], ["build"], ["check"]]
    assert [job.number for job in jobs] == [1, 2, 3]
    assert not any(job.joined_because for job in jobs)


def test_steps_after_undeclared_changes_stay_in_the_job() -> None:
    document = document_of(HEAD + step("#a") + step("#b needs=a outputs=o"))
    (job,) = partition(document)
    assert ([one.id for one in job.steps], job.joined_because) == (["a", "b"], "a: no declared outputs")


def test_a_command_that_only_reads_needs_no_outputs() -> None:
    assert jobs_of(step("#a inputs=src", "ls src"), step("#b needs=a inputs=src", "ls src")) == [["a"], ["b"]]


def test_a_command_without_inputs_follows_all_steps_before_it_as_in_a_run() -> None:
    assert jobs_of(step("#a outputs=o inputs=i"), step("#b outputs=p")) == [["a"], ["b"]]
    assert jobs_of(step("#a outputs=o inputs=i"), step("#b outputs=p inputs=i")) == [["a", "b"]]
    assert jobs_of(step("#a outputs=o parallel"), step("#b outputs=p parallel")) == [["a", "b"]]


def test_a_step_follows_one_that_writes_what_it_reads_or_reads_what_it_writes() -> None:
    assert jobs_of(step("#a outputs=o inputs=i"), step("#b outputs=p inputs=o/x")) == [["a"], ["b"]]
    assert jobs_of(step("#a outputs=o inputs=i/x"), step("#b outputs=i inputs=j")) == [["a"], ["b"]]


def test_the_outcome_of_a_step_is_known_only_in_its_job() -> None:
    jobs = partition(document_of(HEAD + step("#a outputs=o") + step("#b outputs=p when=a.succeeded")))
    assert [job.joined_because for job in jobs] == ["b: depends on the outcome of a"]
    alternative = step("#a outputs=o on-failure=alternative:b inputs=i") + step("#b outputs=o inputs=i")
    jobs = partition(document_of(HEAD + alternative))
    assert [job.joined_because for job in jobs] == ["b: the alternative to a"]


def test_steps_that_may_run_in_parallel_are_counted() -> None:
    steps = step("#a outputs=o parallel") + step("#b outputs=p parallel") + step("#c outputs=q inputs=i")
    (job,) = partition(document_of(HEAD + steps))
    assert count_parallel_steps(job) == 2
    (job,) = partition(document_of(HEAD + step("#a outputs=o")))
    assert count_parallel_steps(job) == 1


def test_a_sequential_plan_has_a_job_for_each_step() -> None:
    settings = "```text {execution require-sequential}\n```\n\n"
    document = document_of(HEAD + settings + step("#a outputs=o inputs=i") + step("#b outputs=p inputs=i"))
    assert document.constraints.require_sequential
    assert [len(job.steps) for job in partition(document)] == [1, 1]


ATTRIBUTES = st.tuples(
    st.sets(st.sampled_from("abcd")), st.sets(st.sampled_from("abcd")), st.booleans(), st.sets(st.integers(0, 5))
)


def steps_from(drawn: Sequence[tuple[set[str], set[str], bool, set[int]]]) -> str:
    """Steps with drawn outputs, inputs, parallelism and dependencies on earlier steps."""
    texts = []
    for number, (outputs, inputs, parallel, needs) in enumerate(drawn):
        earlier = [f"s{other}" for other in sorted(needs) if other < number]
        attributes = [f"#s{number}"]
        attributes += [f"outputs={','.join(sorted(outputs))}"] if outputs else []
        attributes += [f"inputs={','.join(sorted(inputs))}"] if inputs else []
        attributes += ["parallel"] if parallel else []
        attributes += [f"needs={','.join(earlier)}"] if earlier else []
        texts.append(step(" ".join(attributes)))
    return HEAD + "".join(texts)


@given(st.lists(ATTRIBUTES, min_size=1, max_size=6))
def test_every_step_is_in_one_job_after_everything_that_it_needs(
    drawn: list[tuple[set[str], set[str], bool, set[int]]],
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
