"""A step tried out in memory: what it would make of which file, or why nobody can say."""

from __future__ import annotations

from execplan.errors import ExecplanError
from execplan.execution.documents.touched import touched
from execplan.execution.evaluation.after import Changed, Seen, Tree, above, inside
from execplan.execution.evaluation.outcome import ImpossibleError, outcome, shown
from execplan.execution.model import Type
from execplan.execution.world import ABSENT, FILE, plain
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.execution.model import Step
    from execplan.execution.world import State

EXACT: Final = "exact"
UNPREDICTABLE: Final = "unpredictable"
IMPOSSIBLE: Final = "impossible"
DONE: Final = "done"


class DryRun(NamedTuple):
    """What a step would do."""

    kind: str
    """Exact: the diff says it. Unpredictable: only running it tells. Impossible: it can't be done as things stand. Done: a
    run that is under way has done it, and does not do it again."""
    diff: str = ""
    why: str = ""
    """Where there is no diff; of an exact step, what it holds under."""


class Trial(NamedTuple):
    """A step, what it is about, and what came of trying it."""

    step: Step
    targets: dict[str, Seen]
    """The files that it writes or deletes by itself, as it finds them."""
    needs: dict[str, Seen]
    """What must be there: its inputs, the folder that it runs in, a program that is named by its path."""
    changes: tuple[Changed, ...]
    dry: DryRun
    behind: bool
    """Whether a command runs before it."""


class _UnknownError(Exception):
    """Nobody can say; the words say why."""


def try_all(tree: Tree, steps: tuple[Step, ...]) -> tuple[Trial, ...]:
    """Every step, in order, each on what those before it leave."""
    trials = []
    behind = False
    for step in steps:
        trial = _try(tree, step, behind=behind)
        unknown = [*inside(step.outputs)]
        if trial.dry.kind != EXACT:
            unknown += trial.targets
        if step.type is Type.INSTALL and step.target is not None:
            unknown += inside([step.target])
        tree.make(step, trial.changes, unknown)
        trials.append(trial)
        behind = behind or step.argv is not None or step.command is not None or step.validation.test_after is not None
    return tuple(trials)


def targets(step: Step) -> list[str]:
    """The paths that a step writes or deletes by itself, as they are written."""
    if step.type in (Type.CREATE, Type.MODIFY, Type.DELETE):
        return [step.target] if step.target is not None else []
    return touched(step.patch) if step.type is Type.REFACTOR and step.patch is not None else []


def texts(trial: Trial) -> list[Changed]:
    """What a step writes, as far as that is known before it runs: at least what the step itself holds."""
    step = trial.step
    added = [line[1:] for line in (step.patch or "").split("\n") if line.startswith("+")]
    own = "".join([f"{line}\n" for line in added]) + (step.content or "")
    return list(trial.changes) or [Changed(path, None, own.encode()) for path in list(trial.targets)[:1] if own]


def _try(tree: Tree, step: Step, *, behind: bool) -> Trial:
    written = {path: tree.seen(path, step) for path in inside(targets(step))}
    needs = {path: tree.seen(path, step) for path in inside([*step.inputs, step.cwd, *_programs(step)])}
    changes: tuple[Changed, ...] = ()
    try:
        if any([plain(path) is None for path in targets(step)]):
            raise ImpossibleError("its target is not in the repository")
        skipped = _skipped(tree, step)
        changes = () if skipped else _changes(tree, step, written)
        dry = DryRun(EXACT, "".join([shown(each) for each in changes]))
        if skipped:
            dry = dry._replace(why=skipped)
        elif behind:
            dry = dry._replace(why=f"if the commands before it leave {', '.join(written)} alone")
    except _UnknownError as why:
        dry = DryRun(UNPREDICTABLE, why=str(why))
    except ImpossibleError as why:
        dry = DryRun(IMPOSSIBLE, why=str(why))
    except ExecplanError as error:
        dry = DryRun(IMPOSSIBLE, why=error.message)
    return Trial(step, written, needs, changes, dry, behind)


def _programs(step: Step) -> list[str]:
    """The programs that are named by their path from where the step runs; a test may be what the step makes itself."""
    own = inside([*targets(step), *step.outputs])
    named = [argv[0] for argv in (step.argv, step.validation.test_after) if argv is not None and "/" in argv[0]]
    paths = [f"{step.cwd}/{name}" for name in named if not name.startswith("/")]
    return [path for path in paths if plain(path) not in own]


def _skipped(tree: Tree, step: Step) -> str:
    """Why a step will not run as things stand, or nothing."""
    if step.when is None or step.when.kind not in ("exists", "missing"):
        return ""
    path = plain(step.when.of)
    seen = tree.seen(path, step) if path is not None else None
    if seen is None or seen.state is None:
        raise _UnknownError(f"whether it runs depends on {step.when.of}")
    there = seen.state.kind != ABSENT
    if there == (step.when.kind == "exists"):
        return ""
    return f"it is skipped as things stand: {path} is {'there' if there else 'missing'}"


def _changes(tree: Tree, step: Step, written: dict[str, Seen]) -> tuple[Changed, ...]:
    """What a step makes of its files; raises ImpossibleError, _UnknownError, ExecplanError."""
    if step.type is Type.TOOL:
        raise _UnknownError(f"only a call of {step.tool} tells what it does")
    if step.type in (Type.COMMAND, Type.INSTALL):
        raise _UnknownError("only running a command tells what it does")
    _stop_files(tree, step, written)
    return outcome(step, _Then(tree, step))


class _Then:
    """The files as a step finds them."""

    def __init__(self, tree: Tree, step: Step) -> None:
        self.tree = tree
        self.step = step

    def state(self, path: str) -> State:
        """What is there; raises _UnknownError."""
        seen = self.tree.seen(path, self.step)
        if seen.state is None:
            raise _UnknownError(f"what {path} is then depends on {seen.by}")
        return seen.state

    def read(self, path: str) -> bytes:
        """The bytes of a file; raises ExecplanError."""
        return self.tree.content(path, self.step)


def _stop_files(tree: Tree, step: Step, written: dict[str, Seen]) -> None:
    """Refuse what would lie in a file; raises ImpossibleError."""
    for folder in dict.fromkeys([each for path in written for each in above(path)]):
        state = tree.seen(folder, step).state
        if state is not None and state.kind == FILE:
            raise ImpossibleError(f"{folder} is a file, and no folder")
