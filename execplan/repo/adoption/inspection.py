"""Whether the plans of a home are where their state wants them."""

from __future__ import annotations

from execplan.plan.model import BROKEN, COMPLETE, OPEN
from execplan.record import NamedTuple
from execplan.repo import shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project


class Inspection(NamedTuple):
    """The plans of a home in numbers, and those that something is wrong with."""

    plans: int
    """Outside the archive."""
    archived: int
    broken: tuple[tuple[str, str], ...]
    """Path and why."""
    misfits: tuple[tuple[str, str], ...]
    """Plans whose state does not fit their folder: path and why."""


def inspect(home: Project) -> Inspection:
    """Read every plan of a home, archived ones too."""
    shelved = shelf.load_all(home, shelf.all_refs(home))
    broken, misfits = [], []
    for each in shelved:
        path = home.display_path(each.ref.path)
        if each.plan is None:
            broken.append((path, each.error.message if each.error is not None else BROKEN))
        elif each.ref.archived:
            open_tasks = [task.state for task in each.plan.tasks].count(OPEN)
            if open_tasks and not each.plan.excused and not home.is_in_superseded(each.ref.path):
                misfits.append((path, f"archived with {open_tasks} open task{'s' if open_tasks > 1 else ''}"))
        elif each.state == COMPLETE:
            misfits.append((path, "complete, and not archived"))
    archived = [each.ref.archived for each in shelved].count(True)
    return Inspection(len(shelved) - archived, archived, tuple(broken), tuple(misfits))
