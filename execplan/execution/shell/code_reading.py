"""Files with code that a command names or reads to know what to do, by the rows [[reads_code]] of commands.toml."""

from __future__ import annotations

from execplan.core.named_tuple import NamedTuple
from execplan.execution.shell.simple_command import normalize_program_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from execplan.execution.shell.simple_command import SimpleCommand

_MODULE = "python -m"
_PYTHON = "python"


class _Row(NamedTuple):
    """A row of the table; commands.toml documents each field."""

    subcommands: tuple[str, ...]
    files: tuple[str, ...]
    file_flags: tuple[str, ...]
    added_file_flags: tuple[str, ...]
    directory_flags: tuple[str, ...]
    value_flags: tuple[str, ...]
    text_flags: tuple[str, ...]
    upward: bool
    script: bool
    operands: bool
    unlisted: str


class CodeReading(NamedTuple):
    """What a command reads to know what to do; paths are as written, from the directory of the command."""

    program: str
    files: tuple[str, ...] = ()
    """Files that the command names."""
    names: tuple[str, ...] = ()
    """Names that the program looks for in `directories`."""
    directories: tuple[str, ...] = (".",)
    is_upward: bool = False
    """Whether it looks for the names in all parent directories, too."""
    operands: tuple[str, ...] = ()
    """Files with code, or directories in which it looks for the names, too."""
    unlisted: str = ""
    """What else it reads or runs, which its words don't show."""


class _Arguments(NamedTuple):
    operands: tuple[str, ...]
    values: tuple[tuple[str, str], ...]
    """Flags with a value, each with its value."""
    has_text: bool
    """Whether a flag says that the code is on the command line."""
    is_certain: bool
    """Whether all flags before the first operand are known."""


def find_code_readings(simple: SimpleCommand) -> Iterator[CodeReading]:
    """Yield what a command and its wrappers read; nothing for programs that are not in the table."""
    if not simple.argv:
        return
    if simple.via[-1:] == (_MODULE,):
        yield _module_reading(simple.argv[0])
    for via in simple.via:
        program, *subcommands = via.split(" ")
        for row in _rows(program):
            if row.subcommands == tuple(subcommands) and subcommands:
                yield CodeReading(via, names=row.files, is_upward=row.upward)
    program = normalize_program_name(simple.argv[0])
    for row in _rows(program):
        arguments = _parse_arguments(simple.argv[1:], row)
        count = len(row.subcommands)
        if arguments.operands[:count] == row.subcommands:
            reading = _row_reading(" ".join([program, *row.subcommands]), row, arguments, arguments.operands[count:])
            if row.script and not reading.files and not arguments.has_text and "<" in simple.piped_from:
                reading = reading._replace(unlisted="what it reads from its standard input")
            yield reading
            return


def _rows(program: str) -> list[_Row]:
    from execplan.execution.shell.code_reading_data import DATA

    return [_Row(words, *DATA["rows"][number]) for words, number in DATA["programs"].get(program, ())]


def _module_reading(module: str) -> CodeReading:
    """Return the files of a Python module that runs with `-m`, wherever it is: in the directory it comes first."""
    path = module.replace(".", "/")
    package = path.rpartition("/")[0]
    files = [
        f"{path}.py",
        f"{path}/__main__.py",
        f"{path}/__init__.py",
        *([f"{package}/__init__.py"] if package else []),
    ]
    unlisted = "" if _rows(module) else "modules that it imports"
    return CodeReading(_PYTHON, names=tuple(files), unlisted=unlisted)


def _row_reading(program: str, row: _Row, arguments: _Arguments, operands: tuple[str, ...]) -> CodeReading:
    named_files = [value for flag, value in arguments.values if flag in row.file_flags]
    files = named_files + [value for flag, value in arguments.values if flag in row.added_file_flags]
    directories = [value for flag, value in arguments.values if flag in row.directory_flags]
    if row.script and not arguments.has_text:
        # after an unknown flag, the first operand may be its value
        scripts = [operand for operand in operands[: 1 if arguments.is_certain else 2] if operand != "-"]
        files += [script for script in scripts if not row.files or "." in script or "/" in script]
    return CodeReading(
        program,
        tuple(files),
        () if named_files else row.files,
        tuple(directories) or (".",),
        row.upward,
        tuple([operand.partition("::")[0] for operand in operands]) if row.operands else (),
        row.unlisted,
    )


def _parse_arguments(argv: Sequence[str], row: _Row) -> _Arguments:
    flags_with_value = {*row.file_flags, *row.added_file_flags, *row.directory_flags, *row.value_flags}
    operands: list[str] = []
    values: list[tuple[str, str]] = []
    has_text, is_certain, index = False, True, 0
    while index < len(argv):
        arg = argv[index]
        index += 1
        name, equals, value = arg.partition("=")
        if arg == "--":
            operands += argv[index:]
            break
        if not arg.startswith("-") or arg == "-":
            operands.append(arg)
            if row.script and len(operands) > len(row.subcommands) + (not is_certain):
                break  # what follows belongs to the script
        elif name in row.text_flags or (arg[1:].isalpha() and f"-{arg[-1]}" in row.text_flags):
            has_text = has_text or not operands[len(row.subcommands) :]
        elif name in flags_with_value:
            values.append((name, value if equals else "".join(argv[index : index + 1])))
            index += not equals
        elif not arg.startswith("--") and arg[:2] in flags_with_value:
            values.append((arg[:2], arg[2:].removeprefix("=")))
        elif arg[1:].isalpha() and f"-{arg[-1]}" in flags_with_value:
            values.append((f"-{arg[-1]}", "".join(argv[index : index + 1])))
            index += 1
        elif len(operands) == len(row.subcommands) and len(arg) > 2:
            is_certain = False
    return _Arguments(tuple(operands), tuple(values), has_text, is_certain)
