"""The environment that a command gets: what a program needs to find its way, and nothing that nobody named."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ALLOWED = frozenset("PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR VIRTUAL_ENV SOURCE_DATE_EPOCH TERM".split())
"""What is handed on, and everything that begins with `LC_`."""
_PUBLIC = frozenset(
    "CLAUDE_CODE_SESSION_ID GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL EMAIL PWD".split()
)
"""What is not handed on and is no secret: who did it, and in which session, stands in the ledger."""


def build_environment(step_env: Mapping[str, str], extra: Sequence[str]) -> dict[str, str]:
    """What a command gets: of ours what is allowed or named, then what its step says."""
    names = {*ALLOWED, *extra}
    env = {name: value for name, value in os.environ.items() if name in names or name.startswith("LC_")}
    return {"PATH": os.defpath, **env, "TERM": "dumb", **step_env}


def public_variables(environ: Mapping[str, str]) -> frozenset[str]:
    """The variables whose values need not be kept out of what is written, whatever a command is given besides."""
    prefixed_names = [name for name in environ if name.startswith(("LC_", "EXECPLAN_"))]
    return ALLOWED | _PUBLIC | frozenset(prefixed_names)
