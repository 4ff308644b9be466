"""Which models there are, how much each can read, and which of them does for a task: a dated table, which settings may add to."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from execplan.context.decision import ModelChoice

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models.toml")
_STRENGTHS: Final = (1, 4)
_LEAST: Final = 1000
"""Tokens of the smallest window."""
_ALTERNATIVES: Final = 3


class Model(NamedTuple):
    """A model; models.toml tells what each field is."""

    name: str
    maker: str
    window: int
    strength: int
    legacy: bool = False
    aliases: tuple[str, ...] = ()


class Table(NamedTuple):
    """All that are known."""

    dated: str
    """The day of the built-in rows, as YYYY-MM-DD."""
    default: str
    needs: dict[str, int]
    """The least strength for each intent."""
    models: tuple[Model, ...]

    def find(self, name: str) -> Model | None:
        """The model of a name, or of a name with a date or a `[1m]` after it; None where the table has none."""
        wanted = name.strip().lower()
        for model in self.models:
            if wanted in (model.name, *model.aliases):
                return model
            if any([_is_dated(wanted.removeprefix(each)) for each in (model.name, *model.aliases)]):
                return model
        return None

    def target(self, named: str, source: str, fallback: str = "") -> tuple[Model, str]:
        """The model of a name, else that of another name, else the default; and a warning where the table lacks the first.

        `source` says who names it: `--model`, `the session`.
        """
        found = self.find(named)
        if found is not None:
            return found, ""
        other = self.find(fallback or self.default) or self.find(self.default) or self.models[0]
        from difflib import get_close_matches

        near = get_close_matches(named.strip().lower(), [model.name for model in self.models], n=3, cutoff=0.4)
        like = f"; similar names: {', '.join(near)}" if near else ""
        warning = f"{source} names the model {named.strip() or '(empty)'}, which is not known: {other.name} and its window of {other.window:,} tokens"
        return other, f"{warning} are taken instead{like}; context.models in the settings adds a model"


def _is_dated(behind: str) -> bool:
    """Whether what stands behind a name is the date of a snapshot, or tells the long window."""
    digits = behind.removesuffix("[1m]").replace("-", "")
    return behind == "[1m]" or (behind[:1] == "-" and len(digits) == 8 and digits.isdigit())


def table(more: Sequence[Mapping[str, object]] = ()) -> Table:
    """The built-in table, with rows of the settings in place of those of the same name, and behind the others."""
    import tomllib

    with open(_FILE, "rb") as file:
        data = tomllib.load(file)
    rows = {model.name: model for model in [row(each, "models.toml") for each in data["models"]]}
    rows |= {model.name: model for model in [row(each, "context.models") for each in more]}
    return Table(data["dated"].isoformat(), data["default"], data["needs"], tuple(rows.values()))


def row(said: Mapping[str, object], where: str) -> Model:
    """The model of a row; raises ExecplanError for one that says what it can't."""
    kinds = {"name": str, "maker": str, "window": int, "strength": int, "legacy": bool, "aliases": list}
    wrong = [f"knows {', '.join(kinds)}, not {name}" for name in said if name not in kinds]
    wrong += [f"needs {name}" for name in ("name", "maker", "window", "strength") if name not in said]
    wrong += [f"takes another kind of value for {name}" for name in said if type(said[name]) is not kinds.get(name)]
    aliases = said.get("aliases", [])
    if not wrong and isinstance(aliases, list):
        name, window, strength = said["name"], said["window"], said["strength"]
        if not name or not said["maker"] or not all([isinstance(each, str) for each in aliases]):
            wrong.append("takes words for name, maker and aliases")
        elif isinstance(window, int) and window < _LEAST:
            wrong.append(f"takes a window of at least {_LEAST:,} tokens")
        elif isinstance(strength, int) and not _STRENGTHS[0] <= strength <= _STRENGTHS[1]:
            wrong.append("takes a strength from 1 to 4")
        elif isinstance(name, str) and isinstance(window, int) and isinstance(strength, int):
            names = tuple([each.lower() for each in aliases])
            return Model(name.lower(), str(said["maker"]), window, strength, said.get("legacy") is True, names)
    hint = '{ name = "ours-1", maker = "Ours", window = 200000, strength = 2 }'
    raise ExecplanError("bad-setting", f"a row of {where} {wrong[0]}", exit=INPUT, hint=f"write: {hint}")


def recommend(known: Table, target: Model, intent: str, budget: int) -> ModelChoice:
    """The model that does for an intent, of the maker of the target: the weakest that is strong enough and has room.

    Where no current one is, the target itself; a weaker one than the target is recommended too, for it costs less.
    """
    from execplan.context.decision import ModelChoice

    need = known.needs.get(intent, known.needs["generic"])
    able = [model for model in known.models if not model.legacy and model.strength >= need and model.window >= budget]
    able.sort(key=lambda model: (model.strength, -model.window, model.name))
    own = [model for model in able if model.maker == target.maker]
    best = own[0] if own else target
    others = [model for model in able if model.maker != target.maker and model.strength == best.strength]
    names = [model.name for model in [*own[1:2], *others] if model != best]
    return ModelChoice(
        recommended=best.name,
        reason=_reason(best, target, intent, budget, able=bool(own)),
        alternatives=tuple(names[:_ALTERNATIVES]),
    )


def _reason(best: Model, target: Model, intent: str, budget: int, *, able: bool) -> str:
    what = intent.replace("_", " ") if intent != "generic" else "general work"
    if not able:
        return f"No model of {target.maker} in the table is known to do for {what}; it is the one that was named"
    least = f"The least strength of {best.maker}'s models that does for {what}"
    return f"{least}; its window of {best.window:,} tokens holds the budget of {budget:,}"
