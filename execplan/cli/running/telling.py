"""What happens in a run, as lines for people: an entry of its journal becomes none, one or some."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from execplan.cli.door import shown
from execplan.cli.running.phrases import changed, counted, lasted, listed, some
from execplan.engine.entries import change_from_json, attempt_result_from_entry
from execplan.execution.world import ABSENT, FILE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execplan.engine.journal import Entry

GOOD: Final = "good"
BAD: Final = "bad"
ASIDE: Final = "aside"
PLAIN: Final = ""
INTERRUPTED: Final = "interrupted"
"""The cause of an attempt that was stopped with its run: it has not failed, and is gone on with."""
_KEPT = 10
"""Lines of a step's output that are shown when it fails, and files that are named when it is taken back."""


class Line(NamedTuple):
    """A line that is shown."""

    text: str
    tone: str = PLAIN
    """Good, bad, or said aside."""


class Teller:
    """It knows the steps of a run, and the last lines that each has printed."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.allowed: dict[str, int] = {}
        """By step, how many attempts it may have."""
        self._printed: dict[str, deque[str]] = {}

    def begin(self, steps: Sequence[Any]) -> None:
        """The steps, as the model has them."""
        self.numbers |= {step.id: step.number for step in steps}
        self.allowed |= {step.id: 1 + step.on_failure.max_retries for step in steps}

    def line(self, step: str, text: str) -> None:
        """A line that a step has printed."""
        self._printed.setdefault(step, deque(maxlen=_KEPT)).append(text)

    def name(self, step: str) -> str:
        """A step with its number."""
        return f"{self.numbers[step]} {step}" if step in self.numbers else step

    def tell(self, entry: Entry) -> list[Line]:
        """The lines about an entry."""
        lines: list[Line] = getattr(self, f"_{entry.kind}", _nothing)(entry.fields)
        return [each._replace(text=shown(each.text)) for each in lines]

    def _begun(self, said: dict[str, Any]) -> list[Line]:
        who = "approved by the policy" if said["how"] == "policy" else f"approved by {said['approver']}"
        where = (
            "by an agent"
            if said.get("mode") == "agent"
            else f"in {said['sandbox']}"
            if said["sandbox"]
            else "in no sandbox"
        )
        return [Line(f"run {said['run']} of {said['plan_id']}: {who}, {where}")]

    def _resumed(self, said: dict[str, Any]) -> list[Line]:
        covered = said.get("covered_by")
        if covered is None:
            return [Line("resumed")]
        why = f"all its steps were approved by {said['approver']} as revision {covered['revision']}"
        return [Line(f"resumed: revision {said['revision']} needs no new approval: {why} ({covered['approval'][:12]})")]

    def _intent(self, said: dict[str, Any]) -> list[Line]:
        step, attempt = said["step"], said["attempt"]
        self._printed.pop(step, None)
        if attempt == 1:
            return []
        of = f" of {self.allowed[step]}" if self.allowed.get(step, 0) >= attempt else ""
        return [Line(f"again {self.name(step)}: attempt {attempt}{of}")]

    def _result(self, said: dict[str, Any]) -> list[Line]:
        step, performed = said["step"], attempt_result_from_entry(said)
        name, time = self.name(step), lasted(performed.seconds)
        attempt = f", attempt {said['attempt']}" if said["attempt"] > 1 else ""
        if performed.ok:
            what = changed(performed.changes)
            return [Line(f"ok {name} ({time}{attempt})" + (f": {what}" if what else ""), GOOD)]
        if performed.cause == INTERRUPTED:
            return [Line(f"stopped {name} ({time}{attempt})", ASIDE)]
        lines = [Line(f"failed {name} ({time}{attempt}): {performed.reason or performed.cause}", BAD)]
        lines += [Line(f"    {each}", ASIDE) for each in self._printed.get(step, ())]
        return lines + ([Line(f"  transcript: {performed.transcript}")] if performed.transcript else [])

    def _retaken(self, said: dict[str, Any]) -> list[Line]:
        """What another may have written there meanwhile is named, so that it is found again."""
        changes = [change_from_json(each) for each in said["changes"]]
        kept = [each for each in changes if each.after.kind == FILE and each.after.sha256 and not each.declared]
        lines = [Line(f"  kept what was there: {each.path}: {each.after.sha256}", ASIDE) for each in kept[:_KEPT]]
        lines += [Line(f"  kept {len(kept) - _KEPT} more: the journal names them", ASIDE)] if kept[_KEPT:] else []
        return [Line(f"  taken back: {some([each.path for each in changes])}"), *lines] if changes else []

    def _skipped(self, said: dict[str, Any]) -> list[Line]:
        return [Line(f"skipped {self.name(said['step'])}: {said['reason']}", ASIDE)]

    def _blocked(self, said: dict[str, Any]) -> list[Line]:
        return [Line(f"blocked {self.name(said['step'])}: {said['reason']}", BAD)]

    def _recovered(self, said: dict[str, Any]) -> list[Line]:
        return [Line(f"recovered {self.name(said['step'])}: {said['by']} stood in for it", GOOD)]

    def _ticked(self, said: dict[str, Any]) -> list[Line]:
        return [Line(f"  ticked: {said['task']}")]

    def _reopened(self, said: dict[str, Any]) -> list[Line]:
        return [Line(f"  reopened: {said['task']}")]

    def _answered(self, said: dict[str, Any]) -> list[Line]:
        about = f" for {self.name(said['step'])}" if said["step"] else ""
        return [Line(f"answered{about}: {said['answer']}")]

    def _replanned(self, said: dict[str, Any]) -> list[Line]:
        return [Line(f"replanned, now revision {said['revision']}: {said['reason']}")]

    def _rollback(self, said: dict[str, Any]) -> list[Line]:
        """All that is about to be done, before anything of it is."""
        why = f" ({said['automatic']})" if said["automatic"] else ""
        lines = [f"rolling back {counted(len(said['steps']), 'step')}{why}: {', '.join(said['steps'])}"]
        changes = map(change_from_json, said["changes"])
        files = [f"  {'remove' if each.before.kind == ABSENT else 'restore'} {each.path}" for each in changes]
        lines += listed(files + [f"  remove {each}/" for each in said["folders"]])
        lines += [f"  can't be taken back: {each}" for each in said["undone_not"]]
        return [Line(each) for each in lines]


def _nothing(said: dict[str, Any]) -> list[Line]:
    return []
