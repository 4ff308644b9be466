"""Findings as bytes, for the cache and for other processes, and what a report prints about them."""

from __future__ import annotations

import marshal

from execplan.core.text.text_lines import Edit
from execplan.linter.rule import NOT_A_PLAN, Finding, Fix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    _FindingSequence = Sequence[Finding]
else:
    _FindingSequence = object


class StoredFindings(_FindingSequence):
    """At least one finding, decoded from bytes when it is first used: most runs print only a stored report."""

    __slots__ = ("_data", "_findings")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._findings: list[Finding] | None = None

    def _decode(self) -> list[Finding]:
        if self._findings is None:
            self._findings = decode_findings(self._data)
        return self._findings

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self._decode())

    def __getitem__(self, index: Any) -> Any:
        return self._decode()[index]

    def __eq__(self, other: object) -> bool:
        return self._decode() == (other._decode() if isinstance(other, StoredFindings) else other)

    __hash__ = None  # type: ignore[assignment] # as for a list


def encode_findings(findings: Sequence[Finding]) -> bytes:
    """Encode findings; none give no bytes."""
    return marshal.dumps(_to_plain_tuple(tuple(findings))) if findings else b""


def decode_findings(data: bytes) -> list[Finding]:
    """Decode the bytes of `encode_findings`."""
    return [_row_to_finding(row) for row in marshal.loads(data)] if data else []  # noqa: S302 (from our own cache or process)


def _to_plain_tuple(value: Any) -> Any:
    return tuple([_to_plain_tuple(part) for part in value]) if isinstance(value, tuple) else value


def _row_to_finding(row: Any) -> Finding:
    """Convert a plain tuple to a finding."""
    finding = Finding._make(row)
    if finding.fix is None:
        return finding
    kind, edits = finding.fix
    return finding._replace(fix=Fix(kind, tuple([Edit(*edit) for edit in edits])))


SKIPPED = encode_findings([NOT_A_PLAN])
"""The encoded findings of a file that was skipped because it is not a plan."""
