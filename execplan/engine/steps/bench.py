"""What a step is done with."""

from __future__ import annotations

from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.engine.commands.sandbox import Sandbox
    from execplan.engine.commands.stop import Stop
    from execplan.engine.files.ground import Ground
    from execplan.engine.files.store import Store
    from execplan.engine.place import Place
    from execplan.engine.watch import Watch
    from execplan.execution.model import ExecutionPlan
    from execplan.execution.policy import Policy
    from execplan.repo.home import Home
    from execplan.repo.shelf import Ref
    from execplan.text.redaction import Redaction


class Bench(NamedTuple):
    """All that the steps of a run share."""

    home: Home
    ref: Ref
    document: ExecutionPlan
    policy: Policy
    place: Place
    ground: Ground
    store: Store
    sandbox: Sandbox | None
    redaction: Redaction
    stop: Stop
    watch: Watch
    deadline: float
    """Of the whole run, by time.monotonic()."""
