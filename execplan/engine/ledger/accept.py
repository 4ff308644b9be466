"""Going on with a ledger that is broken: on record, with who did so and why."""

from __future__ import annotations

from execplan.clock import now
from execplan.engine.ledger import anchor, chain, names, said
from execplan.engine.ledger.anchor import MovedMeanwhileError
from execplan.engine.ledger.verify import read, verify
from execplan.record import NamedTuple
from execplan.repo import author
from execplan.text.lines import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.ledger.chain import Record
    from execplan.repo.amend import Options
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref


class Accepted(NamedTuple):
    """What was done."""

    record: Record | None
    """None where nothing is wrong."""
    commit: str | None = None
    warnings: tuple[str, ...] = ()


def accept(home: Home, ref: Ref, reason: str, options: Options) -> Accepted:
    """Record that what is there is to hold from now on, whatever was lost, and commit it when asked; raises ExecplanError."""
    path, before = names.path_of(home, ref), names.read(home, ref)
    made = _accept(home, ref, reason, path)
    if made is None or not options.commits(home):
        return Accepted(made)
    from execplan.repo.commit import commit_paths

    done = commit_paths(home, ref.id, [path], "audit", "accept the ledger", {path: before} if before else {}, None)
    return Accepted(made, done.digest, done.warnings)


def _accept(home: Home, ref: Ref, reason: str, path: str) -> Record | None:
    with names.opened(home, ref) as file:
        wrong, found = verify(home, ref), read(home, ref)
        if not wrong.reasons:
            return None
        lost = found.anchor if wrong.lost else None
        readable, session = found.walked.records, author.session()
        made = chain.sealed(
            chain.Record(
                seq=max(found.data.count(b"\n"), *[each.seq for each in readable], lost.seq if lost else 0, 0) + 1,
                at=f"{now():%Y-%m-%dT%H:%M:%SZ}",
                kind=chain.ACCEPTED,
                ledger=found.name,
                plan_id=ref.id,
                user=author.as_name(author.login()),
                session=author.as_name(session) if session else None,
                run=None,
                entry=None,
                line=None,
                said={
                    **said.clean({"reason": reason}),
                    "why": [*([str(wrong.flaw)] if wrong.flaw else []), *([wrong.lost] if wrong.lost else [])],
                    "doubts": list(wrong.doubts),
                    "lost": {"seq": lost.seq, "hash": lost.hash} if lost is not None else None,
                },
                prev=digest(found.data),
            )
        )
        file.append(chain.line_of(made))
        file.renew_copy()
        try:
            anchor.move(home, found.name, found.anchor, made.seq, made.hash)
        except MovedMeanwhileError:
            raise anchor.broken(wrong.path, ref.typed, "its anchor was moved while it was accepted") from None
        return made
