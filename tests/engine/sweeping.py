"""Kill a run, or its rollback, at every entry of its journal, go on, and judge what comes of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from execplan.errors import CHECK_FAILED, INPUT, PAUSED
from tests.engine.stage import NAME, ONCE, Stage, survivors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.conftest import Result
    from tests.crash.bench import Tree

KILLED = (-9, -14)
"""How a command ends that was killed at an entry, or at a time."""
MOST = 12
"""How often a run is resumed before it is given up."""


class Undisturbed(NamedTuple):
    """What a run comes to when nothing happens."""

    before: Tree
    folders: set[str]
    after: Tree
    made: set[str]
    """The folders after it."""
    entries: int
    statuses: dict[str, str]


class Kill(NamedTuple):
    """A kill, and what was not as promised."""

    at: str
    bad: tuple[str, ...]


def undisturbed(stage: Stage, *how: str) -> Undisturbed:
    """Run the plan, with nothing in its way; all of it is kept as `ran`."""
    stage.back("approved")
    before, folders = stage.tree(), stage.folders()
    done = stage.run("run", NAME, *how)
    while done.exit == PAUSED:
        done = stage.run("resume", "-p", NAME)
    assert done.exit == 0, done
    stage.keep("ran")
    return Undisturbed(before, folders, stage.tree(), stage.folders(), len(stage.entries()), statuses(stage))


def statuses(stage: Stage) -> dict[str, str]:
    """How the steps of the last run stand."""
    told: dict[str, str] = {each["id"]: each["status"] for each in stage.repo.ok("show", NAME, "--run")["steps"]}
    return told


def points(count: int, every: int = 1, first: int = 1) -> list[str]:
    """Before and after each of so many entries, or each so manieth of them."""
    return [f"{when}:{number}" for number in range(first, first + count) for when in ("before", "after")][::every]


def sweep_run(stage: Stage, whole: Undisturbed, at: Iterable[str], *how: str) -> list[Kill]:
    """Kill the run at each point, and resume it."""
    return [Kill(each, tuple(_run(stage, whole, each, how))) for each in at]


def _run(stage: Stage, whole: Undisturbed, at: str, how: Sequence[str]) -> list[str]:
    stage.back("approved")
    if why := _killed(stage, at, "run", NAME, *how):
        return why
    return [f"outlived the kill: {each}" for each in survivors(stage.world)] + _come(stage, whole, how)


def _come(stage: Stage, whole: Undisturbed, how: Sequence[str]) -> list[str]:
    """Go on to the end, and say what is other than it is undisturbed."""
    done = finish(stage, *how)
    if done.exit != 0:
        return [f"resume: exit {done.exit}: {done.out[-300:]} {done.err[-500:]}"]
    return _as(stage.tree(), whole.after) + _folders(stage, whole.made) + _counts(stage) + _whole(stage, whole)


def _killed(stage: Stage, at: str, *call: str) -> list[str]:
    """Run a command, through its pauses, until it is killed; what is wrong if it was not: at a time it may be done before."""
    killed = stage.run(*call, kill=at)
    while killed.exit == PAUSED:
        killed = stage.run("resume", "-p", NAME, kill=at)
    done = at.startswith("at:") and killed.exit == 0
    return [] if killed.exit in KILLED or done else [f"it was not killed: {killed}"]


def finish(stage: Stage, *how: str) -> Result:
    """Go on until the run has ended, as a person does who looks whether a command has run before saying so."""
    for _ in range(MOST):
        done = stage.run("resume", "-p", NAME)
        if done.exit == INPUT:  # it was killed before it began
            done = stage.run("run", NAME, *how)
        elif done.exit == PAUSED:
            done = stage.run("resume", "-p", NAME, "--answer", _answer(stage))
        if done.exit == CHECK_FAILED and "is completed: nothing of it is left" in done.err:
            return done._replace(exit=0)  # it was killed behind its last entry
        if done.exit != PAUSED:
            return done
    raise AssertionError(f"still not done: {done}")


def _answer(stage: Stage) -> str:
    (asked,) = [each for each in stage.entries() if each["kind"] == "paused"][-1:]
    if asked["why"] != "unknown":
        return "go"
    return "go" if stage.counted(asked["step"]) else "again"


def _counts(stage: Stage) -> list[str]:
    return [f"{name} ran {stage.counted(name)} times" for name in ONCE if stage.counted(name) != 1]


def _whole(stage: Stage, whole: Undisturbed) -> list[str]:
    """What is wrong with the journal, the ledger and the statuses."""
    verified = stage.run("audit", NAME, "--verify")
    bad = [f"audit --verify: exit {verified.exit}: {verified.out} {verified.err}"] if verified.exit else []
    found = statuses(stage)
    bad += [
        f"{step} is {found.get(step)}, not {said}" for step, said in whole.statuses.items() if found.get(step) != said
    ]
    if (status := stage.record()["status"]) != "completed":
        bad.append(f"the record says {status}")
    return bad + _trash(stage)


def _trash(stage: Stage) -> list[str]:
    """Temporary files that were left where a person or git sees them."""
    found = [path.name for path in stage.repo.path.rglob(".execplan-*") if ".git" not in path.parts]
    return [f"left behind: {name}" for name in found]


def sweep_resume(stage: Stage, whole: Undisturbed, at: Iterable[str], *how: str) -> list[Kill]:
    """Kill the run half-way, kill each resume two entries further on, and go on so until it is done."""
    return [Kill(each, tuple(_resume(stage, whole, each, how))) for each in at]


def _resume(stage: Stage, whole: Undisturbed, at: str, how: Sequence[str]) -> list[str]:
    stage.back("approved")
    if why := _killed(stage, at, "run", NAME, *how):
        return why
    for _ in range(whole.entries):
        when = at.partition(":")[0]
        again = stage.run("resume", "-p", NAME, kill=f"{when}:{len(stage.entries()) + 3}")
        if again.exit == PAUSED:
            again = stage.run("resume", "-p", NAME, "--answer", _answer(stage))
        if again.exit not in (*KILLED, PAUSED):
            break
    return _come(stage, whole, how)


def sweep_rollback(stage: Stage, whole: Undisturbed, at: Iterable[str]) -> list[Kill]:
    """Kill the rollback of the whole run at each point, and roll back once more."""
    return [Kill(each, tuple(_rollback(stage, whole, each))) for each in at]


def _rollback(stage: Stage, whole: Undisturbed, at: str) -> list[str]:
    stage.back("ran")
    if why := _killed(stage, at, "rollback", "-p", NAME):
        return why
    done = stage.run("rollback", "-p", NAME)
    if done.exit != 0 and "already" not in done.err:
        return [f"rollback once more: exit {done.exit}: {done.err}"]
    verified = stage.run("audit", NAME, "--verify")
    bad = [f"audit --verify: {verified.out} {verified.err}"] if verified.exit else []
    return bad + _as(stage.tree(), whole.before) + _folders(stage, whole.folders) + _trash(stage)


def _as(found: Tree, wanted: Tree) -> list[str]:
    """The paths that are other than wanted."""
    paths = sorted(path for path in found.keys() | wanted.keys() if _plain(found.get(path)) != _plain(wanted.get(path)))
    return [f"{path}: {str(found.get(path))[:200]} and not {str(wanted.get(path))[:200]}" for path in paths]


def _plain(held: tuple[int, bytes] | None) -> tuple[int, bytes] | None:
    """What is at a path; a transcript may be that of a later attempt."""
    return None if held is None else (held[0], re.sub(rb"-(?:[0-9]+|resumed)\.md", b".md", held[1]))


def _folders(stage: Stage, wanted: set[str]) -> list[str]:
    found = stage.folders()
    return [f"the folder {each} is {'left' if each in found else 'gone'}" for each in sorted(found ^ wanted)]


def told(kills: Iterable[Kill]) -> str:
    """Everything that was not as promised."""
    return "\n".join([f"killed {each.at}: {why}" for each in kills for why in each.bad])
