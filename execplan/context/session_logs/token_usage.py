"""Usage of an agent session according to its log: tokens, and their cost if the log states it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.clock import is_utc_timestamp, parse_utc_timestamp
from execplan.context.session_logs.session_log import parse_lines
from execplan.named_tuple import NamedTuple

if TYPE_CHECKING:
    from typing import Any, Final

TOKEN_KINDS: Final = ("input", "output", "cache_read", "cache_write")
"""Kinds of tokens: uncached input, output, read from the cache, written to the cache."""
_CLAUDE_FIELDS: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


class TokenUsage(NamedTuple):
    """Tokens and cost that were used."""

    tokens: dict[str, int]
    """Number of tokens for each of `TOKEN_KINDS`."""
    cost_usd: float | None = None
    """Cost in US dollars; None if no line states it. It is never computed from prices, which change."""

    def add(self, other: TokenUsage) -> TokenUsage:
        """Return the sum of both usages."""
        costs = [addend.cost_usd for addend in (self, other) if addend.cost_usd is not None]
        return TokenUsage(
            {kind: self.tokens[kind] + other.tokens[kind] for kind in TOKEN_KINDS}, sum(costs) if costs else None
        )


NO_USAGE: Final = TokenUsage(dict.fromkeys(TOKEN_KINDS, 0))


def measure_usage(data: bytes, since: int, until: int) -> TokenUsage:
    """Return the usage in a Claude Code or Codex log between two times in seconds since 1970, both included."""
    messages: dict[str, tuple[dict[str, int], float | None]] = {}
    total_before, last_total = _codex_tokens({}), None
    for number, line in parse_lines(data):
        line_time = _line_time(line)
        if line is None or line_time is None or line_time > until:
            continue
        total = _parse_total(line)
        if total is not None and line_time < since:
            total_before = total
        elif total is not None:
            last_total = total
        elif line_time >= since and (message_usage := _parse_message(line)) is not None:
            name, tokens, cost = message_usage
            messages[name or str(number)] = (
                tokens,
                cost,
            )  # a message has a line for each of its parts; the last one counts
    total_usage = (
        TokenUsage({kind: max(0, last_total[kind] - total_before[kind]) for kind in TOKEN_KINDS})
        if last_total is not None
        else NO_USAGE
    )
    for tokens, cost in messages.values():
        total_usage = total_usage.add(TokenUsage(tokens, cost))
    return total_usage


def _line_time(line: dict[str, Any] | None) -> int | None:
    """Return when a line was written, without fractions of a second; None if the line has no time."""
    timestamp = line.get("timestamp") if line is not None else None
    whole_seconds = f"{timestamp[:19]}Z" if isinstance(timestamp, str) and timestamp.endswith("Z") else ""
    return parse_utc_timestamp(whole_seconds) if is_utc_timestamp(whole_seconds) else None


def _parse_message(line: dict[str, Any]) -> tuple[str, dict[str, int], float | None] | None:
    """Return the ID, tokens and cost of a model's message in a Claude Code log; only older releases log the cost."""
    message = line.get("message")
    if line.get("type") != "assistant" or not isinstance(message, dict):
        return None
    usage_object, logged_cost = message.get("usage"), line.get("costUSD")
    usage_fields = usage_object if isinstance(usage_object, dict) else {}
    cost_usd = (
        float(logged_cost)
        if isinstance(logged_cost, int | float) and not isinstance(logged_cost, bool) and logged_cost >= 0
        else None
    )
    return (
        str(message.get("id") or ""),
        {kind: _read_count(usage_fields, name) for kind, name in _CLAUDE_FIELDS.items()},
        cost_usd,
    )


def _parse_total(line: dict[str, Any]) -> dict[str, int] | None:
    """Return the total usage of a session so far, as a line of a Codex log states it."""
    payload = line.get("payload")
    if line.get("type") != "event_msg" or not isinstance(payload, dict) or payload.get("type") != "token_count":
        return None
    token_info = payload.get("info")
    total_usage = token_info.get("total_token_usage") if isinstance(token_info, dict) else None
    return _codex_tokens(total_usage) if isinstance(total_usage, dict) else None


def _codex_tokens(usage_fields: dict[str, Any]) -> dict[str, int]:
    """Return the tokens by kind; Codex counts cached tokens as part of the input."""
    cached = _read_count(usage_fields, "cached_input_tokens")
    uncached = max(0, _read_count(usage_fields, "input_tokens") - cached)
    return {
        "input": uncached,
        "output": _read_count(usage_fields, "output_tokens"),
        "cache_read": cached,
        "cache_write": 0,
    }


def _read_count(usage_fields: dict[str, Any], name: str) -> int:
    value = usage_fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
