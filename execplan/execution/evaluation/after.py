"""The files as they will be when a step begins: those on disk, with what the steps before it make of them."""

from __future__ import annotations

from hashlib import sha256

from execplan.execution.world import ABSENT, FILE, FOLDER, State, plain
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.execution.model import ExecutionPlan, Step
    from execplan.execution.world import World

NEW = 0o644
"""The mode of a file that a step makes."""


class Changed(NamedTuple):
    """What a step makes of a file."""

    path: str
    before: bytes | None
    """None: there is none."""
    after: bytes | None
    mode: int = NEW


class Seen(NamedTuple):
    """What is known of a path when a step begins."""

    state: State | None
    """None: that depends on what an earlier step does when it runs."""
    by: str = ""
    """The last earlier step that makes something of it."""


class _Event(NamedTuple):
    """What one step makes of one path."""

    by: str
    after: bytes | None = None
    mode: int = NEW
    known: bool = True


class Tree:
    """The files, step by step."""

    def __init__(self, world: World, document: ExecutionPlan) -> None:
        self.world = world
        self._events: dict[str, list[_Event]] = {}
        self._folders: dict[str, list[str]] = {}
        """The steps that make a folder, by making something in it."""
        self._states: dict[str, State] = {}
        self._steps = {step.id: step for step in document.steps}
        self._alternatives = {_alternative(step) for step in document.steps}

    def seen(self, path: str, step: Step) -> Seen:
        """What is known of a path when a step begins."""
        event = self._last(path, step)
        if event is None:
            return self._made_folder(path, step) or Seen(self.on_disk(path))
        if not event.known:
            return Seen(None, event.by)
        if event.after is None:
            return Seen(State(ABSENT), event.by)
        found = State(FILE, sha256(event.after).hexdigest(), event.mode, size=len(event.after))
        return Seen(found, event.by)

    def content(self, path: str, step: Step) -> bytes:
        """The bytes of a file when a step begins, if that is known; raises ExecplanError where the disk has none."""
        event = self._last(path, step)
        return self.world.read(path) if event is None else event.after or b""

    def on_disk(self, path: str) -> State:
        """What is there before any step."""
        if path not in self._states:
            self._states[path] = self.world.state(path)
        return self._states[path]

    def make(self, step: Step, changes: Iterable[Changed], unknown: Iterable[str]) -> None:
        """Let a step have made its changes, and paths of which nobody knows what they hold."""
        known = not self._is_unsure(step)
        events = [(each.path, _Event(step.id, each.after, each.mode, known)) for each in changes]
        events += [(path, _Event(step.id, known=False)) for path in unknown]
        for path, event in events:
            self._events.setdefault(path, []).append(event)
            if event.after is not None or not event.known:
                for folder in above(path):
                    self._folders.setdefault(folder, []).append(step.id)

    def _last(self, path: str, step: Step) -> _Event | None:
        apart = self._apart(step)
        return next((event for event in reversed(self._events.get(path, ())) if event.by not in apart), None)

    def _made_folder(self, path: str, step: Step) -> Seen | None:
        apart = self._apart(step)
        makers = [by for by in self._folders.get(path, ()) if by not in apart]
        return Seen(State(FOLDER, mode=0o755), makers[-1]) if makers else None

    def _apart(self, step: Step) -> set[str]:
        """The steps that will have made nothing when this one runs: it is for when they have failed or were skipped."""
        apart = {each.id for each in self._steps.values() if _alternative(each) == step.id}
        if step.when is not None and step.when.kind in ("failed", "skipped"):
            apart.add(step.when.of)
        return apart

    def _is_unsure(self, step: Step) -> bool:
        """Whether the run may go on without what a step makes."""
        if step.id in self._alternatives or step.on_failure.strategy not in ("fail_fast", "retry", "ask", "replan"):
            return True
        if step.when is None or step.when.kind != "succeeded":
            return step.when is not None
        needed = self._steps.get(step.when.of)
        return needed is None or self._is_unsure(needed)


def _alternative(step: Step) -> str:
    """The step that takes the place of one that failed, or nothing."""
    name, _, other = step.on_failure.strategy.partition(":")
    return other if name == "alternative" else ""


def above(path: str) -> Iterator[str]:
    """The folders that a path lies in."""
    parts = path.split("/")
    for number in range(1, len(parts)):
        yield "/".join(parts[:number])


def inside(paths: Iterable[str]) -> list[str]:
    """Those paths that stay in the repository, in their plain form, each once."""
    return list(dict.fromkeys([found for path in paths if (found := plain(path)) is not None]))
