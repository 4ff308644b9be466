"""Table of language models: their context windows, which one is suited to a task, their prices and what usage costs.

The built-in table is dated, and settings can add to it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from execplan.context.decision import ModelChoice
from execplan.context.session_logs.token_usage import UsageEvent
from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.text.suggestions import closest_names

_MILLION: Final = 1_000_000
_REQUIRED: Final = ("input", "output")
_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models.toml")
_STRENGTH_RANGE: Final = (1, 4)
_MIN_WINDOW: Final = 1000
"""Minimum context window in tokens."""
_MAX_ALTERNATIVES: Final = 3


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


class LanguageModel(NamedTuple):
    """A language model; models.toml documents each field."""

    name: str
    maker: str
    window: int
    strength: int
    legacy: bool = False
    aliases: tuple[str, ...] = ()
    price: ModelPrice | None = None
    """Price of its tokens; None if it is not known."""


class ModelTable(NamedTuple):
    """All known language models, and the strength that each intent requires."""

    dated: str
    """Date of the built-in rows, as YYYY-MM-DD."""
    priced: str
    """Date of the built-in prices, as YYYY-MM-DD."""
    default: str
    needs: dict[str, int]
    """Minimum strength for each intent."""
    models: tuple[LanguageModel, ...]

    def find(self, name: str) -> LanguageModel | None:
        """Find a model by name, optionally followed by a date or `[1m]`; return None if the table has none."""
        wanted_name = name.strip().lower()
        for model in self.models:
            if wanted_name in (model.name, *model.aliases):
                return model
            if any(
                [
                    _is_variant_suffix(wanted_name.removeprefix(known_name))
                    for known_name in (model.name, *model.aliases)
                ]
            ):
                return model
        return None

    def resolve(self, name: str, source: str, fallback: str = "") -> tuple[LanguageModel, str]:
        """Return the named model, else the fallback, else the default, and a warning if the named model is unknown.

        `source` is the origin of the name for the warning: `--model`, `the session`.
        """
        known_model = self.find(name)
        if known_model is not None:
            return known_model, ""
        substitute = self.find(fallback or self.default) or self.find(self.default) or self.models[0]
        similar_names = closest_names(name.strip().lower(), [model.name for model in self.models])
        suggestion = f" (similar names: {', '.join(similar_names)})" if similar_names else ""
        warning = f"{source} names an unknown model, {name.strip() or '(empty)'}{suggestion}"
        used = f"using {substitute.name}, with a window of {substitute.window:,} tokens"
        return substitute, f"{warning}; {used}; to add a model: the setting context.models"


def _is_variant_suffix(suffix: str) -> bool:
    """Return whether the suffix of a name is a snapshot date or marks the long window."""
    digits = suffix.removesuffix("[1m]").replace("-", "")
    return suffix == "[1m]" or (suffix[:1] == "-" and len(digits) == 8 and digits.isdigit())


def load_models(extra_rows: Sequence[Mapping[str, object]] = ()) -> ModelTable:
    """Load the built-in table; rows from the settings replace rows with the same name or are appended."""
    import tomllib

    with open(_FILE, "rb") as file:
        builtin = tomllib.load(file)
    models_by_name = {model.name: model for model in [parse_model(entry, "models.toml") for entry in builtin["models"]]}
    models_by_name |= {model.name: model for model in [parse_model(entry, "context.models") for entry in extra_rows]}
    return ModelTable(
        builtin["dated"].isoformat(),
        builtin["priced"].isoformat(),
        builtin["default"],
        builtin["needs"],
        tuple(models_by_name.values()),
    )


def parse_model(fields: Mapping[str, object], source: str) -> LanguageModel:
    """Parse a row of the model table. Raises ExecplanError for an invalid row."""
    field_types = {
        "name": str,
        "maker": str,
        "window": int,
        "strength": int,
        "legacy": bool,
        "aliases": list,
        "price": dict,
    }
    problems = [f"accepts only {', '.join(field_types)}, not {name}" for name in fields if name not in field_types]
    problems += [f"requires {name}" for name in ("name", "maker", "window", "strength") if name not in fields]
    problems += [
        f"has a value of the wrong type for {name}"
        for name in fields
        if type(fields[name]) is not field_types.get(name)
    ]
    aliases, price = fields.get("aliases", []), None
    if not problems and isinstance(price_fields := fields.get("price"), dict):
        try:
            price = parse_price(price_fields)
        except ValueError as error:
            problems.append(str(error))
    if not problems and isinstance(aliases, list):
        name, window, strength = fields["name"], fields["window"], fields["strength"]
        if not name or not fields["maker"] or not all([isinstance(alias, str) for alias in aliases]):
            problems.append("requires text for name, maker and aliases")
        elif isinstance(window, int) and window < _MIN_WINDOW:
            problems.append(f"requires a window of at least {_MIN_WINDOW:,} tokens")
        elif isinstance(strength, int) and not _STRENGTH_RANGE[0] <= strength <= _STRENGTH_RANGE[1]:
            problems.append("requires a strength from 1 to 4")
        elif isinstance(name, str) and isinstance(window, int) and isinstance(strength, int):
            alias_names = tuple([alias.lower() for alias in aliases])
            return LanguageModel(
                name.lower(), str(fields["maker"]), window, strength, fields.get("legacy") is True, alias_names, price
            )
    hint = '{ name = "ours-1", maker = "Ours", window = 200000, strength = 2 }'
    raise ExecplanError("bad-setting", f"a row of {source} {problems[0]}", hint=f"write: {hint}")


def recommend_model(table: ModelTable, target: LanguageModel, intent: str, budget: int) -> ModelChoice:
    """Recommend a model for an intent: the weakest one of the target's maker that is strong enough and has room.

    If the maker has no such current model, recommend the target itself. A model that is weaker than the target is
    recommended too, because it costs less.
    """
    from execplan.context.decision import ModelChoice

    min_strength = table.needs.get(intent, table.needs["generic"])
    capable = [
        model
        for model in table.models
        if not model.legacy and model.strength >= min_strength and model.window >= budget
    ]
    capable.sort(key=lambda model: (model.strength, -model.window, model.name))
    same_maker = [model for model in capable if model.maker == target.maker]
    best = same_maker[0] if same_maker else target
    other_makers = [model for model in capable if model.maker != target.maker and model.strength == best.strength]
    alternatives = [model.name for model in [*same_maker[1:2], *other_makers] if model != best]
    return ModelChoice(
        recommended=best.name,
        reason=_explain_choice(best, target, intent, budget, is_capable=bool(same_maker)),
        alternatives=tuple(alternatives[:_MAX_ALTERNATIVES]),
    )


def _explain_choice(best: LanguageModel, target: LanguageModel, intent: str, budget: int, *, is_capable: bool) -> str:
    purpose = intent.replace("_", " ") if intent != "generic" else "general work"
    if not is_capable:
        return f"No model of {target.maker} in the table is known to be strong enough for {purpose}; this is the model that you named"
    summary = f"The weakest of {best.maker}'s models that is strong enough for {purpose}"
    return f"{summary}; its window of {best.window:,} tokens fits the budget of {budget:,}"
