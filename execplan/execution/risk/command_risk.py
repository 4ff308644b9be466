"""Risk ratings of commands and file changes, with reasons: by the programs that run and the files that change."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution.attributes import LEVELS
from execplan.execution.risk.repository_scripts import find_script
from execplan.execution.risk.risk_table import (
    BUILTIN,
    CRITICAL,
    DESTRUCTIVE,
    HIGH,
    LOW,
    MEDIUM,
    OUTSIDE,
    REPOSITORY,
    SHELL,
    UNKNOWN,
    USER,
    RiskRow,
    RiskTable,
    builtin_table,
    extend_table,
)
from execplan.execution.risk.row_matching import (
    AnalyzedCommand,
    analyze_command,
    candidate_paths,
    find_outside_arg,
    is_from_source,
    is_unknown_module,
    matches_path,
    row_matches,
    row_matches_path,
)
from execplan.execution.shell.command_line import parse_command
from execplan.execution.shell.command_table import SHELLS
from execplan.execution.shell.reading_commands import find_command_reads
from execplan.execution.shell.simple_command import is_outside_path, is_remote_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from execplan.execution.shell.simple_command import SimpleCommand

__all__ = [
    "CRITICAL",
    "HIGH",
    "LEVELS",
    "LOW",
    "MEDIUM",
    "USER",
    "CommandRisk",
    "RiskRow",
    "RiskTable",
    "builtin_table",
    "extend_table",
    "highest_risk",
    "rate_command",
    "rate_path",
    "rate_simple",
]
_BASE_RISKS = {
    "read": (LOW, "reads a file"),
    "create": (LOW, "creates a file"),
    "modify": (MEDIUM, "changes a file"),
    "delete": (HIGH, "deletes a file"),
}
_MAX_REASON_LENGTH = 400
"""Maximum length of a reason, in characters; a document allows 2,000."""
_INTERPRETERS = frozenset((*SHELLS, *"python perl ruby node php lua source . eval osascript".split()))
"""Programs that run the code that they read."""

_SUBCOMMAND_PROGRAMS = frozenset(("git",))
"""Programs whose first argument alone determines the subcommand."""

_PACKAGE_MANAGERS = ("pnpm", "yarn", "bun")
"""Package managers that accept the name of a tool in place of a script."""


class CommandRisk(NamedTuple):
    """A risk level, and the reasons why it is no lower."""

    level: str
    reasons: tuple[str, ...]
    """Short sentences, at least one."""
    categories: tuple[str, ...] = ()
    """Category of each reason, one of CATEGORIES or an empty string; missing ones are empty."""

    @property
    def categorized_reasons(self) -> list[tuple[str, str]]:
        """Return each reason with its category."""
        missing = len(self.reasons) - len(self.categories)
        return list(zip(self.reasons, [*self.categories, *[""] * missing], strict=True))


def highest_risk(risks: Iterable[CommandRisk]) -> CommandRisk:
    """Return the highest level, with the reasons of all risks at that level, without duplicates."""
    all_risks = list(risks)
    level = max([risk.level for risk in all_risks], key=LEVELS.index, default=LOW)
    categories = {
        _shorten(reason): category
        for risk in all_risks
        if risk.level == level
        for reason, category in risk.categorized_reasons
    }
    reasons = tuple(categories) or ("it does nothing",)
    return CommandRisk(level, reasons, tuple(categories.values()) if any(categories.values()) else ())


def _shorten(reason: str) -> str:
    """Return a reason with its middle removed if it is too long for a document."""
    if len(reason) <= _MAX_REASON_LENGTH:
        return reason
    return f"{reason[: _MAX_REASON_LENGTH // 2]}…{reason[-_MAX_REASON_LENGTH // 2 :]}"


class _RatedCommands(NamedTuple):
    """Ratings by a table; a check rates each command of a plan several times."""

    table: RiskTable
    risks: dict[tuple[str, bool], CommandRisk]


_STANDARD_INPUTS = ("/dev/null", "/dev/stdin", "/dev/tty")
_MAX_RATED = 1000
_RATED_COMMANDS: list[_RatedCommands] = []


def rate_command(text: str, table: RiskTable, *, is_script: bool = False) -> CommandRisk:
    """Return the risk of a command line, or of a script if a shell is declared.

    A command that can't be parsed is at least HIGH, and so is one that needs a shell without declaring it. A script is
    at least MEDIUM, HIGH if the shell inserts values that the script does not show, and CRITICAL if it can't be parsed;
    otherwise it is rated by its commands.
    """
    if not _RATED_COMMANDS or _RATED_COMMANDS[0].table is not table or len(_RATED_COMMANDS[0].risks) > _MAX_RATED:
        _RATED_COMMANDS[:] = [_RatedCommands(table, {})]
    risks = _RATED_COMMANDS[0].risks
    if (text, is_script) not in risks:
        risks[text, is_script] = _rate_text(text, table, is_script=is_script)
    return risks[text, is_script]


def _rate_text(text: str, table: RiskTable, *, is_script: bool) -> CommandRisk:
    command = parse_command(text)
    risks = []
    if is_script and command.problem:
        risks.append(
            CommandRisk(
                CRITICAL, (f"it runs in a shell, and its script can't be parsed: {command.problem}",), (UNKNOWN,)
            )
        )
    elif command.problem:
        risks.append(CommandRisk(HIGH, (f"it can't be parsed: {command.problem}",), (UNKNOWN,)))
    elif is_script and command.has_expansion:
        risks.append(
            CommandRisk(HIGH, ("it runs in a shell, and uses values that are known only at run time",), (SHELL,))
        )
    elif is_script:
        risks.append(CommandRisk(MEDIUM, ("it runs in a shell",), (SHELL,)))
    if command.shell_reason and not is_script:
        risks.append(
            CommandRisk(HIGH, (f"it needs a shell ({command.shell_reason}), but doesn't declare one",), (SHELL,))
        )
    risks += _directory_risks(command.simple_commands)
    return highest_risk([*risks, *[risk for simple in command.simple_commands for risk in rate_simple(simple, table)]])


def _directory_risks(commands: Sequence[SimpleCommand]) -> Iterator[CommandRisk]:
    """Yield a risk for each `cd` after which commands run outside of the directory; `cd a` and then `cd ..` is inside."""
    directory = ""
    for simple in commands:
        if simple.argv[:1] in (("cd",), ("pushd",)) and len(simple.argv) == 2:
            target = simple.argv[1]
            directory = target if target.startswith(("/", "~", "$", "-")) else f"{directory}{target}"
            directory += "/"
            if is_outside_path(directory):
                reason = (
                    f"`{simple.argv[0]} {target}` leads outside of the directory, and the commands after it run there"
                )
                yield CommandRisk(HIGH, (reason,), (OUTSIDE,))


def rate_path(path: str, action: str, table: RiskTable) -> CommandRisk:
    """Return the risk of a step that applies an action to a file: `read`, `create`, `modify` or `delete`."""
    level, reason = _BASE_RISKS[action]
    risks = [CommandRisk(level, (reason,), (DESTRUCTIVE if action == "delete" else "",))]
    if is_outside_path(path):
        risks.append(CommandRisk(CRITICAL, (f"`{path}` leads outside the repository",), (OUTSIDE,)))
    return highest_risk([*risks, *_path_risks(path, table, writes=action != "read")])


def rate_simple(simple: SimpleCommand, table: RiskTable) -> Iterator[CommandRisk]:
    """Yield the risks of a single command, and of its wrappers, such as `sudo`."""
    yield from _assignment_risks(simple, table)
    for path in simple.writes:
        yield from _redirection_risks(path, table)
    for path in simple.reads:
        if is_outside_path(path) and path not in _STANDARD_INPUTS:
            yield CommandRisk(HIGH, (f"it reads `{path}`, outside of the directory",), (OUTSIDE,))
        yield from _path_risks(path, table, writes=False)
    for row in table.rows if simple.via else ():
        for via in simple.via:
            if via in row.via:
                yield CommandRisk(row.level, (f"`{via}` {row.reason}",), (row.category,))
    if simple.argv:
        command = analyze_command(simple, table)
        yield from _pipe_risks(simple, command)
        yield _program_risk(simple, command, table)
        for arg in simple.argv[1:]:
            for path in candidate_paths(arg):
                yield from _path_risks(path, table, writes=False)


def _pipe_risks(simple: SimpleCommand, command: AnalyzedCommand) -> Iterator[CommandRisk]:
    """Yield the risks of a program that runs the output of another."""
    is_computed = simple.argv[0].startswith(("$", "`"))
    if not is_computed and command.program not in _INTERPRETERS:
        return
    sources = [source for source in simple.piped_from if source != "<"]
    scripts = [arg for arg in command.args if not arg.startswith(("<(", "-", "/dev/"))]
    if sources and not scripts and command.program in _INTERPRETERS:
        yield CommandRisk(CRITICAL, (f"`{command.program}` runs input from {_format_sources(sources)}",), (OUTSIDE,))
    elif sources and is_computed:
        yield CommandRisk(CRITICAL, (f"it runs the program that {_format_sources(sources)} prints",), (OUTSIDE,))


def _format_sources(sources: list[str]) -> str:
    labels = [f"`{source}`" if source != "<<" else "a here-document" for source in dict.fromkeys(sources)]
    return " and ".join(labels[:2])


def _program_risk(simple: SimpleCommand, command: AnalyzedCommand, table: RiskTable) -> CommandRisk:
    """Return the risk of the program with its arguments."""
    label = f"`{_command_label(simple, command)}`"
    known_rows, warning_rows = _matching_rows(simple, command, table)
    user_rows = [
        row
        for row in table.rows
        if row.origin == USER
        and (command.is_trusted or row.level in (HIGH, CRITICAL))
        and row_matches(row, command, table, anywhere=False)
    ][-1:]
    if (
        not (user_rows or known_rows or warning_rows)
        and simple.argv[0] in _PACKAGE_MANAGERS
        and command.args
        and command.is_unambiguous
    ):
        inner = _npm_tool(simple, command, table)
        if inner:
            return _program_risk(inner, analyze_command(inner, table), table)
    deciding_rows = user_rows or [*known_rows, *warning_rows]
    risks = [CommandRisk(row.level, (f"{label} {row.reason}",), (row.category,)) for row in deciding_rows]
    if not deciding_rows:
        risks.append(_unlisted_risk(label, simple, command, table))
    if not user_rows and highest_risk(risks).level == MEDIUM:
        outside_arg = find_outside_arg(command, simple.argv)
        risks += (
            [CommandRisk(HIGH, (f"`{outside_arg}` leads outside the directory, or to another machine",), (OUTSIDE,))]
            if outside_arg
            else []
        )
    if any([row.writes for row in deciding_rows]):
        risks += [
            risk
            for arg in simple.argv[1:]
            for path in candidate_paths(arg)
            for risk in _path_risks(path, table, writes=True)
        ]
    raising_rows = [
        row for row in table.rows if row.origin == REPOSITORY and row_matches(row, command, table, anywhere=True)
    ]
    return highest_risk(
        [*risks, *[CommandRisk(row.level, (f"{label} {row.reason}",), (row.category,)) for row in raising_rows]]
    )


def _unlisted_risk(label: str, simple: SimpleCommand, command: AnalyzedCommand, table: RiskTable) -> CommandRisk:
    """Return the risk of a command that no row matches: a script of the repository, or an unrated program."""
    script = find_script(simple.argv, table.tasks)
    if script is None and any([command.program in row.program for row in table.rows]):
        return CommandRisk(
            HIGH, (f"{label} is not rated with these arguments, so its effects are unknown",), (UNKNOWN,)
        )
    if script is None:
        return CommandRisk(HIGH, (f"{label} is not in the risk table, so its effects are unknown",), (UNKNOWN,))
    if script.suspicious_word:
        return CommandRisk(
            HIGH,
            (
                f"it runs `{script.path}`, and `{script.suspicious_word}` in its name suggests more than a build or a test",
            ),
            (UNKNOWN,),
        )
    return CommandRisk(MEDIUM, (f"it runs `{script.path}`, a script of this repository",))


def _matching_rows(
    simple: SimpleCommand, command: AnalyzedCommand, table: RiskTable
) -> tuple[list[RiskRow], list[RiskRow]]:
    """Return the built-in rows that rate a command as known, and those that warn of it."""
    rows = _rows_for_program(command.program, table)
    if _only_reads(simple, table):
        outside = [path for path in find_command_reads(simple.argv) or () if is_outside_path(path)]
        row = (
            RiskRow(HIGH, f"reads `{outside[0]}`, outside of the directory", category=OUTSIDE)
            if outside
            else RiskRow(LOW, "is read-only")
        )
        return [row], [
            row for row in rows if row.level in (HIGH, CRITICAL) and row_matches(row, command, table, anywhere=False)
        ]
    if command.is_help_request and command.is_trusted and not command.sources:
        help_rows = [row for row in rows if row.words == ("@asks",)]
        if help_rows:
            return help_rows, []
    if is_unknown_module(simple, command, table):
        return [], [RiskRow(MEDIUM, "is a module of this repository, or an installed one")]
    known_rows = [
        row
        for row in rows
        if row.level in (LOW, MEDIUM)
        and command.is_trusted
        and is_from_source(row, command)
        and row_matches(row, command, table, anywhere=False)
    ]
    anywhere = not known_rows and not (command.is_unambiguous and command.program in _SUBCOMMAND_PROGRAMS)
    return known_rows, [
        row for row in rows if row.level in (HIGH, CRITICAL) and row_matches(row, command, table, anywhere=anywhere)
    ]


class _RowIndex(NamedTuple):
    """The rows of a table by what they are about."""

    table: RiskTable
    rows_by_name: dict[str, list[int]]
    """Built-in rows that name programs."""
    pattern_rows: list[int]
    """Built-in rows with a pattern of names."""
    path_rows: list[RiskRow]
    path_patterns: tuple[str, ...]
    """Patterns of all `path_rows`; most paths match none."""


_LAST_INDEX: list[_RowIndex] = []


def _row_index(table: RiskTable) -> _RowIndex:
    if not _LAST_INDEX or _LAST_INDEX[0].table is not table:
        _LAST_INDEX[:] = [_build_index(table)]
    return _LAST_INDEX[0]


def _rows_for_program(program: str, table: RiskTable) -> list[RiskRow]:
    """Return the built-in rows that may name a program, with or without its directory, in the order of the table."""
    index = _row_index(table)
    names = (program, program.rpartition("/")[2])
    numbers = {*index.pattern_rows, *[number for name in names for number in index.rows_by_name.get(name, ())]}
    return [table.rows[number] for number in sorted(numbers)]


def _build_index(table: RiskTable) -> _RowIndex:
    path_rows = [row for row in table.rows if row.path and not row.program]
    path_patterns = dict.fromkeys([pattern for row in path_rows for pattern in row.path])
    index = _RowIndex(table, {}, [], path_rows, tuple(path_patterns))
    for number, row in enumerate(table.rows):
        if row.origin == BUILTIN:
            for name in row.program:
                index.rows_by_name.setdefault(name, []).append(number)
            if any(["*" in name for name in row.program]):
                index.pattern_rows.append(number)
    return index


def _only_reads(simple: SimpleCommand, table: RiskTable) -> bool:
    """Return whether a command does nothing but read; a wrapper or an unknown variable could change what it does."""
    if not set(simple.via) <= {"|"} or find_command_reads(simple.argv) is None:
        return False
    return all(
        [
            {risk.level for risk in _assignment_risks(simple._replace(assignments=(assignment,)), table)} == {LOW}
            for assignment in simple.assignments
        ]
    )


def _npm_tool(simple: SimpleCommand, command: AnalyzedCommand, table: RiskTable) -> SimpleCommand | None:
    """Return the tool that a package manager runs in place of a script, or None."""
    name = command.args[0]
    if any([name in row.program and row.package == "npm" for row in table.rows]):
        return simple._replace(argv=simple.argv[simple.argv.index(name) :], via=(*simple.via, simple.argv[0]))
    return None


def _command_label(simple: SimpleCommand, command: AnalyzedCommand) -> str:
    """Return a short label for a command: its program and its subcommand."""
    subcommand = [arg for arg in command.args[:1] if arg.replace("-", "").replace(":", "").isalnum()]
    return " ".join([simple.argv[0], *subcommand])


def _assignment_risks(simple: SimpleCommand, table: RiskTable) -> Iterator[CommandRisk]:
    """Yield the risks of the variables that are set for a command."""
    variable_rows = [row._replace(program=row.variable) for row in table.rows if simple.assignments and row.variable]
    for name, value in simple.assignments:
        command = AnalyzedCommand(
            name, (value,), (value,), (), is_unambiguous=True, sources=(), is_trusted=True, is_help_request=False
        )
        rows = [row for row in variable_rows if row_matches(row, command, builtin_table(), anywhere=False)]
        user_rows = [row for row in rows if row.origin == USER][-1:]
        known_rows = user_rows or [row for row in rows if row.level in (LOW, MEDIUM) and row.origin == BUILTIN]
        raising_rows = [row for row in rows if row.origin == REPOSITORY]
        for row in [*(known_rows or rows), *raising_rows]:
            yield CommandRisk(row.level, (f"`{name}=` {row.reason}",), (row.category,))
        if not rows and not _is_plain_value(value):
            yield CommandRisk(
                HIGH, (f"`{name}=` is set to more than a plain word, and its effect is unknown",), (UNKNOWN,)
            )


def _is_plain_value(value: str) -> bool:
    """Return whether a variable's value is a plain word, a number, an inside path, or an address of this machine."""
    letters = value
    for char in "_.,:-/@ ?&=":
        letters = letters.replace(char, "")
    is_plain = (not letters or (letters.isascii() and letters.isalnum())) and not value.startswith("-")
    return (
        is_plain
        and not is_remote_address(value)
        and not any([is_outside_path(part) for part in value.split(":") if "//" not in value])
    )


def _redirection_risks(path: str, table: RiskTable) -> Iterator[CommandRisk]:
    """Yield the risks of a file that a redirection writes."""
    for target in candidate_paths(path):
        yield CommandRisk(HIGH, (f"it writes `{path}`",))
        if is_outside_path(target) and not target.startswith("/tmp/"):  # noqa: S108 - no file is made here
            yield CommandRisk(CRITICAL, (f"it writes `{path}`, outside the repository",), (OUTSIDE,))
        yield from _path_risks(target, table, writes=True)


def _path_risks(path: str, table: RiskTable, *, writes: bool) -> Iterator[CommandRisk]:
    """Yield the risks of a path from the rows that match it."""
    index = _row_index(table)
    if not matches_path(path, index.path_patterns):
        return
    rows = [row for row in index.path_rows if row_matches_path(path, row)]
    user_rows = [row for row in rows if row.origin == USER][-1:]
    for row in [
        *(user_rows or [row for row in rows if row.origin == BUILTIN]),
        *[row for row in rows if row.origin == REPOSITORY],
    ]:
        if writes or row.reading:
            yield CommandRisk(row.level, (f"`{path}` {row.reason}",), (row.category,))
