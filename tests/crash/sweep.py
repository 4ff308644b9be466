"""The sweep: a command is killed at one system call after the other, and what the next commands find is judged."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tests.crash.bench import LEFTOVER, Bench, Tree, leftovers, without_leftovers
from tests.crash.bench import tree as tree_of
from tests.crash.scenes import HOME
from tests.crash.strace import Call, kill

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.conftest import Result

TURNS = frozenset("link linkat rename renameat renameat2 rmdir symlink symlinkat unlink unlinkat".split())
"""Calls behind which another file is found under a name."""
_STATE = "/.git/"
_FEW = 4

OLD, NEW, BETWEEN, MISSED = "old", "new", "between", "missed"


class Kill(NamedTuple):
    """What came of a kill."""

    call: Call
    left: str
    """What it left: old, new, or between the two; missed, when the command made fewer such calls than before."""
    finished: bool
    """Whether the next command went on from between to old or new."""
    bad: tuple[str, ...]
    """What is not as promised."""


class Swept(NamedTuple):
    """What came of a sweep."""

    name: str
    kills: tuple[Kill, ...]
    seconds: float

    def count(self, left: str) -> int:
        """How many kills left this."""
        return sum(each.left == left for each in self.kills)

    @property
    def finished(self) -> int:
        """How many the next command finished or took back."""
        return sum(each.finished for each in self.kills)

    @property
    def bad(self) -> list[str]:
        """Everything that was not as promised, where and why."""
        return [f"{self.name}, killed at {each.call.shown}: {why}" for each in self.kills for why in each.bad]

    @property
    def line(self) -> str:
        """The counts."""
        good = sum(not each.bad for each in self.kills if each.left != MISSED)
        missed = f", {self.count(MISSED)} missed" if self.count(MISSED) else ""
        between = f", {self.count(BETWEEN)} between, {self.finished} of them old or new after the next command"
        return (
            f"{self.name}: {len(self.kills)} kill points{missed}, {good} as promised "
            f"({self.count(OLD)} old, {self.count(NEW)} new{between if self.count(BETWEEN) else ''})"
        )


def bounded(calls: Sequence[Call], most: int, every: int = 1) -> list[Call]:
    """The points that the bounded sweep kills at.

    These are all calls that change what lies outside of git's folder, or turn something within it, and what comes next
    behind a turn, or every second of these and so on; of the other changes so many, and a few of all other calls,
    spread evenly.
    """
    begin = next((at for at, call in enumerate(calls) if call.inside), 0)
    tail = calls[begin:]
    chosen = {len(tail) - 1}
    for at, call in enumerate(tail):
        if (
            call.changes
            and " ENOENT (" not in call.line
            and (_STATE not in call.line or call.name in TURNS | {"flock"})
        ):
            chosen |= {at, min(at + 1, len(tail) - 1)} if call.name in TURNS else {at}
    chosen = {len(tail) - 1, *sorted(chosen)[::every]}
    for some, count in ((True, most), (False, _FEW)):
        chosen |= set(spread([at for at, call in enumerate(tail) if at not in chosen and call.changes is some], count))
    return [tail[at] for at in sorted(chosen)]


def spread(every: Sequence[int], most: int) -> list[int]:
    """At most so many of them, evenly."""
    return list(every) if len(every) <= most else [every[at * len(every) // most] for at in range(most)]


def sweep(bench: Bench, calls: Iterable[Call], known: dict[str, Kill]) -> list[Kill]:
    """Kill at each of the calls; `known` remembers what the next commands do with a state that was met before."""
    return [_killed(bench, call, known) for call in calls]


def _killed(bench: Bench, call: Call, known: dict[str, Kill]) -> Kill:
    for _ in range(3):
        bench.back("before")
        if kill(call, bench.scene.call, bench.repo.path, bench.repo.env, bench.log) is not None:
            break
    else:
        # How often Python asks for memory differs a little from run to run, what it does in the repository does not.
        bad = ("the command did not come to this call",) if call.inside else ()
        return Kill(call, MISSED, finished=False, bad=bad)
    bench.settle()
    state = bench.state()
    if state not in known:
        known[state] = _judged(bench, call)
    return known[state]._replace(call=call)


def _judged(bench: Bench, call: Call) -> Kill:
    """What a kill left, and what the next commands do with it."""
    bad: list[str] = []
    found = tree_of(bench.repo.path)
    left = _which(bench, found)
    if left == BETWEEN:
        bad += torn(bench, found)
        if not bench.scene.apart and not bench.scene.moves:
            bad.append(f"neither old nor new: {differs(bench, found)}")
    bench.keep("killed")
    listed = _listed(bench, bad)
    bench.back("killed")
    _undone(bench, bad)
    return Kill(call, left, finished=left == BETWEEN and listed != BETWEEN, bad=tuple(bad))


def _listed(bench: Bench, bad: list[str]) -> str:
    """What the next command that only reads makes of it, and then the verb once more."""
    result = bench.run("list", "--all")
    bad += _calm("list --all", result, {0})
    then = _whole(bench, "list --all", bad)
    if bench.scene.cut and then != NEW:
        bad.append("list --all does not finish what was cut short")
    _again(bench, then, "list --all", bad)
    return then


def _undone(bench: Bench, bad: list[str]) -> None:
    """What `undo` makes of it as the next command, and then the verb once more."""
    result = bench.run("undo", "-p", "parser", "--json")
    bad += _calm("undo", result, {0, 1})
    if result.exit == 1:
        code = result.json["error"]["code"]
        if code not in ("nothing-to-undo", "archived-plan"):
            bad.append(f"undo refuses: {result.json['error']['message']}")
    if bench.scene.cut and without_leftovers(tree_of(bench.repo.path)) == bench.origin:
        return  # the move was finished, and then undone
    _again(bench, _whole(bench, "undo", bad), "undo", bad)


def _whole(bench: Bench, verb: str, bad: list[str]) -> str:
    """Whether all is old or all is new behind a verb, as is promised."""
    found = tree_of(bench.repo.path)
    then = _which(bench, found)
    if then == BETWEEN:
        bad += [f"{each}, after {verb}" for each in torn(bench, found)]
        if not bench.scene.apart:
            bad.append(f"neither old nor new after {verb}: {differs(bench, found)}")
    return then


def _again(bench: Bench, then: str, after: str, bad: list[str]) -> None:
    """The verb once more, and all is as if nothing had happened."""
    what = f"{bench.scene.call[0]} once more after {after}"
    end = bench.undisturbed
    bad += _calm(what, bench.run(*bench.scene.call), end.exits)
    found = tree_of(bench.repo.path)
    wanted = (end.once,) if then == OLD else (end.twice,) if then == NEW else (end.once, end.twice)
    if without_leftovers(found) not in wanted:
        bad.append(f"not the undisturbed result: {what}: {differs(bench, found)}")
    if leftovers(found):
        bad.append(f"left for good: {what}: {', '.join(sorted(leftovers(found)))}")
    if any(LEFTOVER in line for line in bench.repo.git("status", "--porcelain", "-uall").splitlines()):
        bad.append(f"git sees a leftover: {what}")
    if bench.repo.git("diff", "--cached", "--name-only") != "src/reader.py\n":
        bad.append(f"what was staged is not as it was: {what}")
    if bench.scene.call[0] == "commit" and bench.repo.git("rev-parse", "HEAD") != end.head:
        bad.append(f"not committed: {what}")


def _which(bench: Bench, found: Tree) -> str:
    now = without_leftovers(found)
    if now == bench.undisturbed.before:
        return OLD
    return NEW if now in (bench.undisturbed.once, bench.undisturbed.twice) else BETWEEN


def torn(bench: Bench, found: Tree) -> list[str]:
    """Files that hold what no whole file ever held, are where none belongs, or are gone from both of their places."""
    ends = (bench.undisturbed.before, bench.undisturbed.once, bench.undisturbed.twice)
    held = {data for end in ends for data in end.values()}
    paths = {path for end in ends for path in end}
    now = without_leftovers(found)
    bad = [f"{path} holds half a file" for path, data in now.items() if data not in held]
    # A file that a move removes may first have moved with its folder.
    carried = held if bench.scene.moves else set()
    bad += [f"{path} does not belong there" for path, data in now.items() if path not in paths and data not in carried]
    names = Counter(data for path, data in now.items())
    stays = [data for data in ends[0].values() if data in ends[1].values()]
    return bad + [f"lost: {data[1][:60]!r}" for data in stays if not names[data]]


def differs(bench: Bench, found: Tree) -> str:
    """Which files are as before, which as after, and which as neither."""
    before, once, twice = bench.undisturbed.before, bench.undisturbed.once, bench.undisturbed.twice
    told: dict[str, list[str]] = {OLD: [], NEW: [], "neither": []}
    for path in sorted(before.keys() | once.keys() | without_leftovers(found).keys()):
        now, old, new = found.get(path), before.get(path), (once.get(path), twice.get(path))
        if not now == old == new[0]:
            told[OLD if now == old else NEW if now in new else "neither"].append(path.removeprefix(f"{HOME}/"))
    return "; ".join([f"{how} {', '.join(paths)}" for how, paths in told.items() if paths])


def _calm(verb: str, result: Result, exits: Iterable[int]) -> list[str]:
    """What a verb said that it should not have said."""
    said = (result.err or result.out).strip().replace("\n", " / ")[:300]
    if "Traceback" in result.err + result.out or result.exit == 70:
        return [f"a bug: {verb}: {said}"]
    if result.exit not in exits:
        return [f"exit {result.exit}: {verb}: {said}"]
    return []
