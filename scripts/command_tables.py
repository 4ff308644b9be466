"""Tables as Python from execplan/execution/shell/commands.toml, so that using them requires no parser."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execplan.execution.risk.risk_table import BUILTIN, SECRETS, RiskRow, parse_row, table_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SOURCE = "execplan/execution/shell/commands.toml"
_TABLE: dict[str, Any] = tomllib.loads((Path(__file__).resolve().parent.parent / SOURCE).read_text(encoding="utf-8"))
RISK_ROWS = [parse_row(row, index, BUILTIN) for index, row in enumerate(_TABLE["risk"])]
_MODULE = '''"""Written by scripts/generate.py from {source}."""
# mypy: disable-error-code=type-arg

DATA: dict = {value}
'''
_FIELDS = {
    "reads_only": "command like flags value_flags leading_texts replacing_flags takes_paths min_operands max_operands forbidden_texts "
    "allows_numbers with_any_flag reads_all_input",
    "destroys": "command flags needles effect",
    "destroys_by_statement": "program statements needles",
    "runs_until_stopped": "patterns after_runner",
    "never_ends": "command flags unless alone",
    "waits_for_input": "patterns",
    "starts_detached": "patterns",
    "wrapper": "command value_flags flags leading_arguments takes_assignments does_more is_prefix",
    "package_runner": "command sources",
    "removes": "command flag",
    "moves": "command",
    "reads_code": "command files upward script operands file_flags added_file_flags directory_flags value_flags text_flags unlisted",
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


def format_table(source: str, table: Mapping[str, object]) -> str:
    """Format a table as a Python module, with one entry per line, and tuples instead of lists."""
    entries = [f"{name!r}: {_with_tuples(entry)!r},\n" for name, entry in table.items()]
    return _MODULE.format(source=source, value="{\n" + "".join(entries) + "}")


def _with_tuples(value: object) -> object:
    if isinstance(value, list | tuple):
        return tuple([_with_tuples(element) for element in value])
    return {name: _with_tuples(entry) for name, entry in value.items()} if isinstance(value, dict) else value


def commands() -> str:
    """Return all facts about commands except the risk."""
    _check_fields()
    runs, destroys = _TABLE["runs_until_stopped"], _TABLE["destroys"]
    by_statement, operand_counts = _TABLE["destroys_by_statement"], {"no_operand": 0, "one_operand": 1}
    return format_table(
        SOURCE,
        {
            "reads_only": dict(chain.from_iterable(map(_read_only_entries, _TABLE["reads_only"]))),
            "with_any_flag": _marked("reads_only", "with_any_flag"),
            "reads_all_input": _marked("reads_only", "reads_all_input"),
            "find_expressions": {
                name: count for key, count in operand_counts.items() for name in _TABLE["find_expressions"][key]
            },
            "version_programs": _TABLE["version_request"]["programs"],
            "destroys": [
                (*_split(command), row.get("flags", ()), row["effect"])
                for row in destroys
                for command in row["command"]
            ],
            "loss_needles": [needle for row in [*destroys, *by_statement] for needle in row.get("needles", ())],
            "database_clients": [program for row in by_statement for program in row["program"]],
            "loss_statements": [statement for row in by_statement for statement in row["statements"]],
            "deletions": _file_commands("removes"),
            "moves": _file_commands("moves"),
            "runs_until_stopped": _pattern([row for row in runs if row.get("after_runner", True)]),
            "runs_until_stopped_alone": _pattern([row for row in runs if not row.get("after_runner", True)]),
            "never_ends": [
                (
                    tuple(command.split()),
                    tuple(row.get("flags", ())),
                    tuple(row.get("unless", ())),
                    row.get("alone", False),
                )
                for row in _TABLE["never_ends"]
                for command in row["command"]
            ],
            "waits_for_input": _pattern(_TABLE["waits_for_input"]),
            "starts_detached": _pattern(_TABLE["starts_detached"]),
            "starts_server": _server_pattern(**_TABLE["servers"]),
            "task_runners": _TABLE["task_runners"]["programs"],
            "tool_runners": _TABLE["task_runners"]["tool_runners"],
            "wrappers": {command: _wrapper(row) for row in _TABLE["wrapper"] for command in row["command"]},
            "rated_wrappers": _marked("wrapper", "does_more"),
            "command_prefixes": _marked("wrapper", "is_prefix"),
            "package_sources": {
                command: row["sources"] for row in _TABLE["package_runner"] for command in row["command"]
            },
            "shells": _TABLE["scripts"]["shells"],
            "script_argument_programs": _TABLE["scripts"]["script_arguments"],
            "exec_flags": _TABLE["for_each_result"],
            "single_dash_programs": _TABLE["single_dash"]["programs"],
            "device_paths": _device_paths(),
        },
    )


def risk_rows() -> str:
    """Return the rows of the risk table, what is needed to match them, and the table's version.

    Fields after the last one of a row are as by default.
    """
    defaults = tuple(RiskRow("", ""))
    rows: list[tuple[object, ...]] = []
    for row in RISK_ROWS:
        length = max(
            [at + 1 for at, (value, default) in enumerate(zip(row, defaults, strict=True)) if value != default]
        )
        rows.append(tuple(row)[:length])
    mappings = {name: _TABLE[name] for name in ("values", "bare", "tasks")}
    return format_table(SOURCE, {"version": table_version(RISK_ROWS, *mappings.values()), "rows": rows, **mappings})


def code_reading() -> str:
    """Return which files with code commands read: the rows, and for each program its subcommands, the most first."""
    _check_fields()
    list_fields = ("files", "file_flags", "added_file_flags", "directory_flags", "value_flags", "text_flags")
    rows = [
        (
            *[row.get(name, ()) for name in list_fields],
            *[row.get(name, False) for name in ("upward", "script", "operands")],
            row.get("unlisted", ""),
        )
        for row in _TABLE["reads_code"]
    ]
    numbers = [(command, number) for number, row in enumerate(_TABLE["reads_code"]) for command in row["command"]]
    programs: dict[str, list[object]] = {}
    for command, number in sorted(numbers, key=lambda pair: -pair[0].count(" ")):
        program, subcommands = _split(command)
        programs.setdefault(program, []).append((subcommands, number))
    return format_table(SOURCE, {"programs": programs, "rows": rows})


def _device_paths() -> list[str]:
    """Return parts of the paths of all devices that the risk table forbids reading."""
    rows = [row for row in RISK_ROWS if row.reading and SECRETS not in row.path]
    return sorted({max(re.split(r"[*?]+", path), key=len).strip("/").casefold() for row in rows for path in row.path})


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


def _pattern(rows: Iterable[dict[str, Any]]) -> str:
    return "|".join([pattern for row in rows for pattern in row["patterns"]])
