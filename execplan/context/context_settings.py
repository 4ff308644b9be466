"""The `context` table of the settings: its valid values and their meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execplan.context.token_budget import DEFAULT_SHARES, MIN_BUDGET, BudgetShares, allocate_budget
from execplan.core.errors import ErrorContext
from execplan.core.named_tuple import NamedTuple
from execplan.core.project import setting_shapes as shapes
from execplan.core.project.setting_shapes import is_text, number, shape, table_of
from execplan.core.project.setting_table import Setting, SettingTable, check_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final


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
