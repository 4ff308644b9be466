"""How dangerous a step is, and why: by the programs that it runs, and by the files that it makes, changes or deletes."""

from __future__ import annotations

from execplan.execution.attributes import LEVELS
from execplan.execution.command.parse import parse
from execplan.execution.command.simple import is_remote, leads_out
from execplan.execution.risk.matching import Read, fits, goes_out, is_from, is_strange_module, on_path, paths, read
from execplan.execution.risk.scripts import script_of
from execplan.execution.risk.table import (
    BUILTIN,
    CRITICAL,
    HIGH,
    LOW,
    MEDIUM,
    OWN,
    REPOSITORY,
    Row,
    Table,
    builtin,
    extended,
)
from execplan.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execplan.execution.command.simple import Simple

__all__ = [
    "CRITICAL",
    "HIGH",
    "LEVELS",
    "LOW",
    "MEDIUM",
    "OWN",
    "Risk",
    "Row",
    "Table",
    "builtin",
    "extended",
    "highest",
    "rate_command",
    "rate_path",
    "rate_simple",
]
_BASE = {"create": (LOW, "makes a file"), "modify": (MEDIUM, "changes a file"), "delete": (HIGH, "deletes a file")}
_LONGEST = 400
"""Characters of a reason; a document takes 2,000."""
_READING = frozenset("sh bash zsh dash ksh fish python perl ruby node php lua source . eval osascript".split())
"""Programs that run what they read."""

_BY_FIRST_WORD = frozenset(("git",))
"""Programs whose first word alone says which of their commands runs."""

_NAMING = ("pnpm", "yarn", "bun")
"""Package managers that take the name of a tool for that of a script."""


class Risk(NamedTuple):
    """A level, and why it is no lower."""

    level: str
    reasons: tuple[str, ...]
    """Short sentences; there is always one."""


def highest(risks: Iterable[Risk]) -> Risk:
    """The highest level, with the reasons of all that reach it, each once."""
    found = list(risks)
    level = max([each.level for each in found], key=LEVELS.index, default=LOW)
    reasons = dict.fromkeys([_short(reason) for each in found if each.level == level for reason in each.reasons])
    return Risk(level, tuple(reasons) or ("nothing is done",))


def _short(reason: str) -> str:
    """A reason without the middle of a word that is very long, so that a document can hold it."""
    return reason if len(reason) <= _LONGEST else f"{reason[: _LONGEST // 2]}…{reason[-_LONGEST // 2 :]}"


def rate_command(text: str, table: Table, *, shell: bool = False) -> Risk:
    """The risk of a command line, or of a script when it asks for a shell.

    A command that can't be read is HIGH at least, and so is one that needs a shell and does not ask for one. A script
    is MEDIUM at least, HIGH where the shell puts in values that the script does not show, CRITICAL where it can't be
    read; beyond that it is rated as its commands are.
    """
    command = parse(text)
    risks = []
    if shell and command.problem:
        risks.append(Risk(CRITICAL, (f"it runs in a shell, and its script can't be read: {command.problem}",)))
    elif command.problem:
        risks.append(Risk(HIGH, (f"it can't be read: {command.problem}",)))
    elif shell and command.expands:
        risks.append(Risk(HIGH, ("it runs in a shell, and uses values that are known only when it runs",)))
    elif shell:
        risks.append(Risk(MEDIUM, ("it runs in a shell",)))
    if command.needs and not shell:
        risks.append(Risk(HIGH, (f"it needs a shell, for {command.needs}, and does not ask for one",)))
    return highest([*risks, *[each for simple in command.simple for each in rate_simple(simple, table)]])


def rate_path(path: str, action: str, table: Table) -> Risk:
    """The risk of a step that does something to a file: `create`, `modify` or `delete`."""
    level, said = _BASE[action]
    risks = [Risk(level, (said,))]
    if leads_out(path):
        risks.append(Risk(CRITICAL, (f"`{path}` leads out of the repository",)))
    return highest([*risks, *_placed(path, table, writes=True)])


def rate_simple(simple: Simple, table: Table) -> Iterator[Risk]:
    """The risks of one command of a line or script, and of what wraps it, such as `sudo`."""
    yield from _set(simple, table)
    for path in simple.writes:
        yield from _written(path, table)
    for row in table.rows:
        for via in simple.via:
            if via in row.via:
                yield Risk(row.level, (f"`{via}` {row.reason}",))
    if simple.argv:
        command = read(simple, table)
        yield from _fed(simple, command)
        yield _program(simple, command, table)
        for word in simple.argv[1:]:
            for path in paths(word):
                yield from _placed(path, table, writes=False)


def _fed(simple: Simple, command: Read) -> Iterator[Risk]:
    """What there is to say of a program that runs what another prints."""
    runs_any = simple.argv[0].startswith(("$", "`"))
    if not runs_any and command.program not in _READING:
        return
    fed = [each for each in simple.reads if each != "<"]
    scripts = [each for each in command.words if not each.startswith(("<(", "-", "/dev/"))]
    if fed and not scripts and command.program in _READING:
        yield Risk(CRITICAL, (f"`{command.program}` runs what {_listed(fed)} gives it",))
    elif fed and runs_any:
        yield Risk(CRITICAL, (f"which program runs is what {_listed(fed)} prints",))


def _listed(fed: list[str]) -> str:
    shown = [f"`{each}`" if each != "<<" else "the text behind it" for each in dict.fromkeys(fed)]
    return " and ".join(shown[:2])


def _program(simple: Simple, command: Read, table: Table) -> Risk:
    """What there is to say of the program and its words."""
    said = f"`{_shown(simple, command)}`"
    known, wrong = _matched(simple, command, table)
    own = [
        row
        for row in table.rows
        if row.origin == OWN
        and (command.is_trusted or row.level in (HIGH, CRITICAL))
        and fits(row, command, table, anywhere=False)
    ][-1:]
    if not (own or known or wrong) and simple.argv[0] in _NAMING and command.words and command.is_clear:
        inner = _tool(simple, command, table)
        if inner:
            return _program(inner, read(inner, table), table)
    decides = own or [*known, *wrong]
    risks = [Risk(row.level, (f"{said} {row.reason}",)) for row in decides]
    if not decides:
        risks.append(_unlisted(said, simple, table))
    if not own and highest(risks).level == MEDIUM:
        out = goes_out(command, simple.argv)
        risks += [Risk(HIGH, (f"`{out}` leads out of the folder, or to another machine",))] if out else []
    if any([row.writes for row in decides]):
        risks += [
            each for word in simple.argv[1:] for path in paths(word) for each in _placed(path, table, writes=True)
        ]
    raised = [row for row in table.rows if row.origin == REPOSITORY and fits(row, command, table, anywhere=True)]
    return highest([*risks, *[Risk(row.level, (f"{said} {row.reason}",)) for row in raised]])


def _unlisted(shown: str, simple: Simple, table: Table) -> Risk:
    """The risk of a command that no row is about: a script of the repository, or a program that nobody has rated."""
    script = script_of(simple.argv, table.tasks)
    if script is None:
        return Risk(HIGH, (f"{shown} is not in the risk table, so its effects are unknown",))
    if script.suspicious:
        return Risk(
            HIGH,
            (f"it runs `{script.path}`, and `{script.suspicious}` in its name suggests more than a build or a test",),
        )
    return Risk(MEDIUM, (f"it runs `{script.path}`, a script of this repository",))


def _matched(simple: Simple, command: Read, table: Table) -> tuple[list[Row], list[Row]]:
    """The built-in rows that know a command, and those that warn of it."""
    if command.asks and command.is_trusted and not command.sources and _is_named(command, table):
        return [Row(LOW, "tells its version or its usage")], []
    if is_strange_module(simple, command, table):
        return [], [Row(HIGH, "is no tool of Python that is known: it runs code of the repository")]
    rows = [row for row in table.rows if row.origin == BUILTIN and row.program]
    known = [
        row
        for row in rows
        if row.level in (LOW, MEDIUM)
        and command.is_trusted
        and is_from(row, command)
        and fits(row, command, table, anywhere=False)
    ]
    anywhere = not known and not (command.is_clear and command.program in _BY_FIRST_WORD)
    return known, [
        row for row in rows if row.level in (HIGH, CRITICAL) and fits(row, command, table, anywhere=anywhere)
    ]


def _is_named(command: Read, table: Table) -> bool:
    """Whether a program is one that the table knows to be harmless when it is only asked."""
    return any([command.program in row.program and row.words == ("@asks",) for row in table.rows])


def _tool(simple: Simple, command: Read, table: Table) -> Simple | None:
    """The tool that a package manager is given in place of a script's name."""
    name = command.words[0]
    if any([name in row.program and row.package == "npm" for row in table.rows]):
        return simple._replace(argv=simple.argv[simple.argv.index(name) :], via=(*simple.via, simple.argv[0]))
    return None


def _shown(simple: Simple, command: Read) -> str:
    """A command in a few words: its program and what it is told to do."""
    first = [each for each in command.words[:1] if each.replace("-", "").replace(":", "").isalnum()]
    return " ".join([simple.argv[0], *first])


def _set(simple: Simple, table: Table) -> Iterator[Risk]:
    """What there is to say of the variables that are set for a command."""
    for name, value in simple.assigned:
        rows = [row for row in table.rows if row.variable and _is_about(row, name, value)]
        own = [row for row in rows if row.origin == OWN][-1:]
        known = own or [row for row in rows if row.level in (LOW, MEDIUM) and row.origin == BUILTIN]
        raised = [row for row in rows if row.origin == REPOSITORY]
        for row in [*(known or rows), *raised]:
            yield Risk(row.level, (f"`{name}=` {row.reason}",))
        if not rows and not _is_plain(value):
            yield Risk(HIGH, (f"`{name}=` is set to more than a plain word, and nobody knows what it does",))


def _is_about(row: Row, name: str, value: str) -> bool:
    command = Read(name, (value,), (value,), (), is_clear=True, sources=(), is_trusted=True, asks=False)
    return fits(row._replace(program=row.variable), command, builtin(), anywhere=False)


def _is_plain(value: str) -> bool:
    """Whether the value of a variable is a word, a number, a path inside, or an address of this machine."""
    rest = value
    for each in "_.,:-/@ ?&=":
        rest = rest.replace(each, "")
    plain = (not rest or (rest.isascii() and rest.isalnum())) and not value.startswith("-")
    return (
        plain and not is_remote(value) and not any([leads_out(each) for each in value.split(":") if "//" not in value])
    )


def _written(path: str, table: Table) -> Iterator[Risk]:
    """What there is to say of a file that a redirection writes."""
    for each in paths(path):
        yield Risk(HIGH, (f"it writes `{path}`",))
        if leads_out(each) and not each.startswith("/tmp/"):  # noqa: S108 - no file is made here
            yield Risk(CRITICAL, (f"it writes `{path}`, outside the repository",))
        yield from _placed(each, table, writes=True)


def _placed(path: str, table: Table, *, writes: bool) -> Iterator[Risk]:
    """What rows say of a file."""
    rows = [row for row in table.rows if row.path and not row.program and on_path(path, row)]
    own = [row for row in rows if row.origin == OWN][-1:]
    for row in [
        *(own or [row for row in rows if row.origin == BUILTIN]),
        *[row for row in rows if row.origin == REPOSITORY],
    ]:
        if writes or row.reading:
            yield Risk(row.level, (f"`{path}` {row.reason}",))
