"""Who acts: the name that claims, the journal of edits and new entries carry."""

from __future__ import annotations

import os
from contextvars import ContextVar

from execplan.errors import USAGE, ExecplanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.project.project import Project

_MAX_NAME_LENGTH = 200

_actor_override: ContextVar[str] = ContextVar("actor", default="")
"""The name that `--as` gave."""

_identities: dict[str, str] = {}
"""The name that git knows, by the repository's root: asked once in a process."""


class ActingAs:
    """While it is entered, this name acts, as `--as NAME` asks; raises ExecplanError for a blank one."""

    def __init__(self, name: str) -> None:
        if not name.strip():
            raise ExecplanError("usage", "--as needs a name", exit=USAGE, hint="execplan next --as agent-1")
        self._name = clean_name(name)

    def __enter__(self) -> None:
        self._token = _actor_override.set(self._name)

    def __exit__(self, *_: object) -> None:
        _actor_override.reset(self._token)


def explicit_actor() -> str | None:
    """Who acts, where it was said: `--as`, else EXECPLAN_AGENT; None where neither is given."""
    if name := _actor_override.get():
        return name
    name = os.environ.get("EXECPLAN_AGENT", "")
    return clean_name(name) if name.strip() else None


def actor(project: Project) -> str:
    """Who acts: `--as`, else EXECPLAN_AGENT, else the git identity, else the login."""
    return _actor_override.get() or default_actor(project)


def default_actor(project: Project) -> str:
    """Who acts in a command without `--as`."""
    name = os.environ.get("EXECPLAN_AGENT", "")
    return clean_name(name) if name.strip() else clean_name(_git_identity(project))


def author(project: Project) -> str:
    """The author of an entry where `--author` is not given.

    `--as`, EXECPLAN_AGENT, the setting `author`, EXECPLAN_AUTHOR, the git identity, the login.
    """
    if name := explicit_actor():
        return name
    name = project.settings.author or os.environ.get("EXECPLAN_AUTHOR", "")
    return name if name.strip() else _git_identity(project)


def _git_identity(project: Project) -> str:
    """The name that git writes into commits, GIT_AUTHOR_NAME or user.name; without one, the login."""
    if name := os.environ.get("GIT_AUTHOR_NAME", "").strip():
        return name
    if project.root not in _identities:
        from execplan.git.git_query import user_name

        _identities[project.root] = user_name(project.root) or _login_name()
    return _identities[project.root]


def _login_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return system_login()


def system_login() -> str:
    """The user as the system knows it, whatever the environment says."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def session_id() -> str | None:
    """The session of the agent program that is at work, where it says which: EXECPLAN_SESSION, or that of Claude Code."""
    return os.environ.get("EXECPLAN_SESSION") or os.environ.get("CLAUDE_CODE_SESSION_ID") or None


def clean_name(text: str) -> str:
    """A name as a document holds it: one line of characters that can be seen, 200 at most."""
    return (
        "".join([char if char.isprintable() else " " for char in " ".join(text.split())])[:_MAX_NAME_LENGTH]
        or "unknown"
    )
