"""The seal of an approval, what it covers, and when it holds."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from execplan.core.documents.document_io import document_bytes, load_document
from execplan.core.errors import ExecplanError
from execplan.execution.approval_document import Approval, UnsignedApproval, key_id, sign, verify_signature
from execplan.execution.execution_plan import Level
from execplan.execution.permission import is_covered, validity_problem
from tests.execution.approval_documents import KEY, binding, terms

SEALED = sign(terms(), KEY)
DATA: dict[str, Any] = json.loads(document_bytes(SEALED))


def leaves(value: object, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The places of all plain values."""
    if isinstance(value, dict):
        return [leaf for name, inner in value.items() for leaf in leaves(inner, (*path, name))]
    return [path]


def flipped(value: object, text: str) -> object:
    """Another value of the kind."""
    if isinstance(value, str):
        return text if text != value else text + "0"
    if isinstance(value, int):
        return value + 1
    return ["s1"] if value is None else None


def is_rejected(data: bytes) -> bool:
    """Whether a document is none, or its seal is broken."""
    try:
        return not verify_signature(load_document(data, Approval, "it"), KEY)
    except ExecplanError as error:
        return error.exit == 3


@given(some.sampled_from(leaves(DATA)), some.text(alphabet="0123456789abcdef", min_size=64, max_size=64))
@settings(max_examples=50)
def test_no_value_can_be_changed(path: tuple[str, ...], text: str) -> None:
    data = json.loads(json.dumps(DATA))
    inner = data
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = flipped(inner[path[-1]], text)
    assert is_rejected(json.dumps(data).encode()), path


LIKELY: dict[str, object] = {
    "plan_id": "other",
    "revision": 2,
    "place": "0" * 64,
    "approver": "Eve",
    "user": "eve",
    "session": "s",
    "approved_at": "2025-12-31T00:00:00Z",
    "expires_at": "2099-01-01T00:00:00Z",
    "how": "terminal",
    "inferred": "flag",
    "max_risk": "CRITICAL",
    "steps": ["s1"],
    "head": "0" * 40,
    "tree": "0" * 64,
    "id": "0" * 32,
    "hmac": "0" * 64,
    "key": "0" * 16,
}


@pytest.mark.parametrize("name", LIKELY)
def test_what_somebody_would_want_to_change(name: str) -> None:
    changed = load_document(json.dumps({**DATA, name: LIKELY[name]}).encode(), Approval, "it")
    assert not verify_signature(changed, KEY)


def test_other_states_with_their_own_digest_are_no_more_sealed_than_before() -> None:
    other_terms = terms(binding({}))
    forged = Approval.model_validate({**other_terms.model_dump(), "hmac": SEALED.hmac})
    assert not verify_signature(forged, KEY)


def test_every_field_is_tried() -> None:
    bound = {"schema", "version", "digest", "document", "states", "policy"}
    assert set(DATA) == bound | set(LIKELY)


def test_sealed_written_and_read() -> None:
    data = document_bytes(SEALED)
    assert not is_rejected(data)
    read = load_document(data, Approval, "it")
    assert read == SEALED
    assert document_bytes(read) == data
    assert verify_signature(read, KEY)
    assert not verify_signature(read, bytes(32))
    assert key_id(KEY) != key_id(bytes(32))
    assert KEY.hex()[:8] not in data.decode()


def test_the_order_of_keys_does_not_matter() -> None:
    turned = {**DATA, "states": dict(reversed(DATA["states"].items()))}
    assert verify_signature(load_document(json.dumps(dict(reversed(turned.items()))).encode(), Approval, "it"), KEY)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"digest": "0" * 64}, "digest does not match document, states, policy and programs"),
        ({"expires_at": "2026-01-01T00:00:00Z"}, "not after"),
        ({"expires_at": "2026-02-30T00:00:00Z"}, ""),
        ({"version": 2}, ""),
        ({"id": "../../../etc/passwd"}, ""),
        ({"how": "magic"}, ""),
        ({"approver": "Ann\x1b[2J"}, ""),
        ({"covers": "all"}, ""),
    ],
)
def test_what_is_no_approval(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(ExecplanError, match=words or None):
        terms(**changed)


def covered(step: str, level: str, *, inferred: bool = False, **changed: Any) -> bool:
    """Whether an approval, sealed, covers a step."""
    return is_covered(sign(terms(**changed), KEY).terms("MEDIUM"), step, level, inferred=inferred)


def test_what_it_covers() -> None:
    assert covered("s1", "CRITICAL")
    assert not covered("s1", "LOW", inferred=True)
    assert is_covered(sign(terms(inferred="flag"), KEY).terms("MEDIUM"), "s1", "LOW", inferred=True)
    levels = ("LOW", "MEDIUM", "HIGH", "CRITICAL")
    assert [covered("s1", level, max_risk=Level.MEDIUM) for level in levels] == [True, True, False, False]
    assert covered("s1", "HIGH", steps=("s1",))
    assert not covered("s2", "LOW", steps=("s1",))
    assert not covered("s1", "LOW", steps=())


def test_when_it_holds() -> None:
    def wrong(text: str) -> str:
        return validity_problem(SEALED.terms("MEDIUM"), datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())

    assert "future" in wrong("2025-12-31T23:58:59")
    assert not wrong("2025-12-31T23:59:00")
    assert not wrong("2026-01-01T23:59:59")
    assert "expired" in wrong("2026-01-02T00:00:00")


def test_terms_are_no_approval() -> None:
    with pytest.raises(ExecplanError, match="hmac"):
        load_document(document_bytes(terms()), Approval, "it")
    assert not issubclass(UnsignedApproval, Approval)
