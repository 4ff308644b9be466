"""The `context` table of the settings: its valid values and their meaning."""

from __future__ import annotations

from execplan.context.token_budget import DEFAULT_SHARES, MIN_BUDGET, BudgetShares, allocate_budget
from execplan.errors import INPUT, ErrorContext, ExecplanError
from execplan.named_tuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_DEFAULT_BUDGET = 8000
_DEFAULT_DECISIONS = 3
_RANGES = {"budget": (MIN_BUDGET, 10_000_000), "decisions": (0, 100)}
_SETTING_NAMES = ("budget", "shares", "decisions", "model", "models")


class ContextSettings(NamedTuple):
    """Defaults for `context` that flags can override."""

    budget: int = _DEFAULT_BUDGET
    """Token budget, a part of which is not for context."""
    shares: BudgetShares = DEFAULT_SHARES
    decisions: int = _DEFAULT_DECISIONS
    """Number of last decisions that are never left out."""
    model: str = ""
    """Model that reads the context; empty for the session's model, or else the default of the model table."""
    models: tuple[Mapping[str, object], ...] = ()
    """Rows for the model table that replace or extend the built-in ones."""


def parse_context_settings(table: Mapping[str, object], location: str = "context") -> ContextSettings:
    """Parse the `context` table over the defaults. Raises ExecplanError for invalid values."""
    for name, value in table.items():
        if name not in _SETTING_NAMES:
            from execplan.text.suggestions import did_you_mean

            unknown_message = f"{location}: context knows {', '.join(_SETTING_NAMES)}, not {name!r}"
            hint = did_you_mean(name, _SETTING_NAMES) or "what can be set: execplan explain context"
            raise ExecplanError("unknown-setting", unknown_message, exit=INPUT, hint=hint)
        problem = _value_problem(name, value)
        if problem:
            message = f"{location}: context.{name} {problem}, not {value!r}"
            raise ExecplanError("bad-setting", message, exit=INPUT, hint="what can be set: execplan explain context")
    fields = dict(table)
    if isinstance(shares := table.get("shares"), dict):
        fields["shares"] = DEFAULT_SHARES._replace(**{name: float(share) for name, share in shares.items()})
    if isinstance(models := table.get("models"), list):
        fields["models"] = tuple(models)
    context_settings = ContextSettings(**fields)  # type: ignore[arg-type] # each value was checked by its name
    with ErrorContext(location):
        allocate_budget(context_settings.budget, context_settings.shares)
        _check_models(context_settings)
    return context_settings


def _check_models(context_settings: ContextSettings) -> None:
    from execplan.context.model_table import parse_model

    for model_row in context_settings.models:
        parse_model(model_row, "context.models")


def _value_problem(name: str, value: object) -> str:
    """Return the problem with the value of a setting, or an empty string."""
    if name in _RANGES:
        minimum, maximum = _RANGES[name]
        return (
            ""
            if type(value) is int and minimum <= value <= maximum
            else f"is a whole number from {minimum} to {maximum:,}"
        )
    if name == "shares":
        is_valid = isinstance(value, dict) and value.keys() <= set(BudgetShares._fields)
        is_valid = (
            is_valid and isinstance(value, dict) and all([type(share) in (int, float) for share in value.values()])
        )
        return "" if is_valid else f"is a table of {' and '.join(BudgetShares._fields)}, parts of the budget"
    if name == "models":
        is_valid = isinstance(value, list) and all([isinstance(model_row, dict) for model_row in value])
        return "" if is_valid else "is a list of tables"
    return "" if isinstance(value, str) else "is the name of a model"
