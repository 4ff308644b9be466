"""When a service is ready: it has a port, answers a request, or prints a line."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution.attributes import IDEMPOTENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Final

FORMS: Final = "port:8000, http://localhost:8000/PATH or line:TEXT"
_HOSTS = ("localhost", "127.0.0.1", "[::1]")
"""This machine: no other one is a service of a run."""
_MAX_PORT = 65_535


class Readiness(NamedTuple):
    """When a service is ready."""

    port: int = 0
    """The port that it opens; 0 if it prints a line."""
    path: str = ""
    """The path for which it then answers a request; empty if the port suffices."""
    line: str = ""
    """The text that a line of its output contains."""


def parse_readiness(text: str) -> Readiness | None:
    """Return when a service is ready, or None if the text does not say it."""
    kind, _, rest = text.partition(":")
    if kind == "line":
        return Readiness(line=rest.strip()) if rest.strip() else None
    host, _, path = rest.removeprefix("//").partition("/")
    name, colon, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    if kind == "http" and (rest[:2] != "//" or (name if colon else host) not in _HOSTS):
        return None
    if kind == "port":
        number = rest
    elif colon:
        number = port
    else:
        number = "80"
    is_port = number.isascii() and number.isdigit() and len(number) <= len(str(_MAX_PORT)) and int(number) <= _MAX_PORT
    if kind not in ("port", "http") or not is_port or int(number) == 0 or not path.isascii() or " " in path:
        return None
    return Readiness(int(number), f"/{path}" if kind == "http" else "")


def readiness_problem(text: str) -> str:
    """Return what a text must say that does not say when a service is ready; empty if it does."""
    return "" if parse_readiness(text) is not None else f"says when the command is ready: {FORMS}"


def service_problems(step: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the fields that a service can't have, each with the reason."""
    service = step.get("service")
    if not isinstance(service, str):
        return
    if parse_readiness(service) is None:
        yield "service", f"must be {FORMS}"
    if step.get("expect") is not None:
        yield "expect", "a service has no complete output: use service=line:TEXT to wait for a line"
    if step.get("exit"):
        yield "exit", "a service has no exit status: it runs until it is stopped"
    if step.get("parallel"):
        yield "parallel", "a service runs at the same time as all later steps anyway"
    if step.get("effect") != IDEMPOTENT:
        yield "effect", "a service is started again when its run is resumed, so its effect must be idempotent"
