"""The table of risks: rows with a level and a reason, which the settings may add to."""

from __future__ import annotations

import os

from execplan.errors import INPUT, ExecplanError
from execplan.execution.attributes import LEVELS
from execplan.record import NamedTuple
from execplan.text import secret_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

LOW, MEDIUM, HIGH, CRITICAL = LEVELS
BUILTIN: Final = "built in"
OWN: Final = "the user's"
REPOSITORY: Final = "the repository's"
SECRETS: Final = "@secrets"
"""A path that stands for all of secret_files.py."""
_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "risk.toml")
_SUBJECTS = ("program", "via", "path", "variable", "tool")
_LISTS = (*_SUBJECTS, "words", "flags", "without", "unless")
_FLAGS = ("alone", "writes", "reading")
_FORM = '{ program = "deploy", level = "CRITICAL", reason = "changes what runs" }'


class Row(NamedTuple):
    """What a row says; risk.toml tells what each field is."""

    level: str
    reason: str
    program: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    variable: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    package: str = ""
    alone: bool = False
    writes: bool = False
    reading: bool = False
    origin: str = BUILTIN
    """Who wrote it."""
    tool: tuple[str, ...] = ()


class Table(NamedTuple):
    """Everything that a rating looks at."""

    rows: tuple[Row, ...]
    version: str
    """Changes when a rating may: the digest of all that is in it."""
    values: Mapping[str, frozenset[str]]
    """For each program, its flags whose value is the next word."""
    bare: Mapping[str, frozenset[str]]
    """For each program, and for all, flags that may stand in front of the first word."""
    tasks: Mapping[str, frozenset[str]]
    """Which names of tasks are known, which are not to be trusted."""


_READ: list[Table] = []


def builtin() -> Table:
    """The table that comes with the tool."""
    if not _READ:
        import tomllib

        with open(_FILE, "rb") as file:
            data = tomllib.load(file)
        rows = tuple([_row(each, at, BUILTIN) for at, each in enumerate(data["risk"])])
        table = Table(
            rows,
            "",
            {name: frozenset(flags) for name, flags in data["values"].items()},
            {name: frozenset(flags) for name, flags in data["bare"].items()},
            {name: frozenset(words) for name, words in data["tasks"].items()},
        )
        _READ.append(_digested(table))
    return _READ[0]


def extended(table: Table, rows: Sequence[Mapping[str, object]], *, may_lower: bool) -> Table:
    """The table with rows of the settings: the user's own decide where they fit, a repository's only raise.

    Raises ExecplanError for a row that says something else than it may.
    """
    added = [_row(each, at, OWN if may_lower else REPOSITORY) for at, each in enumerate(rows)]
    for at, row in enumerate(added):
        if not may_lower and not _raises(row, table):
            raise ExecplanError(
                "bad-setting",
                f"risk row {at + 1}: {row.level} is no higher than what is rated so already, and a repository's rows only raise",
                exit=INPUT,
                hint="a row that lowers belongs into your own settings, ~/.config/execplan/config.toml",
            )
    return _digested(table._replace(rows=(*table.rows, *added))) if added else table


def _raises(row: Row, table: Table) -> bool:
    """Whether a row of a repository can raise anything: what no row knows is HIGH already."""
    if row.path or row.variable or row.via:
        return row.level != LOW
    if row.tool:
        return row.level == CRITICAL
    known = [each.level for each in table.rows if set(each.program) & set(row.program)]
    return LEVELS.index(row.level) > min([LEVELS.index(each) for each in [*known, HIGH]])


def _row(given: Mapping[str, object], at: int, origin: str) -> Row:
    """A row as it was written, checked."""
    known = [name for name in Row(LOW, "")._asdict() if name != "origin"]
    values: dict[str, object] = {}
    where = f"risk row {at + 1}"
    if not isinstance(given, dict):
        raise _bad(f"{where} is no table")
    for name, value in given.items():
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, n=1, cutoff=0.0)[0]
            raise ExecplanError(
                "unknown-setting", f"{where}: a row has no field {name}", exit=INPUT, hint=f"did you mean {near}?"
            )
        if name in _LISTS:
            listed = [value] if isinstance(value, str) else value
            if (
                not isinstance(listed, list)
                or not listed
                or not all([isinstance(each, str) and each for each in listed])
            ):
                raise _bad(f"{where}: {name} takes a string, or a list of strings")
            values[name] = tuple(listed)
        elif not isinstance(value, bool if name in _FLAGS else str):
            raise _bad(f"{where}: {name} takes {'true or false' if name in _FLAGS else 'a string'}")
        else:
            values[name] = value
    if values.get("level") not in LEVELS:
        raise _bad(f"{where}: level is one of {', '.join(LEVELS)}, not {values.get('level')!r}")
    if not str(values.get("reason", "")).strip():
        raise _bad(f"{where} has no reason: say what such a command does")
    if not any([values.get(name) for name in _SUBJECTS]):
        raise _bad(f"{where} does not say what it is about: {', '.join(_SUBJECTS)}")
    return Row(**values, origin=origin)  # type: ignore[arg-type] # every value was checked above, by the name of its field


def _bad(message: str) -> ExecplanError:
    return ExecplanError("bad-setting", message, exit=INPUT, hint=f"for instance {_FORM}")


def _digested(table: Table) -> Table:
    """The table with the version that its content has."""
    from hashlib import sha256

    content: list[object] = [
        list(secret_files.ALL),
        # a table without rows about tools keeps the version that it had before there were any
        [tuple(row) if row.tool else tuple(row)[:-1] for row in table.rows],
        *[
            sorted([(name, sorted(words)) for name, words in each.items()])
            for each in (table.values, table.bare, table.tasks)
        ],
    ]
    return table._replace(version=sha256(repr(content).encode()).hexdigest())
