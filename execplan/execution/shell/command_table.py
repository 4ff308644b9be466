"""What commands do, except their risk, from commands.toml, which explains its rows."""

from __future__ import annotations

from execplan.execution.shell.commands_data import DATA

READS_ONLY: dict[str, tuple[str, str, int, str, int, int, tuple[str, ...], bool]] = DATA["reads_only"]
"""Flags, value flags, leading texts, replacing flags, most and least operands, forbidden texts, numbers."""
WITH_ANY_FLAG: tuple[str, ...] = DATA["with_any_flag"]
READS_ALL_INPUT: tuple[str, ...] = DATA["reads_all_input"]
FIND_EXPRESSIONS: dict[str, int] = DATA["find_expressions"]
VERSION_PROGRAMS: tuple[str, ...] = DATA["version_programs"]
DESTROYS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...] = DATA["destroys"]
"""Program, required words, flags, effect."""
LOSS_NEEDLES: tuple[str, ...] = DATA["loss_needles"]
DATABASE_CLIENTS: tuple[str, ...] = DATA["database_clients"]
LOSS_STATEMENTS: tuple[str, ...] = DATA["loss_statements"]
DELETIONS: tuple[tuple[tuple[str, ...], str], ...] = DATA["deletions"]
"""Words, and the flag that may follow them."""
MOVES: tuple[tuple[tuple[str, ...], str], ...] = DATA["moves"]
RUNS_UNTIL_STOPPED: str = DATA["runs_until_stopped"]
RUNS_UNTIL_STOPPED_ALONE: str = DATA["runs_until_stopped_alone"]
NEVER_ENDS: tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], bool], ...] = DATA["never_ends"]
"""Program and first operands, flags of which one is present, flags of which none is, whether no operand follows."""
WAITS_FOR_INPUT: str = DATA["waits_for_input"]
STARTS_DETACHED: str = DATA["starts_detached"]
STARTS_SERVER: str = DATA["starts_server"]
TASK_RUNNERS: tuple[str, ...] = DATA["task_runners"]
TOOL_RUNNERS: tuple[str, ...] = DATA["tool_runners"]
WRAPPERS: dict[str, tuple[str, str, int, bool]] = DATA["wrappers"]
"""Value flags, flags, leading arguments, takes assignments."""
RATED_WRAPPERS: tuple[str, ...] = DATA["rated_wrappers"]
COMMAND_PREFIXES: tuple[str, ...] = DATA["command_prefixes"]
PACKAGE_SOURCES: dict[str, tuple[str, ...]] = DATA["package_sources"]
SHELLS: tuple[str, ...] = DATA["shells"]
SCRIPT_ARGUMENT_PROGRAMS: tuple[str, ...] = DATA["script_argument_programs"]
EXEC_FLAGS: dict[str, tuple[str, ...]] = DATA["exec_flags"]
SINGLE_DASH_PROGRAMS: tuple[str, ...] = DATA["single_dash_programs"]
DEVICE_PATHS: tuple[str, ...] = DATA["device_paths"]
"""Parts of the paths of devices that the risk table forbids reading."""
