"""Where plans lie, as a regular expression: what hooks go by, who know paths and no home."""

from __future__ import annotations

import re

from execplan.repo.homes import together
from execplan.repo.settings import FOLDER, NOT_PLANS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home

_NAME = "[^/.][^/]*"


def plan_paths(home: Home) -> str:
    """The expression that finds itself in the paths of plans, counted from the root, of homes below too."""
    homes = [_paths(each, at) for at, each in enumerate(together(home))]
    return f"^{homes[0]}$" if len(homes) == 1 else f"^(?:{'|'.join(homes)})$"


def _paths(home: Home, number: int) -> str:
    """The expression of one home; its number tells its groups from those of others."""
    days = "(?:/[0-9_.-]+){0,3}" if "{" in home.settings.archive + home.settings.superseded else ""
    folders = {re.escape(home.shown(folder)) + days for folder in home.archives} | {re.escape(home.shown(home.plans))}
    if home.flat:
        others = "|".join(sorted([re.escape(name.removesuffix(".md")) for name in NOT_PLANS]))
        file = rf"(?!(?i:{others})\.md$){_NAME}\.md"
    elif home.settings.layout == FOLDER:
        file = rf"(?P<own{number}>{_NAME})/(?:{_NAME})?(?P=own{number})\.md"
    else:
        file = f"{_NAME}/{re.escape(home.settings.layout)}"
    return f"(?:{'|'.join(sorted(folders))})/{file}"
