"""Name of the current author, used in claims, the edit journal and new entries."""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar

from execplan.core.errors import ExecplanError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from execplan.core.project.project import Project

_MAX_NAME_LENGTH = 200

_actor_override: ContextVar[str] = ContextVar("actor", default="")
"""Name given with `--as`."""

_identities: dict[str, str] = {}
"""Name from git by repository root; git is queried once per process."""


class ActingAs:
    """Context manager that sets the name given with `--as NAME`. Raises ExecplanError for a blank name."""

    def __init__(self, name: str) -> None:
        if not name.strip():
            raise ExecplanError("usage", "--as requires a name", hint="execplan next --as agent-1")
        self._name = clean_name(name)

    def __enter__(self) -> None:
        self._token = _actor_override.set(self._name)

    def __exit__(self, *_: object) -> None:
        _actor_override.reset(self._token)


def can_ask() -> bool:
    """Return whether standard input and output are a terminal, so that a command can ask a question."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def actor_of_call() -> str:
    """Return the name from `--as`, which only this call has; empty without it."""
    return _actor_override.get()


def explicit_actor() -> str | None:
    """Return the name from `--as` or EXECPLAN_AGENT; None if neither is set."""
    if name := actor_of_call():
        return name
    name = os.environ.get("EXECPLAN_AGENT", "")
    return clean_name(name) if name.strip() else None


def actor(project: Project) -> str:
    """Return the name of the current author: `--as`, else EXECPLAN_AGENT, else the git identity, else the login."""
    return explicit_actor() or clean_name(_git_identity(project))


def author(project: Project) -> str:
    """Return the author of an entry if `--author` is not given.

    Sources in order: `--as`, EXECPLAN_AGENT, the setting `author`, EXECPLAN_AUTHOR, the git identity, the login.
    """
    if name := explicit_actor():
        return name
    name = project.settings.author or os.environ.get("EXECPLAN_AUTHOR", "")
    return name if name.strip() else _git_identity(project)


def _git_identity(project: Project) -> str:
    """Return the name that git uses in commits, from GIT_AUTHOR_NAME or user.name, or else the login."""
    if name := os.environ.get("GIT_AUTHOR_NAME", "").strip():
        return name
    if project.root not in _identities:
        from execplan.core.git.git_query import user_name

        _identities[project.root] = user_name(project.root) or _login_name()
    return _identities[project.root]


def _login_name() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return system_login()


def system_login() -> str:
    """Return the login from the user database, regardless of the environment."""
    if sys.platform == "win32":
        return os.getlogin()
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def session_id() -> str | None:
    """Return the session ID of the current agent program, from EXECPLAN_SESSION, Claude Code or Codex; None if unknown."""
    names = ("EXECPLAN_SESSION", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID")
    return next(filter(None, map(os.environ.get, names)), None)


def clean_name(text: str) -> str:
    """Convert a name to one line of at most 200 printable characters."""
    return (
        "".join([char if char.isprintable() else " " for char in " ".join(text.split())])[:_MAX_NAME_LENGTH]
        or "unknown"
    )
