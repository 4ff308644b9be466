"""The files as they will be when a step begins: those on disk, with what the steps before it make of them."""

from __future__ import annotations

from hashlib import sha256

from execplan.execution.world import ABSENT, FILE, FOLDER, State, normalize_path
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.execution.execution_plan import ExecutionPlan, Step
    from execplan.execution.world import World

DEFAULT_FILE_MODE = 0o644
"""The mode of a file that a step makes."""


class FileChange(NamedTuple):
    """What a step makes of a file."""

    path: str
    before: bytes | None
    """None: there is none."""
    after: bytes | None
    mode: int = DEFAULT_FILE_MODE
    old_mode: int = DEFAULT_FILE_MODE
    """Its mode before; of one that is not there the mode that it has if nothing is said."""


class ProjectedState(NamedTuple):
    """What is known of a path when a step begins."""

    state: State | None
    """None: that depends on what an earlier step does when it runs."""
    changed_by: str = ""
    """The last earlier step that makes something of it."""


class _FileEvent(NamedTuple):
    """What one step makes of one path."""

    step_id: str
    content: bytes | None = None
    mode: int = DEFAULT_FILE_MODE
    is_known: bool = True


class ProjectedFiles:
    """The files, step by step."""

    def __init__(self, world: World, document: ExecutionPlan) -> None:
        self.world = world
        self._events_by_path: dict[str, list[_FileEvent]] = {}
        self._folders: dict[str, list[str]] = {}
        """The steps that make a folder, by making something in it."""
        self._uncertain: set[str] = set()
        """The steps without which the run may go on."""
        self._replaced: dict[str, set[str]] = {}
        """By alternative, the steps that it takes the place of."""
        for step in document.steps:
            if _alternative_id(step):
                self._replaced.setdefault(_alternative_id(step), set()).add(step.id)

    def path_state(self, path: str, step: Step) -> ProjectedState:
        """What is known of a path when a step begins."""
        event = self._last_event(path, step)
        if event is None:
            return self._created_directory(path, step) or ProjectedState(self.world.state(path))
        if not event.is_known:
            return ProjectedState(None, event.step_id)
        if event.content is None:
            return ProjectedState(State(ABSENT), event.step_id)
        state = State(FILE, sha256(event.content).hexdigest(), event.mode, size=len(event.content))
        return ProjectedState(state, event.step_id)

    def content(self, path: str, step: Step) -> bytes:
        """The bytes of a file when a step begins, if that is known; raises ExecplanError where the disk has none."""
        event = self._last_event(path, step)
        return self.world.read(path) if event is None else event.content or b""

    def record_changes(self, step: Step, changes: Iterable[FileChange], unknown: Iterable[str]) -> None:
        """Let a step have made its changes, and paths of which nobody knows what they hold."""
        if self._is_uncertain(step):
            self._uncertain.add(step.id)
        is_known = step.id not in self._uncertain
        events = [(change.path, _FileEvent(step.id, change.after, change.mode, is_known)) for change in changes]
        events += [(path, _FileEvent(step.id, is_known=False)) for path in unknown]
        for path, event in events:
            self._events_by_path.setdefault(path, []).append(event)
            if event.content is not None or not event.is_known:
                for folder in parent_directories(path):
                    self._folders.setdefault(folder, []).append(step.id)

    def _last_event(self, path: str, step: Step) -> _FileEvent | None:
        ignored = self._ignored_steps(step)
        return next(
            (event for event in reversed(self._events_by_path.get(path, ())) if event.step_id not in ignored), None
        )

    def _created_directory(self, path: str, step: Step) -> ProjectedState | None:
        ignored = self._ignored_steps(step)
        step_ids = [step_id for step_id in self._folders.get(path, ()) if step_id not in ignored]
        return ProjectedState(State(FOLDER, mode=0o755), step_ids[-1]) if step_ids else None

    def _ignored_steps(self, step: Step) -> set[str]:
        """The steps that will have made nothing when this one runs: it is for when they have failed or were skipped."""
        ignored = set(self._replaced.get(step.id, ()))
        if step.when is not None and step.when.kind in ("failed", "skipped"):
            ignored.add(step.when.of)
        return ignored

    def _is_uncertain(self, step: Step) -> bool:
        """Whether the run may go on without what a step makes."""
        if step.id in self._replaced or step.on_failure.strategy not in ("fail_fast", "retry", "ask", "replan"):
            return True
        if step.when is None or step.when.kind != "succeeded":
            return step.when is not None
        return step.when.of in self._uncertain


def _alternative_id(step: Step) -> str:
    """The step that takes the place of one that failed, or nothing."""
    kind, _, alternative = step.on_failure.strategy.partition(":")
    return alternative if kind == "alternative" else ""


def parent_directories(path: str) -> Iterator[str]:
    """The folders that a path lies in."""
    parts = path.split("/")
    for number in range(1, len(parts)):
        yield "/".join(parts[:number])


def normalize_paths(paths: Iterable[str]) -> list[str]:
    """Those paths that stay in the repository, in their plain form, each once."""
    return list(dict.fromkeys([normalized for path in paths if (normalized := normalize_path(path)) is not None]))
