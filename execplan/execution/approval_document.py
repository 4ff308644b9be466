"""Approval documents, signed with the user's key: who approved which steps, on which files and until when."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from execplan.core.json_model.constraints import Entries, Range, Text
from execplan.core.json_model.document_model import Model
from execplan.core.json_model.field_types import Problem
from execplan.core.text import hmac_signature
from execplan.core.text.text_lines import digest, sha256_constructor
from execplan.execution import permission
from execplan.execution.binding import Binding, binding_digest
from execplan.execution.documents import field_patterns
from execplan.execution.execution_plan import Digest, Id, Level, Name, Number, Path, PlanId, Timestamp, Version
from execplan.execution.world import Program, State

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA: Final = "execplan-approval"
VERSION: Final = 1
_LATER_FIELDS: Final = ("derived_from", "programs")
Commit = Annotated[str, Text(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
ApprovalId = Annotated[str, Text(pattern=r"^[0-9a-f]{32}$")]
REVISION: Final = "revision"


class Before(Model):
    """What was at a path."""

    kind: Literal["absent", "file", "folder", "link", "other", "outside"]
    sha256: Digest | Literal[""] = ""
    mode: Annotated[int, Range(0, 0o7777)] = 0
    link: Annotated[str, Text(max_length=4096)] = ""
    """Where a link leads to."""
    size: Annotated[int, Range(0)] = 0


class Derived(Model):
    """Where the approval of a revision comes from that does nothing but what was approved before."""

    digest: Digest
    """Of the approval that covers it."""
    revision: Number
    """That was approved."""
    approvals: Annotated[tuple[ApprovalId, ...], Entries(1)]
    """The ids of the approvals that it derives from, the first one first: where one of them is revoked, so is this one."""
    how: Literal["terminal", "digest", "policy"]
    """How the first one was given."""
    run: Annotated[str, Text(min_length=1, max_length=200, pattern=field_patterns.LINE)]
    """The run that it serves, and no other."""


class Found(Model):
    """Where a program was found: from the root of the repository, or absolute."""

    path: Annotated[str, Text(max_length=8192)] = ""
    """Nothing where there was none."""
    real: Annotated[str, Text(max_length=8192)] = ""
    """Without links."""
    sha256: Digest | Literal[""] = ""
    """Of one whose bytes are in the repository, and of the module of a tool."""
    version: Annotated[str, Text(max_length=400)] = ""
    """Of a tool: its distribution and that one's version."""


class UnsignedApproval(Model):
    """All of an approval but its seal."""

    schema_: Literal["execplan-approval"] = SCHEMA
    version: Version = VERSION
    id: ApprovalId
    """Random; the register knows by it whether the approval was used or revoked."""
    plan_id: PlanId
    revision: Number
    place: Digest
    """SHA-256 of the path of the checkout that it was given in: it holds in no other."""
    digest: Digest
    """Of document, states and policy."""
    document: Digest
    """Of the execution plan's bytes."""
    states: dict[Path, Before]
    """Of each target and declared input, before."""
    policy: Annotated[str, Text(min_length=1, max_length=200)]
    """Its version."""
    programs: dict[str, Found] | None = None
    """By name, the programs that the steps run; left out of an approval that was given before they were bound."""
    tree: Digest | None = None
    """Of all that HEAD held outside the plans' folders, under the policy `pin = "tree"`."""
    head: Commit | None = None
    """Recorded, not bound."""
    approver: Name
    user: Name
    """The login."""
    session: Name | None = None
    """That of the agent program, where it is known."""
    approved_at: Timestamp
    expires_at: Timestamp
    how: Literal["terminal", "digest", "policy", "revision"]
    """A person answered on a terminal; the digest was given; the policy alone approves every step; or it is a revision
    that an earlier approval covers, and nobody was asked again."""
    derived_from: Derived | None = None
    """Of a revision: the approval that covers it; left out of all others."""
    inferred: Literal["terminal", "flag"] | None = None
    """How inferred steps were allowed: shown on a terminal, or by `--allow-inferred`; null: they were not."""
    max_risk: Level | None = None
    """Steps above it are not covered; null: none is too high."""
    steps: tuple[Id, ...] | None = None
    """The only steps that are covered; null: all."""
    key: Annotated[str, Text(pattern=r"^[0-9a-f]{16}$")]
    """Which key it is sealed with: the beginning of the SHA-256 of its SHA-256."""

    def find_problems(self) -> Iterator[Problem]:
        """Yield what contradicts itself."""
        if self.digest != binding_digest(self.document, bound_states(self), self.policy, bound_programs(self)):
            yield Problem((), "digest does not match document, states, policy and programs")
        elif not parse_timestamp(self.approved_at) < parse_timestamp(self.expires_at):
            yield Problem((), "expires_at is not after approved_at")
        elif (self.how == REVISION) != (self.derived_from is not None):
            yield Problem((), "derived_from is required for revisions, and only allowed for them")

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Omit empty fields that older approvals lack, so that their bytes and signatures stay the same."""
        fields = super().model_dump(**options)
        return {name: value for name, value in fields.items() if name not in _LATER_FIELDS or value is not None}


class Approval(UnsignedApproval):
    """A signed approval of an execution plan."""

    document_name: ClassVar[str] = "approval"

    hmac: Digest
    """HMAC-SHA256 of all the rest, as canonical JSON, with the user's key."""

    @property
    def effective_how(self) -> str:
        """Return how the approval was given, or the approval that covers it."""
        return self.derived_from.how if self.derived_from is not None else self.how

    @property
    def origins(self) -> tuple[str, ...]:
        """Return the IDs of the approvals from which this one is derived."""
        return self.derived_from.approvals if self.derived_from is not None else ()

    @property
    def binding(self) -> Binding:
        """Return the binding of the approval."""
        return Binding(self.digest, self.document, bound_states(self), self.policy, bound_programs(self))

    def terms(self, person_from: str) -> permission.ApprovalTerms:
        """Return the terms of the approval, with the risk level from which the policy requires a person."""
        return permission.ApprovalTerms(
            self.effective_how,
            self.max_risk.value if self.max_risk is not None else None,
            self.steps,
            self.inferred is not None,
            parse_timestamp(self.approved_at),
            parse_timestamp(self.expires_at),
            person_from,
        )


def bound_states(approval: UnsignedApproval) -> dict[str, State]:
    """Return the bound states of paths."""
    return {
        path: State(state.kind, state.sha256, state.mode, state.link, state.size)
        for path, state in approval.states.items()
    }


def bound_programs(approval: UnsignedApproval) -> dict[str, Program] | None:
    """Return the bound programs, or None if none were recorded."""
    if approval.programs is None:
        return None
    return {
        name: Program(program.path, program.real, program.sha256, program.version)
        for name, program in approval.programs.items()
    }


def to_bound_states(binding: Binding) -> dict[str, Before]:
    """Convert the states of a binding to their document form."""
    return {path: Before.model_validate(state._asdict()) for path, state in binding.states.items()}


def to_bound_programs(binding: Binding) -> dict[str, Found]:
    """Convert the programs of a binding to their document form."""
    return {name: Found.model_validate(program._asdict()) for name, program in (binding.programs or {}).items()}


def sign(approval: UnsignedApproval, key: bytes) -> Approval:
    """Return the approval with its signature."""
    return Approval.model_validate({**approval.model_dump(by_alias=True), "hmac": _signature(approval, key)})


def verify_signature(approval: Approval, key: bytes) -> bool:
    """Return whether the signature is valid for a key; compared in constant time."""
    return hmac_signature.signatures_match(_signature(approval, key).encode(), approval.hmac.encode())


def key_id(key: bytes) -> str:
    """Return the identifier of a key in an approval, which reveals nothing about the key."""
    return digest(sha256_constructor()(key).digest())[:16]


def _signature(approval: UnsignedApproval, key: bytes) -> str:
    fields = approval.model_dump(mode="json", by_alias=True, exclude={"hmac"})
    data = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
    return hmac_signature.sign(key, data).decode()


def format_timestamp(time: datetime) -> str:
    """Format a time for a document."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def parse_timestamp(timestamp: str) -> float:
    """Return a document's time in seconds since 1970. Raises ValueError if the date does not exist."""
    return datetime.fromisoformat(timestamp).timestamp()
