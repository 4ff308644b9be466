"""Compile execplan/execution/shell/commands.toml into modules, so that using the table requires no TOML parser."""

from __future__ import annotations

import json
import tomllib
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execplan.execution.risk.risk_table import BUILTIN, RiskRow, parse_row, table_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SOURCE = "execplan/execution/shell/commands.toml"
COMMANDS = "execplan/execution/shell/command_table.py"
RISKS = "execplan/execution/risk/risk_rows.py"
_TABLE: dict[str, Any] = tomllib.loads((Path(__file__).resolve().parent.parent / SOURCE).read_text(encoding="utf-8"))
RISK_ROWS = [parse_row(row, index, BUILTIN) for index, row in enumerate(_TABLE["risk"])]
_FIELDS = {
    "reads_only": "command like flags value_flags leading_texts replacing_flags takes_paths min_operands max_operands forbidden_texts "
    "allows_numbers with_any_flag reads_all_input",
    "destroys": "command flags needles effect",
    "destroys_by_statement": "program statements needles",
    "runs_until_stopped": "patterns after_runner",
    "waits_for_input": "patterns",
    "starts_detached": "patterns",
    "wrapper": "command value_flags flags leading_arguments takes_assignments does_more is_prefix",
    "package_runner": "command sources",
    "removes": "command flag",
    "moves": "command",
}
"""The fields of the rows of each kind; those of `risk` are checked by `parse_row`."""
_ANY_NUMBER = 99
"""Number that means all operands; reading_commands.py calls it NO_PATHS."""


def _check_fields() -> None:
    """Raise ValueError if a row has an unknown field, which would be ignored, or lacks its command."""
    for kind, fields in _FIELDS.items():
        for row in _TABLE[kind]:
            if not row.keys() <= set(fields.split()) or fields.split()[0] not in row:
                raise ValueError(f"{SOURCE}: [[{kind}]] takes {fields}, not {row}")


def python_literal(value: object) -> str:
    """Format a value as Python source with double quotes."""
    if isinstance(value, tuple):
        return f"({', '.join(map(python_literal, value))}{',' if len(value) == 1 else ''})"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def command_table() -> str:
    """Return the module with all facts except the risk."""
    _check_fields()
    runs, destroys = _TABLE["runs_until_stopped"], _TABLE["destroys"]
    servers, by_statement = _TABLE["servers"], _TABLE["destroys_by_statement"]
    operand_counts = {"no_operand": 0, "one_operand": 1}
    return "\n".join(
        [
            '"""What commands do, except their risk; written by scripts/generate.py from commands.toml, which explains its rows."""',
            "",
            "# flags, value flags, leading texts, replacing flags, most and least operands, forbidden texts, numbers",
            *_mapping(
                "READS_ONLY",
                "tuple[str, str, int, str, int, int, tuple[str, ...], bool]",
                chain.from_iterable(map(_read_only_entries, _TABLE["reads_only"])),
            ),
            _names("WITH_ANY_FLAG", _marked("reads_only", "with_any_flag")),
            _names("READS_ALL_INPUT", _marked("reads_only", "reads_all_input")),
            *_mapping(
                "FIND_EXPRESSIONS",
                "int",
                [(name, count) for key, count in operand_counts.items() for name in _TABLE["find_expressions"][key]],
            ),
            _names("VERSION_PROGRAMS", _TABLE["version_request"]["programs"]),
            "# program, required words, flags, effect",
            *_rows(
                "DESTROYS",
                "tuple[str, tuple[str, ...], tuple[str, ...], str]",
                [
                    (*_split(command), tuple(row.get("flags", ())), row["effect"])
                    for row in destroys
                    for command in row["command"]
                ],
            ),
            _names("LOSS_NEEDLES", [needle for row in [*destroys, *by_statement] for needle in row.get("needles", ())]),
            _names("DATABASE_CLIENTS", [program for row in by_statement for program in row["program"]]),
            _names("LOSS_STATEMENTS", [statement for row in by_statement for statement in row["statements"]]),
            "# words, and the flag that may follow them",
            *_rows("DELETIONS", "tuple[tuple[str, ...], str]", _file_commands("removes")),
            *_rows("MOVES", "tuple[tuple[str, ...], str]", _file_commands("moves")),
            _pattern("RUNS_UNTIL_STOPPED", [row for row in runs if row.get("after_runner", True)]),
            _pattern("RUNS_UNTIL_STOPPED_ALONE", [row for row in runs if not row.get("after_runner", True)]),
            _pattern("WAITS_FOR_INPUT", _TABLE["waits_for_input"]),
            _pattern("STARTS_DETACHED", _TABLE["starts_detached"]),
            f"STARTS_SERVER = {python_literal(_server_pattern(**servers))}",
            _names("TASK_RUNNERS", _TABLE["task_runners"]["programs"]),
            _names("TOOL_RUNNERS", _TABLE["task_runners"]["tool_runners"]),
            "# value flags, flags, leading arguments, takes assignments",
            *_mapping(
                "WRAPPERS",
                "tuple[str, str, int, bool]",
                [(command, _wrapper(row)) for row in _TABLE["wrapper"] for command in row["command"]],
            ),
            _names("RATED_WRAPPERS", _marked("wrapper", "does_more")),
            _names("COMMAND_PREFIXES", _marked("wrapper", "is_prefix")),
            *_mapping(
                "PACKAGE_SOURCES",
                "tuple[str, ...]",
                [(command, tuple(row["sources"])) for row in _TABLE["package_runner"] for command in row["command"]],
            ),
            _names("SHELLS", _TABLE["scripts"]["shells"]),
            _names("SCRIPT_ARGUMENT_PROGRAMS", _TABLE["scripts"]["script_arguments"]),
            *_mapping("EXEC_FLAGS", "tuple[str, ...]", _tuples(_TABLE["for_each_result"])),
            _names("SINGLE_DASH_PROGRAMS", _TABLE["single_dash"]["programs"]),
            "",
        ]
    )


def risk_rows() -> str:
    """Return the module with the rows of the risk table, what is needed to match them, and the table's version."""
    defaults = tuple(RiskRow("", ""))
    rows: list[tuple[object, ...]] = []
    for row in RISK_ROWS:
        length = max(
            [at + 1 for at, (value, default) in enumerate(zip(row, defaults, strict=True)) if value != default]
        )
        rows.append(tuple(row)[:length])
    mappings = [dict(_tuples(_TABLE[name])) for name in ("values", "bare", "tasks")]
    return "\n".join(
        [
            '"""How dangerous commands, files and variables are; written by scripts/generate.py from execution/shell/commands.toml."""',
            "",
            "# the fields of `RiskRow`; those after the last are as by default",
            f"VERSION = {python_literal(table_version(RISK_ROWS, *mappings))}",
            "ROWS: tuple[tuple[str | bool | tuple[str, ...], ...], ...] = (",
            *[f"    {python_literal(row)}," for row in rows],
            ")",
            *_mapping("VALUES", "tuple[str, ...]", _tuples(_TABLE["values"])),
            *_mapping("BARE", "tuple[str, ...]", _tuples(_TABLE["bare"])),
            *_mapping("TASKS", "tuple[str, ...]", _tuples(_TABLE["tasks"])),
            "",
        ]
    )


def _read_only_entries(row: dict[str, Any]) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Yield each command of a row with the fields of `ReadOnlyCommand`."""
    like: dict[str, Any] = next((other for other in _TABLE["reads_only"] if row.get("like") in other["command"]), {})
    flags, value_flags = [" ".join([*like.get(field, ()), *row.get(field, ())]) for field in ("flags", "value_flags")]
    fields = (
        flags,
        value_flags,
        row.get("leading_texts", 0) if row.get("takes_paths", True) else _ANY_NUMBER,
        " ".join(row.get("replacing_flags", ())),
        row.get("max_operands", _ANY_NUMBER),
        row.get("min_operands", 0),
        tuple(row.get("forbidden_texts", ())),
        row.get("allows_numbers", False),
    )
    for command in row["command"]:
        yield command, fields


def _wrapper(row: dict[str, Any]) -> tuple[object, ...]:
    return (
        " ".join(row.get("value_flags", ())),
        " ".join(row.get("flags", ())),
        row.get("leading_arguments", 0),
        row.get("takes_assignments", False),
    )


def _file_commands(kind: str) -> list[tuple[object, ...]]:
    return [(tuple(row["command"].split()), row.get("flag", "")) for row in _TABLE[kind]]


def _server_pattern(starts: list[str], words: list[str], unless: list[str]) -> str:
    return rf"(?:{'|'.join(starts)})\b.*(?:\b|_)(?:{'|'.join(words)})\b(?!.*(?:{'|'.join(unless)}))"


def _split(command: str) -> tuple[str, tuple[str, ...]]:
    """Return the program of a command, and its other words."""
    program, *words = command.split()
    return program, tuple(words)


def _marked(kind: str, mark: str) -> list[str]:
    """Return the programs of the rows in which a field is true."""
    commands = [command for row in _TABLE[kind] if row.get(mark) for command in row["command"]]
    return list(dict.fromkeys([command.partition(" ")[0] for command in commands]))


def _tuples(table: dict[str, list[str]]) -> list[tuple[str, tuple[str, ...]]]:
    return [(name, tuple(entries)) for name, entries in table.items()]


def _names(name: str, entries: Iterable[str]) -> str:
    return f"{name}: tuple[str, ...] = {python_literal(tuple(entries))}"


def _pattern(name: str, rows: Iterable[dict[str, Any]]) -> str:
    return f"{name} = {python_literal('|'.join([pattern for row in rows for pattern in row['patterns']]))}"


def _rows(name: str, row_type: str, rows: Iterable[tuple[object, ...]]) -> list[str]:
    return [f"{name}: tuple[{row_type}, ...] = (", *[f"    {python_literal(row)}," for row in rows], ")"]


def _mapping(name: str, value_type: str, entries: Iterable[tuple[str, object]]) -> list[str]:
    lines = [f"    {python_literal(key)}: {python_literal(value)}," for key, value in entries]
    return [f"{name}: dict[str, {value_type}] = {{", *lines, "}"]
