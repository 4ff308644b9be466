"""A step tried out in memory: what it would make of which file, or why nobody can say."""

from __future__ import annotations

from execplan.errors import ExecplanError
from execplan.execution.documents.touched import touched
from execplan.execution.evaluation import patch
from execplan.execution.evaluation.after import NEW, Changed, Seen, Tree, above, inside
from execplan.execution.evaluation.unified import cut, diff
from execplan.execution.model import Type
from execplan.execution.world import ABSENT, FILE, LINK, plain
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from execplan.execution.model import Step

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


class _ImpossibleError(Exception):
    """It can't be done; the words say why."""


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
            raise _ImpossibleError("its target is not in the repository")
        skipped = _skipped(tree, step)
        changes = () if skipped else _changes(tree, step, written)
        dry = DryRun(EXACT, "".join([_modes(each) + diff(each.before, each.after, each.path) for each in changes]))
        if skipped:
            dry = dry._replace(why=skipped)
        elif behind:
            dry = dry._replace(why=f"if the commands before it leave {', '.join(written)} alone")
    except _UnknownError as why:
        dry = DryRun(UNPREDICTABLE, why=str(why))
    except _ImpossibleError as why:
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
    """What a step makes of its files; raises _ImpossibleError, _UnknownError, ExecplanError."""
    if step.type is Type.TOOL:
        raise _UnknownError(f"an agent calls {step.tool}")
    if step.type in (Type.COMMAND, Type.INSTALL):
        raise _UnknownError("only running a command tells what it does")
    _stop_files(tree, step, written)
    if step.type is Type.REFACTOR:
        return tuple(_refactored(tree, step, written))
    return (_changed(tree, step, *next(iter(written.items()))),)


def _stop_files(tree: Tree, step: Step, written: dict[str, Seen]) -> None:
    """Refuse what would lie in a file; raises _ImpossibleError."""
    for folder in dict.fromkeys([each for path in written for each in above(path)]):
        state = tree.seen(folder, step).state
        if state is not None and state.kind == FILE:
            raise _ImpossibleError(f"{folder} is a file, and no folder")


def _changed(tree: Tree, step: Step, path: str, seen: Seen) -> Changed:
    """What a step makes of its target; raises _ImpossibleError, _UnknownError, ExecplanError."""
    if step.type is Type.CREATE:
        if _known(path, seen) is not None:
            raise _ImpossibleError(f"{path} is there already")
        return Changed(path, None, (step.content or "").encode())
    if step.type is Type.DELETE and seen.state is not None and seen.state.kind == LINK:
        return Changed(path, f"{seen.state.link}\n".encode(), None)
    mode = _known(path, seen)
    if mode is None:
        raise _ImpossibleError(f"there is no file {path}")
    old = tree.content(path, step)
    if step.type is Type.DELETE:
        return Changed(path, old, None)
    if step.patch is not None:
        (change,) = patch.read(step.patch, path)
        return Changed(path, old, patch.apply(old, change), change.mode or mode, mode)
    return Changed(path, old, _spliced(old, step), mode, mode)


def _modes(change: Changed) -> str:
    """How the mode of a file changes, as git tells it: a diff of its lines would not show what becomes a program."""
    if change.after is None or change.mode == change.was:
        return ""
    old = f"old mode 100{change.was:o}\nnew" if change.before is not None else "new file"
    return f"diff --git a/{change.path} b/{change.path}\n{old} mode 100{change.mode:o}\n"


def _refactored(tree: Tree, step: Step, written: dict[str, Seen]) -> list[Changed]:
    """What a diff over several files makes of them."""
    changed = []
    for change in patch.read(step.patch or ""):
        source, target = [plain(name) if name is not None else None for name in (change.source, change.target)]
        mode = _known(source, written[source]) if source is not None else NEW
        if mode is None:
            raise _ImpossibleError(f"there is no file {source}")
        if target is not None and target != source and _known(target, written[target]) is not None:
            raise _ImpossibleError(f"{target} is there already")
        old = tree.content(source, step) if source is not None else b""
        new = patch.apply(old, change)
        if target is None and new:
            raise _ImpossibleError(f"the diff deletes {source}, and leaves some of its lines")
        if source is not None and source != target:
            changed.append(Changed(source, old, None))
        if target is not None:
            there = source == target
            changed.append(Changed(target, old if there else None, new, change.mode or mode, mode if there else NEW))
    return changed


def _known(path: str, seen: Seen) -> int | None:
    """The mode of a file, None where there is nothing; raises _UnknownError, _ImpossibleError."""
    if seen.state is None:
        raise _UnknownError(f"what {path} is then depends on {seen.by}")
    if seen.state.kind == ABSENT:
        return None
    if seen.state.kind != FILE:
        raise _ImpossibleError(f"{path} is no regular file")
    return seen.state.mode


def _spliced(old: bytes, step: Step) -> bytes:
    """A file with lines of it given anew; the line ends are those of the file."""
    assert step.lines is not None  # a step that modifies has a patch or lines
    first, last = step.lines
    lines = cut(old)
    if last > len(lines):
        raise _ImpossibleError(f"{step.target} has {len(lines)} lines, not {last}")
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    given = (step.content or "").replace("\r\n", "\n")
    given = given if given.endswith("\n") or not given else given + "\n"
    new = given.replace("\n", end)
    if last == len(lines) and not lines[-1].endswith("\n"):
        new = new.removesuffix(end)
    return "".join([*lines[: first - 1], new, *lines[last:]]).encode("utf-8", "surrogateescape")
