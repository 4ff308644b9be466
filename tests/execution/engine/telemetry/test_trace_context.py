"""The IDs of traces and spans, and the text form of W3C Trace Context."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from execplan.execution.engine.telemetry.trace_context import TraceContext, parse_traceparent, trace_of_run

BEGUN = {"plan_id": "parser", "run": "0001-00000000", "approval_id": "2" * 32}
VALID = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
_HEX = st.sampled_from("0123456789abcdef")


@given(
    st.one_of(
        st.text(max_size=60),
        st.from_regex(r"\A[0-9a-fA-F]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[0-9a-z]*)?\Z"),
        st.builds(lambda index, char: VALID[:index] + char + VALID[index + 1 :], st.integers(0, 54), st.characters()),
    )
)
def test_it_is_read_as_opentelemetry_reads_it(text: str) -> None:
    context = get_current_span(TraceContextTextMapPropagator().extract({"traceparent": text})).get_span_context()
    parsed = parse_traceparent(text)
    if parsed is not None:
        assert context.is_valid
        assert (f"{context.trace_id:032x}", f"{context.span_id:016x}") == parsed[:2]
        assert bool(context.trace_flags & 1) == parsed.is_sampled
    elif context.is_valid:
        # OpenTelemetry for Python is more tolerant in places where W3C Trace Context is not.
        assert text != VALID


@given(st.text(_HEX, min_size=32, max_size=32), st.text(_HEX, min_size=16, max_size=16), st.booleans())
def test_the_text_form_is_read_back(trace_id: str, span_id: str, is_sampled: bool) -> None:
    context = TraceContext(trace_id, span_id, is_sampled)
    is_valid = bool(trace_id.strip("0") and span_id.strip("0"))
    assert parse_traceparent(context.traceparent) == (context if is_valid else None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00",
        VALID[:-1],
        VALID.upper(),
        VALID.replace("00-0a", "ff-0a"),
        f"{VALID}-more",
        VALID.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32),
        VALID.replace("b7ad6b7169203331", "0" * 16),
        VALID.replace("-01", "-0g"),
    ],
)
def test_what_is_not_valid_is_ignored(text: str) -> None:
    assert parse_traceparent(text) is None


def test_a_later_version_may_have_more() -> None:
    assert parse_traceparent(VALID.replace("00-0a", "01-0a") + "-more") == parse_traceparent(VALID)


def test_the_ids_depend_on_the_first_entry_alone_and_differ_between_runs() -> None:
    first = trace_of_run(BEGUN)
    assert trace_of_run({**BEGUN, "head": "x"}).session(1) == first.session(1)
    other = trace_of_run({**BEGUN, "approval_id": "3" * 32})
    assert other.trace_id != first.trace_id
    contexts = [first.session(1), first.session(2), first.attempt("a", 1), first.attempt("a", 2), first.attempt("b", 1)]
    assert len({context.span_id for context in contexts}) == len(contexts)
    assert {context.trace_id for context in contexts} == {first.trace_id}


def test_a_parent_gives_its_trace_and_its_sampling_but_not_its_span() -> None:
    unsampled = VALID.removesuffix("1") + "0"
    trace = trace_of_run({**BEGUN, "traceparent": unsampled})
    assert trace.parent == parse_traceparent(unsampled)
    assert (trace.trace_id, trace.session(1).is_sampled) == (VALID.split("-")[1], False)
    assert trace.session(1).span_id == trace_of_run(BEGUN).session(1).span_id
