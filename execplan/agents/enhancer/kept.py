"""A proposal as it is kept among a plan's artifacts, without secrets, and how a person takes it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from execplan.agents.enhancer.proposal import bare, propose
from execplan.document import canonical
from execplan.errors import CHANGED, INPUT, ExecplanError
from execplan.execution.documents import strict
from execplan.execution.documents.document import validate_document, document_error, to_bytes
from execplan.execution.documents.violation import Violation
from execplan.execution.model import ExecutionPlan
from execplan.text.lines import digest

if TYPE_CHECKING:
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref

NAME: Final = "enhanced.json"
SCHEMA: Final = "execplan-enhanced"
_FIELDS = {"schema": str, "version": int, "of": str, "program": str, "mark": str, "sent": dict, "answer": dict}
_ASK = "ask again: execplan compile {} --enhance"


def path_of(home: Home, ref: Ref) -> str:
    """The file, whether it is there or not."""
    return os.path.join(home.artifacts_of(ref.path, archived=ref.archived), NAME)


def to_keep(document: ExecutionPlan, program: str, mark: str, sent: object, answer: object) -> bytes:
    """The bytes of a proposal: what was sent and what came back, and which execution plan it is about."""
    head = {"schema": SCHEMA, "version": 1, "of": of(document), "program": program}
    return canonical({**head, "mark": mark, "sent": sent, "answer": answer})


def of(document: ExecutionPlan) -> str:
    """What tells an execution plan from all others that do something else; that its lines have moved is no difference."""
    return digest(canonical(bare(document)))


def is_proposal(data: bytes) -> bool:
    """Whether a document is a proposal as it is kept."""
    if SCHEMA.encode() not in data[:200]:
        return False
    value = strict.read(data).value
    return isinstance(value, dict) and value.get("schema") == SCHEMA


def take(home: Home, ref: Ref, data: bytes, where: str) -> ExecutionPlan:
    """The execution plan that a proposal makes of the one that there is, judged anew; raises ExecplanError.

    It comes from no line of the plan any more, and its context says where it comes from.
    """
    from execplan.execution.making import imported
    from execplan.repo.execution.current import current

    told = _read(data, where)
    document = current(home, ref).document
    taken = document.metadata.context.get("enhanced")
    if isinstance(taken, dict) and taken.get("proposal") == digest(data):
        return document
    if told["of"] != of(document):
        what = f"{where} was proposed for an execution plan that {ref.id} no longer has"
        raise ExecplanError("stale-proposal", what, exit=CHANGED, hint=_ASK.format(ref.typed))
    _stop_altered(told["sent"], document, where)
    made, violations = propose(home, document, told["sent"], told["answer"], told["mark"])
    if made is None:
        raise document_error(where, ExecutionPlan, violations, hint=_ASK.format(ref.typed))
    plan = made.model_dump(mode="json", by_alias=True)
    plan["metadata"]["context"]["enhanced"] = {"program": told["program"], "proposal": digest(data)}
    checked, violations = validate_document(plan, ExecutionPlan)
    if checked is None:
        raise document_error(where, ExecutionPlan, violations)
    return imported.import_plan(to_bytes(checked), where, ref.id)


def _read(data: bytes, where: str) -> dict[str, Any]:
    found = strict.read(data)
    told = found.value if isinstance(found.value, dict) else {}
    wrong = list(found.violations)
    wrong += [
        Violation(f"/{name}", "is missing, or not what it should be")
        for name, kind in _FIELDS.items()
        if type(told.get(name)) is not kind
    ]
    wrong += [Violation(f"/{name}", "unknown key") for name in told if name not in _FIELDS]
    if not wrong and (told["version"] != 1 or not told["mark"].isalnum()):
        wrong.append(Violation("/version", "is of another version of execplan"))
    if wrong:
        raise document_error(
            where, ExecutionPlan, wrong, found.omitted, hint="a proposal is written by: execplan compile --enhance"
        )
    return told


def _stop_altered(sent: Any, document: ExecutionPlan, where: str) -> None:
    """Refuse a proposal whose `sent` is not this plan with words in place of what was taken out; raises ExecplanError."""
    if not _alike(sent, bare(document)):
        what = f"{where}: /sent is not the execution plan that was sent: somebody else has written there"
        raise ExecplanError("bad-document", what, exit=INPUT, hint="ask again: execplan compile --enhance")


def _alike(sent: Any, own: Any) -> bool:
    """Whether two values have one shape; of which leaves differ, only what was taken out does."""
    if isinstance(sent, dict) and isinstance(own, dict):
        return _alike(list(sent), list(own)) and _alike(list(sent.values()), list(own.values()))
    if isinstance(sent, list) and isinstance(own, list):
        return len(sent) == len(own) and all([_alike(one, other) for one, other in zip(sent, own, strict=True)])
    return sent == own or (isinstance(sent, str) and "redacted_" in sent)
