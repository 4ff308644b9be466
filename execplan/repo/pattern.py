"""Where plans lie, as a regular expression: what hooks go by, who know paths and no home."""

from __future__ import annotations

import re

from execplan.repo.shelf import NOT_PLANS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home


def plan_paths(home: Home) -> str:
    """The expression that finds itself in the paths of plans, counted from the root of the repository."""
    folders = "|".join(sorted({re.escape(home.shown(folder)) for folder in (home.plans, home.archive)}))
    others = "|".join(sorted([re.escape(name.removesuffix(".md")) for name in NOT_PLANS]))
    return rf"^(?:{folders})/(?!(?i:{others})\.md$)[^/.][^/]*\.md$"
