"""Who is at work."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home


def author(home: Home) -> str:
    """Who decides when nobody is named: a setting, EXECPLAN_AUTHOR, git's user.name, the login."""
    name = home.settings.author or os.environ.get("EXECPLAN_AUTHOR", "")
    if name.strip():
        return name
    from execplan.repo.ask import user_name

    found = user_name(home.root)
    if found:
        return found
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
