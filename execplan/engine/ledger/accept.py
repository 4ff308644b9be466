"""Going on with a ledger that is broken: on record, with who did so and why."""

from __future__ import annotations

from execplan.clock import now
from execplan.engine.ledger import anchor, chain, names
from execplan.engine.ledger.anchor import MovedMeanwhileError
from execplan.engine.ledger.file import File
from execplan.engine.ledger.verify import read, verify
from execplan.repo import author
from execplan.text import secrets
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.ledger.chain import Record
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


def accept(home: Home, ref: Ref, reason: str) -> Record | None:
    """Record that what is there is to hold from now on, whatever was lost; None where nothing is wrong.

    Raises ExecplanError.
    """
    path = names.path_of(home, ref)
    with File(home, path, f"the ledger of {ref.id}") as file:
        wrong, found = verify(home, ref), read(home, ref)
        if not wrong.reasons:
            return None
        lost = found.anchor if wrong.lost else None
        readable = found.walked.records
        made = chain.sealed(
            chain.Record(
                seq=max(found.data.count(b"\n"), *[each.seq for each in readable], lost.seq if lost else 0, 0) + 1,
                at=f"{now():%Y-%m-%dT%H:%M:%SZ}",
                kind=chain.ACCEPTED,
                ledger=found.name,
                plan_id=ref.id,
                user=author.login(),
                session=author.session(),
                run=None,
                entry=None,
                line=None,
                said={
                    "reason": secrets.masked(reason),
                    "why": [*([str(wrong.flaw)] if wrong.flaw else []), *([wrong.lost] if wrong.lost else [])],
                    "doubts": list(wrong.doubts),
                    "lost": {"seq": lost.seq, "hash": lost.hash} if lost is not None else None,
                },
                prev=digest(found.data),
            )
        )
        file.append(chain.line_of(made))
        try:
            anchor.move(home, found.name, found.anchor, made.seq, made.hash)
        except MovedMeanwhileError:
            raise anchor.broken(wrong.path, ref.typed, "its anchor was moved while it was accepted") from None
        return made
