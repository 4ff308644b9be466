"""How a plan is getting on."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime

from execplan.clock import now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.plan.model import Plan
    from execplan.repo.home import Home


def is_stalled(home: Home, path: str, plan: Plan) -> bool:
    """Whether an open plan has had no stamp and no edit for the days that the settings say."""
    today = now().date()
    try:
        last = datetime.fromtimestamp(os.stat(path).st_mtime, UTC).date()
    except FileNotFoundError:  # moved since it was read: somebody is at it
        return False
    for task in plan.tasks:
        if task.stamp is not None and task.stamp.possible:
            last = max(last, min(date.fromisoformat(task.stamp.date), today))
    return (today - last).days > home.settings.stalled_days
