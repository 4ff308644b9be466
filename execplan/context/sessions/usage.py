"""What a session of an agent program has used, by its log: tokens, and what they cost where the log says that."""

from __future__ import annotations

from execplan.clock import from_utc, is_utc
from execplan.context.sessions.entry import lines_of
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

KINDS: Final = ("input", "output", "cache_read", "cache_write")
"""Of tokens: read anew, written, read from the cache, put into it."""
_CLAUDE: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


class Usage(NamedTuple):
    """What was used."""

    tokens: dict[str, int]
    """By KINDS."""
    cost_usd: float | None = None
    """In US dollars; None where no line says it. Nothing is computed from prices, which change."""

    def plus(self, other: Usage) -> Usage:
        """Both together."""
        costs = [each.cost_usd for each in (self, other) if each.cost_usd is not None]
        return Usage({kind: self.tokens[kind] + other.tokens[kind] for kind in KINDS}, sum(costs) if costs else None)


NOTHING: Final = Usage(dict.fromkeys(KINDS, 0))


def usage(data: bytes, since: int, until: int) -> Usage:
    """What a log of Claude Code or Codex says that was used between two times, in seconds since 1970, both included."""
    messages: dict[str, tuple[dict[str, int], float | None]] = {}
    before, last = _codex({}), None
    for number, line in lines_of(data):
        at = _at(line)
        if line is None or at is None or at > until:
            continue
        total = _total(line)
        if total is not None and at < since:
            before = total
        elif total is not None:
            last = total
        elif at >= since and (found := _message(line)) is not None:
            name, tokens, cost = found
            messages[name or str(number)] = (
                tokens,
                cost,
            )  # a message stands on a line for each of its parts, the last one counts
    found_usage = Usage({kind: max(0, last[kind] - before[kind]) for kind in KINDS}) if last is not None else NOTHING
    for tokens, cost in messages.values():
        found_usage = found_usage.plus(Usage(tokens, cost))
    return found_usage


def _at(line: dict[str, Any] | None) -> int | None:
    """When a line was written, None where it does not say so; parts of a second are left out."""
    said = line.get("timestamp") if line is not None else None
    whole = f"{said[:19]}Z" if isinstance(said, str) and said.endswith("Z") else ""
    return from_utc(whole) if is_utc(whole) else None


def _message(line: dict[str, Any]) -> tuple[str, dict[str, int], float | None] | None:
    """A message of a model in a log of Claude Code: its id, its tokens, its cost; older releases wrote the cost."""
    message = line.get("message")
    if line.get("type") != "assistant" or not isinstance(message, dict):
        return None
    said, cost = message.get("usage"), line.get("costUSD")
    used = said if isinstance(said, dict) else {}
    paid = float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) and cost >= 0 else None
    return str(message.get("id") or ""), {kind: _count(used, name) for kind, name in _CLAUDE.items()}, paid


def _total(line: dict[str, Any]) -> dict[str, int] | None:
    """What a log of Codex says that the whole session has used so far."""
    payload = line.get("payload")
    if line.get("type") != "event_msg" or not isinstance(payload, dict) or payload.get("type") != "token_count":
        return None
    info = payload.get("info")
    said = info.get("total_token_usage") if isinstance(info, dict) else None
    return _codex(said) if isinstance(said, dict) else None


def _codex(said: dict[str, Any]) -> dict[str, int]:
    """The tokens by kind: what is read from the cache counts among the input there."""
    cached = _count(said, "cached_input_tokens")
    read = max(0, _count(said, "input_tokens") - cached)
    return {"input": read, "output": _count(said, "output_tokens"), "cache_read": cached, "cache_write": 0}


def _count(said: dict[str, Any], name: str) -> int:
    value = said.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
