"""The warrant of an agent's run: what was checked in full when it was issued, sealed, so that each call is judged in no time.

It lies in the state folder. It holds as long as its seal does and every file that it goes by is as it was then: settings,
approval, register, document and plan. Whoever finds that it does not hold checks all of it again.
"""

from __future__ import annotations

import os

from execplan import __version__
from execplan.execution.permission import ApprovalTerms
from execplan.record import NamedTuple
from execplan.repo import own, settings, state
from execplan.repo.execution import key as keys
from execplan.repo.home import Home
from execplan.repo.settings import Settings
from execplan.text import disk, plain_json
from execplan.text.lines import digest
from execplan.text.seal import same, seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Final

    from execplan.engine.place import Place
    from execplan.execution.approval import Approval
    from execplan.execution.model import ExecutionPlan
    from execplan.execution.policy import Policy
    from execplan.repo.execution.standing import Now
    from execplan.repo.shelf import Ref

FOLDER: Final = "warrants"
_LIMIT: Final = 64 << 20
_ABSENT: Final = "absent"
_FOR: Final = b"execplan-warrant-1\n"
"""What the key seals here, so that no seal of another kind passes for this one."""


class Allowed(NamedTuple):
    """A step that the document holds."""

    step: dict[str, Any]
    """As the document's JSON has it, with what it leaves out."""
    level: str
    """As it was rated."""
    told: str
    """What it does in one line that may be written down: secrets are taken out."""


class Warrant(NamedTuple):
    """What an agent's calls are judged by."""

    plan: str
    path: str
    """Of the plan's file, absolute."""
    run: str
    folder: str
    """Of the run's evidence."""
    working: str
    """Of the run's working state."""
    home: Home
    revision: int
    document: str
    """SHA-256 of its bytes."""
    steps: tuple[Allowed, ...]
    constraints: dict[str, Any]
    terms: ApprovalTerms
    interval: int
    """Completed steps behind which a run asks whether it is to go on."""
    reads: str
    """What may be read, by the policy."""
    tools: tuple[str, ...]
    """Tools that the user's own settings let pass."""
    hidden: tuple[str, ...]
    """Secrets that stand in the document: no reason tells them."""
    witnesses: dict[str, str]
    """By path of a file that it goes by, the SHA-256 of its bytes, or that it was absent."""

    @property
    def place(self) -> Place:
        """Where its run lies."""
        from execplan.engine.place import Place

        return Place(self.run, self.folder, self.working, self.home.root)


def issue(home: Home, ref: Ref, place: Place, now: Now, approval: Approval) -> Warrant:
    """Write the warrant of a run that may go on under an approval; raises ExecplanError.

    The caller holds the lock of runs, and has checked that the approval holds, covers what it must, and serves this run.
    """
    made = _made(home, ref, place, now, approval)
    body = plain_json.write(_json(made)).encode("utf-8", "backslashreplace")
    path = path_of(home, ref.id)
    state.folder(home, FOLDER)
    key = keys.make(home)
    _mark(place, key)
    data = seal(key, _FOR + body) + b"\n" + body
    beside = f"{path}.new"
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(handle, "wb") as file:
            file.write(data)  # not synced: one that is torn does not hold, and is issued anew
        os.rename(beside, path)
    except OSError as error:
        raise disk.trouble(error, path, "write") from None
    return made


def withdraw(home: Home, plan: str) -> None:
    """Let the warrant of a plan be gone, if there is one; raises ExecplanError."""
    try:
        os.unlink(path_of(home, plan))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise disk.trouble(error, path_of(home, plan), "remove") from None


def load(home: Home, plan: str) -> Warrant | None:
    """The warrant of a plan, by its id; None where there is none, or its seal or a witness does not hold."""
    found = opened(home, path_of(home, plan))
    return found if found is not None and found.plan == plan else None


def opened(home: Home, path: str) -> Warrant | None:
    """The warrant in a file of this home's state, as `load`; of the home no more is known than its root and where git lies."""
    from execplan.errors import ExecplanError

    try:
        data, size = disk.read(path, _LIMIT)
        key = keys.read(home)
        sealed, newline, body = data.partition(b"\n")
        if size > _LIMIT or key is None or not newline or not same(sealed, seal(key, _FOR + body)):
            return None
        found = _from(plain_json.read(body.decode(), halves=True))
        held = found.home.root == home.root and path == path_of(found.home, found.plan)
        return found if held and all([_witness(file) == was for file, was in found.witnesses.items()]) else None
    except (ExecplanError, OSError, ValueError, KeyError, TypeError):
        return None


def path_of(home: Home, plan: str) -> str:
    """Where the warrant of a plan lies."""
    return os.path.join(home.state, FOLDER, f"{state.key(plan)}.json")


def every(state_folder: str) -> list[str]:
    """The warrants that lie in a state folder, in force or not."""
    try:
        names = os.listdir(os.path.join(state_folder, FOLDER))
    except OSError:
        return []
    return sorted([os.path.join(state_folder, FOLDER, name) for name in names if name.endswith(".json")])


def _made(home: Home, ref: Ref, place: Place, now: Now, approval: Approval) -> Warrant:
    document, policy = now.current.document, now.policy
    secrets = hidden(document)
    return Warrant(
        plan=ref.id,
        path=ref.path,
        run=place.id,
        folder=place.folder,
        working=place.state,
        home=home,
        revision=document.revision,
        document=now.binding.document,
        steps=tuple(_allowed(document, policy, secrets)),
        constraints=document.constraints.model_dump(mode="json", by_alias=True),
        terms=approval.terms(policy.person_from),
        interval=policy.checkpoint_interval,
        reads=policy.reads,
        tools=policy.tools,
        hidden=secrets,
        witnesses={path: _witness(path) for path in _goes_by(home, ref, place, now, approval)},
    )


def _allowed(document: ExecutionPlan, policy: Policy, hidden: tuple[str, ...]) -> Iterator[Allowed]:
    from execplan.execution.evaluate import effective_risk

    for step in document.steps:
        said = " ".join((step.command or step.action or step.target or step.tool).split())
        plain = step.model_dump(mode="json", by_alias=True)
        yield Allowed(plain, effective_risk(step, policy).level, cleaned(said, hidden)[:500])


def _mark(place: Place, key: bytes) -> None:
    """Refuse to go on with a journal that is not as it was, and note how far it has come; raises ExecplanError."""
    from execplan.engine.agent import mark

    data = disk.read(place.journal, _LIMIT)[0] if os.path.lexists(place.journal) else b""
    mark.check(place, data, key)
    mark.write(place, data, key)


def cleaned(text: str, hidden: tuple[str, ...]) -> str:
    """A text without the secrets that are known."""
    for each in hidden:
        text = text.replace(each, "[redacted]")
    return text


def hidden(document: ExecutionPlan) -> tuple[str, ...]:
    """The secrets in the texts of a document, the longest first."""
    from execplan.engine.opened import redaction

    redacted, found, left = redaction(), set(), [document.model_dump(mode="json", by_alias=True)["steps"]]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            left += each.values()
        elif isinstance(each, list):
            left += each
        elif isinstance(each, str):
            found |= {each[start:end] for start, end in redacted.spans(each)}
    return tuple(sorted(found, key=lambda secret: (-len(secret), secret)))


def _goes_by(home: Home, ref: Ref, place: Place, now: Now, approval: Approval) -> Iterator[str]:
    """The files that it goes by."""
    from execplan.engine import revisions
    from execplan.repo.execution import approvals, register, store

    yield own.path()
    yield os.path.join(home.base, settings.FILE)
    yield os.path.join(home.base, settings.PYPROJECT)
    yield approvals.path(home, ref, approval.digest)
    for each in (approval.id, *approval.origins):
        yield from register.paths(home, each)
    yield store.path_of(home, ref)
    yield ref.path
    yield place.document
    if now.current.document.revision > 1:
        yield revisions.path_of(place, now.current.document.revision)


def _witness(path: str) -> str:
    """What a file says of itself."""
    if not os.path.lexists(path):
        return _ABSENT
    data, size = disk.read(path, _LIMIT)
    return digest(data) if size <= _LIMIT else ""


def _places() -> list[str]:
    """What else it goes by: this release, and where the user's own files lie, which variables may have moved."""
    return [__version__, own.path(), os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")]


def _json(made: Warrant) -> dict[str, Any]:
    home = made.home._asdict() | {"settings": made.home.settings._asdict()}
    steps = [each._asdict() for each in made.steps]
    told = made._asdict() | {"home": home, "steps": steps, "terms": made.terms._asdict()}
    return told | {"places": _places()}


def _from(said: dict[str, Any]) -> Warrant:
    """The warrant that JSON holds; raises KeyError, TypeError."""
    if said.pop("places") != _places():
        raise ValueError("issued by another release, or for other folders of the user")
    home = said["home"]
    chosen = Settings(**(home["settings"] | {"homes": tuple(home["settings"]["homes"])}))
    terms = said["terms"]
    named = terms["steps"]
    whole = said | {
        "home": Home(**(home | {"settings": chosen})),
        "steps": tuple([Allowed(**each) for each in said["steps"]]),
        "terms": ApprovalTerms(**(terms | {"steps": None if named is None else tuple(named)})),
        "tools": tuple(said["tools"]),
        "hidden": tuple(said["hidden"]),
    }
    return Warrant(**whole)
