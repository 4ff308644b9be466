"""The `context` table of the settings, and the split of a token budget that it defines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from execplan.core.errors import ErrorContext, ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.project import setting_shapes as shapes
from execplan.core.project.setting_shapes import is_text, number, shape, table_of
from execplan.core.project.setting_table import Setting, SettingTable, check_table

MIN_BUDGET: Final = 200
"""Minimum budget in tokens."""
_MAX_RESERVED_SHARE: Final = 0.9
"""Maximum part of a budget that is not for context."""


class BudgetShares(NamedTuple):
    """Parts of a budget that are not for context."""

    system_prompt: float = 1 / 16
    response_reserve: float = 1 / 8


DEFAULT_SHARES: Final = BudgetShares()


class Allocation(NamedTuple):
    """A budget that is split, in tokens."""

    system_prompt: int
    context: int
    """Tokens that a pack may take."""
    response_reserve: int
    shares: BudgetShares = DEFAULT_SHARES


def allocate_budget(total: int, shares: BudgetShares = DEFAULT_SHARES) -> Allocation:
    """Split a budget of `total` tokens. Raises ExecplanError for shares that leave too little for context."""
    if min(shares) < 0 or not sum(shares) <= _MAX_RESERVED_SHARE:
        message = f"context.shares: {shares.system_prompt:g} and {shares.response_reserve:g} leave too little to read"
        hint = f"use values of at least 0 that add up to at most {_MAX_RESERVED_SHARE:g} of the budget"
        raise ExecplanError("bad-setting", message, hint=hint)
    # The sum is rounded, not each share: otherwise a larger budget could leave one token less to read.
    reserved = round(total * sum(shares))
    response = round(total * shares.response_reserve)
    return Allocation(reserved - response, total - reserved, response, shares)


def smallest_budget(needed_tokens: int, shares: BudgetShares = DEFAULT_SHARES) -> int:
    """Return the smallest budget that leaves `needed_tokens` for context."""
    total = max(needed_tokens, MIN_BUDGET)
    while allocate_budget(total, shares).context < needed_tokens:
        total += 1
    return total


class ContextSettings(NamedTuple):
    """Defaults for `context` that flags can override."""

    budget: int = 8000
    """Token budget, a part of which is not for context."""
    shares: BudgetShares = DEFAULT_SHARES
    decisions: int = 3
    """Number of last decisions that are never left out."""
    model: str = ""
    """Model that reads the context; empty for the session's model, or else the default of the model table."""
    models: tuple[Mapping[str, object], ...] = ()
    """Rows for the model table that replace or extend the built-in ones."""


def parse_context_settings(table: Mapping[str, object], location: str = "context") -> ContextSettings:
    """Parse the `context` table over the defaults. Raises ExecplanError for invalid values."""
    check_table("context", table, f"{location}: context")
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


_DEFAULTS: Final = ContextSettings()
_SETTINGS: Final = (
    Setting(
        "budget",
        number(MIN_BUDGET, 10_000_000, "whole number"),
        "Tokens for the system prompt, the pack and the response.",
        _DEFAULTS.budget,
    ),
    Setting(
        "decisions",
        number(0, 100, "whole number"),
        "The number of last decisions that are never left out.",
        _DEFAULTS.decisions,
    ),
    Setting(
        "shares",
        table_of(
            "parts of the budget",
            f"must be a table of {' and '.join(BudgetShares._fields)}, as fractions of the budget",
            lambda share: type(share) in (int, float),
            BudgetShares._fields,
        ),
        "Fractions of the budget that are not for the pack.",
        DEFAULT_SHARES._asdict(),
    ),
    Setting(
        "model",
        shape("the name of a model", "must be the name of a model", is_text),
        "The model that reads the pack; empty: that of the session log.",
        "",
    ),
    Setting("models", shapes.TABLES, "Models to add to the known ones, or to replace one.", []),
)
TABLE: Final = SettingTable("Only in a repository's settings.", _SETTINGS, parse_context_settings)
