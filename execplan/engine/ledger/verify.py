"""Whether a ledger is as it was written: its chain, its anchor, and what lies beside it and is named in it."""

from __future__ import annotations

import os

from execplan.engine.ledger import anchor, chain, names, witness
from execplan.errors import NO, OK
from execplan.record import NamedTuple
from execplan.repo import shelf
from execplan.repo.homes import together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.ledger.anchor import Anchor
    from execplan.engine.ledger.chain import Walked
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Verified(NamedTuple):
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
        told = [str(self.flaw)] if self.flaw is not None else []
        return (*told, *([self.lost] if self.lost else []), *self.doubts)

    @property
    def exit(self) -> int:
        """The status of a verb that was asked whether it is whole."""
        return NO if self.reasons else OK


class Read(NamedTuple):
    """A ledger with what is known of it."""

    data: bytes
    """Whole lines."""
    walked: Walked
    name: str
    anchor: Anchor | None
    torn: bool


def read(home: Home, ref: Ref) -> Read:
    """A ledger as it is now; raises ExecplanError when it can't be read."""
    name = chain.name_of(names.read(home, ref)) or names.free(home, ref)
    known = anchor.get(home, name)
    data = names.read(home, ref)  # after its anchor: another process may write meanwhile
    whole = data[: data.rfind(b"\n") + 1]
    return Read(whole, names.walk(whole, known), name, known, len(whole) < len(data))


def verify(home: Home, ref: Ref) -> Verified:
    """Look at all of it; raises ExecplanError when it can't be read."""
    found = read(home, ref)
    known, walked = found.anchor, found.walked
    seen = witness.look(home, ref, walked.records)
    warnings = list(seen.warnings)
    if found.torn:
        warnings.append("its last line is torn: a writer was killed, and the next one cuts it off")
    if known is None and walked.records:
        warnings.append("it has no anchor here, as in a fresh clone: whether its end was cut off can't be told")
    return Verified(
        plan=ref.id,
        name=found.name,
        path=home.shown(names.path_of(home, ref)),
        records=len(walked.records),
        anchored=known.seq if known is not None else None,
        flaw=walked.flaw,
        lost=names.lost(found.data, known) if known is not None else "",
        doubts=tuple([each for each in seen.doubts if each not in dict(walked.accepted)]),
        accepted=tuple([f"{what} (accepted: {reason})" for what, reason in walked.accepted]),
        warnings=tuple(warnings),
    )


def every(home: Home) -> tuple[list[Verified], tuple[str, ...]]:
    """Those of all plans that have a ledger or had one, archived ones too, and what else is known; raises ExecplanError."""
    known = anchor.every(home)
    found = [
        verify(each, ref)
        for each in together(home)
        for ref in shelf.every(each)
        if os.path.lexists(names.path_of(each, ref)) or anchor.key(names.first(each, ref)) in known
    ]
    gone = known - {anchor.key(each.name) for each in found}
    return found, tuple([f"a ledger was anchored that no plan here has: {each}" for each in sorted(gone)])
