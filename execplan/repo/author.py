"""Who is at work."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.repo.home import Home

_LONGEST = 200


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
        return login()


def login() -> str:
    """The user as the system knows it, whatever the environment says."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def session() -> str | None:
    """The session of the agent program that is at work, where it says which: EXECPLAN_SESSION, or that of Claude Code."""
    return os.environ.get("EXECPLAN_SESSION") or os.environ.get("CLAUDE_CODE_SESSION_ID") or None


def as_name(said: str) -> str:
    """A name as a document holds it: one line of characters that can be seen, 200 at most."""
    return "".join([char if char.isprintable() else " " for char in " ".join(said.split())])[:_LONGEST] or "unknown"
