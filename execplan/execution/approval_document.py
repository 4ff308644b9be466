"""Approval documents, signed by a machine's key or a person's: who approved which steps, on which files and until when."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta

from execplan.core.documents.document_model import Model
from execplan.core.documents.json_values import find_date_violations
from execplan.core.documents.text_patterns import matching
from execplan.core.text import hmac_signature
from execplan.core.text.text_lines import digest, sha256_constructor
from execplan.core.text.violation import Violation
from execplan.execution import permission
from execplan.execution.binding import Binding, binding_digest
from execplan.execution.documents import field_patterns
from execplan.execution.execution_plan import Digest, Id, Level, Name, Number, Path, PlanId, Timestamp, Version
from execplan.execution.world import Program, State

SCHEMA: Final = "execplan-approval"
VERSION: Final = 1
_LATER_FIELDS: Final = ("derived_from", "programs", "hmac", "ssh")
_SIGNATURE_FIELDS: Final = ("hmac", "ssh")
Commit = Annotated[str, matching(r"^([0-9a-f]{40}|[0-9a-f]{64})$", "a commit: 40 or 64 of the digits 0-9a-f")]
ApprovalId = Annotated[str, matching(r"^[0-9a-f]{32}$", "an ID of an approval: 32 of the digits 0-9a-f")]
DigestIfAny = Annotated[str, matching(r"^([0-9a-f]{64})?$", "a SHA-256 digest, or empty")]
REVISION: Final = "revision"


class Before(Model):
    """What was at a path when the approval was given."""

    kind: Literal["absent", "file", "folder", "link", "other", "outside"]
    sha256: DigestIfAny = ""
    mode: Annotated[int, Meta(ge=0, le=0o7777)] = 0
    link: Annotated[str, Meta(max_length=4096)] = ""
    """The target of a symbolic link."""
    size: Annotated[int, Meta(ge=0)] = 0


class Derived(Model):
    """The earlier approval that covers a revision, which does only what was approved before."""

    digest: Digest
    """The digest of the approval that covers the revision."""
    revision: Number
    """The revision that was approved."""
    approvals: Annotated[tuple[ApprovalId, ...], Meta(min_length=1)]
    """The IDs of the approvals that this one derives from, oldest first; if one of them is revoked, so is this one."""
    how: Literal["terminal", "digest", "policy"]
    """How the first of these approvals was given."""
    run: Annotated[str, field_patterns.LINE, Meta(min_length=1, max_length=200)]
    """The only run that the approval is valid for."""


class Found(Model):
    """Where a program was found: from the root of the repository, or absolute."""

    path: Annotated[str, Meta(max_length=8192)] = ""
    """The path where the program was found; empty if it was not found."""
    real: Annotated[str, Meta(max_length=8192)] = ""
    """The path with all symbolic links resolved."""
    sha256: DigestIfAny = ""
    """SHA-256 of a program in the repository, or of the module of a tool; otherwise empty."""
    version: Annotated[str, Meta(max_length=400)] = ""
    """The Python distribution of a tool, and its version; otherwise empty."""


class UnsignedApproval(Model):
    """An approval without its signature."""

    schema_: Literal["execplan-approval"] = SCHEMA
    version: Version = VERSION
    id: ApprovalId
    """A random ID, by which the registry records whether the approval was used or revoked."""
    plan_id: PlanId
    revision: Number
    place: Digest
    """SHA-256 of the path of the checkout that the approval was given in. Signed by a machine, it is valid in no other."""
    digest: Digest
    """The digest of what is approved: document, states, policy and programs."""
    document: Digest
    """SHA-256 of the bytes of the execution plan."""
    states: dict[Path, Before]
    """The state of each target and declared input when the approval was given."""
    policy: Annotated[str, Meta(min_length=1, max_length=200)]
    """The version of the policy."""
    programs: dict[str, Found] | None = None
    """The programs that the steps run, by name; missing in approvals of early versions."""
    tree: Digest | None = None
    """Digest of all files in HEAD outside of the directories of plans; only under the policy `pin = "tree"`."""
    head: Commit | None = None
    """The commit that was checked out; the approval is valid on others, too."""
    approver: Name
    """Who approved: a name, or with an SSH signature the principal that the allowed signers have for the key."""
    user: Name
    """The login name of the user."""
    session: Name | None = None
    """The session of the agent program, if it is known."""
    approved_at: Timestamp
    expires_at: Timestamp
    how: Literal["terminal", "digest", "policy", "revision"]
    """A person answered on a terminal; the digest was given; the policy alone approves every step; or it is a revision
    that an earlier approval covers, and nobody was asked again."""
    derived_from: Derived | None = None
    """The approval that covers a revision; missing in all others."""
    inferred: Literal["terminal", "flag"] | None = None
    """How inferred steps were allowed: on a terminal, or by `--allow-inferred`; null if they were not."""
    max_risk: Level | None = None
    """The highest risk level that is covered; null if there is no limit."""
    steps: tuple[Id, ...] | None = None
    """The steps that are covered; null if all are."""
    key: Annotated[str, matching(r"^[0-9a-f]{16}$", "an identifier of a key: 16 of the digits 0-9a-f")]
    """Identifier of the key that signed the approval: the first 16 digits of a double SHA-256 of the machine's key, or of
    the SHA-256 of the public SSH key."""

    @classmethod
    def find_violations(cls, value: dict[str, Any]) -> Iterator[Violation]:
        """Yield dates that do not exist."""
        yield from find_date_violations(value, ("approved_at", "expires_at"))

    def find_contradictions(self) -> Iterator[Violation]:
        """Yield what contradicts itself."""
        if self.digest != binding_digest(self.document, bound_states(self), self.policy, bound_programs(self)):
            yield Violation("", "digest does not match document, states, policy and programs")
        elif not parse_timestamp(self.approved_at) < parse_timestamp(self.expires_at):
            yield Violation("", "expires_at is not after approved_at")
        elif (self.how == REVISION) != (self.derived_from is not None):
            yield Violation("", "derived_from is required for revisions, and only allowed for them")

    def model_dump(self) -> dict[str, Any]:
        """Omit empty fields that older approvals lack, so that their bytes and signatures stay the same."""
        fields = super().model_dump()
        return {name: value for name, value in fields.items() if name not in _LATER_FIELDS or value is not None}


class Approval(UnsignedApproval):
    """A signed approval of an execution plan."""

    document_name: ClassVar[str] = "approval"

    hmac: Digest | None = None
    """The signature with the machine's key: HMAC-SHA256 of all other fields as canonical JSON."""
    ssh: Annotated[str, Meta(min_length=1, max_length=16_384)] | None = None
    """The signature with a person's SSH key of the same bytes, as `ssh-keygen -Y sign -n execplan-approval` writes it."""

    def find_contradictions(self) -> Iterator[Violation]:
        """Yield what contradicts itself."""
        yield from super().find_contradictions()
        if (self.hmac is None) == (self.ssh is None):
            yield Violation("", "exactly one of hmac and ssh is required")

    @property
    def file_name(self) -> str:
        """Return the name of the file: each person has one for a digest, and a machine has one."""
        return f"{self.digest}.json" if self.ssh is None else f"{self.digest}-{self.key}.json"

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
    """Return the approval with the signature of a machine's key."""
    return with_signature(approval, "hmac", hmac_signature.sign(key, signed_bytes(approval)).decode())


def with_signature(approval: UnsignedApproval, kind: Literal["hmac", "ssh"], signature: str) -> Approval:
    """Return the approval with its signature."""
    return Approval.model_validate({**approval.model_dump(), kind: signature})


def verify_signature(approval: Approval, key: bytes) -> bool:
    """Return whether the signature is valid for a machine's key; compared in constant time."""
    signature = hmac_signature.sign(key, signed_bytes(approval))
    return approval.hmac is not None and hmac_signature.signatures_match(signature, approval.hmac.encode())


def key_id(key: bytes) -> str:
    """Return the identifier of a machine's key in an approval, which reveals nothing about the key."""
    return digest(sha256_constructor()(key).digest())[:16]


def signed_bytes(approval: UnsignedApproval) -> bytes:
    """Return the bytes that are signed: all fields except the signature, as canonical JSON."""
    fields = {name: value for name, value in approval.model_dump().items() if name not in _SIGNATURE_FIELDS}
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()


def format_timestamp(time: datetime) -> str:
    """Format a time for a document."""
    return f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def parse_timestamp(timestamp: str) -> float:
    """Return a document's time in seconds since 1970. Raises ValueError if the date does not exist."""
    return datetime.fromisoformat(timestamp).timestamp()
