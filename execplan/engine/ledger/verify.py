"""Whether a ledger is as it was written: its chain, its anchor, and what lies beside it and is named in it."""

from __future__ import annotations

import os

from execplan.engine.ledger import anchor, chain, names, witness
from execplan.errors import CHECK_FAILED, OK
from execplan.record import NamedTuple
from execplan.repo import shelf
from execplan.repo.homes import with_nested_projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.ledger.anchor import Anchor
    from execplan.engine.ledger.chain import ParsedChain
    from execplan.repo.home import Project
    from execplan.repo.shelf import PlanRef


class LogVerification(NamedTuple):
    """What was found."""

    plan: str
    name: str
    """Of the ledger."""
    path: str
    """From the root of the repository."""
    records: int
    """How many there are."""
    anchored: int | None
    """The number of the record that the anchor knows; None: there is none."""
    flaw: chain.Flaw | None
    """The first bad record of the chain."""
    lost: str
    """Why the anchor's record is not there."""
    doubts: tuple[str, ...]
    """What lies beside it and is not as the ledger says."""
    accepted: tuple[str, ...]
    """What somebody has accepted."""
    warnings: tuple[str, ...]

    @property
    def reasons(self) -> tuple[str, ...]:
        """All that is wrong."""
        problems = [str(self.flaw)] if self.flaw is not None else []
        return (*problems, *([self.lost] if self.lost else []), *self.doubts)

    @property
    def exit(self) -> int:
        """The status of a verb that was asked whether it is whole."""
        return CHECK_FAILED if self.reasons else OK


class LogState(NamedTuple):
    """A ledger with what is known of it."""

    data: bytes
    """Whole lines."""
    parsed_chain: ParsedChain
    name: str
    anchor: Anchor | None
    is_torn: bool


def read_log(project: Project, ref: PlanRef) -> LogState:
    """A ledger as it is now; raises ExecplanError when it can't be read."""
    name = chain.find_log_name(names.read(project, ref)) or names.available_name(project, ref)
    known_anchor = anchor.get(project, name)
    data = names.read(project, ref)  # after its anchor: another process may write meanwhile
    complete_lines = data[: data.rfind(b"\n") + 1]
    return LogState(complete_lines, names.parse_log(complete_lines, known_anchor), name, known_anchor, len(complete_lines) < len(data))


def verify_log(project: Project, ref: PlanRef) -> LogVerification:
    """Look at all of it; raises ExecplanError when it can't be read."""
    log_state = read_log(project, ref)
    known_anchor, parsed_chain = log_state.anchor, log_state.parsed_chain
    evidence = witness.check_evidence(project, ref, parsed_chain.records)
    warnings = list(evidence.warnings)
    if log_state.is_torn:
        warnings.append("its last line is torn: a writer was killed, and the next one cuts it off")
    if known_anchor is None and parsed_chain.records:
        warnings.append("it has no anchor here, as in a fresh clone: whether its end was cut off can't be told")
    return LogVerification(
        plan=ref.id,
        name=log_state.name,
        path=project.display_path(names.path_of(project, ref)),
        records=len(parsed_chain.records),
        anchored=known_anchor.seq if known_anchor is not None else None,
        flaw=parsed_chain.flaw,
        lost=names.find_loss(log_state.data, known_anchor) if known_anchor is not None else "",
        doubts=tuple([doubt for doubt in evidence.doubts if doubt not in dict(parsed_chain.accepted)]),
        accepted=tuple([f"{problem} (accepted: {reason})" for problem, reason in parsed_chain.accepted]),
        warnings=tuple(warnings),
    )


def verify_all(project: Project) -> tuple[list[LogVerification], tuple[str, ...]]:
    """Those of all plans that have a ledger or had one, archived ones too, and what else is known; raises ExecplanError."""
    anchor_keys = anchor.list_keys(project)
    verifications = [
        verify_log(nested_project, ref)
        for nested_project in with_nested_projects(project)
        for ref in shelf.all_refs(nested_project)
        if os.path.lexists(names.path_of(nested_project, ref)) or anchor.encode_name(names.default_name(nested_project, ref)) in anchor_keys
    ]
    missing_keys = anchor_keys - {anchor.encode_name(verification.name) for verification in verifications}
    return verifications, tuple([f"a ledger was anchored that no plan here has: {key}" for key in sorted(missing_keys)])
