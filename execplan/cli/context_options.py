"""The flags of `context`, and which of them exclude each other."""

from __future__ import annotations

from typing import NamedTuple

from execplan.errors import USAGE, ExecplanError

INTENTS = ("code_generation", "debugging", "explanation", "search", "planning", "review", "generic")
FORMS = ("markdown", "xml")


class ContextOptions(NamedTuple):
    """What the flags say."""

    budget: int | None
    model: str | None
    intent: str | None
    form: str
    exact: bool | None
    experiment: str | None
    key: str | None
    explain: bool
    compare: bool
    items: tuple[str, ...]

    def ensure_compatible(self, *, as_json: bool) -> None:
        """Raise an ExecplanError for flags that exclude each other."""
        views = [
            name
            for name, is_given in (("--explain", self.explain), ("--compare", self.compare), ("--item", self.items))
            if is_given
        ]
        in_xml = self.form != FORMS[0]
        for is_wrong, why, hint in (
            (
                (self.experiment is None) != (self.key is None),
                "--experiment and --key go together",
                "execplan context --experiment ID --key KEY",
            ),
            (
                "" in (self.experiment, self.key),
                "--experiment and --key need a value that is not empty",
                "execplan context --experiment ID --key KEY",
            ),
            (as_json and in_xml, "--json prints no pack, and --format is the format of a pack", "omit one of them"),
            (len(views) > 1, f"{' and '.join(views)} exclude each other", "omit all but one of them"),
            (
                as_json and self.explain,
                "--json prints the decision, and --explain is a table of it",
                "omit one of them",
            ),
            (
                in_xml and bool(views) and not self.items,
                f"{' '.join(views)} prints a table, and --format is the format of a pack",
                "omit one of them",
            ),
            (
                self.experiment is not None and (self.compare or bool(self.items)),
                "--experiment decides which pack is printed: --compare prints both variants, --item is the same in both",
                "omit --experiment and --key",
            ),
        ):
            if is_wrong:
                raise ExecplanError("usage", why, exit=USAGE, hint=hint)
