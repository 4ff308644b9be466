"""Before a step: its files are as they should be, and all that it is about to change is kept."""

from __future__ import annotations

from execplan.engine.steps import looks
from execplan.engine.steps.named import bound, declared, folders_of, is_command, runs
from execplan.errors import CHANGED, ExecplanError
from execplan.execution.binding import sanitize_state, describe_difference
from execplan.execution.world import ABSENT, FOLDER, OUTSIDE, State
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from execplan.engine.steps.bench import RunContext
    from execplan.execution.model import Step


class Prepared(NamedTuple):
    """What was there before a step."""

    before: dict[str, State]
    """By path: what it says that it writes, and the folders above that are missing."""
    snapshot: bool
    """Whether the whole tree was looked at and kept too."""


def prepare(bench: RunContext, step: Step, expected: Mapping[str, State]) -> Prepared:
    """Check that all is as the run expects it, and keep it; raises ExecplanError."""
    wrong = list(_wrong(bench, step, expected))
    if wrong:
        raise _drifted(step, wrong)
    written = declared(step)
    before = {folder: State(ABSENT) for folder in folders_of(written) if bench.ground.state(folder).kind == ABSENT}
    if is_command(step):
        before |= {path: bench.ground.state(path) for path in written}
    else:
        before |= {path: bench.store.save_path(bench.ground, path) for path in written}
    wrong = [f"{path}: {why}" for path in written if (why := _differs(bench, step, expected, path, before[path]))]
    if wrong:  # it changed while it was kept
        raise _drifted(step, wrong)
    if runs(step):
        looks.keep(bench, step)
    return Prepared(before, runs(step))


def _wrong(bench: RunContext, step: Step, expected: Mapping[str, State]) -> Iterator[str]:
    """What is not as it should be, a line each."""
    for path in dict.fromkeys([*bound(step), *declared(step)]):
        why = _differs(bench, step, expected, path, bench.ground.state(path))
        if why:
            yield f"{path}: {why}"
    for folder in folders_of(declared(step)):
        kind = bench.ground.state(folder).kind
        if kind not in (ABSENT, FOLDER, OUTSIDE):  # what lies outside was told of the path itself
            yield f"{folder}: is no folder, and something is to be written in it"


def _differs(bench: RunContext, step: Step, expected: Mapping[str, State], path: str, found: State) -> str:
    """How a path is not as it should be, or nothing; what is no target and no input must only lie in the repository."""
    written = bound(step)
    if path not in written:
        return "leads out of the repository" if found.kind == OUTSIDE else ""
    wanted = expected.get(path, expected.get(written[path]))
    if wanted is None:
        return ""
    if (wanted.kind, found.kind) == (ABSENT, FOLDER) and _was_filled(expected, path):
        return ""
    return describe_difference(sanitize_state(wanted), sanitize_state(found))


def _was_filled(expected: Mapping[str, State], folder: str) -> bool:
    """Whether the run itself has made a file in a folder, and so the folder."""
    return any([path.startswith(f"{folder}/") and state.kind != ABSENT for path, state in expected.items()])


def _drifted(step: Step, wrong: list[str]) -> ExecplanError:
    return ExecplanError(
        "drifted",
        f"{step.id} was not begun: {wrong[0]}" + (f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""),
        exit=CHANGED,
        hint="bring it back as it was and resume, or roll the run back: execplan resume; execplan rollback",
        candidates=wrong,
    )
