"""Risk table: rows with a level and a reason, which settings can extend, and the patterns of paths in them.

In a pattern, `*` stays within a directory, `**` does not, and case is ignored.
"""

from __future__ import annotations

from execplan.core.errors import ExecplanError
from execplan.core.named_tuple import NamedTuple
from execplan.core.secrets import secret_files
from execplan.core.text.pure_paths import matches_glob
from execplan.core.text.text_lines import digest
from execplan.execution.attributes import LEVELS
from execplan.execution.shell.command_table import READS_ONLY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from re import Pattern
    from typing import Final

_TOKENS = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_SPLIT = r"(\*\*/|/\*\*|\*\*|\*|\?)"
LOW, MEDIUM, HIGH, CRITICAL = LEVELS
BUILTIN: Final = "built in"
USER: Final = "the user's"
REPOSITORY: Final = "the repository's"
DESTRUCTIVE: Final = "destructive"
OUTSIDE: Final = "outside"
UNKNOWN: Final = "unknown"
SHELL: Final = "shell"
CATEGORIES: Final = (DESTRUCTIVE, OUTSIDE, UNKNOWN, SHELL)
"""Categories of reasons: deletes or discards; affects what is outside the repository; has unknown effects; needs a shell."""
SECRETS: Final = "@secrets"
"""Path pattern that represents all of secret_files.py."""
_SUBJECTS = ("program", "via", "path", "variable", "tool")
_LISTS = (*_SUBJECTS, "words", "flags", "without", "unless")
_FLAGS = ("alone", "writes", "reading")
_EXAMPLE = '{ program = "deploy", level = "CRITICAL", reason = "changes what runs" }'


class _PathPatterns(NamedTuple):
    """Patterns by kind, in lower case, so that most paths are compared without a regular expression."""

    names: frozenset[str]
    """Names of files or directories at any depth."""
    name_prefixes: tuple[str, ...]
    name_suffixes: tuple[str, ...]
    name_globs: tuple[str, ...]
    """Patterns of names with another form than `PREFIX*` and `*SUFFIX`."""
    paths: frozenset[str]
    path_globs: tuple[tuple[str, ...], ...]
    """Patterns of each part of a path."""
    directories: tuple[str, ...]
    """Directories that match with everything in them."""
    complex_patterns: tuple[str, ...]
    """Patterns that only a regular expression can compare, as they were written."""


_COMPILED: dict[tuple[str, ...], _PathPatterns] = {}
_EXPRESSIONS: dict[tuple[str, ...], Pattern[str]] = {}


def matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    """Return whether one of the patterns matches a whole path or, if it has no slash, one of its parts."""
    if not patterns:
        return False
    if not path.isascii():  # outside ASCII, lower case is not all that ignoring case means
        return _expression(patterns).fullmatch(path) is not None
    compiled = _COMPILED.get(patterns)
    if compiled is None:
        compiled = _COMPILED[patterns] = _compile(patterns)
    path = path.lower()
    parts = path.split("/")
    return (
        path in compiled.paths
        or not compiled.names.isdisjoint(parts)
        or any([part.startswith(compiled.name_prefixes) or part.endswith(compiled.name_suffixes) for part in parts])
        or any([matches_glob(part, glob) for glob in compiled.name_globs for part in parts])
        or any([path == directory or path.startswith(f"{directory}/") for directory in compiled.directories])
        or any([_match_parts(parts, globs) for globs in compiled.path_globs])
        or (bool(compiled.complex_patterns) and _expression(compiled.complex_patterns).fullmatch(path) is not None)
    )


def _compile(patterns: tuple[str, ...]) -> _PathPatterns:
    names: list[str] = []
    name_prefixes: list[str] = []
    name_suffixes: list[str] = []
    name_globs: list[str] = []
    paths: list[str] = []
    path_globs: list[tuple[str, ...]] = []
    directories: list[str] = []
    complex_patterns: list[str] = []
    for pattern_text in patterns:
        pattern = pattern_text.lower()
        is_literal = "*" not in pattern and "?" not in pattern
        directory = pattern.removesuffix("/**")
        if not pattern.isascii() or "[" in pattern:
            complex_patterns.append(pattern_text)
        elif is_literal:
            (paths if "/" in pattern else names).append(pattern)
        elif directory != pattern and "*" not in directory and "?" not in directory:
            directories.append(directory)
        elif "**" in pattern:
            complex_patterns.append(pattern_text)
        elif "/" in pattern:
            path_globs.append(tuple(pattern.split("/")))
        elif "?" in pattern or pattern.count("*") > 1 or "*" not in (pattern[0], pattern[-1]):
            name_globs.append(pattern)
        elif pattern[0] == "*":
            name_suffixes.append(pattern[1:])
        else:
            name_prefixes.append(pattern[:-1])
    return _PathPatterns(
        frozenset(names),
        tuple(name_prefixes),
        tuple(name_suffixes),
        tuple(name_globs),
        frozenset(paths),
        tuple(path_globs),
        tuple(directories),
        tuple(complex_patterns),
    )


def _match_parts(parts: list[str], globs: tuple[str, ...]) -> bool:
    return len(parts) == len(globs) and all([matches_glob(*pair) for pair in zip(parts, globs, strict=True)])


def _expression(patterns: tuple[str, ...]) -> Pattern[str]:
    """Return the regular expression of all patterns."""
    if patterns not in _EXPRESSIONS:
        import re

        full_patterns = [pattern if "/" in pattern else f"**/{pattern}/**" for pattern in patterns]
        expression = "|".join(
            [
                "".join([_TOKENS.get(token, re.escape(token)) for token in re.split(_SPLIT, pattern)])
                for pattern in full_patterns
            ]
        )
        _EXPRESSIONS[patterns] = re.compile(expression, re.DOTALL | re.IGNORECASE)
    return _EXPRESSIONS[patterns]


class RiskRow(NamedTuple):
    """A row of the risk table; commands.toml documents each field."""

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
    """Origin of the row: built in, the user, or the repository."""
    tool: tuple[str, ...] = ()
    category: str = ""
    """Category of the reason: one of CATEGORIES, or an empty string."""


class RiskTable(NamedTuple):
    """The complete data for rating risks."""

    rows: tuple[RiskRow, ...]
    version: str
    """Digest of the whole content; it changes whenever a rating may change."""
    values: Mapping[str, frozenset[str]]
    """For each program, its flags that take the next word as their value."""
    bare: Mapping[str, frozenset[str]]
    """For each program and for `all`, flags that may precede the first argument."""
    tasks: Mapping[str, frozenset[str]]
    """Words in names of tasks: known ones, and those that make a task risky."""


_BUILTIN_CACHE: list[RiskTable] = []


def builtin_table() -> RiskTable:
    """Return the risk table that ships with ExecPlan."""
    if not _BUILTIN_CACHE:
        from execplan.execution.risk.risk_rows_data import DATA

        mappings = [
            {name: frozenset(words) for name, words in DATA[key].items()} for key in ("values", "bare", "tasks")
        ]
        _BUILTIN_CACHE.append(RiskTable(tuple([RiskRow(*row) for row in DATA["rows"]]), DATA["version"], *mappings))
    return _BUILTIN_CACHE[0]


def extend_table(table: RiskTable, rows: Sequence[Mapping[str, object]], *, may_lower: bool) -> RiskTable:
    """Return the table with rows from settings added: a user's rows decide if they match, a repository's only raise.

    Raises ExecplanError if a row is invalid, or if a repository's row does not raise the risk.
    """
    added = [
        parse_row(settings_row, index, USER if may_lower else REPOSITORY) for index, settings_row in enumerate(rows)
    ]
    for index, row in enumerate(added):
        if not may_lower and not _can_raise(row, table):
            raise ExecplanError(
                "bad-setting",
                f"risk row {index + 1}: {row.level} doesn't raise the risk, and a repository's rows can only raise it",
                hint="move a row that lowers the risk to your own settings, ~/.config/execplan/config.toml",
            )
    if not added:
        return table
    all_rows = (*table.rows, *added)
    return table._replace(rows=all_rows, version=table_version(all_rows, table.values, table.bare, table.tasks))


def _can_raise(row: RiskRow, table: RiskTable) -> bool:
    """Return whether a repository's row can raise a risk: a command without a row is already HIGH."""
    if row.path or row.variable or row.via:
        return row.level != LOW
    if row.tool:
        return row.level == CRITICAL
    known_levels = [other.level for other in table.rows if set(other.program) & set(row.program)]
    known_levels += [LOW for name in READS_ONLY if name.partition(" ")[0] in row.program]
    return LEVELS.index(row.level) > min([LEVELS.index(level) for level in [*known_levels, HIGH]])


def parse_row(fields: Mapping[str, object], index: int, origin: str) -> RiskRow:
    """Parse and validate a row of the settings or of commands.toml."""
    field_names = [name for name in RiskRow(LOW, "")._asdict() if name != "origin"]
    values: dict[str, object] = {}
    label = f"risk row {index + 1}"
    if not isinstance(fields, dict):
        raise _setting_error(f"{label} is not a table")
    for name, value in fields.items():
        if name not in field_names:
            from execplan.core.text.suggestions import did_you_mean

            hint = did_you_mean(name, field_names) or f"one of {', '.join(field_names)}"
            raise ExecplanError("unknown-setting", f"{label}: unknown field {name}", hint=hint)
        if name in _LISTS:
            entries = [value] if isinstance(value, str) else value
            if (
                not isinstance(entries, list)
                or not entries
                or not all([isinstance(text, str) and text for text in entries])
            ):
                raise _setting_error(f"{label}: {name} requires a string or a list of strings")
            values[name] = tuple(entries)
        elif not isinstance(value, bool if name in _FLAGS else str):
            raise _setting_error(f"{label}: {name} takes {'true or false' if name in _FLAGS else 'a string'}")
        else:
            values[name] = value
    _check_values(values, label)
    return RiskRow(**values, origin=origin)  # type: ignore[arg-type] # every value was checked above, by the name of its field


def _check_values(values: Mapping[str, object], label: str) -> None:
    """Raise ExecplanError for a row without level, reason or subject, or with an unknown level or category."""
    for name, choices in (("level", LEVELS), ("category", CATEGORIES)):
        if values.get(name, "" if name == "level" else choices[0]) not in choices:
            raise _setting_error(f"{label}: {name} must be one of {', '.join(choices)}, not {values.get(name)!r}")
    if not str(values.get("reason", "")).strip():
        raise _setting_error(f"{label} has no reason: describe what such a command does")
    if not any([values.get(name) for name in _SUBJECTS]):
        raise _setting_error(f"{label} has no subject: it needs one of {', '.join(_SUBJECTS)}")


def _setting_error(message: str) -> ExecplanError:
    return ExecplanError("bad-setting", message, hint=f"example: {_EXAMPLE}")


def table_version(rows: Sequence[RiskRow], *mappings: Mapping[str, Iterable[str]]) -> str:
    """Return the version of a table: the digest of its rows and its `values`, `bare` and `tasks`."""
    # a reason explains a level and does not change it: an approval stays valid when only a reason is reworded
    unexplained_rows = [row._replace(reason="") for row in rows]
    content: list[object] = [
        list(secret_files.DIGEST_RULES),
        # later fields count only if they are set: the version of a table without them stays the same
        [tuple(row)[: len(row) if row.category else -1 if row.tool else -2] for row in unexplained_rows],
        *[sorted([(name, sorted(words)) for name, words in mapping.items()]) for mapping in mappings],
    ]
    return digest(repr(content).encode())
