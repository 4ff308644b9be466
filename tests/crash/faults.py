"""The disk fails at one system call after the other, and what the command makes of it is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.crash.bench import Bench, leftovers, without_leftovers
from tests.crash.bench import tree as tree_of
from tests.crash.strace import Call, Ran, fail
from tests.crash.sweep import differs, torn

if TYPE_CHECKING:
    from collections.abc import Iterable

ERRORS = ("ENOSPC", "EIO")


class Fault(NamedTuple):
    """What came of an error."""

    call: Call
    error: str
    exit: int
    bad: tuple[str, ...]
    """What is not as promised."""


class Failed(NamedTuple):
    """What came of many errors, one at a time."""

    name: str
    faults: tuple[Fault, ...]

    @property
    def bad(self) -> list[str]:
        """Everything that was not as promised, where and why."""
        return [
            f"{self.name}, {each.error} at {each.call.shown}: {why} [{each.call.line[:160]}]"
            for each in self.faults
            for why in each.bad
        ]

    @property
    def line(self) -> str:
        """The counts."""
        good = sum(not each.bad for each in self.faults)
        refused = sum(each.exit == 6 for each in self.faults)
        harmless = sum(each.exit == 0 for each in self.faults)
        return f"{self.name}: {len(self.faults)} errors injected, {good} as promised ({refused} refused, {harmless} harmless)"


def errors(calls: Iterable[Call]) -> list[tuple[Call, str]]:
    """Which errors may come at which calls: no space where something is written, and a broken disk everywhere."""
    found = []
    for call in calls:
        if call.inside and (call.changes or call.name.startswith(("open", "read", "pread"))):
            found += [(call, error) for error in ERRORS if error == "EIO" or (call.changes and call.name != "flock")]
    return found


def inject(bench: Bench, points: Iterable[tuple[Call, str]]) -> list[Fault]:
    """Let each of the calls fail with its error, each in a run of its own."""
    return [_failed(bench, call, error) for call, error in points]


def _failed(bench: Bench, call: Call, error: str) -> Fault:
    bench.back("before")
    ran = fail(call, error, bench.scene.call, bench.repo.path, bench.repo.env, bench.log)
    if ran is None:
        return Fault(call, error, 0, ("the command did not come to this call",))
    bad = _said(bench, ran) + _left(bench, ran, call)
    end = bench.undisturbed
    again = bench.run(*bench.scene.call)
    found = tree_of(bench.repo.path)
    told = bench.scene.moves and ran.exit == 0 and "may still name" in ran.err
    if again.exit not in end.exits or (found not in (end.once, end.twice) and not told):
        what = ", ".join(leftovers(found)) or differs(bench, found)
        bad.append(f"the verb once more: exit {again.exit}, {what}: {again.err[:200]!r}")
    return Fault(call, error, ran.exit, tuple(bad))


def _said(bench: Bench, ran: Ran) -> list[str]:
    """What is wrong with what was said: what, where, why and what to do is told in two lines."""
    said = f"exit {ran.exit}: {ran.err.strip()[:300]!r}"
    if ran.exit == 0:
        return []
    if ran.exit != 6 or "Traceback" in ran.err:
        return [f"no refusal: {said}"]
    named = ran.err.startswith("execplan: ") and (".agent" in ran.err or ".git" in ran.err)
    return [] if named and advises(ran.err) else [f"it does not say where, or what to do: {said}"]


def advises(said: str) -> bool:
    """Whether a refusal says what to do; `lint --fix` says it for each plan, in a warning."""
    what, _, hint = said.partition("\nhint: ")
    return bool(hint.strip()) or "; " in what.partition(": nothing was mended: ")[2]


def _left(bench: Bench, ran: Ran, call: Call) -> list[str]:
    """What is wrong with what is on disk: the new behind a success, the old behind a refusal, no leftovers."""
    found = tree_of(bench.repo.path)
    end = bench.undisturbed
    bad = []
    if leftovers(found) and not call.name.startswith("unlink"):
        bad.append(f"exit {ran.exit}, and left is {', '.join(sorted(leftovers(found)))}")
    now = without_leftovers(found)
    if bench.scene.apart and ran.exit:
        bad += torn(bench, found)
    elif ran.exit == 0 and bench.scene.moves:
        bad += _followed(bench, ran)
    elif now != (end.before if ran.exit else end.once):
        bad.append(
            f"exit {ran.exit}, and not the {'old' if ran.exit else 'new'} bytes: {differs(bench, found)}: {ran.err[:200]!r}"
        )
    return bad


def _followed(bench: Bench, ran: Ran) -> list[str]:
    """What is wrong behind a move: a plan that names what has moved may be old if that is told."""
    if "the next command goes on" in ran.err:
        return []  # which is looked at then
    found, once = without_leftovers(tree_of(bench.repo.path)), bench.undisturbed.once
    before = bench.undisturbed.before
    wrong = [path for path in found.keys() | once.keys() if found.get(path) != once.get(path)]
    told = [path for path in wrong if found.get(path) == before.get(path) and f"{path} may still name" in ran.err]
    if len(told) == len(wrong):
        return []
    return [f"exit 0, and not the new bytes: {differs(bench, found)}: {ran.err[:200]!r}"]
