"""The environment of a command: the variables that programs usually need, and those explicitly named."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from execplan.core.secrets.redaction import Redactor

ALLOWED = frozenset("PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR VIRTUAL_ENV SOURCE_DATE_EPOCH TERM".split())
"""Variables that are passed on, in addition to all that begin with `LC_`."""
_OF_MACHINE = frozenset("PATH HOME USER LOGNAME SHELL TMPDIR VIRTUAL_ENV TERM".split())
"""Allowed variables that describe a machine and its user, so that they have no meaning on another machine."""
_PUBLIC = frozenset(
    "CLAUDE_CODE_SESSION_ID GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL EMAIL PWD _".split()
)
"""Variables that are not passed on but are not secret: the audit log contains the user and the session."""


def build_environment(step_env: Mapping[str, str], extra: Sequence[str], traceparent: str = "") -> dict[str, str]:
    """Build the environment of a command: allowed and named variables of this process, then those of the step.

    `traceparent` is the trace context of the command's attempt; it replaces that of this process if it is named.
    """
    names = {*ALLOWED, *extra}
    env = {name: value for name, value in os.environ.items() if name in names or name.startswith("LC_")}
    if traceparent and "TRACEPARENT" in extra:
        env["TRACEPARENT"] = traceparent
    return {"PATH": os.defpath, **env, "TERM": "dumb", **step_env}


def machine_environment() -> dict[str, str]:
    """Build the part of a command's environment that the machine determines on which it runs."""
    env = {name: value for name, value in os.environ.items() if name in _OF_MACHINE - {"VIRTUAL_ENV"}}
    return {"PATH": os.defpath, **env, "TERM": "dumb"}


def portable_environment(step_env: Mapping[str, str], extra: Sequence[str], traceparent: str = "") -> dict[str, str]:
    """Build the other part: allowed and named variables of this process, then those of the step."""
    env = build_environment({}, extra, traceparent)
    return {**{name: value for name, value in env.items() if name not in _OF_MACHINE or name in extra}, **step_env}


def public_variables(environ: Mapping[str, str]) -> frozenset[str]:
    """Return the variables whose values need no redaction, whatever else a command receives."""
    prefixed_names = [name for name in environ if name.startswith(("LC_", "EXECPLAN_"))]
    return ALLOWED | _PUBLIC | frozenset(prefixed_names)


def make_redaction() -> Redactor:
    """Return the redactor for everything that a run writes."""
    from execplan.core.secrets.redaction import Redactor

    return Redactor(os.environ, public_variables(os.environ))
