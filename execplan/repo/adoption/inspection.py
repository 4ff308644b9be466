"""Whether the plans of a home are where their state wants them."""

from __future__ import annotations

from execplan.plan.model import BROKEN, COMPLETE, OPEN
from execplan.record import NamedTuple
from execplan.repo import shelf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Project


class ProjectInspection(NamedTuple):
    """The plans of a home in numbers, and those that something is wrong with."""

    open_count: int
    """Outside the archive."""
    archived_count: int
    broken: tuple[tuple[str, str], ...]
    """Path and why."""
    misfits: tuple[tuple[str, str], ...]
    """Plans whose state does not fit their folder: path and why."""


def inspect_project(project: Project) -> ProjectInspection:
    """Read every plan of a home, archived ones too."""
    stored_plans = shelf.load_all(project, shelf.all_refs(project))
    broken, misfits = [], []
    for stored_plan in stored_plans:
        path = project.display_path(stored_plan.ref.path)
        if stored_plan.plan is None:
            broken.append((path, stored_plan.error.message if stored_plan.error is not None else BROKEN))
        elif stored_plan.ref.archived:
            open_tasks = [task.state for task in stored_plan.plan.tasks].count(OPEN)
            if open_tasks and not stored_plan.plan.is_archived_unfinished and not project.is_in_superseded(stored_plan.ref.path):
                misfits.append((path, f"archived with {open_tasks} open task{'s' if open_tasks > 1 else ''}"))
        elif stored_plan.state == COMPLETE:
            misfits.append((path, "complete, and not archived"))
    archived_count = [stored_plan.ref.archived for stored_plan in stored_plans].count(True)
    return ProjectInspection(len(stored_plans) - archived_count, archived_count, tuple(broken), tuple(misfits))
