"""The table `context` of settings: what it may hold, and what it says."""

from __future__ import annotations

from execplan.context.budget import MIN_BUDGET, DEFAULT_SHARES, BudgetShares, allocate_budget
from execplan.errors import INPUT, About, ExecplanError
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_BUDGET = 8000
_DECISIONS = 3
_RANGES = {"budget": (MIN_BUDGET, 10_000_000), "decisions": (0, 100)}
_NAMES = ("budget", "shares", "decisions", "model", "models")


class Terms(NamedTuple):
    """What holds where no flag says otherwise."""

    budget: int = _BUDGET
    """Tokens, of which a part is not for reading."""
    shares: BudgetShares = DEFAULT_SHARES
    decisions: int = _DECISIONS
    """How many of the last ones are never left out."""
    model: str = ""
    """The one that reads; nothing for that of the session, else of the table of models."""
    models: tuple[Mapping[str, object], ...] = ()
    """Rows of the table of models, over or behind the built-in ones."""


def terms(said: Mapping[str, object], where: str = "context") -> Terms:
    """What a table says, over the defaults; raises ExecplanError for what it can't say."""
    for name, value in said.items():
        if name not in _NAMES:
            from difflib import get_close_matches

            near = get_close_matches(name, _NAMES, n=1, cutoff=0.0)
            what = f"{where}: context knows {', '.join(_NAMES)}, not {name!r}"
            raise ExecplanError("unknown-setting", what, exit=INPUT, hint=f"did you mean {near[0]}?")
        why = _why_not(name, value)
        if why:
            message = f"{where}: context.{name} {why}, not {value!r}"
            raise ExecplanError("bad-setting", message, exit=INPUT, hint="what can be set: execplan explain context")
    found = dict(said)
    if isinstance(shares := said.get("shares"), dict):
        found["shares"] = DEFAULT_SHARES._replace(**{name: float(part) for name, part in shares.items()})
    if isinstance(models := said.get("models"), list):
        found["models"] = tuple(models)
    made = Terms(**found)  # type: ignore[arg-type] # each value was checked by its name
    with About(where):
        allocate_budget(made.budget, made.shares)
        _check_models(made)
    return made


def _check_models(made: Terms) -> None:
    from execplan.context.models import parse_model

    for each in made.models:
        parse_model(each, "context.models")


def _why_not(name: str, value: object) -> str:
    """What is wrong with the value of a setting, or nothing."""
    if name in _RANGES:
        low, high = _RANGES[name]
        return "" if type(value) is int and low <= value <= high else f"is a whole number from {low} to {high:,}"
    if name == "shares":
        good = isinstance(value, dict) and value.keys() <= set(BudgetShares._fields)
        good = good and isinstance(value, dict) and all([type(part) in (int, float) for part in value.values()])
        return "" if good else f"is a table of {' and '.join(BudgetShares._fields)}, parts of the budget"
    if name == "models":
        good = isinstance(value, list) and all([isinstance(each, dict) for each in value])
        return "" if good else "is a list of tables"
    return "" if isinstance(value, str) else "is the name of a model"
