"""Usage of an agent session according to its log: tokens, and their cost if the log states it."""

from __future__ import annotations

from typing import Any, Final

from execplan.context.session_logs.session_log import parse_lines
from execplan.core.named_tuple import NamedTuple
from execplan.core.timestamps import is_utc_timestamp, parse_utc_timestamp

TOKEN_KINDS: Final = ("input", "output", "cache_read", "cache_write")
"""Kinds of tokens: uncached input, output, read from the cache, written to the cache."""
_CLAUDE_FIELDS: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}
_LONG_CACHE_FIELD: Final = "ephemeral_1h_input_tokens"
_UNLIKELY_NUMBER: Final = 1_000_000_000_000
"""Numbers from this one on are damage: neither tokens nor US dollars of a message."""


class TokenUsage(NamedTuple):
    """Tokens and cost that were used."""

    tokens: dict[str, int]
    """Number of tokens for each of `TOKEN_KINDS`."""
    cost_usd: float | None = None
    """Cost in US dollars; None if no line states it."""

    def add(self, other: TokenUsage) -> TokenUsage:
        """Return the sum of both usages."""
        costs = [addend.cost_usd for addend in (self, other) if addend.cost_usd is not None]
        return TokenUsage(
            {kind: self.tokens[kind] + other.tokens[kind] for kind in TOKEN_KINDS}, sum(costs) if costs else None
        )


NO_USAGE: Final = TokenUsage(dict.fromkeys(TOKEN_KINDS, 0))


class UsageEvent(NamedTuple):
    """The usage of a model's message, or in a Codex log of the requests since the last line about usage."""

    time: int
    """Time of the line in seconds since 1970."""
    model: str
    """Model as the log names it; empty if it names none."""
    usage: TokenUsage
    long_cache_write: int = 0
    """How many of the tokens written to the cache are kept for an hour, for which the price is higher."""

    @property
    def prompt_tokens(self) -> int:
        """Number of tokens that the model has read."""
        return sum([count for kind, count in self.usage.tokens.items() if kind != "output"])


def measure_usage(data: bytes, since: int, until: int) -> TokenUsage:
    """Return the usage in a Claude Code or Codex log between two times in seconds since 1970, both included."""
    total_usage = NO_USAGE
    for event in read_usage_events(data, since):
        if since <= event.time <= until:
            total_usage = total_usage.add(event.usage)
    return total_usage


def read_usage_events(data: bytes, since: int = 0) -> list[UsageEvent]:
    """Return the usage in a Claude Code or Codex log in the order of its lines, from a time in seconds since 1970 on.

    A message of Claude Code has a line for each of its parts: the last one counts. Codex states the total so far. If it
    gets smaller, a new count has begun.
    """
    messages: dict[str, UsageEvent] = {}
    total, model = _codex_tokens({}), ""
    for number, line in parse_lines(data):
        if line is None:
            continue
        model = _parse_codex_model(line) or model
        line_time = _line_time(line)
        if line_time is None:
            continue
        new_total = _parse_total(line)
        if new_total is not None:
            is_new_count = any([new_total[kind] < total[kind] for kind in TOKEN_KINDS])
            start = _codex_tokens({}) if is_new_count else total
            tokens = {kind: max(0, new_total[kind] - start[kind]) for kind in TOKEN_KINDS}
            total = new_total
            if line_time >= since and any(tokens.values()):
                messages[f"{number}"] = UsageEvent(line_time, model, TokenUsage(tokens))
        elif line_time >= since and (event := _parse_message(line, line_time)) is not None:
            name = _message_id(line) or str(number)
            messages.pop(name, None)
            messages[name] = event
    return list(messages.values())


def _line_time(line: dict[str, Any] | None) -> int | None:
    """Return when a line was written, without fractions of a second; None if the line has no time."""
    timestamp = line.get("timestamp") if line is not None else None
    whole_seconds = f"{timestamp[:19]}Z" if isinstance(timestamp, str) and timestamp.endswith("Z") else ""
    return parse_utc_timestamp(whole_seconds) if is_utc_timestamp(whole_seconds) else None


def _message_id(line: dict[str, Any]) -> str:
    message = line.get("message")
    return str(message.get("id") or "") if isinstance(message, dict) else ""


def _parse_message(line: dict[str, Any], line_time: int) -> UsageEvent | None:
    """Return the usage of a model's message in a Claude Code log; only older releases log the cost."""
    message = line.get("message")
    if line.get("type") != "assistant" or not isinstance(message, dict):
        return None
    usage_object, logged_cost, model = message.get("usage"), line.get("costUSD"), message.get("model")
    usage_fields = usage_object if isinstance(usage_object, dict) else {}
    if (
        isinstance(logged_cost, int | float)
        and not isinstance(logged_cost, bool)
        and 0 <= logged_cost < _UNLIKELY_NUMBER
    ):
        cost_usd = float(logged_cost)
    else:
        cost_usd = None
    tokens = {kind: _read_count(usage_fields, name) for kind, name in _CLAUDE_FIELDS.items()}
    cache_fields = usage_fields.get("cache_creation")
    if isinstance(cache_fields, dict):
        long_cache_write = min(_read_count(cache_fields, _LONG_CACHE_FIELD), tokens["cache_write"])
    else:
        long_cache_write = 0
    return UsageEvent(
        line_time,
        model if isinstance(model, str) and not model.startswith("<") else "",
        TokenUsage(tokens, cost_usd),
        long_cache_write,
    )


def _parse_codex_model(line: dict[str, Any]) -> str:
    """Return the model that a line of a Codex log sets for the following requests, or an empty string."""
    payload = line.get("payload")
    model = payload.get("model") if line.get("type") == "turn_context" and isinstance(payload, dict) else None
    return model if isinstance(model, str) else ""


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
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _UNLIKELY_NUMBER else 0
