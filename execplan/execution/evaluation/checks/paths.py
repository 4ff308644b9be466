"""Where steps may write."""

from __future__ import annotations

import os
import tomllib

from execplan.execution.evaluation.checks.check import ERROR, Case, Finding, check
from execplan.execution.evaluation.trial import targets
from execplan.execution.model import Type
from execplan.execution.world import FOLDER, LINK, OTHER, OUTSIDE, plain
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from execplan.execution.model import Step
    from execplan.execution.world import World

_TARGET = "target"
_PYPROJECT = "pyproject.toml"


@check("paths")
def paths(case: Case) -> Iterator[Finding]:
    """Every path stays in the repository and follows no link, and none is git's or execplan's own."""
    source = case.document.source
    plan = source.path if source is not None else ""
    for trial in case.trials:
        for named in _named(trial.step):
            for message, mend in _wrong(case.world, trial.step, named, plan):
                yield Finding(ERROR, f"{named.what} {named.path} {message}", mend, trial.step)
        for change in trial.changes:
            if _tables(change.before) != _tables(change.after) and change.path.rpartition("/")[2] == _PYPROJECT:
                what = f"{change.path}: tool.execplan would change"
                yield Finding(ERROR, what, "change settings by hand", trial.step)


class _Named(NamedTuple):
    """A path of a step."""

    what: str
    path: str
    written: bool = False
    """Whether something is made, changed or deleted there."""


def _wrong(world: World, step: Step, named: _Named, plan: str) -> Iterator[tuple[str, str]]:
    """What is wrong with a path, and what to do about it."""
    path = plain(named.path)
    if path is None:
        out = os.path.normpath(named.path).startswith("..")
        why = "is absolute" if named.path.startswith("/") else "leads out with `..`" if out else "has `..` in it"
        yield why, "name a path in the repository, from its root"
        return
    state = world.state(path)
    if state.kind == OUTSIDE:
        where = f"the link {state.link}" if state.link else "a folder that can't be entered"
        yield f"leads through {where}", "name the path that it leads to"
    elif state.kind == LINK and not (step.type is Type.DELETE and named.written):
        yield f"is a link to {state.link}", "name the file itself"
    elif state.kind == OTHER:
        yield "is a device, a pipe or a socket", "name a regular file"
    elif state.kind == FOLDER and named.what == _TARGET:
        yield "is a folder", "name a file; what is done to many takes a command"
    if named.written:
        own = "the plan itself, which a run ticks" if path == plan else world.protected(path)
        if own:
            yield f"is {own}", "leave it out"


def _named(step: Step) -> Iterator[_Named]:
    """The paths of a step."""
    for path in targets(step):
        yield _Named(_TARGET, path, written=True)
    if step.type is Type.INSTALL and step.target is not None:
        yield _Named("environment", step.target, written=True)
    for path in step.outputs:
        yield _Named("output", path, written=True)
    for path in step.inputs:
        yield _Named("input", path)
    if plain(step.cwd) != ".":
        yield _Named("cwd", step.cwd)
    if step.when is not None and step.when.kind in ("exists", "missing"):
        yield _Named("condition", step.when.of)


def _tables(data: bytes | None) -> object:
    """What a pyproject.toml says of execplan; nothing where it is none."""
    try:
        tools = tomllib.loads((data or b"").decode("utf-8")).get("tool", {})
    except (ValueError, RecursionError):
        return None
    return tools.get("execplan") if isinstance(tools, dict) else None
