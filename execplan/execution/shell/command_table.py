"""What commands do, except their risk, from commands.toml, which explains its rows."""

from __future__ import annotations

from execplan.core.text.data_tables import load_table

_COMMANDS = load_table("execution/shell/commands.json")
READS_ONLY: dict[str, tuple[str, str, int, str, int, int, tuple[str, ...], bool]] = _COMMANDS["reads_only"]
"""Flags, value flags, leading texts, replacing flags, most and least operands, forbidden texts, numbers."""
WITH_ANY_FLAG: tuple[str, ...] = _COMMANDS["with_any_flag"]
READS_ALL_INPUT: tuple[str, ...] = _COMMANDS["reads_all_input"]
FIND_EXPRESSIONS: dict[str, int] = _COMMANDS["find_expressions"]
VERSION_PROGRAMS: tuple[str, ...] = _COMMANDS["version_programs"]
DESTROYS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...] = _COMMANDS["destroys"]
"""Program, required words, flags, effect."""
LOSS_NEEDLES: tuple[str, ...] = _COMMANDS["loss_needles"]
DATABASE_CLIENTS: tuple[str, ...] = _COMMANDS["database_clients"]
LOSS_STATEMENTS: tuple[str, ...] = _COMMANDS["loss_statements"]
DELETIONS: tuple[tuple[tuple[str, ...], str], ...] = _COMMANDS["deletions"]
"""Words, and the flag that may follow them."""
MOVES: tuple[tuple[tuple[str, ...], str], ...] = _COMMANDS["moves"]
RUNS_UNTIL_STOPPED: str = _COMMANDS["runs_until_stopped"]
RUNS_UNTIL_STOPPED_ALONE: str = _COMMANDS["runs_until_stopped_alone"]
WAITS_FOR_INPUT: str = _COMMANDS["waits_for_input"]
STARTS_DETACHED: str = _COMMANDS["starts_detached"]
STARTS_SERVER: str = _COMMANDS["starts_server"]
TASK_RUNNERS: tuple[str, ...] = _COMMANDS["task_runners"]
TOOL_RUNNERS: tuple[str, ...] = _COMMANDS["tool_runners"]
WRAPPERS: dict[str, tuple[str, str, int, bool]] = _COMMANDS["wrappers"]
"""Value flags, flags, leading arguments, takes assignments."""
RATED_WRAPPERS: tuple[str, ...] = _COMMANDS["rated_wrappers"]
COMMAND_PREFIXES: tuple[str, ...] = _COMMANDS["command_prefixes"]
PACKAGE_SOURCES: dict[str, tuple[str, ...]] = _COMMANDS["package_sources"]
SHELLS: tuple[str, ...] = _COMMANDS["shells"]
SCRIPT_ARGUMENT_PROGRAMS: tuple[str, ...] = _COMMANDS["script_argument_programs"]
EXEC_FLAGS: dict[str, tuple[str, ...]] = _COMMANDS["exec_flags"]
SINGLE_DASH_PROGRAMS: tuple[str, ...] = _COMMANDS["single_dash_programs"]
