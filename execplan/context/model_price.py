"""Prices of language models, and what the usage of one costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

    from execplan.context.session_logs.token_usage import UsageEvent

_MILLION: Final = 1_000_000
_REQUIRED: Final = ("input", "output")


class ModelPrice(NamedTuple):
    """The price of a model in US dollars for a million tokens; models.toml explains the fields."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float
    long_prompt: int = 0
    """Number of prompt tokens above which the factors apply; 0: never."""
    long_input: float = 1.0
    long_output: float = 1.0


def parse_price(fields: Mapping[str, object]) -> ModelPrice:
    """Parse the price of a row; without a price for the cache, its tokens cost as much as other input.

    Raises ValueError if a field is unknown, missing or no number.
    """
    numbers: dict[str, float] = {}
    for name, value in fields.items():
        if name not in ModelPrice._fields:
            raise ValueError(f"has a price with the unknown field {name}; it accepts {', '.join(ModelPrice._fields)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MILLION:
            raise ValueError(f"has a price whose {name} is not a number from 0 on")
        numbers[name] = value
    if missing := [name for name in _REQUIRED if name not in numbers]:
        raise ValueError(f"has a price without {missing[0]}")
    cache_write = numbers.get("cache_write", numbers["input"])
    return ModelPrice(
        numbers["input"],
        numbers["output"],
        numbers.get("cache_read", numbers["input"]),
        cache_write,
        numbers.get("cache_write_1h", cache_write),
        int(numbers.get("long_prompt", 0)),
        numbers.get("long_input", 1.0),
        numbers.get("long_output", 1.0),
    )


def cost_of(price: ModelPrice, event: UsageEvent) -> float:
    """Return what the usage costs in US dollars at this price."""
    tokens = event.usage.tokens
    is_long = bool(price.long_prompt) and event.prompt_tokens > price.long_prompt
    prompt_cost = (
        tokens["input"] * price.input
        + tokens["cache_read"] * price.cache_read
        + (tokens["cache_write"] - event.long_cache_write) * price.cache_write
        + event.long_cache_write * price.cache_write_1h
    )
    output_cost = tokens["output"] * price.output
    if is_long:
        return (prompt_cost * price.long_input + output_cost * price.long_output) / _MILLION
    return (prompt_cost + output_cost) / _MILLION
